import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { bwrapAvailable, findProgram, runChild } from "../../src/process/index.js";
import { usePlainPytest } from "./plain-pytest.js";
import { type Bench, bench, put } from "./room.js";

const has = (program: string) => findProgram(program, process.env) !== null;
const held = await bwrapAvailable(process.env);
const pytest =
  has("python3") &&
  (
    await runChild({
      command: "python3",
      args: ["-m", "pytest", "--version"],
      cwd: "/",
      env: { PATH: process.env.PATH },
    })
  ).code === 0;

usePlainPytest();

let open: Bench[] = [];
afterEach(() => {
  for (const { remove } of open) remove();
  open = [];
});
const make = (...args: Parameters<typeof bench>): Bench => {
  const made = bench(...args);
  open.push(made);
  return made;
};

const GREETS = {
  "tests/greets.sh": '#!/bin/sh\ngrep -q "hello" files/greeting.txt && echo "it greets"\n',
  "files/greeting.txt": "nothing\n",
};

describe("acceptance", () => {
  it("passes what the work brought about, and leaves nothing behind", async () => {
    const { accept, folder } = make(
      [
        {
          id: "AC-1",
          description: "greets",
          type: "shell",
          script: "tests/greets.sh",
          expected: { exit_code: 0, stdout_contains: "greets" },
        },
      ],
      GREETS,
      { "files/greeting.txt": "hello\n" },
    );
    const report = await accept();
    expect(report).toMatchObject({
      verdict: "passed",
      counts: { passed: 1, failed: 0, skipped: 0, unknown: 0, proven: 1 },
      results: [{ id: "AC-1", type: "shell", status: "passed", evidence: "proven", output: "it greets\n" }],
      changes: [{ path: "files/greeting.txt", kind: "modified" }],
      sandboxed: held,
    });
    expect(readdirSync(join(folder, "work"))).toEqual([]);
  });

  it("says why a check failed", async () => {
    const { outcomes } = make(
      [
        { id: "code", type: "shell", command: "exit 3" },
        { id: "wanted-code", type: "shell", command: "exit 3", expected: { exit_code: 3 } },
        { id: "output", type: "shell", command: "echo some", expected: { stdout_contains: ["some", "more"] } },
        { id: "signal", type: "custom", command: "kill -9 $$" },
        { id: "slow", type: "shell", command: "sleep 60", timeout_seconds: 0.3 },
        { id: "absent", type: "shell", script: "tests/absent.sh" },
        { id: "climbs", type: "shell", script: "../x.sh" },
        { id: "runner", type: "shell", script: "tests/odd.sh" },
        { id: "strange", type: "telepathy" },
        { id: "person", type: "shell", command: "true", auto_verifiable: false },
      ],
      { "tests/odd.sh": "#!/usr/bin/env no-such-interpreter\n" },
      { "files/new.txt": "" },
    );
    expect(await outcomes()).toEqual({
      code: "failed: exit 3, expected 0",
      "wanted-code": "passed: also passes on the untouched request",
      output: 'failed: standard output does not contain "more"',
      signal: "failed: exit 137, expected 0",
      slow: "failed: took longer than 0.3 s",
      absent: "failed: tests/absent.sh does not exist",
      climbs: "failed: ../x.sh leaves the bundle",
      runner: "skipped: no-such-interpreter is not installed",
      strange: "skipped: its type is unknown and it has no script",
      person: "unknown: a person judges this",
    });
  });

  it("puts the request's own tests back, and says that they were changed", async () => {
    const { accept } = make([{ id: "AC-1", type: "shell", script: "tests/greets.sh" }], GREETS, {
      "tests/greets.sh": "#!/bin/sh\nexit 0\n",
      "tests/criteria.json": '{"criteria":[]}',
      "tests/extra.sh": "exit 0\n",
    });
    const report = await accept();
    expect(report).toMatchObject({ verdict: "failed", results: [{ id: "AC-1", status: "failed" }] });
    expect(report.warnings[0]).toMatch(
      /own tests were changed and put back: tests\/criteria.json, tests\/extra.sh, tests\/greets.sh/,
    );
  });

  it("does not believe what the workspace had and the result does not deliver", async () => {
    const { outcomes } = make(
      [{ id: "AC-1", type: "shell", command: "test -f node_modules/cheat" }],
      {},
      { "node_modules/cheat": "" },
    );
    expect(await outcomes()).toEqual({ "AC-1": "failed: exit 1, expected 0" });
  });

  it("reports a test that proves nothing, and is not complete on such tests alone", async () => {
    const { accept } = make([{ id: "AC-1", type: "shell", command: "true" }], GREETS, {
      "files/greeting.txt": "hello\n",
    });
    expect(await accept()).toMatchObject({
      verdict: "incomplete",
      counts: { passed: 1, proven: 0 },
      results: [{ status: "passed", proves_nothing: true, reason: "also passes on the untouched request" }],
    });
  });

  it("runs test scripts no criterion uses", async () => {
    const { outcomes } = make(
      [{ id: "AC-1", type: "shell", script: "tests/greets.sh" }],
      { ...GREETS, "tests/b.sh": "exit 4\n" },
      { "files/greeting.txt": "hello\n" },
      {
        acceptance: { criteria_file: "tests/criteria.json", test_scripts: ["tests/greets.sh", "tests/b.sh"] },
      },
    );
    expect(await outcomes()).toEqual({ "AC-1": "passed", "tests/b.sh": "failed: exit 4, expected 0" });
  });

  it("keeps capped logs and scrubs them", async () => {
    const { accept, folder } = make(
      [{ id: "AC 1/x", type: "shell", command: "echo s3cret; yes | head -c 9000000; exit 1" }],
      {},
      { a: "" },
    );
    const { results } = await accept({
      scrub: (text) => text.replaceAll("s3cret", "***"),
      logs: { dir: join(folder, "logs"), name: (file) => `delivery/logs/${file}` },
    });
    const log = results[0]!.log!;
    expect(log).toMatch(/^delivery\/logs\/AC-1-x-[0-9a-f]{8}\.log$/);
    const text = readFileSync(join(folder, "logs", log.slice("delivery/logs/".length)), "utf8");
    expect(text.slice(0, 8)).toBe("***\ny\ny\n");
    expect(text.length).toBeLessThanOrEqual(256 * 1024);
  });

  it("works in a repository with the request beside it", async () => {
    const { accept, folder } = make([{ id: "AC-1", type: "shell", script: "tests/greets.sh" }], GREETS, {});
    const other = make(
      [],
      { "files/greeting.txt": "repo\n", "tests/own.sh": "exit 0\n" },
      { "files/greeting.txt": "hello\n" },
    );
    expect(await accept({ base: other.request, result: other.result })).toMatchObject({
      verdict: "passed",
      counts: { proven: 1 },
    });
    expect(existsSync(folder)).toBe(true);
  });

  it("refuses criteria it cannot read", async () => {
    const { accept } = make([], { "tests/criteria.json": "{" }, {});
    await expect(accept()).rejects.toMatchObject({ code: "CRITERIA_INVALID" });
    const twice = make(
      [
        { id: "a", type: "shell" },
        { id: "a", type: "shell" },
      ],
      {},
      {},
    );
    await expect(twice.accept()).rejects.toThrow('two criteria are called "a"');
  });

  it("stops when it is interrupted", async () => {
    const { accept, folder } = make([{ id: "a", type: "shell", command: "sleep 60" }], {}, { a: "" });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    await expect(accept({ signal: controller.signal })).rejects.toThrow();
    expect(readdirSync(join(folder, "work"))).toEqual([]);
  });
});

