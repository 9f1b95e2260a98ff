import { describe, expect, it } from "vitest";
import type { Recognised } from "../runners/recognise.js";
import type { TreeView } from "../runners/runner.js";
import { unseenTests } from "./unseen.js";

const viewOf = (files: Readonly<Record<string, string>>): TreeView => ({
  exists: (path) => path in files,
  read: (path) => files[path] ?? null,
  list: (folder) => {
    const below = Object.keys(files)
      .filter((path) => folder === "" || path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder === "" ? 0 : folder.length + 1));
    return [...new Set(below.map((path) => (path.includes("/") ? path.replace(/\/.*/, "/") : path)))];
  },
});
const asked = (runner: Recognised["runner"], args: readonly string[] = []): Recognised => ({
  runner,
  target: null,
  cwd: "",
  args,
});
const passed = (id: string) => ({ id, status: "passed" as const });
const test = 'import { test } from "node:test";\ntest("a", () => {});\n';
const spoiled = (runner: Recognised, files: Readonly<Record<string, string>>, seen: readonly string[]) =>
  [...(unseenTests(runner, viewOf(files), seen.map(passed))?.files.keys() ?? [])].sort();

describe("files of tests of which none was seen", () => {
  const files = { "tests/a.test.mjs": test, "tests/b.test.mjs": test, "tests/help.mjs": "export const x = 1;\n" };

  it("are made unfit to be loaded", () => {
    expect(spoiled(asked("node-test"), files, ["tests/a.test.mjs > a"])).toEqual(["tests/b.test.mjs"]);
    expect(spoiled(asked("node-test"), files, ["tests/a.test.mjs > a", "tests/b.test.mjs > a"])).toEqual([]);
  });

  it("are left alone where the author chooses among the tests that are loaded", () => {
    const python = { "tests/test_a.py": "def test_a():\n    assert 1 == 1\n" };
    expect(spoiled(asked("pytest"), python, [])).toEqual(["tests/test_a.py"]);
    expect(spoiled(asked("pytest", ["-k", "other"]), python, [])).toEqual([]);
    const settings = { ...python, "pytest.ini": "[pytest]\naddopts = -q -m 'not slow'\n" };
    expect(spoiled(asked("pytest"), settings, [])).toEqual([]);
    const rust = { "tests/a.rs": "#[test]\nfn a() { assert_eq!(1, 1); }\n" };
    expect(spoiled(asked("cargo-test", ["--test", "b"]), rust, [])).toEqual(["tests/a.rs"]);
    expect(spoiled(asked("cargo-test", ["some_name"]), rust, [])).toEqual([]);
  });

  it("are told apart by their packages in Go and by their names in Rust", () => {
    const go = (name: string) => `package ${name}\n\nfunc TestA(t *testing.T) {\n\tif 1 != 1 { t.Error("no") }\n}\n`;
    const two = { "one/a_test.go": go("one"), "two/a_test.go": go("two") };
    expect(spoiled(asked("go-test"), two, ["x/one > TestA"])).toEqual(["two/a_test.go"]);
    const own = {
      "files/go.mod": "module example.org/sums\n",
      "files/a_test.go": go("sums"),
      "files/in/a_test.go": go("in"),
    };
    expect(spoiled(asked("go-test"), own, ["example.org/sums > TestA"])).toEqual(["files/in/a_test.go"]);
    const unit = { "src/tests.rs": "#[test]\nfn adds() { assert_eq!(1, 1); }\n" };
    expect(spoiled(asked("cargo-test"), unit, ["src/lib.rs > tests::adds"])).toEqual([]);
    expect(spoiled(asked("cargo-test"), unit, ["tests/easy.rs > one"])).toEqual(["src/tests.rs"]);
    const both = (more: string) => ({ "src/tests.rs": `${unit["src/tests.rs"]}${more}#[test]\nfn muls() {}\n` });
    expect(spoiled(asked("cargo-test"), both(""), ["src/lib.rs > tests::adds"])).toEqual(["src/tests.rs"]);
    expect(spoiled(asked("cargo-test"), both("#[cfg(windows)]\n"), ["src/lib.rs > tests::adds"])).toEqual([]);
  });
});
