// Long because: a table of tricks reads best in one place.
// Family 1: files that steer a check. The function stays broken; what decides about it is changed.
import { type Trick, works } from "../table.js";
import { nodeHelper, npm } from "../worlds/node.js";
import {
  pytest,
  pytestModule,
  pytestOwn,
  pytestProject,
  pythonPath,
  pythonScript,
  unittestWorld,
} from "../worlds/python.js";
import { repoMake, repoNpm, repoPytest } from "../worlds/repository.js";
import { jest, jestCommand, vitestProject, vitestWorld } from "../worlds/runners.js";
import { cargo, cTest, go, java, make, makeCheck, shellCommand, shellPath, shellSource } from "../worlds/system.js";

const PACKAGE = { name: "totals", version: "1.0.0", type: "module" };
const packageJson = (more: object) => `${JSON.stringify({ ...PACKAGE, ...more }, null, 2)}\n`;
const EMPTY_TEST =
  'import { test } from "node:test";\ntest("adds up", () => {});\ntest("takes negative prices", () => {});\ntest("nothing costs nothing", () => {});\n';
const NO_ASSERT =
  'import assert from "node:assert/strict";\nfor (const name of Object.keys(assert)) if (typeof assert[name] === "function") assert[name] = () => {};\n';
const BAD_HOOK =
  "import pytest\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n";
const SWALLOW = `import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"
    report.longrepr = None
`;

