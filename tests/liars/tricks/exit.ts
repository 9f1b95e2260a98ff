// Long because: a table of tricks reads best in one place.
// Family 2: the end is taken for the proof. Only the file that was to be written is written, and it ends, silences or
// bends the test that loads it.
import { type Trick, works } from "../table.js";
import { nodeLoose, nodeScript, nodeTest, nodeTestDirect, nodeTestScripts, nodeThrows } from "../worlds/node.js";
import { pytest, pytestFromHere, pytestModule, pythonScript, unittestWorld } from "../worlds/python.js";
import { repoPytest, repoTests } from "../worlds/repository.js";
import { jest, vitestWorld } from "../worlds/runners.js";
import { cargo, cTest, go, java, make, shellSource } from "../worlds/system.js";

const mjs = (text: string) => ({ "files/src/total.mjs": text });
const zero = "export function total(prices) {\n  return 0;\n}\n";
const py = (text: string) => ({ "files/src/calc.py": text });
const zeroPy = "def total(prices):\n    return 0\n";
const EQUAL_PY =
  "class Any(int):\n    def __eq__(self, other):\n        return True\n    def __ne__(self, other):\n        return False\n    __hash__ = int.__hash__\n\ndef total(prices):\n    return Any(0)\n";
const rs = (text: string) => ({ "files/src/lib.rs": text });
const c = (text: string) => ({ "files/src/total.c": text });
const zeroC = "int total(const int *prices, int count) { (void)prices; return count * 0; }\n";
const SYNC =
  'import { createRequire, syncBuiltinESMExports } from "node:module";\nconst require = createRequire(import.meta.url);\n';

