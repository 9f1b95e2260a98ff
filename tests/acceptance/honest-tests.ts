// Small honest projects: right work with tests as people write them. Each must pass as it is, and each control must fail
// it as an assertion of the tests that were altered.
// Long because: one table of small projects in many languages, each with its whole text.
import type { Check } from "../../src/acceptance/model.js";

export interface Honest {
  readonly name: string;
  /** The program without which it is skipped. */
  readonly needs?:
    | "pytest"
    | "go"
    | "cargo"
    | "junit"
    | "gcc"
    | "make"
    | "vitest"
    | "jest"
    | "playwright"
    | "bash"
    | "python3";
  readonly files: Readonly<Record<string, string>>;
  readonly check: Partial<Check>;
  /** It compiles, or starts a browser: only in the long form. */
  readonly slow?: boolean;
  /** How many tests the runner tells of; null for plain scripts. */
  readonly tests: number | null;
  /** How many controls there are (of slow ones at least), and how many tests the altered one must fail. */
  readonly controls: number;
  readonly altered?: number;
  readonly forgeable: boolean;
}

const ADD =
  "export const add = (a, b) => a + b;\nexport const fails = () => { throw new TypeError('no such thing'); };\n";
const CLI = "const [a, b] = process.argv.slice(2).map(Number);\nconsole.log(a + b);\n";
const ADD_PY = "def add(a, b):\n    return a + b\n\ndef fails():\n    raise ValueError('no such thing')\n";
const SUM_SH = "#!/bin/sh\necho $(($1 + $2))\n";

const nodeTest = (name: string, text: string, more: Partial<Honest> = {}): Honest => ({
  name: `node:test: ${name}`,
  files: { "src/add.mjs": ADD, "src/cli.mjs": CLI, "tests/add.test.mjs": text },
  check: { kind: "node-test", script: "tests/add.test.mjs" },
  tests: 1,
  altered: 1,
  controls: 2,
  forgeable: true,
  ...more,
});

const HEAD =
  'import { test, describe, it } from "node:test";\nimport assert from "node:assert/strict";\nimport { add, fails } from "../src/add.mjs";\n';

