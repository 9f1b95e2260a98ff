// Projects of two files of tests, one of which cannot be loaded before the work is done: nobody knows yet which tests it holds.
// And honest ones in which files of tests rightly report nothing.
import { command, type World } from "../table.js";

const TASK = "Make add and mul right";

const rightPy = "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n";
const pyFind = 'import sys\n\nsys.path.insert(0, "files")\n';
const pyEasy = `${pyFind}from easy import one\n\n\ndef test_one():\n    assert one() == 1\n`;
const pyHard = `${pyFind}from calc import add, mul\n\n\ndef test_add():\n    assert add(2, 3) == 5\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n`;

export const silentPytest: World = {
  id: "silent-pytest",
  stack: "pytest",
  task: TASK,
  needs: ["pytest"],
  files: {
    "files/easy.py": "def one():\n    return 1\n",
    "files/calc.py": "",
    "tests/test_easy.py": pyEasy,
    "tests/test_hard.py": pyHard,
  },
  criteria: [command("AC-1", "pytest")],
  honest: { "files/calc.py": rightPy },
};

const nodeEasy =
  'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { one } from "../files/easy.mjs";\ntest("one", () => assert.equal(one(), 1));\n';
const nodeHard =
  'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { add, mul } from "../files/calc.mjs";\ntest("add", () => assert.equal(add(2, 3), 5));\ntest("mul", () => assert.equal(mul(2, 3), 6));\n';

export const silentNode: World = {
  id: "silent-node-test",
  stack: "node:test",
  task: TASK,
  files: {
    "files/easy.mjs": "export const one = () => 1;\n",
    "files/calc.mjs": "export {};\n",
    "tests/easy.test.mjs": nodeEasy,
    "tests/hard.test.mjs": nodeHard,
  },
  criteria: [command("AC-1", "node --test")],
  honest: { "files/calc.mjs": "export const add = (a, b) => a + b;\nexport const mul = (a, b) => a * b;\n" },
};

export const silentGo: World = {
  id: "silent-go",
  stack: "go",
  task: TASK,
  needs: ["go"],
  files: {
    "go.mod": "module example.org/sums\n\ngo 1.19\n",
    "easy/easy.go": "package easy\n\nfunc One() int { return 1 }\n",
    "easy/easy_test.go":
      'package easy\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif got := One(); got != 1 {\n\t\tt.Errorf("got %d, want 1", got)\n\t}\n}\n',
    "calc/calc.go": "package calc\n",
    "calc/calc_test.go":
      'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(2, 3); got != 5 {\n\t\tt.Errorf("got %d, want 5", got)\n\t}\n}\n',
    // Left out of every build here: rightly silent.
    "calc/slow_test.go":
      '//go:build slow\n\npackage calc\n\nimport "testing"\n\nfunc TestSlow(t *testing.T) {\n\tif Add(1, 1) != 2 {\n\t\tt.Error("no")\n\t}\n}\n',
  },
  criteria: [command("AC-1", "go test ./...")],
  honest: { "calc/calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n" },
};

export const silentCargo: World = {
  id: "silent-cargo",
  stack: "cargo",
  task: TASK,
  needs: ["cargo"],
  files: {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn one() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests;\n",
    "src/tests.rs":
      "use super::*;\n#[test]\nfn adds() { assert_eq!(add(2, 3), 5); }\n#[test]\nfn one_again() { assert_eq!(one(), 1); }\n",
    "tests/easy.rs": "use calc::one;\n#[test]\nfn one_is() { assert_eq!(one(), 1); }\n",
  },
  criteria: [command("AC-1", "cargo test")],
  honest: {
    "src/lib.rs":
      "pub fn one() -> i32 { 1 }\npub fn add(a: i32, b: i32) -> i32 { a + b }\n\n#[cfg(test)]\nmod tests;\n",
  },
};

const unitHead = `import os\nimport sys\nimport unittest\n\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "files"))\n`;

