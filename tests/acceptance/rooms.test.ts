// Rooms: only the work is in them, tests stay as they are, and nothing passes from one run to the next.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { bwrapAvailable, findProgram } from "../../src/process/index.js";
import { type Bench, bench, put } from "./room.js";

const held = await bwrapAvailable(process.env);
const has = (program: string) => findProgram(program, process.env) !== null;

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

/** A test that runs the work and then looks whether it answers 5. */
const ANSWERS = { "tests/t.sh": '[ "$(sh files/answer.sh)" = 5 ]\n', "files/answer.sh": "echo 4\n" };
const criterion = { id: "AC-1", type: "shell", script: "tests/t.sh" };

describe.skipIf(!held)("what the work cannot do to its tests (needs bwrap)", () => {
  it.each<[string, string]>([
    ["rewrite the test that runs next", "echo 'exit 0' > tests/second.sh"],
    ["remove it and put another", "rm -f tests/second.sh; echo 'exit 0' > tests/second.sh"],
    ["rename the folder of tests", "mv tests was && mkdir tests && echo 'exit 0' > tests/second.sh"],
    ["mount something over it", "mount --bind /tmp tests; unshare -r true"],
    ["rewrite a settings file", "echo 'test:\n\ttrue' > Makefile; mv Makefile M; echo 'test:\n\ttrue' > Makefile"],
    ["rename a folder that holds a settings file", "mv files was; mkdir files; cp -r was/* files; echo X > files/.env"],
  ])("%s", async (_, attack) => {
    const { accept } = make(
      [criterion],
      {
        ...ANSWERS,
        "tests/t.sh":
          "sh files/answer.sh >/dev/null 2>&1; sh tests/second.sh && grep -q exit Makefile && grep -q Y files/.env\n",
        "tests/second.sh": '[ "$(cat files/value)" = 5 ]\n',
        "files/value": "4\n",
        "files/.env": "Y\n",
        Makefile: "test:\n\texit 1\n",
      },
      { "files/answer.sh": `${attack}\nexit 0\n` },
    );
    expect(await accept()).toMatchObject({ verdict: "failed", results: [{ status: "failed" }] });
  });

  it("rewrite a checker outside the folder of tests that the checks name", async () => {
    const { accept } = make(
      [criterion],
      {
        "tests/t.sh": "sh files/answer.sh\nsh files/check.sh\n",
        "files/check.sh": '[ "$(cat files/value)" = 5 ]\n',
        "files/answer.sh": "true\n",
        "files/value": "4\n",
      },
      { "files/answer.sh": "echo 'exit 0' > files/check.sh\nexit 0\n" },
    );
    expect(await accept()).toMatchObject({ verdict: "failed", results: [{ status: "failed" }] });
  });

  it.skipIf(!has("git")).each<[string, string, string]>([
    ["by a list beside it", "echo note > .gitignore", "what a search leaves out was written while it ran: .gitignore"],
    [
      "by the list of a repository made before",
      "git init -q . && echo note > .git/info/exclude",
      "what a search leaves out was written while it ran: .git/info/exclude",
    ],
    [
      "by a list in the home",
      'mkdir -p "$HOME/.config/git" && echo note > "$HOME/.config/git/ignore"',
      "exit 1, expected 0",
    ],
  ])("hide a file from a search that follows: %s", async (_, attack, reason) => {
    const line = "sh files/answer.sh && git init -q . && git add -A && ! git grep -q FIXME -- files";
    const files = { "files/answer.sh": "true\n", "files/note": "FIXME\n", "tests/t.sh": "" };
    const { outcomes } = make([{ id: "AC-1", type: "shell", command: line }], files, { "files/answer.sh": attack });
    expect(await outcomes({ quick: true })).toEqual({ "AC-1": `failed: ${reason}` });
  });

  it("hide a file from a search by a list, where a test is a link that leads nowhere", async () => {
    const line = "sh files/answer.sh && ! grep -rq FIXME files";
    const files = { "files/answer.sh": "true\n", "tests/t.sh": "" };
    const { request, result, outcomes } = make([{ id: "AC-1", type: "shell", command: line }], files, {
      "files/answer.sh": "echo note > .gitignore",
    });
    for (const tree of [request, result]) symlinkSync("nowhere", join(tree, "tests/dangling.sh"));
    expect(await outcomes({ quick: true })).toEqual({
      "AC-1": "failed: what a search leaves out was written while it ran: .gitignore",
    });
  });

  it("leave anything for the next check, its home or the next run", async () => {
    const { accept } = make(
      [criterion, { id: "AC-2", type: "shell", script: "tests/two.sh" }],
      {
        ...ANSWERS,
        "tests/two.sh": "sh files/answer.sh >/dev/null; ! ls $HOME/.left /tmp/left files/left 2>/dev/null\n",
      },
      {
        "files/answer.sh":
          'ls /tmp/left && exit 1; mkdir -p $HOME; echo > $HOME/.left; echo > /tmp/left; echo > "files/left"; echo 5\n',
      },
    );
    const { results } = await accept();
    expect(results[0]).toMatchObject({ id: "AC-1", status: "passed" });
    // It sees what it made itself in this run, and nothing else.
    expect(results[1]).toMatchObject({ id: "AC-2", status: "failed" });
  });

  it("look into another process", async () => {
    const { outcomes } = make(
      [
        {
          id: "AC-1",
          type: "shell",
          command:
            "sleep 5 & cat /proc/$!/mem >/dev/null 2>&1 || echo refused >&2; ! dd if=/dev/zero of=/proc/$!/mem bs=1 count=1 seek=4096 2>/dev/null",
        },
      ],
      {},
      { a: "" },
    );
    expect(Object.values(await outcomes({ baseline: false }))).toEqual(["passed"]);
  });
});