const NODE: readonly Honest[] = [
  nodeTest("literals", `${HEAD}test("adds", () => { assert.equal(add(2, 3), 5); });\n`),
  nodeTest(
    "objects, lists, texts",
    `${HEAD}test("adds", () => {\n  assert.deepEqual({ sum: add(1, 1) }, { sum: 2 });\n});\ntest("joins", () => assert.deepEqual([add("a", "b")], ["ab"]));\n`,
    { tests: 2, altered: 2 },
  ),
  nodeTest(
    "computed expectations",
    `${HEAD}test("adds", () => { const want = 2 + 3; assert.strictEqual(add(2, 3), want); });\n`,
  ),
  nodeTest(
    "errors",
    `${HEAD}test("a class", () => assert.throws(() => fails(), TypeError));\ntest("any", () => assert.throws(fails));\ntest("by message", () => assert.throws(fails, { message: "no such thing" }));\ntest("pattern", async () => { await assert.rejects(async () => fails(), /such|other/); });\n`,
    { tests: 4, altered: 4 },
  ),
  nodeTest(
    "groups, loops and templates",
    `${HEAD}describe("add", () => {\n  for (const [a, b, sum] of [[1, 1, 2], [2, 3, 5]]) it(\`adds \${a} and \${b}\`, () => assert.equal(add(a, b), sum));\n  it("is 'exact'", () => assert.ok(add(1, 2) === 3));\n});\n`,
    { tests: 3, altered: 3 },
  ),
  nodeTest(
    "subtests and the opposite",
    `${HEAD}test("outer", async (t) => {\n  await t.test("inner", () => assert.notEqual(add(1, 1), 3));\n  assert.match(String(add(1, 1)), /^2$/);\n});\n`,
    { tests: 2, altered: 2 },
  ),
  nodeTest(
    "a helper of its own",
    `${HEAD}function check(a, b, sum) { assert.equal(add(a, b), sum); }\ntest("one", () => check(1, 1, 2));\ntest("two", () => { check(2, 2, 4); });\n`,
    { tests: 2, altered: 2 },
  ),
  nodeTest(
    "a skipped and a planned one",
    `${HEAD}test("adds", () => assert.equal(add(2, 3), 5));\ntest.skip("later", () => assert.equal(add(2, 3), 6));\ntest.todo("one day");\ntest("here not", { skip: true }, () => {});\n`,
  ),
  nodeTest(
    "another process",
    'import { test } from "node:test";\nimport assert from "node:assert";\nimport { execFileSync } from "node:child_process";\ntest("prints", () => assert.equal(execFileSync(process.execPath, ["src/cli.mjs", "2", "3"], { encoding: "utf8" }), "5\\n"));\n',
    { forgeable: false },
  ),
  nodeTest(
    "conditions that throw",
    `${HEAD}test("adds", () => { if (add(2, 3) !== 5) throw new Error("wrong sum"); });\n`,
  ),
  nodeTest(
    "imported names",
    'import test from "node:test";\nimport { strictEqual, deepEqual as same } from "node:assert";\nimport { add } from "../src/add.mjs";\ntest("one", () => strictEqual(add(1, 1), 2));\ntest("two", () => same([add(1, 1)], [2]));\n',
    { tests: 2, altered: 2 },
  ),
  {
    ...nodeTest("commonjs, by a test script", ""),
    files: {
      "src/add.cjs": "exports.add = (a, b) => a + b;\n",
      "tests/add.test.cjs":
        'const { test } = require("node:test");\nconst assert = require("node:assert");\nconst { add } = require("../src/add.cjs");\ntest("adds", () => assert.equal(add(2, 3), 5));\n',
    },
    check: { kind: "jest", script: "tests/add.test.cjs" },
  },
  {
    ...nodeTest("npm test", ""),
    files: {
      "src/add.mjs": ADD,
      "tests/add.test.mjs": `${HEAD}test("adds", () => assert.equal(add(2, 3), 5));\n`,
      "package.json": '{ "scripts": { "test": "node --test tests/*.test.mjs" } }\n',
    },
    check: { kind: "shell", command: "npm test" },
  },
];

const shell = (name: string, text: string, more: Partial<Honest> = {}): Honest => ({
  name: `shell: ${name}`,
  files: { "sum.sh": SUM_SH, "tests/check.sh": text },
  check: { kind: "shell", script: "tests/check.sh" },
  tests: null,
  controls: 2,
  forgeable: false,
  ...more,
});