/** Nobody counts here: only the end of the whole is told. */
export const silentUnittest: World = {
  id: "silent-unittest",
  stack: "unittest",
  task: TASK,
  needs: ["python3"],
  files: {
    "files/easy.py": "def one():\n    return 1\n",
    "files/calc.py": "",
    ...Object.fromEntries(
      ["a", "b", "c", "d"].map((name) => [
        `tests/test_${name}.py`,
        `${unitHead}from easy import one\n\n\nclass Easy(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(one(), 1)\n        self.assertEqual(one() + 1, 2)\n        self.assertEqual(one() + 2, 3)\n`,
      ]),
    ),
    "tests/test_bad.py": `${unitHead}from calc import add, mul\n\n\nclass Hard(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n\n    def test_mul(self):\n        self.assertEqual(mul(2, 3), 6)\n`,
  },
  criteria: [command("AC-1", "python3 -m unittest discover -s tests")],
  honest: { "files/calc.py": rightPy },
};

/** What the tests need is loaded before any of them: on the untouched tree pytest reports nothing at all. */
export const silentConftest: World = {
  ...silentPytest,
  id: "silent-conftest",
  files: {
    ...silentPytest.files,
    "conftest.py": `${pyFind}import calc\n\nassert calc.add\n`,
  },
};

const shCase = (name: string, sum: string) => `set -eu\n[ "$(sh files/add.sh ${name})" = "${sum}" ]\n`;

/** A script goes through the tests that a file outside of tests/ lists. */
export const listedShell: World = {
  id: "listed-shell",
  stack: "shell",
  task: TASK,
  files: {
    "files/add.sh": "echo 5\n",
    "settings.sh": 'CASES="one two three"\n',
    "tests/all.sh":
      'set -eu\n. ./settings.sh\nfor case in $CASES; do\n  sh "tests/cases/$case.sh"\ndone\necho all fine\n',
    "tests/cases/one.sh": shCase("2 3", "5"),
    "tests/cases/two.sh": shCase("2 2", "4"),
    "tests/cases/three.sh": shCase("4 4", "8"),
  },
  criteria: [command("AC-1", "sh tests/all.sh")],
  honest: { "files/add.sh": "echo $(($1 + $2))\n" },
};

/** A makefile includes the list of its tests. */
export const listedMake: World = {
  id: "listed-make",
  stack: "make",
  task: TASK,
  needs: ["make"],
  files: {
    "files/add.sh": "echo 5\n",
    Makefile: 'include tests.list\ncheck:\n\t@for each in $(TESTS); do sh "tests/cases/$$each.sh" || exit 1; done\n',
    "tests.list": "TESTS = one two three\n",
    "tests/cases/one.sh": shCase("2 3", "5"),
    "tests/cases/two.sh": shCase("2 2", "4"),
    "tests/cases/three.sh": shCase("4 4", "8"),
  },
  criteria: [command("AC-1", "make check")],
  honest: { "files/add.sh": "echo $(($1 + $2))\n" },
};

/** Tests that an author leaves out by the project's settings are loaded, and rightly not reported. */
const deselected: World = {
  ...silentPytest,
  id: "silent-deselected",
  files: {
    ...silentPytest.files,
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-m \'not slow\'"\nmarkers = ["slow: takes long"]\n',
    "tests/test_slow.py": `import pytest\n\n\n@pytest.mark.slow\ndef test_slow():\n    assert 1 + 1 == 3\n`,
  },
};

/** Tests of another runner in the same tree. */
const twoRunners: World = {
  ...silentNode,
  id: "silent-two-runners",
  files: {
    ...silentNode.files,
    "browser/page.spec.ts":
      'import { expect, test } from "@playwright/test";\ntest("page", () => expect(1).toBe(2));\n',
    "tests/test_other.py": "def test_other():\n    assert False\n",
  },
};

export const SILENT_WORLDS: readonly World[] = [
  silentPytest,
  silentNode,
  silentGo,
  silentCargo,
  silentUnittest,
  silentConftest,
  listedShell,
  listedMake,
  deselected,
  twoRunners,
];
