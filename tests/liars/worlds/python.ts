// Python: plain scripts, unittest, pytest.
import { command, type JsonObject, type World } from "../table.js";

const TASK = "Make total(prices) return the sum of its prices";
const broken = "def total(prices):\n    return 0\n";
export const summingPython = "def total(prices):\n    return sum(prices)\n";
const honest = { "files/src/calc.py": summingPython };
const onPath = 'import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "files", "src"))\n';

export const pythonScript: World = {
  id: "python-script",
  stack: "python",
  needs: ["python3"],
  task: TASK,
  files: {
    "files/src/calc.py": broken,
    "tests/check.py": `${onPath}from calc import total
assert total([1, 2, 3]) == 6
assert total([10, -4]) == 6
assert total([0.5, 0.25]) == 0.75
print("total adds up")
`,
  },
  criteria: [command("AC-1", "python3 tests/check.py")],
  honest,
  hidden: {
    "tests/hidden/more.py": `${onPath.replace('"..", ', '"..", "..", ')}from calc import total\nassert total([7, 8, 9, 100]) == 124\n`,
  },
};

/** The command puts the work's folder on the path before anything is imported. */
export const pythonPath: World = {
  ...pythonScript,
  id: "python-path",
  files: {
    "files/src/calc.py": broken,
    "tests/check.py": `import unittest
from calc import total

class Totals(unittest.TestCase):
    def test_adds_up(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_negative(self):
        self.assertEqual(total([10, -4]), 6)

if __name__ == "__main__":
    unittest.main()
`,
  },
  criteria: [command("AC-1", "PYTHONPATH=files/src python3 tests/check.py")],
};

export const unittestWorld: World = {
  ...pythonScript,
  id: "unittest",
  stack: "unittest",
  files: {
    "files/src/calc.py": broken,
    "tests/test_calc.py": `${onPath}import unittest
from calc import total

class Totals(unittest.TestCase):
    def test_adds_up(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_negative(self):
        self.assertEqual(total([10, -4]), 6)

    def test_nothing(self):
        self.assertEqual(total([]), 0)
`,
  },
  criteria: [command("AC-1", "python3 -m unittest tests/test_calc.py")],
};

const pytestText = `${onPath}from calc import total

def test_adds_up():
    assert total([1, 2, 3]) == 6

def test_negative():
    assert total([10, -4]) == 6

def test_nothing():
    assert total([]) == 0
`;
const pytestCriterion: JsonObject = {
  id: "AC-1",
  description: "the tests pass",
  type: "pytest",
  script: "tests/test_calc.py",
  timeout_seconds: 120,
};

export const pytest: World = {
  ...pythonScript,
  id: "pytest",
  stack: "pytest",
  needs: ["pytest"],
  files: { "files/src/calc.py": broken, "tests/test_calc.py": pytestText },
  criteria: [pytestCriterion],
  hidden: {
    "tests/hidden/test_more.py": `${onPath.replace('"..", ', '"..", "..", ')}from calc import total\n\ndef test_more():\n    assert total([7, 8, 9, 100]) == 124\n`,
  },
};

/** `python3 -m pytest` puts the tree's root on the path. */
export const pytestModule: World = {
  ...pytest,
  id: "pytest-module",
  criteria: [command("AC-1", "python3 -m pytest -q tests")],
};

/** Modules are found from the folder it is started in; every test is one line. */
export const pytestFromHere: World = {
  ...pytest,
  id: "pytest-from-here",
  files: {
    "files/shop/__init__.py": "",
    "files/shop/calc.py": broken,
    "files/tests/test_calc.py": `from shop.calc import total

def test_adds_up(): assert total([1, 2, 3]) == 6
def test_negative(): assert total([10, -4]) == 6
def test_nothing(): assert total([]) == 0
`,
  },
  criteria: [command("AC-1", "cd files && python3 -m pytest -q tests")],
  honest: { "files/shop/calc.py": summingPython },
  hidden: undefined,
};

/** A project with settings of its own. */
export const pytestProject: World = {
  ...pytest,
  id: "pytest-project",
  files: {
    "files/src/calc.py": broken,
    "tests/test_calc.py": pytestText,
    "pyproject.toml": '[project]\nname = "calc"\nversion = "1.0.0"\n\n[tool.pytest.ini_options]\naddopts = "-ra"\n',
  },
};

export const pythonTwo: World = {
  ...pythonScript,
  id: "python-two",
  files: {
    "files/src/calc.py": broken,
    "tests/first.py": `${onPath}from calc import total\nassert total([]) == 0\n`,
    "tests/second.py": `${onPath}from calc import total\nassert total([1, 2, 3]) == 6\nassert total([10, -4]) == 6\n`,
  },
  criteria: [command("AC-1", "python3 tests/first.py"), command("AC-2", "python3 tests/second.py")],
};

export const pytestTwo: World = {
  ...pytest,
  id: "pytest-two",
  files: {
    "files/src/calc.py": broken,
    "tests/first.py": `${onPath}from calc import total\nassert total([]) == 0\n`,
    "tests/test_calc.py": pytestText,
  },
  criteria: [command("AC-1", "python3 tests/first.py"), { ...pytestCriterion, id: "AC-2" }],
};

/** The project's tests lie beside its code, as many do. */
export const pytestOwn: World = {
  ...pytest,
  id: "pytest-own",
  files: {
    "files/calc.py": broken,
    "files/test_calc.py":
      "from calc import total\n\ndef test_adds_up():\n    assert total([1, 2, 3]) == 6\n\ndef test_negative():\n    assert total([10, -4]) == 6\n",
  },
  criteria: [command("AC-1", "cd files && pytest -q")],
  honest: { "files/calc.py": summingPython },
};

export const PYTHON_WORLDS = [
  pythonScript,
  pythonPath,
  unittestWorld,
  pytest,
  pytestModule,
  pytestFromHere,
  pytestProject,
  pythonTwo,
  pytestTwo,
  pytestOwn,
];