const SHELL: readonly Honest[] = [
  shell("a comparison", '#!/bin/sh\nset -e\n[ "$(sh sum.sh 2 3)" = "5" ]\n'),
  shell(
    "its own folder",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's
    '#!/usr/bin/env bash\nset -euo pipefail\ncd "$(dirname "${BASH_SOURCE[0]}")/.."\nout=$(sh sum.sh 2 3)\nif [[ "$out" != 5 ]]; then echo "FAIL: $out"; exit 1; fi\necho ok\n',
    { needs: "bash" },
  ),
  shell(
    "either exit",
    '#!/bin/sh\nif [ "$(sh sum.sh 2 3)" -eq 5 ]; then\n  echo ok\n  exit 0\nelse\n  echo bad\n  exit 1\nfi\n',
  ),
  shell(
    "an expected variable and a trap",
    '#!/bin/sh\ntmp=$(mktemp)\ntrap \'rm -f "$tmp"\' EXIT\nexpected="5"\nsh sum.sh 2 3 > "$tmp"\n[ "$(cat "$tmp")" = "$expected" ] || { echo "not equal"; exit 1; }\nexit 0\n',
  ),
  shell(
    "grep and a function",
    '#!/bin/sh\ncheck() { [ "$1" = "$2" ] || { echo "FAIL $1"; exit 1; }; }\ncheck "$(sh sum.sh 1 1)" 2\nsh sum.sh 2 3 | grep -q "^5$"\n',
  ),
  shell(
    "case and text in place",
    "#!/bin/sh\nset -e\ncase \"$(sh sum.sh 2 3)\" in\n  5) echo ok ;;\n  *) exit 3 ;;\nesac\nsh sum.sh 2 3 | diff - - <<'EOF' || true\n5\nEOF\n",
  ),
  shell("a golden file", "#!/bin/sh\nsh sum.sh 2 3 | diff tests/expected.txt -\n", {
    files: {
      "sum.sh": SUM_SH,
      "tests/expected.txt": "5\n",
      "tests/check.sh": "#!/bin/sh\nsh sum.sh 2 3 | diff tests/expected.txt -\n",
    },
  }),
  shell("a status", "#!/bin/sh\nsh sum.sh 2 3 >/dev/null\n", { controls: 1 }),
  shell("a command", "", { check: { kind: "shell", command: 'test "$(sh sum.sh 2 3)" = 5' } }),
  shell("a command with its own program", "", {
    files: { "add.mjs": ADD },
    check: {
      kind: "shell",
      command: "node -e 'import(\"./add.mjs\").then((m) => { if (m.add(2, 3) !== 5) process.exit(1); })'",
    },
    forgeable: true,
  }),
  shell("what it prints", "", {
    check: { kind: "shell", command: "sh sum.sh 2 3", expected: { stdout_contains: "5" } },
    controls: 2,
  }),
  shell("another exit code", "#!/bin/sh\nsh sum.sh 2 3\nexit 3\n", {
    check: { kind: "shell", script: "tests/check.sh", expected: { exit_code: 3, stdout_contains: ["5"] } },
    controls: 3,
  }),
  shell(
    "TAP",
    '#!/bin/sh\necho "TAP version 13"\necho "1..2"\n[ "$(sh sum.sh 2 3)" = 5 ] && echo "ok 1 - adds" || echo "not ok 1 - adds"\n[ "$(sh sum.sh 0 0)" = 0 ] && echo "ok 2 - zero" || echo "not ok 2 - zero"\n',
    { check: { kind: "tap", script: "tests/check.sh" }, tests: 2 },
  ),
];

const python = (name: string, text: string, more: Partial<Honest> = {}): Honest => ({
  name: `python: ${name}`,
  needs: "python3",
  files: { "calc.py": ADD_PY, "tests/check.py": text },
  check: { kind: "shell", script: "tests/check.py" },
  tests: null,
  controls: 2,
  forgeable: true,
  ...more,
});
const PATH = 'import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))\n';

const PLAIN: readonly Honest[] = [
  python("assert", `${PATH}from calc import add\nassert add(2, 3) == 5, "sum"\nprint("ok")\n`),
  python(
    "main with an exit",
    `${PATH}import calc\n\ndef main():\n    if calc.add(2, 3) != 5:\n        print("FAIL")\n        return 1\n    return 0\n\nif __name__ == "__main__":\n    sys.exit(main())\n`,
    { controls: 2 },
  ),
  python(
    "unittest",
    `${PATH}import unittest\nfrom calc import add, fails\n\nclass AddTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n\n    def test_fails(self):\n        with self.assertRaises(ValueError):\n            fails()\n\nif __name__ == "__main__":\n    unittest.main()\n`,
    { controls: 3 },
  ),
  python(
    "another process",
    'import subprocess, sys\nout = subprocess.run([sys.executable, "-c", "print(2 + 3)"], capture_output=True, text=True)\nassert out.stdout == "5\\n"\n',
    { forgeable: false },
  ),
  {
    ...shell("node", ""),
    name: "node: assert at the top",
    files: {
      "src/add.mjs": ADD,
      "tests/check.mjs":
        'import assert from "node:assert";\nimport { add } from "../src/add.mjs";\nassert.equal(add(2, 3), 5);\nassert.deepEqual([add(1, 1)], [2]);\nconsole.log("ok");\n',
    },
    check: { kind: "shell", script: "tests/check.mjs" },
    forgeable: true,
    // The last expectation is altered alone, too.
    controls: 3,
  },
  {
    ...shell("node", ""),
    name: "node: a main that ends the process",
    files: {
      "src/add.cjs": "exports.add = (a, b) => a + b;\n",
      "tests/check.cjs":
        'const { add } = require("../src/add.cjs");\nasync function main() {\n  let failures = 0;\n  await new Promise((resolve) => setTimeout(resolve, 10));\n  if (add(2, 3) !== 5) failures += 1;\n  process.exit(failures > 0 ? 1 : 0);\n}\nmain();\n',
    },
    check: { kind: "shell", command: "node tests/check.cjs" },
    forgeable: true,
  },
];