describe("a hostile result", () => {
  const criterion = { id: "AC-1", type: "shell", script: "tests/greets.sh" };

  it("gains nothing by links in place of folders", async () => {
    const { accept, folder, result } = make([criterion], GREETS, {});
    put(folder, { "outside/greets.sh": "exit 0\n", "outside/greeting.txt": "hello\n" });
    for (const name of ["tests", "files"]) {
      rmSync(join(result, name), { recursive: true });
      symlinkSync(join(folder, "outside"), join(result, name));
    }
    const report = await accept();
    expect(report).toMatchObject({ verdict: "failed", results: [{ id: "AC-1", status: "failed" }] });
    expect(report.warnings.join()).toContain("links out of the tree are left out: files, tests");
    expect(readFileSync(join(folder, "outside/greeting.txt"), "utf8")).toBe("hello\n");
  });

  it("does not hang on a pipe, and leaves no process running", async () => {
    const { accept, result } = make([{ ...criterion, timeout_seconds: 5 }], GREETS, {
      "files/greeting.txt": "hello\n",
    });
    execFileSync("mkfifo", [join(result, "files/pipe")]);
    expect(await accept()).toMatchObject({ verdict: "passed" });
  });

  it("is ended at its time limit with every process it forked", async () => {
    const mark = `3${process.pid}.25`;
    const { outcomes } = make(
      [{ ...criterion, script: "tests/forks.sh", timeout_seconds: 1 }],
      {
        "tests/forks.sh": `for i in 1 2 3 4 5; do setsid sleep ${mark} & done; sh files/more.sh; wait\n`,
        "files/more.sh": "",
      },
      { "files/more.sh": `(setsid sleep ${mark} </dev/null >/dev/null 2>&1 &)\n` },
    );
    expect(await outcomes()).toEqual({ "AC-1": "failed: took longer than 1 s" });
    const alive = execFileSync("sh", ["-c", `ps ax -o args | grep -c "^sleep ${mark}" || true`], { encoding: "utf8" });
    expect(alive.trim()).toBe("0");
  });

  it("is told apart when it changes how tests are run", async () => {
    const { accept } = make([criterion], GREETS, { "files/greeting.txt": "hello\n", "conftest.py": "import os\n" });
    expect((await accept()).warnings).toContain("changed outside the subject, and used in no check: conftest.py");
  });
});

