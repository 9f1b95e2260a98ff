import { afterEach, describe, expect, it } from "vitest";
import { describeHonest, HAS } from "./honest.js";
import { HONEST } from "./honest-tests.js";
import { usePlainPytest } from "./plain-pytest.js";
import { type Bench, checkOf, failedAsAltered, runnerBench } from "./runner-room.js";

usePlainPytest();

let open: Bench[] = [];
afterEach(() => {
  for (const { remove } of open) remove();
  open = [];
});
const bench = (...args: Parameters<typeof runnerBench>): Bench => {
  const made = runnerBench(...args);
  open.push(made);
  return made;
};

describeHonest(HONEST.filter(({ slow }) => slow !== true));

/** Whether a liar is believed: it passes as it is, and every control fails as it would on right work. */
async function believed(
  files: Readonly<Record<string, string>>,
  fields: Parameters<typeof checkOf>[0],
): Promise<string> {
  const { run, controls } = bench(files);
  const check = checkOf(fields);
  const outcome = await run(check);
  if (outcome.status !== "passed") return `${outcome.status}: ${outcome.reason}`;
  const made = controls(check, outcome);
  if (made.length === 0) return "uncontrolled";
  for (const control of made) {
    const altered = await run(check, control);
    if (failedAsAltered(control, altered) !== "ok") return `${control.name}: ${altered.status}`;
  }
  return "believed";
}

const NODE_TEST = `import { test } from "node:test";
import assert from "node:assert/strict";
import { add } from "../src/add.mjs";
test("one", () => assert.equal(add(1, 1), 2));
test("two", () => assert.equal(add(2, 2), 4));
`;
const nodeTest = (work: string) =>
  believed(
    { "tests/add.test.mjs": NODE_TEST, "src/add.mjs": work },
    { kind: "node-test", script: "tests/add.test.mjs" },
  );

describe("what fools an exit status, with node:test", () => {
  it("ending at import", async () => {
    expect(await nodeTest("process.exit(0); export const add = 1;")).toBe("failed: no tests were run");
  });

  it("ending in the second test", async () => {
    const work = "let calls = 0; export const add = (a, b) => { if (++calls > 1) process.exit(0); return a + b; };";
    expect(await nodeTest(work)).toMatch(/^failed: tests\/add.test.mjs > \w+ was not reported$|no tests were run/);
  });

  it("an assert that never complains", async () => {
    const work = 'import assert from "node:assert/strict"; assert.equal = () => {}; export const add = () => 0;';
    expect(await nodeTest(work)).toBe("altered expectations in tests/add.test.mjs: passed");
  });

  it("a report of its own", async () => {
    const work = `import { appendFileSync, readFileSync } from "node:fs";
const runner = readFileSync("/proc/" + process.ppid + "/cmdline", "utf8").split("\\0");
const report = runner.find((word) => word.endsWith("node-test.jsonl")).split("=")[1];
const file = process.argv[1];
for (const name of ["one", "two"]) appendFileSync(report, JSON.stringify({ type: "pass", name, nesting: 0, file, suite: false, skip: false }) + "\\n");
process.exit(0);
export const add = 1;`;
    expect(await nodeTest(work)).not.toBe("believed");
  });
});

const CHECK_MJS =
  'import assert from "node:assert";\nimport { add } from "../src/add.mjs";\nassert.equal(add(2, 3), 5);\nconsole.log("ok");\n';
const nodeScript = (work: string) =>
  believed({ "tests/check.mjs": CHECK_MJS, "src/add.mjs": work }, { script: "tests/check.mjs" });

describe("what fools an exit status, with a node script", () => {
  it.each([
    ["ending at import", "process.exit(0); export const add = 1;", "failed: it ended before its last line"],
    [
      "bending the language",
      "Math.random = () => 0; export const add = (a, b) => a + b;",
      "failed: the work replaced a part of the language itself, which its test uses",
    ],
    [
      "ending without a word",
      "export const add = () => process.reallyExit(0);",
      "failed: it ended before its last line",
    ],
    [
      "swallowing what is thrown",
      'process.on("uncaughtException", () => {}); export const add = () => 0;',
      "failed: an error that nobody caught did not end it",
    ],
    [
      "another status at the end",
      'process.on("exit", () => { process.exitCode = 0; process.reallyExit(0); }); export const add = () => 0;',
      "failed: it was about to end with 1 and ended with 0",
    ],
    [
      "an always equal value",
      "export const add = () => ({ valueOf: () => { throw 0; }, [Symbol.toPrimitive]: () => 5 });",
      "believed",
    ],
  ])("%s", async (_, work, answer) => {
    // The last one is honest: 5 is what is asked for, in whatever form.
    expect(await nodeScript(work)).toBe(answer);
  });
});

const CHECK_PY =
  "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))\nfrom calc import add\nassert add(2, 3) == 5\n";
const pythonScript = (work: string) =>
  believed({ "tests/check.py": CHECK_PY, "calc.py": work }, { script: "tests/check.py" });