const pytest = (name: string, text: string, more: Partial<Honest> = {}): Honest => ({
  name: `pytest: ${name}`,
  needs: "pytest",
  files: { "conftest.py": "", "calc.py": ADD_PY, "tests/test_calc.py": text },
  check: { kind: "pytest", script: "tests/test_calc.py" },
  tests: 1,
  altered: 1,
  controls: 2,
  forgeable: true,
  ...more,
});

const PYTEST: readonly Honest[] = [
  pytest("assert", "from calc import add\n\ndef test_add():\n    assert add(2, 3) == 5\n"),
  pytest(
    "parameters, raises and classes",
    'import pytest\nfrom calc import add, fails\n\n@pytest.mark.parametrize("a,b,total", [(1, 1, 2), (2, 3, 5)])\ndef test_add(a, b, total):\n    assert add(a, b) == total\n\ndef test_fails():\n    with pytest.raises(ValueError):\n        fails()\n\nclass TestMore:\n    def test_text(self, tmp_path):\n        assert "ab" in add("a", "b")\n        assert add(1, 1) > 1\n        assert isinstance(add(1, 1), int)\n',
    { tests: 4, altered: 4, controls: 4 },
  ),
  pytest(
    "unittest",
    "import unittest\nfrom calc import add\n\nclass CalcTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n        self.assertTrue(add(1, 1) == 2)\n",
    { controls: 3 },
  ),
  pytest(
    "one that is skipped, by a command",
    "import pytest\nfrom calc import add\n\n@pytest.mark.skip(reason='later')\ndef test_later():\n    assert add(1, 1) == 3\n\ndef test_add():\n    assert [add(1, 1)] == [2]\n",
    { check: { kind: "shell", command: "python3 -m pytest -q tests" } },
  ),
];

const compiled = (
  needs: NonNullable<Honest["needs"]>,
  name: string,
  files: Honest["files"],
  check: Honest["check"],
  tests: number | null,
  altered?: number,
  controls = 2,
): Honest => ({
  name: `${needs}: ${name}`,
  needs,
  files,
  check,
  tests,
  ...(altered === undefined ? {} : { altered }),
  controls,
  forgeable: true,
  slow: needs !== "gcc" && needs !== "vitest",
});

const GO_FILES = {
  "go.mod": "module example.test/calc\n\ngo 1.19\n",
  "calc.go":
    'package calc\n\nimport "errors"\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Half(a int) (int, error) {\n\tif a%2 != 0 {\n\t\treturn 0, errors.New("odd")\n\t}\n\treturn a / 2, nil\n}\n',
};
const GO_TEST =
  'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(2, 3); got != 5 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n\nfunc TestTable(t *testing.T) {\n\tcases := []struct {\n\t\tname       string\n\t\ta, b, want int\n\t}{{"small", 1, 1, 2}, {"large", 20, 30, 50}}\n\tfor _, c := range cases {\n\t\tt.Run(c.name, func(t *testing.T) {\n\t\t\tif got := Add(c.a, c.b); got != c.want {\n\t\t\t\tt.Fatalf("got %d", got)\n\t\t\t}\n\t\t})\n\t}\n}\n\nfunc TestHalf(t *testing.T) {\n\tif _, err := Half(3); err == nil {\n\t\tt.Fatal("no error")\n\t}\n}\n';
