// An exercise of an Exercism track. `.docs` says what is asked, the stub and its tests are the tree, and the example in
// `.meta` becomes the oracle. Tests that the track switches off for learners are switched on.
import { posix } from "node:path";
import { z } from "zod";
import { isObeyed } from "../bundle/index.js";
import { NutError } from "../errors.js";
import { JsonError, parseJson } from "../files/index.js";
import type { Criterion } from "../schema/criteria.js";
import { gradleJars } from "./gradle-jars.js";
import { findLicence } from "./licence.js";
import { type ImportedTask, type InstallEntry, type LeftOut, type Oracle, type TaskFile, textFile } from "./model.js";
import { type SourceFolder, textOf } from "./source-folder.js";
import { unskip } from "./unskip.js";

const CONFIG = ".meta/config.json";

const Paths = z.array(z.string()).default([]);
const Config = z.looseObject({
  authors: z.array(z.string()).default([]),
  contributors: z.array(z.string()).default([]),
  files: z.looseObject({ solution: Paths, test: Paths, example: Paths, exemplar: Paths, editor: Paths }),
  blurb: z.string().default(""),
  title: z.string().optional(),
  source_url: z.string().optional(),
  custom: z.looseObject({}).default({}),
});
type Config = z.infer<typeof Config>;

interface Track {
  readonly language: string;
  readonly tests: RegExp;
  /** Files of the exercise that its checks here do without, with the reason. */
  readonly without?: (path: string) => string | null;
  readonly criteria: (exercise: Exercise) => Criterion[];
  /** Scripts that are written for the checks. */
  readonly scripts?: (exercise: Exercise) => ReadonlyMap<string, TaskFile>;
  readonly install?: (exercise: Exercise) => Install | null;
}

interface Install {
  readonly script: string;
  readonly leftOut: readonly LeftOut[];
  readonly entry: InstallEntry;
}

interface Exercise {
  readonly slug: string;
  readonly folder: SourceFolder;
  readonly config: Config;
  readonly tests: readonly string[];
}

const INSTALL = "tests/install.sh";

const eachTest =
  (type: Criterion["type"]): Track["criteria"] =>
  ({ tests }) =>
    tests.map((script) => ({ id: idOf(script), type, script, timeout_seconds: 300 }));

const idOf = (path: string): string => posix.basename(path).replace(/\.[^.]+$/, "");

const GRADLE = /^(?:gradlew(?:\.bat)?|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|gradle\/.*)$/;

const TRACKS: readonly Track[] = [
  { language: "python", tests: /\.py$/, criteria: eachTest("pytest") },
  {
    language: "javascript",
    tests: /\.[cm]?js$/,
    criteria: eachTest("jest"),
    install: installJavascript,
  },
  { language: "rust", tests: /\.rs$/, criteria: eachTest("cargo-test") },
  {
    language: "go",
    tests: /_test\.go$/,
    // Files of one package are tested together.
    criteria: (exercise) => eachTest("go-test")({ ...exercise, tests: exercise.tests.slice(0, 1) }),
  },
  {
    language: "java",
    tests: /\.java$/,
    without: (path) =>
      GRADLE.test(path) ? "the check compiles with javac and runs JUnit's own launcher, without Gradle" : null,
    criteria: () => [{ id: "junit", type: "junit", timeout_seconds: 300 }],
    install: installJars,
  },
  { language: "cpp", tests: /\.(?:cpp|cc)$/, criteria: catchCriteria, scripts: catchScripts, install: installCatch },
];

/** Throws IMPORT_UNFIT for what is no exercise, or one of a track whose tests nobody here can run. */
export function readExercism(folder: SourceFolder): ImportedTask {
  const config = readConfig(folder);
  const slug = slugOf(folder.name);
  const missing = config.files.test.filter((path) => !folder.files.has(path));
  if (config.files.test.length === 0 || missing.length > 0) {
    throw unfit(folder, missing.length > 0 ? `its test ${missing[0]} is not there` : "it names no tests");
  }
  const track = TRACKS.find(({ tests }) => config.files.test.some((path) => tests.test(path)));
  if (track === undefined) throw unfit(folder, `no runner is known for ${config.files.test[0]}`);
  const exercise: Exercise = {
    slug,
    folder,
    config,
    tests: config.files.test.filter((path) => track.tests.test(path) && holdsTests(folder, path)),
  };
  if (exercise.tests.length === 0) throw unfit(folder, "none of its tests can be run by itself");
  return assemble(exercise, track);
}

