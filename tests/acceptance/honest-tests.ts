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
  /** How many tests the runner tells of; null for plain scripts. */
  readonly tests: number | null;
  /** How many controls there are, and how many tests the altered one must fail. */
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
    { tests: 4, altered: 4 },
  ),
  pytest(
    "unittest",
    "import unittest\nfrom calc import add\n\nclass CalcTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n        self.assertTrue(add(1, 1) == 2)\n",
  ),
  pytest(
    "one that is skipped, by a command",
    "import pytest\nfrom calc import add\n\n@pytest.mark.skip(reason='later')\ndef test_later():\n    assert add(1, 1) == 3\n\ndef test_add():\n    assert [add(1, 1)] == [2]\n",
    { check: { kind: "shell", command: "python3 -m pytest -q tests" } },
  ),
];

export const HONEST: readonly Honest[] = [...NODE, ...SHELL, ...PLAIN, ...PYTEST];