describe.skipIf(!held)("acceptance in a sandbox (needs bwrap)", () => {
  it("lets the code under test neither write outside nor reach out", async () => {
    const { outcomes, folder } = make(
      [
        {
          id: "writes",
          type: "shell",
          command: "echo x > ../../../request/stolen; echo x > /etc/nut-x; echo x > $HOME/ok && echo x > /tmp/ok",
        },
        {
          id: "network",
          type: "shell",
          command:
            "! node -e \"fetch('http://192.0.2.1',{signal:AbortSignal.timeout(1000)}).catch(e=>{console.log(e.cause?.code);process.exit(1)})\"",
          expected: { stdout_contains: "ENETUNREACH" },
        },
      ],
      {},
      { a: "" },
    );
    expect(await outcomes({ baseline: false })).toEqual({ writes: "passed", network: "passed" });
    expect(existsSync(join(folder, "request/stolen"))).toBe(false);
    expect(existsSync("/etc/nut-x")).toBe(false);
  });
});

describe("test frameworks", () => {
  it("names the runner that is missing", async () => {
    const { outcomes, folder } = make(
      [
        { id: "jest", type: "jest", script: "tests/a.test.js" },
        { id: "pytest", type: "pytest", script: "tests/test_a.py" },
      ],
      { "tests/a.test.js": "", "tests/test_a.py": "" },
      {},
    );
    expect(await outcomes({ env: { PATH: folder }, sandbox: "off" })).toEqual({
      jest: "skipped: jest is not installed",
      pytest: "skipped: pytest is not installed",
    });
  });

  it.skipIf(!pytest)(
    "runs pytest (needs pytest)",
    async () => {
      const { outcomes } = make(
        [
          { id: "adds", type: "pytest", script: "tests/test_add.py" },
          { id: "empty", type: "pytest", script: "tests/test_none.py" },
        ],
        {
          "tests/test_add.py":
            "import sys\nsys.path.insert(0, 'files')\n\ndef test_add():\n    from add import add\n    assert add(1, 2) == 3\n",
          "tests/test_none.py": "",
          "files/add.py": "def add(a, b):\n    return 0\n",
        },
        { "files/add.py": "def add(a, b):\n    return a + b\n" },
      );
      expect(await outcomes()).toEqual({ adds: "passed", empty: "failed: no tests were collected" });
    },
    180_000,
  );
});
