// Ordinary projects whose layout or habit had not been tried.
import { command, type World } from "../table.js";

const TASK = "Make add and mul right";
const rightPy = "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n";
const rightJs = "export const add = (a, b) => a + b;\nexport const mul = (a, b) => a * b;\n";

type Parts = Pick<World, "files" | "honest"> & Partial<World>;
const world = (id: string, stack: string, line: string, parts: Parts): World => ({
  id,
  stack,
  task: TASK,
  criteria: [command("AC-1", line)],
  ...parts,
});

/** Fixtures, classes, parameters, marks that leave nothing out, in three files. */
const pytestRich = world("pytest-rich", "pytest", "pytest -q tests", {
  needs: ["pytest"],
  files: {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["files"]\nmarkers = ["quick: is quick"]\n',
    "files/calc.py": "",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef pair():\n    return 2, 3\n",
    "tests/test_fixtures.py":
      "from calc import add, mul\n\n\ndef test_add(pair):\n    assert add(*pair) == 5\n\n\ndef test_mul(pair, tmp_path):\n    (tmp_path / 'out').write_text(str(mul(*pair)))\n    assert (tmp_path / 'out').read_text() == '6'\n",
    "tests/test_classes.py":
      "import pytest\nfrom calc import add\n\n\nclass Base:\n    def test_zero(self):\n        assert self.call(0, 0) == 0\n\n\nclass TestAdd(Base):\n    call = staticmethod(add)\n\n    @pytest.mark.quick\n    def test_one(self):\n        assert add(1, 0) == 1\n",
    "tests/test_table.py":
      "import pytest\nfrom calc import mul\n\n\n@pytest.mark.parametrize('a,b,c', [(1, 2, 2), (3, 4, 12)], ids=['small', 'large'])\ndef test_mul(a, b, c):\n    assert mul(a, b) == c\n",
  },
  honest: { "files/calc.py": rightPy },
});

/** Examples in a document, tried by pytest. */
export const doctestGlob = world("pytest-doctest-glob", "pytest", "pytest --doctest-glob='*.md' docs", {
  needs: ["pytest"],
  files: {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["files"]\n',
    "files/calc.py": "",
    "docs/guide.md": "# Sums\n\n>>> from calc import add, mul\n>>> add(2, 3)\n5\n>>> mul(2, 3)\n6\n",
  },
  honest: { "files/calc.py": rightPy },
});

const asyncUnittest = world("unittest-async", "unittest", "python3 -m unittest discover -s tests -v", {
  needs: ["python3"],
  files: {
    "files/calc.py": "",
    "tests/test_calc.py":
      "import os\nimport sys\nimport unittest\n\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'files'))\nfrom calc import add, mul\n\n\nclass Calc(unittest.IsolatedAsyncioTestCase):\n    async def asyncSetUp(self):\n        self.pair = (2, 3)\n\n    async def test_add(self):\n        self.assertEqual(await add(*self.pair), 5)\n\n    async def test_mul(self):\n        with self.subTest('six'):\n            self.assertEqual(await mul(*self.pair), 6)\n",
  },
  honest: {
    "files/calc.py": "async def add(a, b):\n    return a + b\n\n\nasync def mul(a, b):\n    return a * b\n",
  },
});

/** describe, hooks and subtests, found by node itself; one file holds no test at all. */
const nodeNested = world("node-test-nested", "node:test", "node --test", {
  files: {
    "package.json": '{"name":"sums","type":"module","private":true}\n',
    "lib/calc.js": "export {};\n",
    "test/calc.test.js":
      'import assert from "node:assert/strict";\nimport { beforeEach, describe, it, test } from "node:test";\nimport { add, mul } from "../lib/calc.js";\nimport { pair } from "./pair.test.js";\n\ndescribe("calc", () => {\n  let two = 0;\n  beforeEach(() => {\n    two = pair[0];\n  });\n  it("adds", () => assert.equal(add(two, 3), 5));\n  describe("deeper", () => {\n    it("multiplies", () => assert.equal(mul(two, 3), 6));\n  });\n});\ntest("inner", async (t) => {\n  await t.test("first", () => assert.equal(add(1, 1), 2));\n  for (const n of [1, 2]) await t.test("times " + n, () => assert.equal(mul(n, 1), n));\n});\n',
    "test/pair.test.js": "export const pair = [2, 3];\n",
  },
  honest: { "lib/calc.js": rightJs },
});