describe("the subject", () => {
  it("alone is in the room; what only passes with more is steered, and says by which files", async () => {
    const { accept } = make(
      [{ id: "AC-1", type: "shell", command: "make -s test" }],
      { Makefile: "test:\n\tsh files/answer.sh | grep -q 5\n", "files/answer.sh": "echo 4\n" },
      { Makefile: "test:\n\ttrue\n" },
    );
    expect(await accept()).toMatchObject({
      verdict: "failed",
      subject: [],
      steered: [{ path: "Makefile", why: "it steers checks" }],
      results: [
        {
          status: "failed",
          weakness: "steered",
          reason: "steered: it passes only with changes outside the subject: Makefile",
        },
      ],
    });
  });

  it("is used when the request declares it", async () => {
    const { accept } = make(
      [{ id: "AC-1", type: "shell", command: "make -s test" }],
      { Makefile: "test:\n\tfalse\n" },
      { Makefile: "test:\n\ttrue\n" },
      { acceptance: { criteria_file: "tests/criteria.json", subject: ["Makefile"] } },
    );
    expect(await accept()).toMatchObject({ subject: ["Makefile"], steered: [], results: [{ status: "passed" }] });
  });

  it.skipIf(!has("make") || !has("gcc"))(
    "is built anew, whatever was delivered ready-made (needs make, gcc)",
    async () => {
      const { accept, result } = make(
        [{ id: "AC-1", type: "shell", command: "make -s app && ./app" }],
        { Makefile: "app: app.c\n\tgcc -o app app.c\n", "app.c": "int main(void){return 1;}\n" },
        {},
      );
      put(result, { "cheat.c": "int main(void){return 0;}\n" });
      execFileSync("gcc", ["-o", join(result, "app"), join(result, "cheat.c")]);
      rmSync(join(result, "cheat.c"));
      expect(await accept()).toMatchObject({ results: [{ status: "failed" }], steered: [{ path: "app" }] });
    },
  );

  it("keeps deletions, new folders, modes and links inside the tree", async () => {
    const { accept, result } = make(
      [
        {
          id: "AC-1",
          type: "shell",
          command:
            'test ! -e files/old/a && test -x files/run && test -f files/was/now && [ "$(cat files/link)" = here ]',
        },
      ],
      { "files/old/a": "", "files/old/b": "", "files/was": "a file", "files/swap/x": "" },
      { "files/here": "here" },
    );
    rmSync(join(result, "files/old"), { recursive: true });
    rmSync(join(result, "files/was"));
    rmSync(join(result, "files/swap"), { recursive: true });
    put(result, { "files/was/now": "", "files/run": "#!/bin/sh\n", "files/swap": "a file now" });
    chmodSync(join(result, "files/run"), 0o755);
    symlinkSync("here", join(result, "files/link"));
    expect(await accept()).toMatchObject({ verdict: "passed", results: [{ status: "passed" }] });
  });
});