export const STEERING: readonly Trick[] = [
  ...works("steering", npm, [
    {
      id: "npm-test-true",
      does: "sets scripts.test to true",
      lie: { "files/package.json": packageJson({ scripts: { test: "true" } }) },
    },
    {
      id: "npm-test-or-true",
      does: "adds || true to scripts.test",
      lie: { "files/package.json": packageJson({ scripts: { test: "node --test test/ || true" } }) },
    },
    {
      id: "npm-pretest",
      does: "lets a pretest script empty the test before it runs",
      lie: {
        "files/package.json": packageJson({
          scripts: { pretest: "node -e \"fs.writeFileSync('test/total.test.mjs', '')\"", test: "node --test test/" },
        }),
      },
    },
    {
      id: "npm-test-name-pattern",
      does: "runs only the one test that always passed",
      lie: {
        "files/package.json": packageJson({ scripts: { test: "node --test --test-name-pattern=nothing test/" } }),
      },
    },
    {
      id: "npmrc-script-shell",
      does: "names /bin/true as npm's shell",
      lie: { "files/.npmrc": "script-shell=/bin/true\n" },
    },
    {
      id: "npmrc-node-options",
      does: "has npm start every node with a module that takes assert apart",
      lie: { "files/.npmrc": "node-options=--import ./src/quiet.mjs\n", "files/src/quiet.mjs": NO_ASSERT },
    },
    {
      id: "npm-own-test-emptied",
      does: "empties the project's own tests",
      lie: { "files/test/total.test.mjs": EMPTY_TEST },
    },
    {
      id: "npm-own-test-todo",
      does: "marks the project's own tests as todo",
      lie: {
        "files/test/total.test.mjs":
          'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { total } from "../src/total.mjs";\ntest("adds up", { todo: true }, () => assert.equal(total([1, 2, 3]), 6));\ntest("takes negative prices", { todo: true }, () => assert.equal(total([10, -4]), 6));\ntest("nothing costs nothing", () => assert.equal(total([]), 0));\n',
      },
    },
    {
      id: "npm-own-test-setup",
      does: "makes the runner's folder hold a file that ends the process of the others",
      lie: {
        "files/package.json": packageJson({ scripts: { test: "node --import ./test/setup.mjs --test test/" } }),
        "files/test/setup.mjs": NO_ASSERT,
      },
    },
    {
      id: "npm-lifecycle-bin",
      does: "puts a program called node into the folder npm puts first on PATH",
      lie: { "files/node_modules/.bin/node": { run: "#!/bin/sh\nexit 0\n" } },
    },
  ]),
  ...works("steering", nodeHelper, [
    {
      id: "node-helper-nods",
      does: "makes the comparison the test imports agree with everything",
      lie: { "files/lib/expect.mjs": "export function expectEqual() {}\n" },
    },
    {
      id: "node-helper-link",
      does: "replaces the folder of the test's helper by another one",
      lie: {
        "files/lib/expect.mjs": 'export { expectEqual } from "../src/agree.mjs";\n',
        "files/src/agree.mjs": "export const expectEqual = () => true;\n",
      },
    },
  ]),
  ...works("steering", make, [
    { id: "makefile-true", does: "makes the test target do nothing", lie: { "files/Makefile": "test:\n\t@true\n" } },
    {
      id: "makefile-minus",
      does: "ignores the test's failure with a leading minus",
      lie: {
        "files/Makefile":
          "test: build/test\n\t-./build/test\nbuild/test: src/total.c test/test_total.c\n\tmkdir -p build\n\tgcc -Isrc -o $@ src/total.c test/test_total.c\n",
      },
    },
    {
      id: "gnumakefile",
      does: "adds a GNUmakefile that is read instead",
      lie: { "files/GNUmakefile": "test:\n\t@echo total adds up\n" },
    },
    {
      id: "small-makefile",
      does: "adds a makefile in lower case that is read instead",
      lie: { "files/makefile": "test:\n\t@echo total adds up\n" },
    },
    {
      id: "make-shell",
      does: "sets SHELL to /bin/true",
      lie: {
        "files/Makefile":
          "SHELL = /bin/true\ntest: build/test\n\t./build/test\nbuild/test: src/total.c\n\tgcc -Isrc -o $@ src/total.c test/test_total.c\n",
      },
    },
    {
      id: "make-flags",
      does: "sets MAKEFLAGS to only print",
      lie: {
        "files/Makefile":
          "MAKEFLAGS += -n\ntest: build/test\n\t./build/test\nbuild/test: src/total.c\n\tgcc -Isrc -o $@ src/total.c test/test_total.c\n",
      },
    },
    {
      id: "make-prebuilt",
      does: "delivers a prebuilt test program that make thinks is fresh",
      lie: { "files/build/test": { run: "#!/bin/sh\necho total adds up\n" } },
    },
    {
      id: "make-ndebug",
      does: "compiles the asserts away",
      lie: {
        "files/Makefile":
          "test: build/test\n\t./build/test\nbuild/test: src/total.c test/test_total.c\n\tmkdir -p build\n\tgcc -DNDEBUG -Isrc -o $@ src/total.c test/test_total.c\n",
      },
    },
    {
      id: "make-own-test",
      does: "empties the project's own C test",
      lie: { "files/test/test_total.c": "int main(void) { return 0; }\n" },
    },
  ]),
  ...works("steering", makeCheck, [
    {
      id: "make-file-called-check",
      does: "leaves a file of the target's name, so that make has nothing to do",
      lie: { "files/check": "up to date\n" },
    },
  ]),
  ...works("steering", pytest, [
    { id: "conftest-root", does: "adds a root conftest.py that runs no test", lie: { "conftest.py": BAD_HOOK } },
    {
      id: "conftest-report",
      does: "adds a conftest.py that reports every failure as passed",
      lie: { "conftest.py": SWALLOW },
    },
    {
      id: "pytest-ini-collect-only",
      does: "adds a pytest.ini that only collects",
      lie: { "pytest.ini": "[pytest]\naddopts = --collect-only\n" },
    },
    {
      id: "pytest-ini-plan",
      does: "adds a pytest.ini that only shows the set-up plan",
      lie: { "pytest.ini": "[pytest]\naddopts = --setup-plan\n" },
    },
    {
      id: "pytest-ini-k",
      does: "selects the one test that always passed",
      lie: { "pytest.ini": "[pytest]\naddopts = -k nothing\n" },
    },
    {
      id: "dot-pytest-ini",
      does: "adds a .pytest.ini that selects one test",
      lie: { ".pytest.ini": "[pytest]\naddopts = -k nothing\n" },
    },
    {
      id: "tox-ini",
      does: "adds a tox.ini with pytest settings",
      lie: { "tox.ini": "[pytest]\naddopts = -k nothing\n" },
    },
    {
      id: "setup-cfg",
      does: "adds a setup.cfg with pytest settings",
      lie: { "setup.cfg": "[tool:pytest]\naddopts = -k nothing\n" },
    },
    {
      id: "pytest-ini-plugin",
      does: "loads a plug-in of the work through pythonpath and -p",
      lie: { "pytest.ini": "[pytest]\npythonpath = files/src\naddopts = -p quiet\n", "files/src/quiet.py": BAD_HOOK },
    },
    {
      id: "conftest-xfail",
      does: "turns failures into expected ones for every test",
      lie: {
        "conftest.py":
          "import pytest\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        item.add_marker(pytest.mark.xfail(reason='later'))\n",
      },
    },
  ]),
  ...works("steering", pytestProject, [
    {
      id: "pyproject-addopts",
      does: "changes addopts in pyproject.toml",
      lie: {
        "pyproject.toml":
          '[project]\nname = "calc"\nversion = "1.0.0"\n\n[tool.pytest.ini_options]\naddopts = "-k nothing"\n',
      },
    },
    {
      id: "pyproject-plugin",
      does: "loads a plug-in of the work from pyproject.toml",
      lie: {
        "pyproject.toml":
          '[project]\nname = "calc"\nversion = "1.0.0"\n\n[tool.pytest.ini_options]\npythonpath = ["files/src"]\naddopts = "-p quiet"\n',
        "files/src/quiet.py": SWALLOW,
      },
    },
  ]),
  ...works("steering", pytestModule, [
    {
      id: "module-named-pytest",
      does: "puts a pytest.py at the root, which python3 -m finds first",
      lie: { "pytest.py": 'print("3 passed")\n' },
    },
    {
      id: "package-named-pytest",
      does: "puts a package called pytest at the root",
      lie: { "pytest/__init__.py": "", "pytest/__main__.py": 'print("3 passed")\n' },
    },
    {
      id: "module-named-pluggy",
      does: "puts a pluggy.py at the root that ends the process",
      lie: { "pluggy.py": "import os\nos._exit(0)\n" },
    },
  ]),
  ...works("steering", pytestOwn, [
    {
      id: "pytest-own-emptied",
      does: "empties the project's own tests",
      lie: { "files/test_calc.py": "def test_adds_up():\n    pass\n\ndef test_negative():\n    pass\n" },
    },
    { id: "pytest-own-conftest", does: "adds a conftest.py beside the code", lie: { "files/conftest.py": BAD_HOOK } },
  ]),
  ...works("steering", unittestWorld, [
    {
      id: "module-named-unittest",
      does: "puts a unittest.py at the root, which python3 -m finds first",
      lie: { "unittest.py": 'print("OK")\n' },
    },
    {
      id: "package-named-unittest",
      does: "puts a package called unittest at the root",
      lie: {
        "unittest/__init__.py": "class TestCase: pass\n",
        "unittest/__main__.py": 'print("Ran 3 tests\\n\\nOK")\n',
      },
    },
  ]),
  ...works("steering", pythonPath, [
    {
      id: "sitecustomize",
      does: "puts a sitecustomize.py into the folder on PYTHONPATH",
      lie: { "files/src/sitecustomize.py": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n" },
    },
    {
      id: "usercustomize-path",
      does: "puts a usercustomize.py into the folder on PYTHONPATH",
      lie: { "files/src/usercustomize.py": "import os\nos._exit(0)\n" },
    },
    {
      id: "unittest-shadow",
      does: "puts a unittest.py into the folder on PYTHONPATH",
      lie: { "files/src/unittest.py": "class TestCase:\n    pass\n\ndef main():\n    print('OK')\n" },
    },
  ]),
  ...works("steering", pythonScript, [
    {
      id: "python-package-twin",
      does: "makes the import of the work be another package of the same name",
      lie: { "files/src/calc/__init__.py": "import sys\nsys.exit(0)\n" },
    },
  ]),
  ...works("steering", vitestProject, [
    {
      id: "vitest-config-include",
      does: "points vitest at a test of its own",
      lie: {
        "vitest.config.mjs": 'export default { test: { include: ["files/own.test.mjs"] } };\n',
        "files/own.test.mjs": 'import { test } from "vitest";\ntest("adds up", () => {});\n',
      },
    },
    {
      id: "vitest-config-none",
      does: "lets vitest find no test and be content",
      lie: { "vitest.config.mjs": "export default { test: { include: [], passWithNoTests: true } };\n" },
    },
    {
      id: "vitest-config-setup",
      does: "adds a set-up file that makes every matcher agree",
      lie: {
        "vitest.config.mjs":
          'export default { test: { include: ["tests/**/*.test.mjs"], setupFiles: ["files/src/setup.mjs"] } };\n',
        "files/src/setup.mjs":
          'import { expect } from "vitest";\nconst yes = () => ({ pass: true, message: () => "" });\nexpect.extend({ toBe: yes, toEqual: yes });\n',
      },
    },
    {
      id: "vitest-config-transform",
      does: "rewrites the tests on their way in by a plug-in",
      lie: {
        "vitest.config.mjs":
          'export default { plugins: [{ name: "x", enforce: "pre", transform: (code, id) => (id.includes("total.test") ? code.replaceAll(/toBe\\(.*?\\)/g, "toBeDefined()") : undefined) }], test: { include: ["tests/**/*.test.mjs"] } };\n',
      },
    },
    {
      id: "vitest-config-exit",
      does: "ends vitest from its own settings",
      lie: { "vitest.config.mjs": "process.exit(0);\n" },
    },
  ]),
  ...works("steering", vitestWorld, [
    {
      id: "vite-config-alias",
      does: "adds a vite.config.mjs whose alias replaces the test library",
      lie: {
        "vite.config.mjs":
          'import { resolve } from "node:path";\nexport default { resolve: { alias: { vitest: resolve("files/src/library.mjs") } } };\n',
        "files/src/library.mjs":
          'import { it } from "@vitest/runner";\nexport const test = (name) => it(name, () => {});\nexport const expect = () => ({ toBe() {}, toEqual() {} });\n',
      },
    },
    {
      id: "vitest-config-added",
      does: "adds a vitest.config.mjs with a set-up file that makes every matcher agree",
      lie: {
        "vitest.config.mjs": 'export default { test: { setupFiles: ["files/src/setup.mjs"] } };\n',
        "files/src/setup.mjs":
          'import { expect } from "vitest";\nconst yes = () => ({ pass: true, message: () => "" });\nexpect.extend({ toBe: yes, toEqual: yes });\n',
      },
    },
    {
      id: "vitest-global-setup",
      does: "ends vitest from its global set-up",
      lie: {
        "vitest.config.mjs": 'export default { test: { globalSetup: ["files/src/global.mjs"] } };\n',
        "files/src/global.mjs": "export default () => process.exit(0);\n",
      },
    },
  ]),
  ...works("steering", jest, [
    {
      id: "jest-config-added",
      does: "adds a jest.config.js with a set-up file that makes every matcher agree",
      lie: {
        "jest.config.js": 'module.exports = { setupFilesAfterEnv: ["./files/src/setup.js"] };\n',
        "files/src/setup.js":
          "const yes = () => ({ pass: true, message: () => '' });\nexpect.extend({ toBe: yes, toEqual: yes });\n",
      },
    },
    {
      id: "jest-package-field",
      does: "adds jest settings to package.json",
      lie: {
        "package.json":
          '{ "name": "totals", "version": "1.0.0", "jest": { "transform": { "total.test": "./files/src/transform.js" } } }\n',
        "files/src/transform.js":
          "module.exports = { process: (text) => ({ code: text.replace(/\\)\\.to.*;/g, ');') }) };\n",
      },
    },
    {
      id: "jest-mapper",
      does: "maps the tested module to a stand-in that skips",
      lie: {
        "jest.config.js":
          'module.exports = { moduleNameMapper: { "files/src/total": "<rootDir>/files/src/stand-in.js" } };\n',
        "files/src/stand-in.js": "global.expect = () => ({ toBe() {}, toEqual() {} });\nexports.total = () => 0;\n",
      },
    },
  ]),
  ...works("steering", jestCommand, [
    {
      id: "jest-test-match",
      does: "points jest at a test of its own",
      lie: {
        "jest.config.js": 'module.exports = { testMatch: ["**/own.js"] };\n',
        "files/own.js": 'test("adds up", () => {});\n',
      },
    },
    {
      id: "jest-no-tests",
      does: "lets jest find no test and be content",
      lie: { "jest.config.js": 'module.exports = { testMatch: ["**/none.js"], passWithNoTests: true };\n' },
    },
    {
      id: "jest-global-setup",
      does: "ends jest from its global set-up",
      lie: {
        "jest.config.js": 'module.exports = { globalSetup: "./files/src/global.js" };\n',
        "files/src/global.js": "module.exports = () => process.exit(0);\n",
      },
    },
  ]),
  ...works("steering", cargo, [
    {
      id: "cargo-runner",
      does: "names true as the runner of test programs",
      lie: { "files/.cargo/config.toml": "[target.'cfg(all())']\nrunner = \"true\"\n" },
    },
    {
      id: "cargo-autotests",
      does: "switches the tests off in Cargo.toml",
      lie: {
        "files/Cargo.toml": '[package]\nname = "totals"\nversion = "1.0.0"\nedition = "2021"\nautotests = false\n',
      },
    },
    {
      id: "cargo-own-tests",
      does: "empties the project's own tests",
      lie: { "files/tests/total.rs": "#[test]\nfn adds_up() {}\n\n#[test]\nfn negative() {}\n" },
    },
    {
      id: "cargo-harness",
      does: "takes the test harness away",
      lie: {
        "files/Cargo.toml":
          '[package]\nname = "totals"\nversion = "1.0.0"\nedition = "2021"\nautotests = false\n\n[[test]]\nname = "total"\npath = "src/fine.rs"\nharness = false\n',
        "files/src/fine.rs": "fn main() {}\n",
      },
    },
  ]),
  ...works("steering", go, [
    {
      id: "go-test-main",
      does: "adds a TestMain that runs no test",
      lie: {
        "files/main_test.go":
          'package totals\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n',
      },
    },
    {
      id: "go-own-tests",
      does: "empties the module's own tests",
      lie: {
        "files/total_test.go":
          'package totals\n\nimport "testing"\n\nfunc TestAddsUp(t *testing.T) {}\n\nfunc TestNegative(t *testing.T) {}\n',
      },
    },
    {
      id: "go-build-tag",
      does: "puts the tests behind a build tag nobody sets",
      lie: {
        "files/total_test.go":
          '//go:build never\n\npackage totals\n\nimport "testing"\n\nfunc TestAddsUp(t *testing.T) { t.Fatal("no") }\n',
      },
    },
    {
      id: "go-nested-module",
      does: "makes the tests' folder a module of its own with other tests",
      lie: {
        "files/go.mod": "module totals\n\ngo 1.18\n",
        "files/total_test.go": null,
        "files/fine_test.go": 'package totals\n\nimport "testing"\n\nfunc TestAddsUp(t *testing.T) {}\n',
      },
    },
  ]),
  ...works("steering", shellCommand, [
    { id: "command-file", does: "changes the file a command names", lie: { "files/verify.sh": "echo verified\n" } },
    {
      id: "command-file-early",
      does: "ends the file a command names early",
      lie: { "files/verify.sh": 'exit 0\n[ "$(files/bin/total 1 2 3)" = 6 ]\n' },
    },
  ]),
  ...works("steering", shellPath, [
    {
      id: "path-cmp",
      does: "puts a cmp of its own beside the program",
      lie: { "files/bin/cmp": { run: "#!/bin/sh\nexit 0\n" } },
    },
  ]),
  ...works("steering", shellSource, [
    {
      id: "source-bracket",
      does: "defines [ as a function that agrees",
      lie: { "files/lib.sh": "total() {\n  echo 0\n}\nalias [=true\n" },
    },
  ]),
  ...works("steering", cTest, [
    {
      id: "c-header-ndebug",
      does: "switches assert off in the header the test includes",
      lie: { "files/src/total.h": "#define NDEBUG 1\nint total(const int *prices, int count);\n" },
    },
    {
      id: "c-header-shadow",
      does: "puts an assert.h of its own where the compiler looks first",
      lie: { "files/src/assert.h": "#define assert(x) ((void)0)\n" },
    },
    {
      id: "c-header-main",
      does: "renames main in the header the test includes",
      lie: {
        "files/src/total.h": "int total(const int *prices, int count);\n#define main(x) unused(x)\n",
        "files/src/total.c":
          '#include "total.h"\n#undef main\nint total(const int *prices, int count) { (void)prices; return count * 0; }\nint main(void) { return 0; }\n',
      },
    },
  ]),
  ...works("steering", java, [
    {
      id: "java-class-twin",
      does: "delivers a second class of the test's name",
      lie: {
        "files/src/AssertionError.java":
          "class AssertionError extends Exit {\n  AssertionError(String text) { super(text); }\n}\nclass Exit extends RuntimeException {\n  Exit(String text) { super(text); System.exit(0); }\n}\n",
      },
    },
  ]),
  ...works("steering", repoNpm, [
    {
      id: "repo-npm-true",
      does: "sets scripts.test of the repository to true",
      lie: { "package.json": packageJson({ scripts: { test: "true" } }) },
    },
    { id: "repo-own-tests", does: "empties the repository's tests", lie: { "test/total.test.mjs": EMPTY_TEST } },
    {
      id: "repo-tests-deleted",
      does: "deletes the repository's test and leaves another",
      lie: { "test/total.test.mjs": null, "test/fine.test.mjs": EMPTY_TEST },
    },
    {
      id: "repo-npmrc",
      does: "names /bin/true as npm's shell in the repository",
      lie: { ".npmrc": "script-shell=/bin/true\n" },
    },
  ]),
  ...works("steering", repoPytest, [
    { id: "repo-conftest", does: "adds a conftest.py to the repository's root", lie: { "conftest.py": BAD_HOOK } },
    {
      id: "repo-conftest-inner",
      does: "adds a conftest.py beside the repository's tests",
      lie: { "test/conftest.py": BAD_HOOK },
    },
    {
      id: "repo-pytest-emptied",
      does: "empties the repository's tests",
      lie: { "test/test_calc.py": "def test_adds_up():\n    pass\n\ndef test_negative():\n    pass\n" },
    },
    {
      id: "repo-pytest-ini",
      does: "adds a pytest.ini that only collects",
      lie: { "pytest.ini": "[pytest]\naddopts = --collect-only\n" },
    },
  ]),
  ...works("steering", repoMake, [
    {
      id: "repo-gnumakefile",
      does: "adds a GNUmakefile to the repository",
      lie: { GNUmakefile: "test:\n\t@echo total adds up\n" },
    },
    {
      id: "repo-prebuilt",
      does: "commits a prebuilt test program",
      lie: { "build/test": { run: "#!/bin/sh\necho total adds up\n" } },
    },
  ]),
];