/** What stands beside the tests to help them runs no test of its own. */
const holdsTests = (folder: SourceFolder, path: string): boolean =>
  !path.endsWith(".py") || /^\s*(?:async\s+)?def\s+test/m.test(textOf(folder, path) ?? "");

function assemble(exercise: Exercise, track: Track): ImportedTask {
  const { slug, folder, config, tests } = exercise;
  const leftOut: LeftOut[] = [...folder.unread];
  const files = new Map<string, TaskFile>();
  for (const [path, file] of folder.files) {
    if (/^\.(?:docs|meta|articles|approaches)\//.test(path) || LICENCES.test(path)) continue;
    const why = whyLeft(path, track);
    if (why !== null) leftOut.push({ what: path, why });
    else files.set(path, file);
  }
  for (const path of switchable(exercise, track)) {
    const text = textOf(folder, path);
    if (text === null || !files.has(path)) continue;
    const { text: open, count } = unskip(path, text);
    if (count === 0) continue;
    files.set(path, textFile(open, files.get(path)!.executable));
    leftOut.push({ what: path, why: `${count} marks that switch a test off were taken away` });
  }
  const context = documents(exercise, leftOut);
  const { licence, files: texts } = findLicence(folder, packageLicence(folder));
  const install = track.install?.(exercise) ?? null;
  if (install !== null) leftOut.push(...install.leftOut);
  for (const [path, file] of [
    ...context,
    ...texts,
    ...(track.scripts?.(exercise) ?? []),
    ...(install === null ? [] : [[INSTALL, textFile(install.script, true)] as const]),
  ]) {
    if (files.has(path)) throw unfit(folder, `it has a file ${path} of its own, where the request keeps another`);
    files.set(path, file);
  }
  const title = config.title ?? titleOf(slug);
  return {
    kind: "exercism",
    name: `${track.language}-${slug}`,
    title: `${title} (${track.language})`,
    // A file that the summary names is the work, whatever else it looks like.
    summary: [config.blurb || `${title}.`, ...solutionWords(config)].join(" "),
    language: track.language,
    files,
    criteria: track.criteria(exercise),
    hidden: [],
    install: install === null ? [] : [install.entry],
    checklist: [],
    constraints: tests.map((path) => `Do not change ${path}`),
    skills: [track.language],
    domains: ["exercism"],
    additional: [...context.keys()].filter((path) => path !== "context/requirements.md"),
    oracle: oracleOf(exercise),
    licence,
    authors: [...new Set([...config.authors, ...config.contributors])],
    url: config.source_url ?? null,
    leftOut,
  };
}

/** A folder of tests may hold some that the config does not name. */
function switchable({ folder, config: { files } }: Exercise, { tests }: Track): Set<string> {
  const folders = new Set(files.test.map((path) => posix.dirname(path)).filter((name) => name !== "."));
  const beside = [...folder.files.keys()].filter((path) => tests.test(path) && folders.has(posix.dirname(path)));
  return new Set([...files.test, ...files.editor, ...beside]);
}

const LICENCES = /^(?:LICEN[CS]E|COPYING)(?:\.\w+)?$/;

function whyLeft(path: string, track: Track): string | null {
  if (path === "nutshell.json" || path === "tests/criteria.json") return "the request has one of its own";
  if (isObeyed(path)) return "programs obey it merely because it lies there";
  return track.without?.(path) ?? null;
}

function readConfig(folder: SourceFolder): Config {
  const text = textOf(folder, CONFIG);
  if (text === null) throw unfit(folder, `it has no ${CONFIG}`);
  try {
    const parsed = Config.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    throw unfit(folder, `${CONFIG}: ${parsed.error.issues[0]!.path.join(".")}: ${parsed.error.issues[0]!.message}`);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw unfit(folder, `${CONFIG} is not JSON`);
  }
}

const unfit = ({ path }: SourceFolder, why: string): NutError =>
  new NutError("IMPORT_UNFIT", `${path} cannot be imported as an exercise: ${why}`, {
    hint: "name the folder of one exercise, such as exercises/practice/two-fer; nutshell import --help lists the tracks",
    data: { path },
  });

/** Letters, digits and dashes; a folder's name is whatever its owner liked. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 80) || "exercise";

const titleOf = (slug: string): string =>
  slug
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");

const DOCUMENTS = ["introduction", "introduction.append", "instructions", "instructions.append"] as const;

function documents({ folder, slug, config }: Exercise, leftOut: LeftOut[]): Map<string, TaskFile> {
  const texts = DOCUMENTS.map((name) => textOf(folder, `.docs/${name}.md`)).filter((text) => text !== null);
  const where = solutionWords(config);
  const body =
    texts.length === 0 ? [`# ${config.title ?? titleOf(slug)}`, config.blurb] : texts.map((text) => text.trim());
  const found = new Map([["context/requirements.md", textFile(`${[...body, ...where].join("\n\n")}\n`)]]);
  for (const [path, file] of folder.files) {
    const name = /^\.docs\/(.+)$/.exec(path)?.[1];
    if (name === undefined || DOCUMENTS.some((document) => name === `${document}.md`)) continue;
    if (/^[\w./-]+\.(?:md|png|svg|jpg|txt)$/.test(name)) found.set(`context/${name}`, file);
    else leftOut.push({ what: path, why: "it is no document" });
  }
  return found;
}

function solutionWords({ files: { solution } }: Config): string[] {
  return solution.length === 0 ? [] : [`Work in ${solution.map((path) => `\`${path}\``).join(", ")}.`];
}

/** The example takes the place of the stub. */
function oracleOf({ folder, config }: Exercise): Oracle | null {
  const examples = [...config.files.example, ...config.files.exemplar].filter((path) => folder.files.has(path));
  if (examples.length === 0) return null;
  const files = new Map<string, TaskFile>();
  const add = (path: string | null, from: string): void => {
    if (path !== null && !files.has(path)) files.set(path, folder.files.get(from)!);
  };
  for (const example of examples) add(placeOf(example, examples, config.files.solution), example);
  // A reference solution of Java may have classes that its config does not name.
  for (const path of folder.files.keys()) {
    const inner = /^\.meta\/src\/(?:reference|exemplar)\/java\/(.+\.java)$/.exec(path)?.[1];
    if (inner !== undefined) add(`src/main/java/${inner}`, path);
  }
  if (config.files.solution.includes("Cargo.toml") && folder.files.has(".meta/Cargo-example.toml"))
    add("Cargo.toml", ".meta/Cargo-example.toml");
  return { files, script: null };
}

/** By name, then by ending, then by order. */
function placeOf(example: string, examples: readonly string[], solutions: readonly string[]): string | null {
  const name = posix.basename(example);
  const same = solutions.find((path) => posix.basename(path) === name);
  if (same !== undefined) return same;
  const ending = posix.extname(example);
  // A class lies in a file of its own name.
  if (ending === ".java") return null;
  const alike = (paths: readonly string[]) => paths.filter((path) => posix.extname(path) === ending);
  const place = alike(solutions)[alike(examples).indexOf(example)];
  if (place !== undefined) return place;
  // A header-only stub whose example has a source file as well, or the other way round.
  const [first] = solutions;
  return first === undefined ? null : `${first.slice(0, first.length - posix.extname(first).length)}${ending}`;
}

function packageLicence(folder: SourceFolder): string | null {
  try {
    const { license } = JSON.parse(textOf(folder, "package.json") ?? "{}") as { license?: unknown };
    return typeof license === "string" && /^[\w.() +-]{1,60}$/.test(license) ? license : null;
  } catch {
    return null;
  }
}

/** Packages that nothing but an editor or a linter needs. */
const NOT_FOR_TESTS = /eslint|prettier|^@types\//;
const PACKAGE = /^(?:@[a-z0-9._-]+\/)?[a-z0-9._-]+$/;
const RANGE = /^[\w.^~<>=*|+ -]{1,60}$/;

/** Exercises have no lock file, so what their tests need is installed by name and range, the same for all that ask alike. */
function installJavascript({ folder }: Exercise): Install | null {
  const wanted = packagesOf(textOf(folder, "package.json"));
  const kept = wanted.filter(([name, range]) => !NOT_FOR_TESTS.test(name) && PACKAGE.test(name) && RANGE.test(range));
  if (kept.length === 0) return null;
  const words = kept.map(([name, range]) => `'${name}@${range}'`).sort();
  const script = [
    "#!/bin/sh",
    "# What the tests need, as package.json names it. Made by nutshell import.",
    "set -e",
    `npm install --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error ${words.join(" ")}`,
    "",
  ].join("\n");
  const others = wanted.filter((one) => !kept.includes(one)).map(([name]) => name);
  return {
    script,
    entry: { path: INSTALL },
    leftOut: [
      { what: "package.json", why: "it has no lock file: the versions are those of the day they are installed" },
      ...(others.length === 0
        ? []
        : [{ what: others.join(", "), why: "the tests do not need it, so it is not installed" }]),
    ],
  };
}

function packagesOf(text: string | null): [string, string][] {
  try {
    const { dependencies, devDependencies } = JSON.parse(text ?? "{}") as Record<string, unknown>;
    return [dependencies, devDependencies].flatMap((table) =>
      Object.entries((table ?? {}) as object).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
    );
  } catch {
    return [];
  }
}

function installJars({ folder }: Exercise): Install | null {
  const jars = gradleJars(textOf(folder, "build.gradle") ?? "");
  if (jars === null) return null;
  const why = "the jar of the machine's own Maven repository is taken, in its version";
  return {
    script: jars.script,
    leftOut: jars.named.map((what) => ({ what, why })),
    entry: { path: INSTALL, network: false },
  };
}

const CATCH_SCRIPT = "tests/catch.sh";
const CATCH_REPORT = "build/catch.xml";
const CATCH_MAIN = "test/tests-main.cpp";
const CATCH_OBJECT = ".cache/catch/tests-main.o";

function catchCriteria({ tests }: Exercise): Criterion[] {
  return [
    {
      id: idOf(tests[0]!),
      type: "shell",
      script: CATCH_SCRIPT,
      report: CATCH_REPORT,
      timeout_seconds: 600,
    },
  ];
}

/** Catch's own part takes longer to compile than the exercise. It is the same for every run and every exercise, so it is made once. */
function installCatch({ folder }: Exercise): Install | null {
  if (!folder.files.has(CATCH_MAIN)) return null;
  const script = [
    "#!/bin/sh",
    "# Compiles the part of the tests that no exercise changes. Made by nutshell import.",
    "set -e",
    `mkdir -p ${posix.dirname(CATCH_OBJECT)}`,
    `c++ -std=c++17 -g -c ${CATCH_MAIN} -o ${CATCH_OBJECT}`,
    "",
  ].join("\n");
  return { script, leftOut: [], entry: { path: INSTALL, reads: [`${posix.dirname(CATCH_MAIN)}/`], network: false } };
}

/** The track's CMakeLists.txt takes the exercise's name from the folder it lies in, which a link gives it. */
function catchScripts({ slug, tests }: Exercise): Map<string, TaskFile> {
  const script = [
    "#!/bin/sh",
    `# Builds the exercise with all of its tests (${tests.join(", ")}) and runs them.`,
    "set -e",
    "here=$(pwd)",
    "place=$(mktemp -d)",
    `ln -s "$here" "$place/${slug}"`,
    "mkdir -p build",
    "# What was compiled once for every run is taken where it is there; by its bare name, for it is no test to alter.",
    `cat >"$place/compile" <<'END'`,
    "#!/bin/sh",
    "for word; do",
    "  case $before in -o) made=$word ;; esac",
    "  before=$word",
    "done",
    `case $word in */${posix.basename(CATCH_MAIN)}) cp "$CATCH_OBJECT" "$made" 2>/dev/null && exit 0 ;; esac`,
    `exec "$@"`,
    "END",
    `chmod +x "$place/compile"`,
    `export CATCH_OBJECT="$here/${CATCH_OBJECT}"`,
    `cmake -S "$place/${slug}" -B "$place/build" -DEXERCISM_RUN_ALL_TESTS=1 -DCMAKE_CXX_COMPILER_LAUNCHER="$place/compile" >"$place/log" 2>&1 || { cat "$place/log"; exit 2; }`,
    `cmake --build "$place/build" --target ${slug} >"$place/log" 2>&1 || { cat "$place/log"; exit 2; }`,
    `"$place/build/${slug}" -r junit -o ${CATCH_REPORT}`,
    "",
  ].join("\n");
  return new Map([[CATCH_SCRIPT, textFile(script, true)]]);
}