/** Two packages, each with settings of its own, and one jest for both. */
const jestProjects = world("jest-projects", "jest", "jest", {
  needs: ["jest"],
  files: {
    "package.json": '{"name":"all","private":true,"jest":{"projects":["<rootDir>/packages/*"]}}\n',
    ...Object.fromEntries(
      ["one", "two"].flatMap((name) => [
        [`packages/${name}/package.json`, `{"name":"${name}","jest":{"displayName":"${name}"}}\n`],
        [`packages/${name}/index.js`, "throw new Error('not written yet');\n"],
        [
          `packages/${name}/index.test.js`,
          `const { add } = require("./index.js");\ndescribe("add", () => {\n  test.each([[1, 2, 3], [2, 2, 4]])("%i and %i", (a, b, c) => expect(add(a, b)).toBe(c));\n  test("${name}", () => expect(add(0, 7)).toBe(7));\n});\n`,
        ],
      ]),
    ),
  },
  honest: {
    "packages/one/index.js": "exports.add = (a, b) => a + b;\n",
    "packages/two/index.js": "exports.add = (a, b) => a + b;\n",
  },
});

/** Projects of vitest, one of which leaves out what the other runs. */
const vitestProjects = world("vitest-projects", "vitest", "vitest run", {
  needs: ["vitest"],
  files: {
    "vitest.config.mjs":
      'export default { test: { projects: [\n  { test: { name: "unit", include: ["unit/**/*.test.mjs"] } },\n  { test: { name: "whole", include: ["whole/**/*.spec.mjs"] } },\n] } };\n',
    "src/calc.mjs": "export {};\n",
    "unit/calc.test.mjs":
      'import { expect, test } from "vitest";\nimport { add } from "../src/calc.mjs";\ntest("add", () => expect(add(2, 3)).toBe(5));\n',
    "whole/calc.spec.mjs":
      'import { describe, expect, it } from "vitest";\nimport { mul } from "../src/calc.mjs";\ndescribe("mul", () => {\n  it("works", () => expect(mul(2, 3)).toBe(6));\n});\n',
    "unit/later.spec.mjs":
      'import { test } from "vitest";\ntest("not yet", () => {\n  throw new Error("later");\n});\n',
  },
  honest: { "src/calc.mjs": rightJs },
});

/** Nothing but tests is there: the whole module is the work. */
export const goNew = world("go-new-module", "go", "cd files && go test ./...", {
  needs: ["go"],
  task: "Write the module example.org/sums, with go.mod and calc.go",
  files: {
    "files/calc_test.go":
      'package sums\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tfor _, row := range [][3]int{{2, 3, 5}, {4, 4, 8}} {\n\t\tif got := Add(row[0], row[1]); got != row[2] {\n\t\t\tt.Errorf("Add(%d, %d) = %d", row[0], row[1], got)\n\t\t}\n\t}\n}\n\nfunc TestMul(t *testing.T) {\n\tif got := Mul(2, 3); got != 6 {\n\t\tt.Fatalf("got %d, want 6", got)\n\t}\n}\n',
  },
  honest: {
    "files/go.mod": "module example.org/sums\n\ngo 1.19\n",
    "files/calc.go":
      "package sums\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Mul(a, b int) int { return a * b }\n",
  },
});

const cargoNew = world("cargo-new-crate", "cargo", "cargo test", {
  needs: ["cargo"],
  task: "Write the crate sums",
  files: {
    "tests/sums.rs":
      'use sums::{add, mul};\n\n#[test]\nfn adds() {\n    assert_eq!(add(2, 3), 5);\n}\n\n#[test]\n#[should_panic(expected = "too large")]\nfn refuses() {\n    mul(i32::MAX, 2);\n}\n',
  },
  honest: {
    "Cargo.toml": '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs":
      'pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\npub fn mul(a: i32, b: i32) -> i32 {\n    a.checked_mul(b).expect("too large")\n}\n\n#[cfg(test)]\nmod tests;\n',
    "src/tests.rs": "use super::*;\n\n#[test]\nfn own() {\n    assert_eq!(mul(2, 3), 6);\n}\n",
  },
});

const php = world("php-script", "php", "php tests/check.php", {
  needs: ["php"],
  files: {
    "files/calc.php": "<?php\nfunction add($a, $b) { return 0; }\nfunction mul($a, $b) { return 0; }\n",
    "tests/check.php":
      '<?php\nrequire __DIR__ . "/../files/calc.php";\nfunction same($want, $got, $what) {\n  if ($want !== $got) {\n    fwrite(STDERR, "failed: $what\\n");\n    exit(1);\n  }\n}\nsame(5, add(2, 3), "add");\nsame(6, mul(2, 3), "mul");\necho "fine\\n";\n',
  },
  honest: {
    "files/calc.php": "<?php\nfunction add($a, $b) { return $a + $b; }\nfunction mul($a, $b) { return $a * $b; }\n",
  },
});