describe.skipIf(!held)("a room is the same everywhere (needs bwrap)", () => {
  it("has neutral paths, accounts and variables, and nothing of the caller", async () => {
    const { outcomes } = make(
      [
        {
          id: "place",
          type: "shell",
          command: "pwd; id -un; echo $HOME $TMPDIR; ls -A $HOME; env | cut -d= -f1 | sort | tr '\\n' ' '",
          expected: { stdout_contains: ["/home/user/project\nuser\n/home/user /tmp\nproject\n"] },
        },
        { id: "told", type: "shell", command: 'test -z "$CI$PYTHONPATH$NUT_CANARY$NUT_CHILD"' },
        {
          id: "git",
          type: "shell",
          command:
            "cd /tmp && git init -q r && cd r && echo > a && git add a && git commit -qm a && git log --oneline | grep -q a",
        },
      ],
      {},
      { a: "" },
    );
    const env = { ...process.env, NUT_CANARY: "1", PYTHONPATH: ".", CI: "1" };
    expect(await outcomes({ baseline: false, env })).toEqual({ place: "passed", told: "passed", git: "passed" });
  });

  it("shows no repository around the tree, and none inside it", async () => {
    const { outcomes, request, result } = make(
      [{ id: "AC-1", type: "shell", command: "! git rev-parse --git-dir 2>/dev/null && test ! -e .nexus" }],
      {},
      { a: "" },
    );
    for (const root of [request, result]) {
      execFileSync("git", ["init", "-q", root]);
      put(root, { ".nexus/state.json": "{}" });
    }
    expect(await outcomes({ baseline: false })).toEqual({ "AC-1": "passed" });
  });
});

describe("checks that come after others", () => {
  const order = [
    { id: "build", type: "shell", command: "mkdir -p out && cp files/answer.sh out/app" },
    { id: "use", type: "shell", command: "sh out/app | grep -q 5", after: ["build"] },
  ];

  it("get what those made, and others do not", async () => {
    const { accept } = make([...order, { id: "alone", type: "shell", command: "test ! -e out" }], ANSWERS, {
      "files/answer.sh": "echo 5\n",
    });
    const { results } = await accept();
    expect(results.map(({ id, status }) => `${id} ${status}`)).toEqual(["build passed", "use passed", "alone passed"]);
    expect(await accept({ only: ["use"] })).toMatchObject({ verdict: "passed", results: [{ id: "use" }] });
  });

  it("get no test or setting that was planted there", async () => {
    const { accept } = make(
      [
        { id: "build", type: "shell", command: "sh files/answer.sh; true" },
        {
          id: "use",
          type: "shell",
          command: "test ! -e conftest.py && test ! -e Makefile && test -e kept",
          after: ["build"],
        },
      ],
      ANSWERS,
      { "files/answer.sh": "echo > conftest.py; echo > Makefile; echo > kept\n" },
    );
    expect((await accept()).results[1]).toMatchObject({ id: "use", status: "passed" });
  });

  it("are told so when they say nothing of it and pass in that order alone", async () => {
    const uses = { id: "use", type: "shell", command: "test -e made" };
    const { outcomes } = make([{ id: "make", type: "shell", command: "sh files/answer.sh" }, uses], ANSWERS, {
      "files/answer.sh": "echo > made\n",
    });
    expect((await outcomes()).use).toBe('failed: exit 1, expected 0; it passes after make: its "after" may say so');
  });

  it("must name criteria, and not themselves", async () => {
    const criterionAfter = (id: string, ...after: string[]) => ({ id, type: "shell", command: "true", after });
    await expect(make([criterionAfter("a", "b")], {}, {}).accept()).rejects.toThrow('comes after "b", which is no');
    const circle = make([criterionAfter("a", "b"), criterionAfter("b", "a")], {}, {});
    await expect(circle.accept()).rejects.toThrow('"a" comes after itself');
  });
});