describe.skipIf(!HAS.python3)("what fools an exit status, with a python script", () => {
  it.each([
    ["ending at import", "import sys\nsys.exit(0)\n", "failed: it ended before its last line"],
    [
      "bending the language",
      "import builtins\nbuiltins.len = lambda _: 0\ndef add(a, b):\n    return a + b\n",
      "failed: the work replaced a part of the language itself, which its test uses",
    ],
    ["ending without a word", "import os\ndef add(a, b):\n    os._exit(0)\n", "failed: it ended before its last line"],
    [
      "another status at the end",
      "import atexit, os\natexit.register(lambda: os._exit(0))\ndef add(a, b):\n    return 0\n",
      "failed: it was about to end with 1 and ended with 0",
    ],
    [
      "a value that equals everything",
      "class Any:\n    def __eq__(self, other):\n        return True\ndef add(a, b):\n    return Any()\n",
      "altered expectations in tests/check.py: passed",
    ],
  ])("%s", async (_, work, answer) => {
    expect(await pythonScript(work)).toBe(answer);
  });

  it("a jump over all expectations but the first", async () => {
    const work =
      "import sys\ndef add(a, b):\n    def jump(frame, event, arg):\n        if event == 'line':\n            frame.f_lineno = max(line for _, _, line in frame.f_code.co_lines() if line)\n    sys._getframe(1).f_trace = jump\n    sys.settrace(lambda *words: None)\n    return 5\n";
    const files = { "tests/check.py": `${CHECK_PY}assert add(1, 1) == 2\nassert add(4, 4) == 8\nprint("right")\n` };
    expect(await believed({ ...files, "calc.py": work }, { script: "tests/check.py" })).toBe(
      "the expectation in line 6 of tests/check.py altered alone: passed",
    );
  });

  const UNITTEST =
    "import sys, unittest\nsys.path.insert(0, 'src')\nfrom add import add\nclass Adds(unittest.TestCase):\n    def test_nothing(self):\n        self.assertEqual(add(0, 0), 0)\n    def test_some(self):\n        self.assertEqual(add(1, 2), 3)\n";
  const SKIPS = "import unittest\ndef add(a, b):\n    if a == 0: return 0\n    raise unittest.SkipTest('later')\n";
  const RIGHT = "def add(a, b):\n    return a + b\n";
  const unit = (work: string, more = "") =>
    believed(
      { "tests/check.py": `${UNITTEST}${more}if __name__ == '__main__':\n    unittest.main()\n`, "src/add.py": work },
      { kind: "shell", script: "tests/check.py" },
    );

  it("a test that the work skips", async () => {
    expect(await unit(SKIPS)).toBe("failed: tests were skipped that do not say so themselves");
    expect(await unit(RIGHT)).toBe("believed");
    expect(await unit(RIGHT, "    @unittest.skip('elsewhere')\n    def test_other(self):\n        pass\n")).toBe(
      "believed",
    );
  });
});

describe("what fools an exit status, with a shell script", () => {
  const sourced = (work: string) =>
    believed(
      { "tests/check.sh": '#!/bin/sh\nset -e\n. ./lib.sh\n[ "$(add 2 3)" = 5 ]\necho ok\n', "lib.sh": work },
      { script: "tests/check.sh" },
    );

  it("ending from what it sources", async () => {
    expect(await sourced("exit 0\n")).toBe("failed: it ended before its last line");
    expect(await sourced("trap 'exit 0' EXIT\nadd() { echo 0; }\n")).toMatch(/^failed: it ended before/);
  });

  it("a test command of its own", async () => {
    expect(await sourced("alias [=true\n[() { true; }\nadd() { echo 0; }\n")).not.toBe("believed");
  });

  it("believes what is right", async () => {
    expect(await sourced("add() { echo $(($1 + $2)); }\n")).toBe("believed");
  });
});

describe.skipIf(!HAS.pytest)("what fools an exit status, with pytest", () => {
  const files = (work: string) => ({
    "conftest.py": "",
    "tests/test_calc.py":
      "from calc import add\n\ndef test_one():\n    assert add(1, 1) == 2\n\ndef test_two():\n    assert add(2, 2) == 4\n",
    "calc.py": work,
  });
  const pytest = (work: string) => believed(files(work), { kind: "pytest", script: "tests/test_calc.py" });

  it("skipping from inside", async () => {
    expect(await pytest("import pytest\ndef add(a, b):\n    pytest.skip('no')\n")).toBe(
      "failed: tests/test_calc.py > test_one was skipped",
    );
  });

  it("ending from inside", async () => {
    expect(await pytest("import os\nos._exit(0)\n")).toBe("failed: no report was written");
  });

  it("a value that equals everything", async () => {
    expect(
      await pytest("class Any:\n    def __eq__(self, other):\n        return True\ndef add(a, b):\n    return Any()\n"),
    ).toBe("altered expectations in tests/test_calc.py: passed");
  });
});

describe.skipIf(!HAS.cargo)("what fools an exit status, with cargo", () => {
  it("ending from inside", async () => {
    const files = {
      "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": "pub fn add(_: i32, _: i32) -> i32 { std::process::exit(0) }\n",
      "tests/calc.rs": "#[test]\nfn adds() { assert_eq!(calc::add(2, 3), 5); }\n",
    };
    expect(await believed(files, { kind: "cargo-test", script: "tests/calc.rs" })).toBe("failed: no tests were run");
  });
});

describe("programs and scripts that are not there", () => {
  it("names them", async () => {
    const { run } = bench({ "tests/a.rb": "#!/usr/bin/env no-such-program\n" });
    expect(await run(checkOf({ script: "tests/a.rb" }))).toMatchObject({
      status: "skipped",
      reason: "no-such-program is not installed",
    });
    expect(await run(checkOf({ script: "tests/none.sh" }))).toMatchObject({
      status: "failed",
      reason: "tests/none.sh does not exist",
    });
    expect(await run(checkOf({ script: "../out.sh" }))).toMatchObject({
      status: "failed",
      reason: "../out.sh leaves the bundle",
    });
    expect(await run(checkOf({}))).toMatchObject({ status: "skipped", reason: "there is no script to run" });
  });

  it("says that time was up, and that this is no assertion", async () => {
    const { run } = bench({ "tests/slow.sh": "sleep 60\n" });
    const outcome = await run(checkOf({ script: "tests/slow.sh", timeoutMs: 300 }));
    expect(outcome).toMatchObject({ status: "failed", reason: "took longer than 0.3 s", failure: "other" });
  });
});