const CARGO_FILES = {
  "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
  "src/lib.rs":
    'pub fn add(a: i32, b: i32) -> i32 { a + b }\npub fn half(a: u8) -> Result<u8, String> { if a % 2 == 0 { Ok(a / 2) } else { Err("odd".to_string()) } }\npub fn boom() { panic!("boom here") }\n',
};
const CARGO_TEST =
  'use calc::{add, boom, half};\n\n#[test]\nfn adds() {\n    assert_eq!(add(2, 3), 5);\n    assert!(add(1, 1) > 1);\n}\n\n#[test]\nfn halves() {\n    assert_eq!(half(4), Ok(2));\n    assert_eq!(half(3), Err("odd".to_string()));\n}\n\n#[test]\n#[should_panic(expected = "boom")]\nfn panics() {\n    boom();\n}\n\n#[test]\n#[ignore]\nfn later() {\n    assert_eq!(add(1, 1), 3);\n}\n';
const C_FILES = {
  "add.c": "int add(int a, int b) { return a + b; }\n",
  Makefile:
    "test: build/test_add\n\t./build/test_add\nbuild/test_add: tests/test_add.c add.c\n\tmkdir -p build\n\t$(CC) -o $@ $^\n.PHONY: test\n",
};

const COMPILED: readonly Honest[] = [
  compiled(
    "go",
    "guards, tables, errors",
    { ...GO_FILES, "calc_test.go": GO_TEST },
    { kind: "go-test", script: "calc_test.go" },
    5,
    3,
  ),
  compiled(
    "cargo",
    "an integration test",
    { ...CARGO_FILES, "tests/calc.rs": CARGO_TEST },
    { kind: "shell", command: "cargo test" },
    3,
    3,
  ),
  compiled(
    "gcc",
    "assert, by make",
    {
      ...C_FILES,
      "tests/test_add.c":
        "#include <assert.h>\nint add(int, int);\nint main(void) { assert(add(2, 3) == 5); return 0; }\n",
    },
    { kind: "shell", command: "make test" },
    null,
  ),
  compiled(
    "gcc",
    "conditions, by a script",
    {
      ...C_FILES,
      "tests/test_add.c":
        '#include <stdio.h>\nint add(int, int);\nint main(void) {\n  if (add(2, 3) != 5) {\n    fprintf(stderr, "FAIL\\n");\n    return 1;\n  }\n  return 0;\n}\n',
      "tests/run.sh": '#!/bin/sh\nset -e\nout=$(mktemp)\ncc -o "$out" tests/test_add.c add.c\n"$out"\n',
    },
    { kind: "shell", script: "tests/run.sh" },
    null,
  ),
  compiled(
    "junit",
    "JUnit 4",
    {
      "src/Calc.java": "public class Calc { public static int add(int a, int b) { return a + b; } }\n",
      "tests/CalcTest.java":
        "import static org.junit.Assert.*;\nimport org.junit.Test;\n\npublic class CalcTest {\n  @Test public void adds() { assertEquals(5, Calc.add(2, 3)); assertTrue(Calc.add(1, 1) == 2); }\n  @Test public void isExact() { int want = 4; assertEquals(want, Calc.add(2, 2)); }\n}\n",
    },
    { kind: "junit" },
    2,
    2,
  ),
  compiled(
    "junit",
    "JUnit 5",
    {
      "src/Calc.java": "package calc;\npublic class Calc { public static int add(int a, int b) { return a + b; } }\n",
      "tests/CalcTest.java":
        'package calc;\nimport static org.junit.jupiter.api.Assertions.*;\nimport org.junit.jupiter.api.Test;\n\nclass CalcTest {\n  @Test void adds() { assertEquals(5, Calc.add(2, 3), "sum"); assertFalse(Calc.add(1, 1) == 3); }\n}\n',
    },
    { kind: "junit", script: "tests/CalcTest.java" },
    1,
    1,
  ),
];

