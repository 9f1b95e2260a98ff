// Tasks that are worked on in a terminal: terminal-bench (task.yaml) and Harbor (task.toml). The tree is what the image has in
// its working folder, known there by that folder's own name; tests are the request's, the solution is the oracle.
import { posix } from "node:path";
import { isObeyed } from "../bundle/index.js";
import { parseYaml } from "../catalog/yaml.js";
import { NutError } from "../errors.js";
import { ROOM_PLACES } from "../schema/places.js";
import { type Dockerfile, type FileStep, readDockerfile } from "./dockerfile.js";
import { findLicence } from "./licence.js";
import { type ImportedTask, type LeftOut, type Oracle, type TaskFile, textFile } from "./model.js";
import { firstParagraph, plainTask } from "./plain-task.js";
import { type SourceFolder, textOf } from "./source-folder.js";
import { readToml } from "./toml.js";

interface Shape {
  readonly kind: "terminal-bench" | "harbor";
  readonly instruction: string;
  /** Where the image's context lies: empty, or with a slash at its end. */
  readonly context: string;
  readonly solution: TaskFile | null;
  readonly agentSeconds: number | null;
  readonly testSeconds: number | null;
  readonly authors: readonly string[];
  readonly tags: readonly string[];
  /** Keys of the settings that are not carried over. */
  readonly unread: readonly LeftOut[];
}

export function readTerminalBench(folder: SourceFolder): ImportedTask {
  const text = needed(folder, "task.yaml");
  const fields = table(parseYaml(text, (reason) => unfit(folder, `task.yaml: ${reason}`)));
  const instruction = typeof fields.instruction === "string" ? fields.instruction : descriptionOf(fields.descriptions);
  if (instruction === null) throw unfit(folder, "task.yaml has no instruction");
  const parser = fields.parser_name;
  const shape: Shape = {
    kind: "terminal-bench",
    instruction,
    context: contextOf(folder),
    solution: folder.files.get("solution.sh") ?? typed(folder),
    agentSeconds: seconds(fields.max_agent_timeout_sec),
    testSeconds: seconds(fields.max_test_timeout_sec),
    authors: [fields.author_name].filter((name): name is string => typeof name === "string"),
    tags: words(fields.tags),
    unread:
      typeof parser === "string" && parser !== "pytest"
        ? [{ what: `parser_name: ${parser}`, why: "tests are run by pytest" }]
        : [],
  };
  return assemble(folder, shape);
}

export function readHarbor(folder: SourceFolder): ImportedTask {
  const toml = needed(folder, "task.toml");
  const fields = readToml(toml);
  if (fields === null) throw unfit(folder, "task.toml cannot be read");
  const [metadata, agent, verifier, environment] = ["metadata", "agent", "verifier", "environment"].map((name) =>
    table(fields[name]),
  );
  const instruction = needed(folder, "instruction.md");
  const limits = Object.entries(environment!).filter(([, value]) => typeof value !== "object");
  const shape: Shape = {
    kind: "harbor",
    instruction,
    context: "environment/",
    solution: folder.files.get("solution/solve.sh") ?? null,
    agentSeconds: seconds(agent!.timeout_sec),
    testSeconds: seconds(verifier!.timeout_sec),
    authors: [metadata!.author_name].filter((name): name is string => typeof name === "string"),
    tags: words(metadata!.tags),
    unread: [
      ...limits.map(([key, value]) => ({
        what: `environment.${key} = ${String(value)}`,
        why: "the room's own limits hold (docs/security.md)",
      })),
      ...(fields.steps === undefined ? [] : [{ what: "steps", why: "a request is one task" }]),
    ],
  };
  return assemble(folder, shape);
}

function assemble(folder: SourceFolder, shape: Shape): ImportedTask {
  const leftOut: LeftOut[] = [...folder.unread, ...shape.unread];
  const docker = readDockerfile(textOf(folder, `${shape.context}Dockerfile`) ?? "");
  const workdir = placeOf(docker.workdir);
  if (workdir === null) throw unfit(folder, `its image works in ${docker.workdir}, where no room can put a tree`);
  const tests = testFiles(folder, leftOut);
  const files = new Map<string, TaskFile>([
    [
      "context/requirements.md",
      textFile(`${shape.instruction.trim()}\n\nThe folder you work in is also called \`${workdir}\`.\n`),
    ],
    ...tests.files,
    ...imageFiles(folder, shape, docker, workdir, leftOut),
  ]);
  listUnread(folder, shape, docker, leftOut);
  const { licence, files: texts } = findLicence(folder);
  for (const [path, file] of texts) files.set(path, file);
  if (shape.agentSeconds !== null)
    leftOut.push({
      what: `${shape.agentSeconds} s for the agent`,
      why: `say it when it is run: nexus run --budget time=${shape.agentSeconds}s`,
    });
  return plainTask(shape.kind, folder.name, {
    title: titleOf(folder.name),
    summary: firstParagraph(shape.instruction) ?? shape.instruction.trim().slice(0, 600),
    language: shape.kind,
    files,
    criteria: [
      { id: "tests", type: "pytest", script: tests.main, timeout_seconds: Math.max(30, shape.testSeconds ?? 180) },
    ],
    hidden: [...tests.files.keys()],
    places: { [workdir]: ".", "/tests": "tests", "/logs": null },
    constraints: ["Do not change anything under tests/"],
    domains: [shape.kind, ...shape.tags],
    oracle: oracleOf(shape),
    licence,
    authors: shape.authors,
    leftOut,
  });
}