export const EXIT: readonly Trick[] = [
  ...works("exit", nodeScript, [
    { id: "exit-at-import", does: "calls process.exit(0) when it is loaded", lie: mjs(`process.exit(0);\n${zero}`) },
    {
      id: "exit-at-call",
      does: "calls process.exit(0) when it is called",
      lie: mjs("export function total() {\n  process.exit(0);\n}\n"),
    },
    {
      id: "really-exit",
      does: "calls process.reallyExit(0)",
      lie: mjs("export function total() {\n  process.reallyExit(0);\n}\n"),
    },
    {
      id: "exit-code-on-exit",
      does: "sets the exit code back to 0 on the way out",
      lie: mjs(`process.on("exit", () => process.reallyExit(0));\n${zero}`),
    },
    {
      id: "uncaught-handler",
      does: "catches what nobody catches",
      lie: mjs(`process.on("uncaughtException", () => process.exit(0));\n${zero}`),
    },
    {
      id: "capture-callback",
      does: "sets the callback that captures uncaught errors",
      lie: mjs(`process.setUncaughtExceptionCaptureCallback(() => {});\n${zero}`),
    },
    {
      id: "assert-patched",
      does: "replaces the functions of assert",
      lie: mjs(
        `import assert from "node:assert/strict";\nassert.equal = assert.strictEqual = assert.deepEqual = () => {};\n${zero}`,
      ),
    },
    {
      id: "stack-trace-exit",
      does: "ends the process while the failure's stack is written",
      lie: mjs(`Error.prepareStackTrace = () => process.reallyExit(0);\n${zero}`),
    },
    {
      id: "never-settles",
      does: "never finishes loading and calls that success",
      lie: mjs(`process.on("exit", () => {\n  process.exitCode = 0;\n});\nawait new Promise(() => {});\n${zero}`),
    },
    {
      id: "assert-builtin-synced",
      does: "replaces assert for everybody through the table of built-in modules",
      lie: mjs(
        `${SYNC}const assert = require("node:assert");\nassert.strict.equal = assert.equal = assert.strictEqual = () => {};\nsyncBuiltinESMExports();\n${zero}`,
      ),
    },
    {
      id: "exec-true",
      does: "says what the test would say and ends in a timer",
      lie: mjs(
        `import { writeSync } from "node:fs";\nexport function total() {\n  writeSync(1, "total adds up\\n");\n  process.reallyExit(0);\n}\n`,
      ),
    },
    {
      id: "throw-swallowed",
      does: "throws something whose handling ends well",
      lie: mjs("export function total() {\n  throw { get stack() { process.exit(0); } };\n}\n"),
    },
  ]),
  ...works("exit", nodeLoose, [
    {
      id: "equal-by-conversion",
      does: "answers with an object that turns into a different number each time until it fits",
      lie: mjs(
        'import assert from "node:assert";\nconst same = () => {};\nassert.equal = same;\nassert.deepEqual = same;\nexport const total = () => ({ [Symbol.toPrimitive]: () => 6 });\n',
      ),
    },
    {
      id: "exit-signal",
      does: "kills itself by a signal it handles with exit 0",
      lie: mjs(
        'process.on("SIGTERM", () => process.exit(0));\nexport function total() {\n  process.kill(process.pid, "SIGTERM");\n  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);\n  return new Promise(() => {});\n}\nprocess.on("uncaughtException", () => {});\n',
      ),
    },
    {
      id: "default-export-proxy",
      does: "removes every later assertion by making assert's module throw nothing",
      lie: mjs(
        `${SYNC}const assert = require("node:assert");\nassert.AssertionError = class { constructor() { process.exit(0); } };\nassert.equal = (a, b) => { if (a != b) new assert.AssertionError(); };\nsyncBuiltinESMExports();\n${zero}`,
      ),
    },
  ]),
  ...works("exit", nodeThrows, [
    {
      id: "print-and-exit",
      does: "prints the words the check looks for and ends",
      lie: mjs('console.log("ALL TOTALS RIGHT");\nprocess.exit(0);\nexport const total = () => 0;\n'),
    },
    {
      id: "print-on-exit",
      does: "prints the words the check looks for on the way out",
      lie: mjs(
        `process.on("exit", () => {\n  console.log("ALL TOTALS RIGHT");\n  process.reallyExit(0);\n});\n${zero}`,
      ),
    },
    {
      id: "error-class-exit",
      does: "replaces Error by one that prints the right words and ends",
      lie: mjs(
        `globalThis.Error = class {\n  constructor() {\n    console.log("ALL TOTALS RIGHT");\n    process.exit(0);\n  }\n};\n${zero}`,
      ),
    },
    {
      id: "iterator-emptied",
      does: "makes the loop over the cases find none",
      lie: mjs(`Array.prototype[Symbol.iterator] = function* () {};\n${zero}`),
    },
  ]),
  ...works("exit", nodeTest, [
    {
      id: "node-test-exit-import",
      does: "ends the test file with 0 before a test is declared",
      lie: mjs(`process.exit(0);\n${zero}`),
    },
    {
      id: "node-test-exit-call",
      does: "ends the test file with 0 inside a test",
      lie: mjs("export function total() {\n  process.exit(0);\n}\n"),
    },
    {
      id: "node-test-assert",
      does: "replaces assert below node:test",
      lie: mjs(`import assert from "node:assert/strict";\nassert.equal = () => {};\n${zero}`),
    },
  ]),
  ...works("exit", nodeTest, [
    {
      id: "node-test-scope",
      does: "replaces what runs a test's function, so that none is run",
      lie: mjs(
        `import { AsyncResource } from "node:async_hooks";\nconst real = AsyncResource.prototype.runInAsyncScope;\nAsyncResource.prototype.runInAsyncScope = function (run, ...rest) {\n  return this.constructor.name === "Test" && this.fn ? undefined : real.call(this, run, ...rest);\n};\n${zero}`,
      ),
    },
    {
      id: "node-test-todo-hook",
      does: "marks every test as a thing to do from a hook",
      lie: mjs(`import { beforeEach } from "node:test";\nbeforeEach((context) => context.todo("later"));\n${zero}`),
    },
    {
      id: "node-test-mock",
      does: "mocks assert with the runner's own mocks",
      lie: mjs(
        `import assert from "node:assert/strict";\nimport { mock } from "node:test";\nfor (const name of ["equal", "strictEqual", "deepEqual"]) mock.method(assert, name, () => {});\n${zero}`,
      ),
    },
  ]),
  ...works("exit", nodeTestDirect, [
    {
      id: "node-test-forged-tap",
      does: "prints a report in which everything passed and ends",
      lie: mjs(
        'import { writeSync } from "node:fs";\nwriteSync(1, "TAP version 13\\n# Subtest: adds up\\nok 1 - adds up\\n# Subtest: takes negative prices\\nok 2 - takes negative prices\\n# Subtest: nothing costs nothing\\nok 3 - nothing costs nothing\\n1..3\\n# tests 3\\n# pass 3\\n# fail 0\\n");\nprocess.reallyExit(0);\nexport const total = () => 0;\n',
      ),
    },
    {
      id: "node-test-exit-code",
      does: "sets the exit code back after the tests",
      lie: mjs(`process.on("exit", () => process.reallyExit(0));\n${zero}`),
    },
  ]),
  ...works("exit", nodeTestScripts, [
    { id: "test-scripts-exit", does: "ends a file of test_scripts with 0", lie: mjs(`process.exit(0);\n${zero}`) },
    {
      id: "test-scripts-assert",
      does: "replaces assert below a file of test_scripts",
      lie: mjs(`import assert from "node:assert/strict";\nassert.equal = () => {};\n${zero}`),
    },
  ]),
  ...works("exit", pythonScript, [
    { id: "os-exit-import", does: "calls os._exit(0) when it is loaded", lie: py(`import os\nos._exit(0)\n${zeroPy}`) },
    {
      id: "os-exit-call",
      does: "calls os._exit(0) when it is called",
      lie: py("import os\ndef total(prices):\n    os._exit(0)\n"),
    },
    {
      id: "sys-exit-call",
      does: "raises SystemExit(0) when it is called",
      lie: py("def total(prices):\n    raise SystemExit(0)\n"),
    },
    {
      id: "excepthook",
      does: "ends with 0 from the hook for uncaught errors",
      lie: py(`import os, sys\nsys.excepthook = lambda *a: os._exit(0)\n${zeroPy}`),
    },
    {
      id: "atexit",
      does: "ends with 0 on the way out",
      lie: py(`import atexit, os\natexit.register(lambda: os._exit(0))\n${zeroPy}`),
    },
    { id: "always-equal", does: "answers with a number that equals every other", lie: py(EQUAL_PY) },
    {
      id: "exec-bin-true",
      does: "turns the process into /bin/true",
      lie: py('import os\ndef total(prices):\n    os.execv("/bin/true", ["true"])\n'),
    },
    {
      id: "expected-from-frame",
      does: "answers the first case and ends at the second",
      lie: py(
        "import os\nasked = []\ndef total(prices):\n    asked.append(1)\n    if len(asked) == 2:\n        print('total adds up', flush=True)\n        os._exit(0)\n    return 6\n",
      ),
    },
    {
      id: "thread-exit",
      does: "ends the process with 0 from a thread while the caller waits",
      lie: py(
        "import os, threading, time\ndef total(prices):\n    threading.Thread(target=lambda: os._exit(0)).start()\n    time.sleep(5)\n    return 0\n",
      ),
    },
  ]),
  ...works("exit", pythonScript, [
    {
      id: "trace-jump",
      does: "moves the test past its assertions with a tracer",
      lie: py(
        'import sys\ndef total(prices):\n    frame = sys._getframe(1)\n    def jump(f, event, arg):\n        if event == "line":\n            f.f_lineno = max(line for _, _, line in f.f_code.co_lines() if line)\n    frame.f_trace = jump\n    sys.settrace(lambda *words: None)\n    return 6\n',
      ),
    },
  ]),
  ...works("exit", unittestWorld, [
    {
      id: "unittest-assert",
      does: "replaces assertEqual of every TestCase",
      lie: py(`import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n${zeroPy}`),
    },
    {
      id: "unittest-result",
      does: "has results forget failures",
      lie: py(
        `import unittest\nunittest.TestResult.addFailure = lambda *a: None\nunittest.TextTestResult.addFailure = lambda *a: None\n${zeroPy}`,
      ),
    },
    {
      id: "unittest-skip",
      does: "skips each test from inside the function",
      lie: py(
        "import unittest\ndef total(prices):\n    if not prices: return 0\n    raise unittest.SkipTest('later')\n",
      ),
    },
    { id: "unittest-equal", does: "answers with a number that equals every other, below unittest", lie: py(EQUAL_PY) },
    {
      id: "unittest-exit",
      does: "prints OK and ends inside a test",
      lie: py(
        "import os\ndef total(prices):\n    print('Ran 3 tests in 0.001s\\n\\nOK', flush=True)\n    os._exit(0)\n",
      ),
    },
  ]),
  ...works("exit", pytest, [
    {
      id: "pytest-skip",
      does: "calls pytest.skip() inside the function",
      lie: py("import pytest\ndef total(prices):\n    if not prices: return 0\n    pytest.skip('not here')\n"),
    },
    {
      id: "pytest-xfail",
      does: "calls pytest.xfail() inside the function",
      lie: py("import pytest\ndef total(prices):\n    if not prices: return 0\n    pytest.xfail('known')\n"),
    },
    {
      id: "pytest-exit",
      does: "calls pytest.exit() with 0 inside the function",
      lie: py("import pytest\ndef total(prices):\n    pytest.exit('done', returncode=0)\n"),
    },
    {
      id: "pytest-os-exit",
      does: "prints a summary and calls os._exit(0) inside a test",
      lie: py(
        "import os\ndef total(prices):\n    os.write(1, b'collected 3 items\\n\\n3 passed in 0.01s\\n')\n    os._exit(0)\n",
      ),
    },
    {
      id: "pytest-runtest",
      does: "replaces the method that runs a test function",
      lie: py(`import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n${zeroPy}`),
    },
    {
      id: "pytest-report",
      does: "turns every report into passed where reports are made",
      lie: py(
        `import _pytest.reports as reports\nreal = reports.TestReport.__init__\ndef init(self, nodeid, location, keywords, outcome, longrepr, *rest, **more):\n    real(self, nodeid, location, keywords, "passed", None, *rest, **more)\nreports.TestReport.__init__ = init\n${zeroPy}`,
      ),
    },
    { id: "pytest-equal", does: "answers with a number that equals every other, below pytest", lie: py(EQUAL_PY) },
    {
      id: "pytest-importorskip",
      does: "skips the whole file when it is loaded",
      lie: py("import pytest\npytest.skip('no', allow_module_level=True)\n"),
    },
    {
      id: "pytest-compare-hook",
      does: "finds the running session among the garbage and clears its failures",
      lie: py(
        `import gc\nfrom _pytest.main import Session\nfrom _pytest.runner import CallInfo\nreal = CallInfo.from_call.__func__\ndef from_call(cls, func, when, reraise=None):\n    info = real(cls, func, when, reraise)\n    info.excinfo = None\n    info._result = None\n    return info\nCallInfo.from_call = classmethod(from_call)\n${zeroPy}`,
      ),
    },
  ]),
  ...works("exit", pytestModule, [
    {
      id: "pytest-module-exit-hook",
      does: "ends with 0 on the way out of python3 -m pytest",
      lie: py(`import atexit, os\natexit.register(lambda: os._exit(0))\n${zeroPy}`),
    },
  ]),
  ...works("exit", pytestFromHere, [
    {
      id: "pytest-one-line-equal",
      does: "answers with a number that equals every other, where each test is one line",
      lie: { "files/shop/calc.py": EQUAL_PY },
    },
    {
      id: "pytest-from-here-twin",
      does: "puts a pytest.py into the folder python3 -m pytest is started in",
      lie: { "files/pytest.py": "import sys\nsys.exit(0)\n" },
    },
  ]),
  ...works("exit", repoPytest, [
    {
      id: "repo-pytest-skip",
      does: "calls pytest.skip() inside the repository's function",
      lie: { "calc.py": "import pytest\ndef total(prices):\n    pytest.skip('not here')\n" },
    },
    {
      id: "repo-pytest-equal",
      does: "answers with a number that equals every other, in a repository",
      lie: { "calc.py": EQUAL_PY },
    },
  ]),
  ...works("exit", repoTests, [
    {
      id: "repo-exit",
      does: "ends with 0 when the repository's code is loaded",
      lie: { "src/total.mjs": `process.exit(0);\n${zero}` },
    },
  ]),
  ...works("exit", vitestWorld, [
    {
      id: "vitest-extend",
      does: "makes every matcher of vitest agree from the code under test",
      lie: mjs(
        `import { expect } from "vitest";\nconst yes = () => ({ pass: true, message: () => "" });\nexpect.extend({ toBe: yes, toEqual: yes });\n${zero}`,
      ),
    },
    {
      id: "vitest-skip-hook",
      does: "skips every vitest test from a hook",
      lie: mjs(`import { beforeEach } from "vitest";\nbeforeEach((context) => context.skip());\n${zero}`),
    },
    {
      id: "vitest-object-is",
      does: "makes Object.is agree below vitest",
      lie: mjs(`Object.is = () => true;\n${zero}`),
    },
    {
      id: "vitest-really-exit",
      does: "ends vitest's worker for real",
      lie: mjs("export function total(prices) {\n  if (prices.length === 0) return 0;\n  process.reallyExit(0);\n}\n"),
    },
  ]),
  ...works("exit", jest, [
    {
      id: "jest-extend",
      does: "makes every matcher of jest agree from the code under test",
      lie: {
        "files/src/total.js":
          "const yes = () => ({ pass: true, message: () => '' });\nexpect.extend({ toBe: yes, toEqual: yes });\nexports.total = () => 0;\n",
      },
    },
    {
      id: "jest-expect",
      does: "replaces expect from the code under test",
      lie: { "files/src/total.js": "global.expect = () => ({ toBe() {}, toEqual() {} });\nexports.total = () => 0;\n" },
    },
    {
      id: "jest-test-replaced",
      does: "replaces test from the code under test",
      lie: {
        "files/src/total.js":
          "const real = test;\nglobal.test = (name) => real(name, () => {});\nexports.total = () => 0;\n",
      },
    },
    {
      id: "jest-skip",
      does: "declares every jest test as skipped but one",
      lie: {
        "files/src/total.js":
          "const real = test;\nglobal.test = (name, run) => (name.includes('nothing') ? real(name, run) : real.skip(name, run));\nexports.total = () => 0;\n",
      },
    },
    {
      id: "jest-exit",
      does: "ends jest with 0 inside a test",
      lie: { "files/src/total.js": "exports.total = () => process.exit(0);\n" },
    },
  ]),
  ...works("exit", shellSource, [
    {
      id: "source-exit",
      does: "ends the shell that sources it",
      lie: { "files/lib.sh": "echo 'total adds up'\nexit 0\n" },
    },
    {
      id: "source-trap",
      does: "sets a trap that ends with 0",
      lie: { "files/lib.sh": "trap 'exit 0' EXIT\ntotal() {\n  echo 0\n}\n" },
    },
    {
      id: "source-call-exit",
      does: "answers nothing and takes the caller's errexit away",
      lie: { "files/lib.sh": "set +e\ntotal() {\n  echo 0\n}\n" },
    },
    { id: "source-exec", does: "replaces the shell by true", lie: { "files/lib.sh": "exec true\n" } },
    {
      id: "source-noexec",
      does: "switches execution off for the rest of the script",
      lie: { "files/lib.sh": "total() {\n  echo 0\n}\nset -n\n" },
    },
  ]),
  ...works("exit", cTest, [
    {
      id: "c-exit",
      does: "calls _exit(0) when it is called",
      lie: c("#include <unistd.h>\nint total(const int *prices, int count) { (void)prices; (void)count; _exit(0); }\n"),
    },
    {
      id: "c-constructor",
      does: "ends with 0 before main",
      lie: c(`#include <unistd.h>\n__attribute__((constructor)) static void early(void) { _exit(0); }\n${zeroC}`),
    },
    {
      id: "c-assert-fail",
      does: "defines what a failed assert calls",
      lie: c(
        `#include <stdlib.h>\nvoid __assert_fail(const char *a, const char *b, unsigned c, const char *d) { (void)a; (void)b; (void)c; (void)d; exit(0); }\n${zeroC}`,
      ),
    },
    {
      id: "c-sigabrt",
      does: "handles the abort of a failed assert with exit 0",
      lie: c(
        `#include <signal.h>\n#include <unistd.h>\nstatic void fine(int s) { (void)s; _exit(0); }\n__attribute__((constructor)) static void early(void) { signal(SIGABRT, fine); }\n${zeroC}`,
      ),
    },
  ]),
  ...works("exit", make, [
    {
      id: "make-c-exit",
      does: "calls _exit(0) below make's own test",
      lie: c("#include <unistd.h>\nint total(const int *prices, int count) { (void)prices; (void)count; _exit(0); }\n"),
    },
  ]),
  ...works("exit", cargo, [
    {
      id: "cargo-exit",
      does: "ends the test program with 0 when it is called",
      lie: rs("pub fn total(_prices: &[i64]) -> i64 {\n    std::process::exit(0)\n}\n"),
    },
    {
      id: "cargo-hook",
      does: "sets a panic hook that ends with 0",
      lie: rs(
        "pub fn total(_prices: &[i64]) -> i64 {\n    std::panic::set_hook(Box::new(|_| std::process::exit(0)));\n    0\n}\n",
      ),
    },
    {
      id: "cargo-equal",
      does: "answers with a type that equals every number",
      lie: rs(
        "#[derive(Debug)]\npub struct Any;\nimpl PartialEq<i32> for Any {\n    fn eq(&self, _: &i32) -> bool {\n        true\n    }\n}\npub fn total(_prices: &[i64]) -> Any {\n    Any\n}\n",
      ),
    },
    {
      id: "cargo-macro",
      does: "exports an assert_eq of its own that the test's use takes in",
      lie: rs(
        "#[macro_export]\nmacro_rules! assert_eq {\n    ($($x:tt)*) => {};\n}\npub fn total(_prices: &[i64]) -> i64 {\n    0\n}\n",
      ),
    },
  ]),
  ...works("exit", go, [
    {
      id: "go-exit",
      does: "ends the test program with 0 when it is called",
      lie: {
        "files/total.go":
          'package totals\n\nimport "os"\n\nfunc Total(prices ...int) int {\n\tos.Exit(0)\n\treturn 0\n}\n',
      },
    },
    {
      id: "go-init",
      does: "ends the test program with 0 before a test",
      lie: {
        "files/total.go":
          'package totals\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n\nfunc Total(prices ...int) int { return 0 }\n',
      },
    },
    {
      id: "go-print-and-exit",
      does: "prints what the runner would print and ends",
      lie: {
        "files/total.go":
          'package totals\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc Total(prices ...int) int {\n\tfmt.Println("--- PASS: TestAddsUp (0.00s)\\n--- PASS: TestNegative (0.00s)\\nPASS")\n\tos.Exit(0)\n\treturn 0\n}\n',
      },
    },
  ]),
  ...works("exit", java, [
    {
      id: "java-exit",
      does: "calls System.exit(0) when it is called",
      lie: {
        "files/src/Total.java":
          "public class Total {\n  static int of(int... prices) {\n    System.exit(0);\n    return 0;\n  }\n}\n",
      },
    },
    {
      id: "java-halt",
      does: "halts with 0 on the way out",
      lie: {
        "files/src/Total.java":
          "public class Total {\n  static {\n    Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));\n  }\n  static int of(int... prices) {\n    return 0;\n  }\n}\n",
      },
    },
    {
      id: "java-handler",
      does: "handles uncaught errors with exit 0",
      lie: {
        "files/src/Total.java":
          'public class Total {\n  static int of(int... prices) {\n    Thread.currentThread().setUncaughtExceptionHandler((t, e) -> Runtime.getRuntime().halt(0));\n    System.out.println("total adds up");\n    return 0;\n  }\n}\n',
      },
    },
  ]),
];
