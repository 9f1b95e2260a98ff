// Long because: each case is one small project, and they are read side by side.
import { describe, expect, it } from "vitest";
import type { ResultChange } from "../../trees/result-tree.js";
import { decides, filesRunAlone } from "../controls/decides.js";
import type { CheckPlan } from "../model.js";
import { filesLedTo, leadsSomewhere } from "./led-to.js";
import { findSubject } from "./subject.js";

interface Case {
  readonly base?: Readonly<Record<string, string>>;
  /** null deletes, `-> x` is a link. */
  readonly work: Readonly<Record<string, string | null>>;
  readonly subject?: readonly string[];
  readonly constraints?: readonly string[];
  readonly checkTexts?: readonly string[];
  readonly task?: string;
}

function subjectOf({ base = {}, work, subject, constraints = [], checkTexts = [], task = "" }: Case) {
  const settings = Object.entries(base).map(([path, words]) => ({ path, words }));
  const plan: CheckPlan = {
    checks: [],
    endpoints: null,
    isOwnTest: (path) => path.startsWith("tests/") || path === "nutshell.json",
    ownFiles: [],
    subject: subject ?? null,
    controls: [],
  };
  const changes = Object.entries(work).map(([path, text]): ResultChange => {
    const kind = text === null ? "deleted" : Object.hasOwn(base, path) ? "modified" : "created";
    return { path, kind, lines: 0, diffLines: 0, ...(text?.startsWith("-> ") ? { link: true as const } : {}) };
  });
  const tree = (files: Readonly<Record<string, string | null>>) => ({
    text: (path: string) => files[path] ?? null,
    exists: (path: string) => Object.keys(files).some((name) => name === path || name.startsWith(`${path}/`)),
  });
  const now = { ...base, ...work };
  const found = findSubject({
    plan,
    constraints,
    changes,
    base: tree(base),
    result: {
      ...tree(now),
      head: (path) => Buffer.from(now[path] ?? "").subarray(0, 4),
      link: (path) => (now[path] ?? "").slice(3),
    },
    named: {
      checkTexts,
      decides,
      ...filesLedTo(
        settings.filter(({ path }) => leadsSomewhere(path)),
        checkTexts,
      ),
      runAlone: new Set(checkTexts.flatMap(filesRunAlone)),
      wholeCommands: new Set(checkTexts.map((text) => text.split(" ")[1]!)),
      code: () => settings.filter(({ path }) => /\.(?:mjs|py|c)$/.test(path) && !path.startsWith("tests/")),
      task,
      ownNames: new Set(["generate.sh"]),
    },
  });
  return {
    work: found.work.map(({ path }) => path),
    outside: found.outside.map(({ path }) => path),
    merged: Object.fromEntries(found.merged),
    why: Object.fromEntries(found.outside.map(({ path, why }) => [path, why])),
  };
}

describe("what Python is told to run by the name of a module", () => {
  const README = { "files/README.md": ">>> total([1, 2])\n3\n" };
  const SELF = { "files/shop/selftest.py": "from shop import total\nassert total([1, 2]) == 3\n" };

  it.each([
    ["a document whose examples are tried", "cd files && python3 -m doctest README.md", README],
    ["the same with a path and options", "PYTHONPATH=files python3 -m doctest -v files/README.md", README],
    ["a module that tests", "cd files && python3 -m shop.selftest", SELF],
  ])("is the base's: %s", (_, command, base) => {
    const work = Object.fromEntries(Object.keys(base).map((path) => [path, "1\n"]));
    expect(subjectOf({ base, work, checkTexts: [command] })).toMatchObject({ work: [], outside: Object.keys(base) });
  });

  it("is the work where nothing tries it, or the task speaks of it", () => {
    const work = { "files/README.md": "1\n" };
    expect(subjectOf({ base: README, work, checkTexts: ["grep -q 3 files/README.md"] }).outside).toEqual([]);
    const checkTexts = ["python3 -m doctest files/README.md"];
    expect(subjectOf({ base: README, work, checkTexts, task: "Correct README.md" }).outside).toEqual([]);
  });
});