const oracleOf = ({ solution }: Shape): Oracle | null =>
  solution === null ? null : { files: new Map(), script: withShell(solution) };

/** Both harnesses start a solution by bash, whether it says so or not. */
function withShell(script: TaskFile): TaskFile {
  const text = Buffer.from(script.data).toString("utf8");
  return text.startsWith("#!") ? script : textFile(`#!/bin/bash\n${text}`, true);
}

const titleOf = (name: string): string => name.replaceAll(/[-_]+/g, " ").replace(/^./, (first) => first.toUpperCase());

const placeOf = (workdir: string): string | null =>
  ROOM_PLACES.find((place) => place === workdir) ?? (workdir === "/" ? "/app" : null);

/** Everything under tests/, and the one file that is run. */
function testFiles(folder: SourceFolder, leftOut: LeftOut[]): { files: Map<string, TaskFile>; main: string } {
  const files = new Map([...folder.files].filter(([path]) => path.startsWith("tests/")));
  const runnable = [...files.keys()].filter((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path));
  const main =
    runnable.find((path) => path === "tests/test_outputs.py" || path === "tests/test_state.py") ?? runnable[0];
  if (main === undefined) throw unfit(folder, "it has no tests that pytest runs (tests/test_*.py)");
  for (const other of runnable.filter((path) => path !== main))
    leftOut.push({ what: other, why: `only ${main} is run` });
  return { files, main };
}

/** Tasks with several containers say where the one that is worked in is built. */
function contextOf(folder: SourceFolder): string {
  const { build } = table(table(table(yamlOf(folder, "docker-compose.yaml")).services).client);
  const context = typeof build === "string" ? build : table(build).context;
  const path = typeof context === "string" ? posix.normalize(`${context}/`) : "";
  return folder.files.has(`${path}Dockerfile`) && !path.startsWith("./") ? path : "";
}

/** null when it is not there or cannot be read: the task is imported without it. */
function yamlOf(folder: SourceFolder, name: string): unknown {
  const text = textOf(folder, name);
  try {
    return text === null ? null : parseYaml(text, (reason) => unfit(folder, reason));
  } catch (error) {
    if (error instanceof NutError) return null;
    throw error;
  }
}

/** What the image's file steps leave in the working folder; what goes elsewhere is listed. */
function imageFiles(
  folder: SourceFolder,
  { context }: Shape,
  docker: Dockerfile,
  workdir: string,
  leftOut: LeftOut[],
): Map<string, TaskFile> {
  const found = new Map<string, TaskFile>();
  const folders = new Set<string>();
  const put = (path: string, file: TaskFile): void => {
    const place = posix.normalize(path);
    if (isObeyed(place)) leftOut.push({ what: place, why: "programs obey it merely because it lies there" });
    else if (/^(?:nutshell\.json|tests\/|context\/)/.test(place))
      leftOut.push({ what: place, why: "the request keeps its own there" });
    else found.set(place, file);
  };
  for (const step of docker.steps) {
    const inside = belowOf(step.target, docker.workdir, workdir);
    if (step.type === "remove" && (inside === "" || workdir.startsWith(posix.join(step.target, "/")))) {
      leftOut.push({ what: `RUN rm ${step.target}`, why: `all of ${workdir} lies in it` });
    } else if (inside === null) {
      // A folder or a file that is nowhere here is no loss.
      if (step.type === "copy" || step.type === "write")
        leftOut.push({ what: wordsOf(step), why: `it lies outside ${workdir}` });
    } else if (step.type === "copy") {
      for (const [path, file] of copied(folder, context, step, inside, leftOut)) put(path, file);
    } else if (step.type === "write") put(inside, textFile(step.text));
    else if (step.type === "folder") folders.add(inside);
    else changed(found, folders, step.type, inside);
  }
  for (const path of folders) {
    if (path === "" || [...found.keys()].some((file) => file.startsWith(`${path}/`))) continue;
    put(`${path}/.gitkeep`, textFile(""));
    leftOut.push({ what: `${path}/`, why: "it would be empty, so it holds a file called .gitkeep" });
  }
  return found;
}

/** From the working folder; null when it lies elsewhere. */
const belowOf = (target: string, own: string, workdir: string): string | null =>
  target === own || target === workdir
    ? ""
    : target.startsWith(`${workdir}/`)
      ? target.slice(workdir.length + 1)
      : null;

