import { describe, expect, it } from "vitest";
import type { ResultChange } from "../../trees/result-tree.js";
import { decides, filesRunAlone } from "../controls/decides.js";
import type { CheckPlan } from "../model.js";
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
      runAlone: new Set(checkTexts.flatMap(filesRunAlone)),
      wholeCommands: new Set(checkTexts.map((text) => text.split(" ")[1]!)),
      task,
    },
  });
  return {
    work: found.work.map(({ path }) => path),
    outside: found.outside.map(({ path }) => path),
    merged: Object.fromEntries(found.merged),
    why: Object.fromEntries(found.outside.map(({ path, why }) => [path, why])),
  };
}

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
  ])("takes %s", (path) => {
    expect(subjectOf({ work: { [path]: "text" } })).toMatchObject({ work: [path], outside: [] });
  });

  it("leaves out bytes a compiler made, whatever their name", () => {
    expect(subjectOf({ work: { "bin/app": "\x7fELF" } }).why).toEqual({ "bin/app": "a compiler made it" });
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
});