describe("the default subject", () => {
  it.each([
    "tests/new.sh",
    "files/test/a.js",
    "src/add.test.ts",
    "pkg/add_test.go",
    "package-lock.json",
    ".npmrc",
    "files/Makefile",
    "GNUmakefile",
    "sub/build.mk",
    "conftest.py",
    "pytest.ini",
    "pytest.py",
    "pytest/__init__.py",
    "json.py",
    "files/json.py",
    "vitest.config.ts",
    "vite.config.mjs",
    "jest.config.cjs",
    ".cargo/config.toml",
    "node_modules/vitest/index.js",
    "sitecustomize.py",
    "lib/cheat.so",
    "build/app.o",
    "deno.json",
    "tsconfig.json",
    // git, and what searches leave out
    ".gitignore",
    "files/.gitattributes",
    ".gitmodules",
    "files/HEAD",
    ".mailmap",
    ".ignore",
    "files/.rgignore",
    "files/--exclude=notes.txt",
    // Java
    "pom.xml",
    "app/pom.xml",
    ".mvn/jvm.config",
    ".mvn/maven.config",
    ".mvn/extensions.xml",
    "mvnw",
    "build.gradle",
    "app/build.gradle.kts",
    "settings.gradle",
    "gradle.properties",
    "gradlew",
    "gradle/wrapper/gradle-wrapper.properties",
    "gradle/libs.versions.toml",
    "init.gradle",
    "src/main/resources/junit-platform.properties",
    "src/main/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener",
    "src/main/resources/META-INF/services/org.junit.jupiter.api.extension.Extension",
    "src/main/resources/mockito-extensions/org.mockito.plugins.MockMaker",
    "src/main/java/org/junit/jupiter/api/Assertions.java",
    "src/main/java/org/hamcrest/MatcherAssert.java",
    "src/test/java/AppTest.java",
    // playwright, cypress
    "playwright.config.ts",
    "playwright-ct.config.js",
    "global-setup.ts",
    "global.setup.ts",
    "auth.setup.ts",
    "e2e/fixtures.ts",
    "cypress/support/commands.js",
    "postcss.config.mjs",
  ])("leaves out %s", (path) => {
    expect(subjectOf({ work: { [path]: "{}" } })).toMatchObject({ work: [], outside: [path] });
  });

  it.each([
    "files/src/add.js",
    "src/lib.rs",
    "README.md",
    "Dockerfile",
    ".github/workflows/ci.yml",
    "files/latest.js",
    "app/__init__.py",
    "docs/testing.md",
    "docs/HEADINGS",
    "src/main/java/org/example/App.java",
    "src/main/resources/META-INF/services/org.example.Plugin",
    "src/main/resources/application.properties",
    "src/setup.ts",
  ])("takes %s", (path) => {
    expect(subjectOf({ work: { [path]: "text" } })).toMatchObject({ work: [path], outside: [] });
  });

  it("leaves out bytes a compiler made, whatever their name", () => {
    expect(subjectOf({ work: { "bin/app": "\x7fELF" } }).why).toEqual({ "bin/app": "a compiler made it" });
  });

  it("leaves out a class of the tests' library in whichever file it stands", () => {
    const twin = "// adds up\npackage org.junit.jupiter.api;\n\npublic class Assertions {}\n";
    expect(subjectOf({ work: { "src/Sum.java": twin, "src/App.java": "package org.example;\n" } })).toMatchObject({
      work: ["src/App.java"],
      why: { "src/Sum.java": "it hides a class of the tests' library" },
    });
    expect(subjectOf({ base: { "src/Sum.java": twin }, work: { "src/Sum.java": `${twin}\n` } }).outside).toEqual([]);
  });

  const RUN = "$(sh files/total.sh 1 2)";
  const OUT = "sh files/total.sh 1 2 > /tmp/out";

  it.each<[string, string]>([
    ["cat", `[ "${RUN}" = "$(cat files/want.txt)" ]`],
    ["a number", `[ "${RUN}" -eq "$(head -n 1 files/want.txt)" ]`],
    ["variables", `want=$(cat files/want.txt); got=${RUN}; [ "$got" = "$want" ]`],
    ["lines of a script", `set -eu\nwant=$(cat files/want.txt)\ngot=${RUN}\n[ "$got" = "$want" ]\n`],
    ["a function", `got() {\n  sh files/total.sh "$@"\n}\n[ "$(got 1 2)" = "$(cat files/want.txt)" ]\n`],
    ["diff of two files", `${OUT} && diff files/want.txt /tmp/out`],
    ["git's diff", `${OUT} && git diff --no-index --exit-code files/want.txt /tmp/out`],
    ["cmp on a line of its own", `${OUT}\ncmp /tmp/out files/want.txt\n`],
    ["patterns of grep", "sh files/total.sh 1 2 | grep -qxFf files/want.txt"],
    ["checksums", "sh files/total.sh 1 2 > files/out\ncd files\nsha256sum -c want.txt"],
    ["awk", "sh files/total.sh 1 2 | awk 'NR == FNR { w = $0; next } $0 != w { exit 1 }' files/want.txt -"],
    ["a pipe of rows", `cat files/want.txt | while read -r a b c; do [ "$(sh files/total.sh $a $b)" = "$c" ]; done`],
    ["rows", `while read -r a b c; do\n  [ "$(sh files/total.sh $a $b)" = "$c" ]\ndone < files/want.txt\n`],
    ["a pattern of names", `[ "${RUN}" = "$(cat files/wan*.txt)" ]`],
    ["Python in a command", `python3 -c 'assert run("files/total.sh") == open("files/want.txt").read()'`],
    [
      "Python",
      'want = load(open("files/want.txt"))\ndef total(*p):\n    return run("files/total.sh", *p)\nassert total(1, 2) == want["x"]\n',
    ],
    [
      "a file Python opened",
      'from total import f\nwith open("files/want.txt") as file:\n    want = file.read()\nassert f() == want\n',
    ],
    [
      "JavaScript over several lines",
      'import { total } from "../files/total.mjs";\nconst want = read("files/want.txt");\nassert.deepEqual(\n  total(1, 2),\n  want,\n);\n',
    ],
  ])("leaves out the answer that a check compares with what the work says: %s", (_, check) => {
    const base = { "files/want.txt": "3\n", "files/total.sh": "", "files/total.py": "" };
    const work = { "files/want.txt": "0\n", "files/total.sh": "echo 0\n" };
    expect(subjectOf({ base, work, checkTexts: [check] })).toMatchObject({
      work: ["files/total.sh"],
      why: { "files/want.txt": "the request's own checks name it" },
    });
    expect(subjectOf({ base, work, checkTexts: [check], task: "Correct want.txt" }).outside).toEqual([]);
  });

  it("leaves out values that a check sources", () => {
    const base = { "files/values.sh": "# three\nexport WANT=3\n", "files/lib.sh": "f() { echo 3; }\n" };
    const work = { "files/values.sh": "WANT=0\n", "files/lib.sh": "x" };
    const checkTexts = [`. files/values.sh\n. files/lib.sh\n[ "$(sh files/total.sh)" = "$WANT" ]\n`];
    expect(subjectOf({ base, work, checkTexts }).outside).toEqual(["files/values.sh"]);
  });

  it.each<[string, string, string]>([
    ["is compared with what the tests say", '[ "$(cat files/a-b.txt)" = "$(sh tests/generate.sh)" ]', ""],
    ["the same from beside them", '[ "$(cat ../files/a-b.txt)" = "$(sh generate.sh)" ]', ""],
    ["holds certain words", 'grep -q 6 files/a-b.txt && [ "$(sh files/total.sh)" = 6 ]', ""],
    ["is compared with words", '[ "$(cat files/a-b.txt)" = 6 ] && [ "$(sh files/total.sh)" = 6 ]', ""],
    [
      "the work is told its name",
      'sh files/total.sh files/a-b.txt && [ "$(cat files/a-b.txt)" = "$(sh files/other.sh)" ]',
      "",
    ],
    [
      "the check writes it",
      'sh files/total.sh > files/a-b.txt; [ "$(cat files/a-b.txt)" = "$(sh files/other.sh)" ]',
      "",
    ],
    ["the task speaks of it", '[ "$(sh files/total.sh)" = "$(cat files/a-b.txt)" ]', "Bring a-b.txt up to date"],
    ["the task speaks of what it holds", '[ "$(sh files/total.sh)" = "$(cat files/a-b.txt)" ]', "Correct the A-B"],
  ])("takes data that a check names where %s", (_, check, task) => {
    const base = { "files/a-b.txt": "6\n" };
    expect(subjectOf({ base, work: { "files/a-b.txt": "0\n" }, checkTexts: [check], task }).outside).toEqual([]);
  });

  it("takes data that other code reads, keys that are compared with keys, and a document", () => {
    const base = {
      "files/want.txt": "3\n",
      "files/total.py": 'open("want.txt")',
      "locales/de.json": "{}",
      "README.md": "3\n",
      VERSION: "1\n",
    };
    const work = { "files/want.txt": "0", "locales/de.json": "[]", "README.md": "0", VERSION: "2" };
    const checkTexts = [
      `[ "${RUN}" = "$(cat files/want.txt)" ]\n[ "${RUN}" = "$(cat README.md)" ]\n[ "${RUN}" = "$(cat VERSION)" ]\n`,
      'import de from "../locales/de.json";\nimport { say } from "../files/total.mjs";\nexpect(keys(de)).toEqual(keys(en));\nexpect(say("x")).toBe("y");\n',
    ];
    expect(subjectOf({ base, work, checkTexts }).outside).toEqual([]);
  });

  it("leaves out what the request forbids", () => {
    const constraints = ["Only modify files/src/"];
    const work = { "files/src/a.js": "", "files/other.js": "" };
    expect(subjectOf({ work, constraints })).toMatchObject({
      work: ["files/src/a.js"],
      why: { "files/other.js": "the request forbids it: Only modify files/src/" },
    });
  });

  it.each<[string, string, string, string]>([
    ["a checker by its name", "files/check.sh", '[ "$(cat files/out)" = 6 ]\n', "sh files/check.sh out"],
    ["a golden file", "files/expected.txt", "6\n", "sh run.sh | diff - files/expected.txt"],
    ["a golden file that is not there yet", "files/expected.txt", "", "sh run.sh | diff - files/expected.txt"],
    ["assertions that a check runs", "files/judge.js", "assert.equal(total([1, 2]), 3);\n", "node files/judge.js"],
    ["assertions in Python", "files/judge.py", "assert total([1, 2]) == 3\n", "set -e\npython3 files/judge.py\n"],
    ["all of a command that refuses", "files/run.sh", '[ "$(sh files/total.sh 1 2)" = 3 ]\n', "sh files/run.sh"],
    ["a comparison", "lib/same.mjs", "export const same = (a, b) => assert.equal(a, b);\n", 'from "../lib/same.mjs"'],
    [
      "a comparison by hand",
      "lib/same.js",
      "function same(a, b) {\n  if (a !== b) throw new Error();\n}\n",
      'require("./same.js")',
    ],
    [
      "a comparison in Python",
      "lib/same.py",
      "def same(got, wanted):\n    assert got == wanted\n",
      "from same import same",
    ],
    ["a comparison in shell", "lib/same.sh", 'same() { [ "$1" = "$2" ] || exit 1; }\n', ". lib/same.sh"],
  ])("leaves out what the checks name and decide by: %s", (_, path, text, named) => {
    const base: Record<string, string> = text === "" ? {} : { [path]: text };
    expect(subjectOf({ base, work: { [path]: "x" }, checkTexts: [named] }).why).toEqual({
      [path]: "the request's own checks name it",
    });
    expect(subjectOf({ base, work: { [path]: "x" } }).outside).toEqual([]);
    const task = `Write ${path}.`;
    expect(subjectOf({ base, work: { [path]: "x" }, checkTexts: [named], task }).outside).toEqual([]);
  });

  it.each<[string, string, string]>([
    ["files/total.sh", '[ "$#" = 0 ] && exit 1\necho 0\n', '[ "$(sh files/total.sh 1 2)" = 3 ]'],
    ["files/total.sh", "[ -f prices ] || exit 1\necho 0\n", "sh files/total.sh | grep -q 3"],
    ["files/calc.py", "def total(p):\n    assert isinstance(p, list)\n    return 0\n", "from calc import total"],
    [
      "files/calc.mjs",
      'export function total(p) {\n  if (p.length === 0) throw new Error("none");\n  return 0;\n}\n',
      'from "../files/calc.mjs"',
    ],
    [
      "files/validate.js",
      'exports.validate = (s) => {\n  if (s === "") throw new TypeError("empty");\n  return true;\n};\n',
      'require("../files/validate.js")',
    ],
    ["src/lib.rs", "pub fn total(p: &[i32]) -> i32 {\n    assert!(p.len() > 0);\n    0\n}\n", "use lib::total;"],
    ["files/verify.py", "", "python3 files/verify.py"],
    ["files/build/test", "", "./files/build/test"],
  ])("takes %s, which has conditions as any code has", (path, text, named) => {
    const base: Record<string, string> = text === "" ? {} : { [path]: text };
    expect(subjectOf({ base, work: { [path]: "x" }, checkTexts: [named] })).toMatchObject({ work: [path] });
  });

  it.each<[string, string, string, Record<string, string>]>([
    [
      "a script of npm",
      "scripts/verify.js",
      "if (total() !== 6) process.exit(1);\n",
      { "package.json": '{"scripts":{"test":"node scripts/verify.js"}}' },
    ],
    [
      "a recipe of make",
      "ci/all.sh",
      '[ "$(./total 1 2)" = 3 ] || exit 1\n',
      { Makefile: "check:\n\t@sh ci/all.sh\n" },
    ],
    [
      "a pattern of mocha",
      "checks/a.js",
      'it("adds", () => assert.equal(f(), 6));\n',
      { ".mocharc.json": '{"spec":"checks/**/*.{js,mjs}"}' },
    ],
  ])("leaves out what the base's own settings lead to: %s", (_, path, text, settings) => {
    expect(subjectOf({ base: { [path]: text, ...settings }, work: { [path]: "x" } }).outside).toEqual([path]);
    expect(subjectOf({ base: { [path]: text }, work: { [path]: "x" } }).outside).toEqual([]);
  });

  it("leaves out the answers beside what settings lead to, and cases in a folder of such", () => {
    const base = {
      "package.json": '{"scripts":{"test":"node ci/verify.js"}}',
      "ci/verify.js": 'import all from "./answers.json";\nif (f() !== all[0]) process.exit(1);\n',
      "ci/answers.json": "[6]",
      "ci/other.json": "[6]",
      "files/cases/a.json": "{}",
    };
    const work = { "ci/answers.json": "[0]", "ci/other.json": "[0]", "files/cases/a.json": null };
    expect(subjectOf({ base, work }).outside).toEqual(["ci/answers.json"]);
    const checkTexts = ['for (const name of readdirSync("files/cases")) check(name);'];
    expect(subjectOf({ base, work, checkTexts }).outside).toEqual(["ci/answers.json", "files/cases/a.json"]);
  });

  it("takes what settings lead to and what decides nothing, or is asked something", () => {
    const base = {
      "package.json": '{"scripts":{"build":"node scripts/build.js","go":"node bin/cli.js --all"},"files":["lib/*.js"]}',
      Makefile: "all:\n\tcc -o x src/x.c\n",
      "scripts/build.js": "console.log(1);\n",
      "bin/cli.js": "if (!ok()) process.exit(1);\n",
      "src/x.c": "int f(int a, int b) { if (a != b) return 1; return 0; }\n",
      "lib/a.js": "assert.equal(1, 1);\n",
    };
    const work = { "scripts/build.js": "x", "bin/cli.js": "x", "src/x.c": "x", "lib/a.js": "x" };
    expect(subjectOf({ base, work }).outside).toEqual([]);
  });

  it("leaves out goldens and their inputs, wherever they stand", () => {
    const loop = `for i in cases/*.in; do ./sum < "$i" | diff - "\${i%.in}.out"; done`;
    const base = { "cases/a.in": "1", "cases/a.out": "1", "docs/a.in": "", "files/want.txt": "6\n" };
    const work = { "cases/a.in": "0", "cases/a.out": "0", "cases/b.out": "0", "docs/a.in": "1", "golden/c.txt": "0" };
    expect(subjectOf({ base, work, checkTexts: [loop] }).work).toEqual(["docs/a.in"]);
    const elsewhere = { base: { "runs/a.in": "1", "runs/a.out": "1" }, work: { "runs/a.out": "0" } };
    expect(subjectOf({ ...elsewhere, checkTexts: [loop.replace("cases", "runs")] }).work).toEqual([]);
    const compared = { base, work: { "files/want.txt": "0\n" } };
    expect(subjectOf({ ...compared, checkTexts: ["./sum 1 2 3 | diff - files/want.txt"] }).work).toEqual([]);
    expect(subjectOf({ ...compared, checkTexts: ["diff files/want.txt tests/right.txt"] }).work).toEqual([
      "files/want.txt",
    ]);
  });

  it("brings the code of a Rust file, and the base's tests in it", () => {
    const tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn six() { assert_eq!(f(), 6); }\n}";
    const base = { "src/lib.rs": `fn f() -> i32 { 0 }\n\n${tests}\n`, "src/tests.rs": "" };
    const lie = { "src/lib.rs": `fn f() -> i32 { 1 }\n\n${tests.replace("6)", "1)")}\n`, "src/tests.rs": "x" };
    expect(subjectOf({ base, work: lie })).toMatchObject({
      merged: { "src/lib.rs": `fn f() -> i32 { 1 }\n\n${tests}\n` },
      outside: ["src/tests.rs"],
    });
    expect(subjectOf({ base, work: { "src/lib.rs": `fn f() -> i32 { 6 }\n\n${tests}\n` } }).merged).toEqual({});
    expect(subjectOf({ base, work: { "src/new.rs": `fn g() {}\n\n${tests}\n` } }).merged).toEqual({
      "src/new.rs": "fn g() {}\n",
    });
    expect(subjectOf({ base, work: lie, subject: ["src/lib.rs"] }).merged).toEqual({});
  });

  it("takes documents whose examples pytest tries for tests", () => {
    const base = { "docs/guide.md": ">>> add(2, 3)\n5\n", "docs/plain.md": "words\n" };
    const work = { "docs/guide.md": ">>> add(2, 3)\n6\n", "docs/plain.md": "others\n" };
    const checkTexts = ["pytest --doctest-glob='*.md' docs"];
    expect(subjectOf({ base, work, checkTexts }).outside).toEqual(["docs/guide.md"]);
    const settings = { ...base, "pytest.ini": '[pytest]\naddopts = --doctest-glob="*.md"\n' };
    expect(subjectOf({ base: settings, work }).outside).toEqual(["docs/guide.md"]);
    expect(subjectOf({ base, work }).outside).toEqual([]);
  });

  it("brings of new settings nothing that a runner would load by itself", () => {
    const project = '[project]\nname = "a"\n\n[project.entry-points.pytest11]\nplug = "a.plug"\n';
    const { merged, outside } = subjectOf({
      work: { "pyproject.toml": project, "package.json": '{ "name": "chai", "exports": "./fake.js" }' },
    });
    expect(merged["pyproject.toml"]).not.toContain("plug");
    expect(JSON.parse(merged["package.json"]!)).toEqual({ exports: "./fake.js" });
    expect(outside).toEqual(["pyproject.toml", "package.json"]);
    const services = "src/main/resources/META-INF/services";
    const java = {
      [`${services}/org.junit.platform.launcher.PostDiscoveryFilter`]: "F",
      [`${services}/app.Plugin`]: "P",
    };
    expect(subjectOf({ work: java }).outside).toEqual([`${services}/org.junit.platform.launcher.PostDiscoveryFilter`]);
  });

  it("brings the module, the version and the requirements of go.mod", () => {
    const mod = (more: string) => `module example.org/a\n\ngo 1.19\n${more}`;
    const replaces = "\nreplace example.org/b => ./b\n";
    expect(subjectOf({ work: { "go.mod": mod(replaces), "go.sum": "x" } })).toMatchObject({
      work: ["go.sum"],
      merged: { "go.mod": mod("") },
      outside: ["go.mod"],
    });
    const required = "\nrequire (\n\texample.org/b v1.0.0\n\texample.org/c v1.2.0 // indirect\n)\n";
    const changed = subjectOf({ base: { "go.mod": mod(replaces) }, work: { "go.mod": mod(required) } });
    expect(changed.merged).toEqual({ "go.mod": mod(`${required}${replaces}`) });
  });

  it("takes what make includes for a part of the makefile", () => {
    const base = { Makefile: "include tools/list\n-include local\ncheck:\n\ttrue\n", "tools/list": "TESTS = a b\n" };
    const work = { "tools/list": "TESTS = a\n", local: "TESTS = a\n", "tools/other": "" };
    expect(subjectOf({ base, work }).outside).toEqual(["tools/list", "local"]);
  });

  it("keeps the line that brings the tests of a Rust file in", () => {
    const base = { "src/lib.rs": "#[cfg(test)]\nmod tests;\n", "src/tests.rs": "" };
    const kept = { "src/lib.rs": "fn f() {}\n\n#[cfg(test)]\nmod tests;\n" };
    expect(subjectOf({ base, work: { "src/lib.rs": "fn f() {}\n" } }).merged).toEqual(kept);
    const moved = 'fn f() {}\n#[cfg(test)]\n#[path = "other.rs"]\nmod tests;\n';
    expect(subjectOf({ base, work: { "src/lib.rs": moved } }).merged).toEqual(kept);
  });

  it("knows a module of Python's own name that is meant", () => {
    const base = { "pkg/__init__.py": "", "flat/a.py": "", "files/queue.py": "" };
    const inPackage = { "pkg/types.py": "", "newpkg/__init__.py": "", "newpkg/queue.py": "" };
    expect(subjectOf({ base, work: { ...inPackage, "files/queue.py": "x" } }).outside).toEqual([]);
    expect(subjectOf({ base, work: { "flat/types.py": "", "flat/__init__.py": "" } }).outside).toEqual([
      "flat/types.py",
    ]);
    const named = {
      work: { "files/stack/queue.py": "", "files/heapq.py": "" },
      checkTexts: ["python3 files/heapq.py"],
    };
    expect(subjectOf(named).outside).toEqual(["files/stack/queue.py"]);
  });

  it("takes a link that leads to the work, and no other", () => {
    const work = { "src/b.js": "-> a.js", "src/t": "-> ../tests", up: "-> ../..", etc: "-> /etc/passwd" };
    expect(subjectOf({ base: { "src/a.js": "" }, work })).toMatchObject({
      work: ["src/b.js"],
      outside: ["src/t", "up", "etc"],
    });
  });
});