const wordsOf = (step: FileStep): string =>
  step.type === "copy" ? `COPY ${step.sources.join(" ")} ${step.target}` : `COPY << ${step.target}`;

function copied(
  folder: SourceFolder,
  context: string,
  { sources, isFolder }: FileStep & { readonly type: "copy" },
  inside: string,
  leftOut: LeftOut[],
): [string, TaskFile][] {
  return sources.flatMap((source) => {
    const taken = matching(folder, posix.normalize(`${context}${source}`));
    if (taken.length === 0) leftOut.push({ what: `COPY ${source}`, why: "there is no such file" });
    return taken.map(({ path, below }): [string, TaskFile] => {
      const name = below ?? (isFolder || inside === "" ? posix.basename(path) : "");
      return [posix.join(inside, name), folder.files.get(path)!];
    });
  });
}

function changed(files: Map<string, TaskFile>, folders: Set<string>, how: "remove" | "run-bit", path: string): void {
  const isMeant = (name: string) => name === path || name.startsWith(`${path}/`);
  for (const [name, file] of files) {
    if (how === "run-bit" && name === path) files.set(name, { ...file, executable: true });
    else if (how === "remove" && isMeant(name)) files.delete(name);
  }
  if (how === "remove") for (const name of folders) if (isMeant(name)) folders.delete(name);
}

const OURS =
  /^(?:task\.(?:yaml|toml)|instruction\.md|Dockerfile|docker-compose\.ya?ml|solution(?:\.sh|\.yaml|\/.*)|run-tests\.sh|tests\/.*|LICEN[CS]E.*)$/;

/** A file, what a pattern matches, or all files of a folder with their paths from it. */
function matching(folder: SourceFolder, source: string): { path: string; below: string | null }[] {
  if (folder.files.has(source)) return [{ path: source, below: null }];
  if (source.startsWith("..")) return [];
  const all = [...folder.files.keys()];
  if (/[*?]/.test(source)) {
    const pattern = new RegExp(
      `^${source
        .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
        .replaceAll("*", "[^/]*")
        .replaceAll("?", "[^/]")}$`,
    );
    return all.filter((path) => pattern.test(path)).map((path) => ({ path, below: null }));
  }
  const base = source === "." || source === "" ? "" : `${source.replace(/\/$/, "")}/`;
  return all
    .filter((path) => path.startsWith(base) && !(base === "" && OURS.test(path)))
    .map((path) => ({ path, below: path.slice(base.length) }));
}

function listUnread(folder: SourceFolder, { context, kind }: Shape, docker: Dockerfile, leftOut: LeftOut[]): void {
  for (const image of docker.from)
    leftOut.push({ what: `FROM ${image}`, why: "the machine's own programs are used instead of the image's" });
  for (const line of docker.unread) leftOut.push({ what: line.slice(0, 300), why: "nothing is run at import" });
  for (const [key, value] of Object.entries(docker.env))
    leftOut.push({ what: `ENV ${key}=${value.slice(0, 100)}`, why: "rooms have an environment of their own" });
  const script = kind === "terminal-bench" ? "run-tests.sh" : "tests/test.sh";
  if (folder.files.has(script))
    leftOut.push({ what: script, why: "it installs pytest from the network; the room's own runs the tests" });
  const composed = kind === "terminal-bench" ? "" : context;
  for (const name of ["docker-compose.yaml", "docker-compose.yml"])
    if (folder.files.has(`${composed}${name}`))
      leftOut.push({ what: `${composed}${name}`, why: "no containers are started" });
}

/** A solution that is typed into a terminal, as a script, where every step is a plain line. */
function typed(folder: SourceFolder): TaskFile | null {
  const steps = yamlOf(folder, "solution.yaml");
  if (!Array.isArray(steps)) return null;
  const lines = steps
    .map((step) => table(step))
    .map(({ command, append_enter: enter }) => (typeof command === "string" && enter !== false ? command : null));
  return lines.every((line) => line !== null) ? textFile(`#!/bin/bash\n${lines.join("\n")}\n`, true) : null;
}

const table = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

function descriptionOf(value: unknown): string | null {
  if (!Array.isArray(value)) return null;
  const rows = value.map(table);
  const { description } = rows.find(({ key }) => key === "base") ?? rows[0] ?? {};
  return typeof description === "string" ? description : null;
}

const seconds = (value: unknown): number | null =>
  typeof value === "number" && value > 0 && value < 1e6 ? Math.ceil(value) : null;

const words = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((word): word is string => typeof word === "string") : [];

function needed(folder: SourceFolder, name: string): string {
  const text = textOf(folder, name);
  if (text === null) throw unfit(folder, `it has no ${name}`);
  return text;
}

const unfit = ({ path }: SourceFolder, why: string): NutError =>
  new NutError("IMPORT_UNFIT", `${path} cannot be imported as a task for a terminal: ${why}`, {
    hint: "name the folder of one task: task.yaml (terminal-bench) or task.toml (harbor) lies in it",
    data: { path },
  });