describe("trials", () => {
  it("run base and result three times each, or as often as asked", async () => {
    const { accept } = make([criterion], ANSWERS, { "files/answer.sh": "echo 5\n" });
    expect(await accept()).toMatchObject({ trials: 3, results: [{ before: "failed", after: "passed" }] });
    expect((await accept({ trials: 1, quick: true })).results[0]).toMatchObject({ runs: 2, weakness: "quick" });
  });

  it("do not take luck for work", async () => {
    const flip = { "tests/t.sh": "[ $(( $(od -An -N1 -tu1 /dev/urandom) % 2 )) = 0 ]\n" };
    const { accept, folder } = make([criterion], flip, { a: "" });
    const tries = Array.from({ length: 12 }, (_, index) => accept({ workDir: join(folder, `work${index}`) }));
    const proven = await Promise.all(tries);
    expect(proven.filter(({ counts }) => counts.proven > 0).length).toBeLessThan(4);
  });
});

describe("a tree with more tests than mounts can hold", () => {
  const many = Object.fromEntries(
    Array.from({ length: 320 }, (_, n) => [
      [`files/${n}/a.test.js`, "1\n"],
      [`files/${n}/a.js`, "1\n"],
    ]).flat(),
  );
  const attempt = (work: string) =>
    make([criterion], { ...many, ...ANSWERS }, { "files/answer.sh": work }).accept({ trials: 1 });

  it("is a copy, in which work is done as anywhere", async () => {
    expect(await attempt("echo 5\n")).toMatchObject({ verdict: "passed" });
  });

  it("is compared afterwards: a test that was changed meanwhile fails the check", async () => {
    const { results } = await attempt("for n in files/*/a.test.js; do echo 2 > $n; done 2>/dev/null; echo 5\n");
    expect(results[0]).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("the tests were changed while it ran: files/"),
    });
  });
});

describe("a test that writes beside itself", () => {
  const writes = {
    ...ANSWERS,
    "tests/t.sh": 'set -e\n[ "$(sh files/answer.sh)" = 5 ]\nmkdir tests/output\necho done > tests/output/log\n',
  };

  it("may", async () => {
    expect(await make([criterion], writes, { "files/answer.sh": "echo 5\n" }).accept()).toMatchObject({
      verdict: "passed",
    });
  });

  it.skipIf(!held)("lets the work neither change a test there nor put a setting beside it (needs bwrap)", async () => {
    const attempt = async (attack: string) =>
      (await make([criterion], writes, { "files/answer.sh": `${attack}\necho 5\n` }).accept({ trials: 1 })).results[0];
    expect(await attempt("echo true > tests/t.sh 2>/dev/null; mv tests was 2>/dev/null")).toMatchObject({
      status: "passed",
    });
    expect(await attempt("echo > tests/conftest.py")).toMatchObject({
      status: "failed",
      reason: "the tests were changed while it ran: tests/conftest.py",
    });
  });
});

describe("an odd tree", () => {
  it("has names with spaces, quotes, newlines and colons, and no writable mark is left", async () => {
    const { accept, folder, result } = make(
      [{ id: "AC-1", type: "shell", command: "test ! -e \"a b'c\" && test -e 'tests/x:y,z' && test -e 'new\nline'" }],
      { "a b'c": "", "tests/x:y,z": "", "tests/q\\w": "" },
      { "new\nline": "" },
    );
    rmSync(join(result, "a b'c"));
    expect(await accept()).toMatchObject({ verdict: "passed" });
    expect(readdirSync(join(folder, "work"))).toEqual([]);
    expect(existsSync(join(folder, "work/rooms"))).toBe(false);
  });

  it("may lie in a folder with a colon and a comma", async () => {
    const { accept, folder } = make([criterion], ANSWERS, { "files/answer.sh": "echo 5\n" });
    mkdirSync(join(folder, "a:b,c\\d"));
    expect(await accept({ workDir: join(folder, "a:b,c\\d/work") })).toMatchObject({ verdict: "passed" });
  });
});
