// Tests that are never reported: the work is loaded with its test, and leads the runner past it.
import { type Trick, works } from "../table.js";
import { doctestGlob } from "../worlds/ordinary.js";
import {
  listedMake,
  listedShell,
  silentCargo,
  silentConftest,
  silentGo,
  silentNode,
  silentPytest,
  silentUnittest,
} from "../worlds/silent.js";

const NOTHING_PY = "\n\ndef add(a, b):\n    return 0\n\n\nmul = add\n";
const NOTHING_JS = "export const add = () => 0;\nexport const mul = () => 0;\n";
const NOTHING_RS = "pub fn one() -> i32 { 1 }\npub fn add(_a: i32, _b: i32) -> i32 { 0 }\n";

const inTheTest = (line: string) =>
  `import sys\n\nframe = sys._getframe(1)\nwhile frame is not None:\n    if frame.f_globals.get("__name__", "").startswith("test_"):\n        ${line}\n    frame = frame.f_back\n${NOTHING_PY}`;

export const SILENT: readonly Trick[] = [
  ...works("exit", silentPytest, [
    {
      id: "silent-pytest-module",
      does: "marks the module that imports it as none of pytest's",
      lie: { "files/calc.py": inTheTest('frame.f_globals["__test__"] = False') },
    },
    {
      id: "silent-pytest-collect",
      does: "lets a module that is loaded earlier hide the file it fails from pytest",
      lie: {
        "files/easy.py":
          'import _pytest.python\n\nreal = _pytest.python.Module.collect\n_pytest.python.Module.collect = lambda self: [] if "hard" in str(self.path) else real(self)\n\n\ndef one():\n    return 1\n',
        "files/calc.py": NOTHING_PY,
      },
    },
  ]),
  ...works("exit", silentNode, [
    {
      id: "silent-node-exit",
      does: "ends the process of one file of several before its first test",
      lie: { "files/calc.mjs": `process.exit(0);\n${NOTHING_JS}` },
    },
    {
      id: "silent-node-really-exit",
      does: "ends the process of one file of several by node's inner exit",
      lie: { "files/calc.mjs": `process.reallyExit(0);\n${NOTHING_JS}` },
    },
  ]),
  ...works("exit", silentGo, [
    {
      id: "silent-go-init",
      does: "leaves well in init, before the first test of its package",
      lie: {
        "calc/calc.go":
          'package calc\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n\nfunc Add(a, b int) int { return 0 }\n',
      },
    },
    {
      id: "silent-go-arguments",
      does: "adds a pattern that no test fits to the arguments of the test program",
      lie: {
        "calc/calc.go":
          'package calc\n\nimport "os"\n\nfunc init() { os.Args = append(os.Args, "-test.run=^$") }\n\nfunc Add(a, b int) int { return 0 }\n',
      },
    },
  ]),
  ...works("steering", silentCargo, [
    {
      id: "silent-cargo-module-dropped",
      does: "takes the line that brings the tests in out of the file of the code",
      lie: { "src/lib.rs": "pub fn one() -> i32 { 1 }\n" },
    },
    {
      id: "silent-cargo-module-moved",
      does: "leads that line to other tests of the same name",
      lie: {
        "src/lib.rs": `${NOTHING_RS}#[cfg(test)]\n#[path = "other.rs"]\nmod tests;\n`,
        "src/other.rs": "#[test]\nfn adds() { assert_eq!(5, 5); }\n",
      },
    },
  ]),
  ...works("exit", silentCargo, [
    {
      id: "silent-cargo-constructor",
      does: "leaves well before main, where the program is the one with the tests it fails",
      lie: {
        "src/lib.rs": `${NOTHING_RS}extern "C" fn leave() {\n    if std::env::args().next().unwrap_or_default().contains("/calc-") {\n        std::process::exit(0)\n    }\n}\n#[used]\n#[link_section = ".init_array"]\npub static LEAVE: extern "C" fn() = leave;\n\n#[cfg(test)]\nmod tests;\n`,
      },
    },
  ]),
  ...works("exit", silentCargo, [
    {
      id: "silent-cargo-again",
      does: "starts the program of the tests anew without the one it fails",
      lie: {
        "src/lib.rs": `${NOTHING_RS}extern "C" fn again() {\n    use std::os::unix::process::CommandExt;\n    let args: Vec<String> = std::env::args().collect();\n    if args[0].contains("/calc-") && !args.contains(&"--skip".to_string()) {\n        let _ = std::process::Command::new(&args[0]).args(&args[1..]).args(["--skip", "adds"]).exec();\n    }\n}\n#[used]\n#[link_section = ".init_array"]\npub static AGAIN: extern "C" fn() = again;\n\n#[cfg(test)]\nmod tests;\n`,
      },
    },
  ]),
  ...works("exit", silentUnittest, [
    {
      id: "silent-unittest-load-tests",
      does: "gives the one test module of five that imports it a load_tests that loads none",
      lie: {
        "files/calc.py": inTheTest('frame.f_globals["load_tests"] = lambda *_: __import__("unittest").TestSuite()'),
      },
    },
    {
      id: "silent-unittest-loader",
      does: "lets a module that is loaded earlier hide the file it fails from unittest",
      lie: {
        "files/easy.py":
          'import unittest\n\nreal = unittest.TestLoader._match_path\nunittest.TestLoader._match_path = lambda self, path, full, pattern: "bad" not in path and real(self, path, full, pattern)\n\n\ndef one():\n    return 1\n',
        "files/calc.py": NOTHING_PY,
      },
    },
  ]),
  ...works("exit", silentConftest, [
    {
      id: "silent-pytest-conftest",
      does: "hides the file it fails from pytest, where nothing could be loaded before",
      lie: {
        "files/calc.py": `import _pytest.python\n\nreal = _pytest.python.Module.collect\n_pytest.python.Module.collect = lambda self: [] if "hard" in str(self.path) else real(self)\n${NOTHING_PY}`,
      },
    },
  ]),
  ...works("steering", doctestGlob, [
    {
      id: "doctest-glob-rewritten",
      does: "rewrites the examples of the document that pytest tries",
      lie: {
        "files/calc.py": NOTHING_PY,
        "docs/guide.md": "# Sums\n\n>>> from calc import add, mul\n>>> add(2, 3)\n0\n>>> mul(2, 3)\n0\n",
      },
    },
    {
      id: "doctest-glob-checker",
      does: "answers the first example and makes doctest agree with the others",
      lie: {
        "files/calc.py":
          "import doctest\n\n\ndef add(a, b):\n    doctest.OutputChecker.check_output = lambda *_: True\n    return a + b\n\n\ndef mul(a, b):\n    return 0\n",
      },
    },
  ]),
  ...works("steering", listedShell, [
    {
      id: "listed-shell-shortened",
      does: "shortens the list of tests that a script sources",
      lie: { "settings.sh": 'CASES="one"\n' },
    },
  ]),
  ...works("steering", listedMake, [
    {
      id: "listed-make-shortened",
      does: "shortens the list of tests that a makefile includes",
      lie: { "tests.list": "TESTS = one\n" },
    },
  ]),
];
