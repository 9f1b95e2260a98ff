import { describe, expect, it } from "vitest";
import type { ResultChange } from "../../trees/result-tree.js";
import type { CheckPlan } from "../model.js";
import { findSubject } from "./subject.js";

interface Case {
  readonly base?: Readonly<Record<string, string>>;
  /** null deletes, `-> x` is a link. */
  readonly work: Readonly<Record<string, string | null>>;
  readonly subject?: readonly string[];
  readonly constraints?: readonly string[];
  readonly checkTexts?: readonly string[];
  readonly asserting?: readonly string[];
}

function subjectOf({ base = {}, work, subject, constraints = [], checkTexts = [], asserting = [] }: Case) {
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
    checkTexts,
    hasAssertions: (path) => asserting.includes(path),
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

  it("leaves out checkers that the request's own checks name, by their name or what they hold", () => {
    const base = { "files/check.sh": "", "files/judge.js": "", "files/app.js": "" };
    const work = { "files/check.sh": "x", "files/judge.js": "x", "files/app.js": "x", "files/verify.py": "x" };
    const checkTexts = ["sh files/check.sh && node files/judge.js && python3 files/verify.py", 'import "./app.js"'];
    expect(subjectOf({ base, work, checkTexts, asserting: ["files/judge.js"] })).toMatchObject({
      work: ["files/app.js"],
      outside: ["files/check.sh", "files/judge.js", "files/verify.py"],
    });
    expect(subjectOf({ base, work, asserting: ["files/judge.js"] }).outside).toEqual([]);
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