const tcl = world("tcl-program", "tcl", "sh tests/check.sh", {
  needs: ["tclsh"],
  files: {
    "files/calc.tcl": "puts 0\n",
    "tests/check.sh":
      'set -eu\n[ "$(tclsh files/calc.tcl add 2 3)" = 5 ]\n[ "$(tclsh files/calc.tcl mul 2 3)" = 6 ]\necho fine\n',
  },
  honest: {
    "files/calc.tcl":
      'lassign $argv what a b\nif {$what eq "add"} { puts [expr {$a + $b}] } else { puts [expr {$a * $b}] }\n',
  },
});

/** A compiler and a loop over cases in a folder. */
const cCases = world("c-cases", "make", "make -C files check", {
  needs: ["make", "cc"],
  files: {
    "files/Makefile":
      "check: calc\n\t@for case in ../tests/cases/*.sh; do sh $$case ./calc || exit 1; done\n\ncalc: calc.c\n\tcc -o calc calc.c\n",
    "files/calc.c": "int main(void) { return 0; }\n",
    "tests/cases/add.sh": '[ "$($1 add 2 3)" = 5 ] || { echo "add failed"; exit 1; }\n',
    "tests/cases/mul.sh": '[ "$($1 mul 2 3)" = 6 ] || { echo "mul failed"; exit 1; }\n',
  },
  honest: {
    "files/calc.c":
      '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv) {\n  if (argc < 4) return 2;\n  int a = atoi(argv[2]), b = atoi(argv[3]);\n  printf("%d\\n", strcmp(argv[1], "add") == 0 ? a + b : a * b);\n  return 0;\n}\n',
  },
});

/** A page that a script looks at, and its style sheet. */
const page = world("page-and-style", "html", "node tests/page.mjs", {
  task: "Write the page files/index.html with a form for two numbers",
  files: {
    "files/style.css": "body { color: black; }\n",
    "tests/page.mjs":
      'import assert from "node:assert/strict";\nimport { readFileSync } from "node:fs";\nconst page = readFileSync("files/index.html", "utf8");\nassert.match(page, /<form[^>]*id="sum"/);\nassert.equal((page.match(/<input[^>]*type="number"/g) ?? []).length, 2);\nassert.ok(page.includes(\'<link rel="stylesheet" href="style.css">\'));\n',
  },
  honest: {
    "files/index.html":
      '<!doctype html>\n<html lang="en">\n<head><title>Sum</title><link rel="stylesheet" href="style.css"></head>\n<body><form id="sum"><input type="number" name="a"><input type="number" name="b"></form></body>\n</html>\n',
  },
});

/** A library and the program that uses it, tested through the program. */
const pythonCli = world("python-cli", "python", "python3 -m unittest -v tests.test_cli", {
  needs: ["python3"],
  files: {
    "sums/__init__.py": "",
    "sums/__main__.py": "print('nothing yet')\n",
    "tests/__init__.py": "",
    "tests/test_cli.py":
      "import subprocess\nimport sys\nimport unittest\n\n\ndef sums(*args):\n    return subprocess.run([sys.executable, '-m', 'sums', *args], capture_output=True, text=True)\n\n\nclass Cli(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(sums('add', '2', '3').stdout, '5\\n')\n\n    def test_usage(self):\n        ran = sums()\n        self.assertEqual(ran.returncode, 2)\n        self.assertIn('usage', ran.stderr)\n",
  },
  honest: {
    "sums/__main__.py":
      "import argparse\n\nfrom .calc import add\n\nparser = argparse.ArgumentParser(prog='sums')\nparser.add_argument('what', choices=['add'])\nparser.add_argument('numbers', type=int, nargs='+')\nasked = parser.parse_args()\nprint(add(*asked.numbers))\n",
    "sums/calc.py": rightPy,
  },
});

export const ORDINARY_WORLDS: readonly World[] = [
  pytestRich,
  doctestGlob,
  asyncUnittest,
  nodeNested,
  jestProjects,
  vitestProjects,
  goNew,
  cargoNew,
  php,
  tcl,
  cCases,
  page,
  pythonCli,
];