const VITEST_TEXT =
  'import { describe, expect, it, test } from "vitest";\nimport { add, fails } from "../src/add.mjs";\n\ndescribe("add", () => {\n  it("adds", () => { expect(add(2, 3)).toBe(5); });\n  it.each([[1, 1, 2], [2, 3, 5]])("%i + %i", (a, b, sum) => { expect(add(a, b)).toEqual(sum); });\n  it("refuses", () => { expect(() => fails()).toThrow(); });\n  it("is not 6", () => { expect(add(2, 3)).not.toBe(6); expect(add(1, 1)).toBeGreaterThan(1); });\n});\ntest.skip("later", () => { expect(add(1, 1)).toBe(3); });\ntest("objects", async () => { await expect(Promise.resolve({ a: add(1, 1) })).resolves.toMatchObject({ a: 2 }); expect([1]).toHaveLength(1); });\n';
const JAVASCRIPT: readonly Honest[] = [
  compiled(
    "vitest",
    "expect",
    {
      "package.json": '{ "type": "module", "scripts": { "test": "vitest run" } }\n',
      "src/add.mjs": ADD,
      "tests/add.test.mjs": VITEST_TEXT,
    },
    { kind: "shell", command: "npm test" },
    6,
    6,
    3,
  ),
  compiled(
    "vitest",
    "TypeScript",
    {
      "package.json": '{ "type": "module" }\n',
      "src/add.ts": "export const add = (a: number, b: number): number => a + b;\n",
      "tests/add.test.ts":
        'import { expect, test } from "vitest";\nimport { add } from "../src/add";\ntest("adds", () => { const want: number = 5; expect(add(2, 3)).toBe(want); });\n',
    },
    { kind: "vitest", script: "tests/add.test.ts" },
    1,
    1,
  ),
  compiled(
    "jest",
    "expect",
    {
      "package.json": "{}\n",
      "src/add.js": "exports.add = (a, b) => a + b;\n",
      "tests/add.test.js":
        'const { add } = require("../src/add.js");\ndescribe("add", () => {\n  test("adds", () => { expect(add(2, 3)).toBe(5); });\n  it("throws", () => { expect(() => { throw new TypeError("x"); }).toThrow(TypeError); });\n  test.todo("more");\n});\n',
    },
    { kind: "jest", script: "tests/add.test.js" },
    2,
    2,
  ),
  compiled(
    "jest",
    "a value that leads back to itself",
    {
      "package.json": "{}\n",
      "src/ring.js": "exports.ring = (name) => { const one = { name }; one.next = one; return one; };\n",
      "tests/ring.test.js":
        'const { ring } = require("../src/ring.js");\ntest("is one", () => { expect(ring("a")).toEqual(ring("a")); });\n',
    },
    { kind: "jest", script: "tests/ring.test.js" },
    1,
    1,
  ),
  {
    ...compiled(
      "playwright",
      "a page",
      {
        "package.json": "{}\n",
        "index.html": "<title>Sum</title><p id=sum>5</p>\n",
        "playwright.config.js":
          'module.exports = { testDir: "tests", timeout: 20000, expect: { timeout: 500 }, use: { launchOptions: { executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] } } };\n',
        "tests/page.spec.js":
          'const { test, expect } = require("@playwright/test");\nconst { resolve } = require("node:path");\ntest("shows the sum", async ({ page }) => {\n  await page.goto("file://" + resolve("index.html"));\n  await expect(page.locator("#sum")).toHaveText("5");\n});\ntest("counts", () => { expect(1 + 1).toBe(2); });\n',
      },
      { kind: "playwright", script: "tests/page.spec.js" },
      2,
      2,
    ),
    forgeable: false,
  },
];

export const HONEST: readonly Honest[] = [...NODE, ...SHELL, ...PLAIN, ...PYTEST, ...COMPILED, ...JAVASCRIPT];