describe("a declared subject", () => {
  it("is what it says, steering files by name only", () => {
    const work = { "files/a.js": "", "files/Makefile": "", "files/x.test.js": "", "other.js": "", "tests/t.sh": "" };
    expect(subjectOf({ work, subject: ["files/"] })).toMatchObject({ work: ["files/a.js"] });
    expect(subjectOf({ work, subject: ["files/", "files/Makefile"] })).toMatchObject({
      work: ["files/a.js", "files/Makefile"],
    });
    expect(subjectOf({ work, subject: ["tests/", "other.js"] })).toMatchObject({ work: ["other.js"] });
  });

  it("may be a folder of tests that are the work", () => {
    const work = { "files/spec/a.test.js": "" };
    expect(subjectOf({ work, subject: ["files/spec/"] })).toMatchObject({ work: ["files/spec/a.test.js"] });
  });
});

describe("settings that are half work", () => {
  const base = { "package.json": '{"scripts":{"test":"vitest"},"dependencies":{"a":"1"}}', "package-lock.json": "1" };

  it("brings dependencies and their lock, and keeps the base's scripts", () => {
    const work = {
      "package.json": '{"scripts":{"test":"true"},"dependencies":{"a":"2"},"jest":{"testMatch":[]}}',
      "package-lock.json": "2",
    };
    const found = subjectOf({ base, work });
    expect(JSON.parse(found.merged["package.json"]!)).toEqual({
      scripts: { test: "vitest" },
      dependencies: { a: "2" },
    });
    expect(found).toMatchObject({ work: ["package-lock.json"], outside: ["package.json"] });
  });

  it("leaves nothing outside when only dependencies changed, and no lock without them", () => {
    const work = { "package.json": '{"scripts":{"test":"vitest"},"dependencies":{"a":"3"}}' };
    expect(subjectOf({ base, work }).outside).toEqual([]);
    expect(subjectOf({ base, work: { "package-lock.json": "2" } }).outside).toEqual(["package-lock.json"]);
  });

  it("brings the code of a new dependency that lies in the tree, and nothing that was there before", () => {
    const settings = '{"scripts":{"test":"vitest"},"dependencies":{"a":"1","b":"file:vendor/b"}}';
    const work = {
      "package.json": settings,
      "vendor/b/index.js": "x",
      "vendor/b/Makefile": "x",
      "vendor/c/index.js": "x",
    };
    expect(subjectOf({ base, work }).work).toEqual(["vendor/b/index.js"]);
    expect(subjectOf({ base: { ...base, "vendor/b/old.js": "" }, work }).work).toEqual([]);
  });

  it("takes of a new file only what says how the code is loaded", () => {
    const work = { "package.json": '{"name":"x","type":"module","scripts":{"test":"true"}}' };
    const found = subjectOf({ work });
    expect(JSON.parse(found.merged["package.json"]!)).toEqual({ name: "x", type: "module" });
  });

  it("reads pyproject.toml and Cargo.toml", () => {
    const before = {
      "pyproject.toml": '[project]\nname = "x"\ndependencies = []\n[tool.pytest.ini_options]\naddopts = "-q"\n',
      "Cargo.toml": '[package]\nname = "x"\n[dependencies]\n',
    };
    const work = {
      "pyproject.toml": '[project]\nname = "x"\ndependencies = ["a"]\n[tool.pytest.ini_options]\naddopts = "--co"\n',
      "Cargo.toml": '[package]\nname = "x"\nautotests = false\n[dependencies]\nserde = "1"\n',
    };
    const { merged, outside } = subjectOf({ base: before, work });
    expect(merged["pyproject.toml"]).toContain('addopts = "-q"');
    expect(merged["pyproject.toml"]).toMatch(/dependencies = \[\s*"a",?\s*\]/);
    expect(merged["Cargo.toml"]).toContain('serde = "1"');
    expect(merged["Cargo.toml"]).not.toContain("autotests");
    expect(outside).toEqual(["pyproject.toml", "Cargo.toml"]);
  });

  describe("tables that only the tests read", () => {
    const asks = 'import { add } from "../files/calc.mjs"; read("files/data/sums.csv")';
    const base = { "files/calc.mjs": "export const add = () => 0;", "files/data/sums.csv": "1,2,3\n4,5,9\n" };
    const work = { "files/calc.mjs": "x", "files/data/sums.csv": "1,2,3\n" };

    it("are the base's", () => {
      expect(subjectOf({ base, work, checkTexts: [asks] }).outside).toEqual(["files/data/sums.csv"]);
    });

    it.each([
      ["other code reads them", { ...base, "files/load.mjs": 'read("sums.csv")' }, asks, ""],
      ["the task asks for them", base, asks, "Complete the sums"],
      ["the test is about nothing else", base, 'read("files/data/sums.csv")', ""],
      ["their rows are not alike", { ...base, "files/data/sums.csv": "a title\n1,2,3\n" }, asks, ""],
    ])("are the work when %s", (_, files, test, task) => {
      expect(subjectOf({ base: files, work, checkTexts: [test], task }).outside).toEqual([]);
    });
  });
});
