// What a request's own checks are worth, before anybody works; and what of it will count as the work.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PassThrough, Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import { program } from "../../src/commands/nutshell/program.js";
import { put } from "./room.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-strength-"));
  put(folder, { "tmp/.keep": "" });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function nutshell(argv: readonly string[], env: Record<string, string> = {}) {
  const text = { out: "", err: "" };
  const sink = (key: "out" | "err") =>
    new Writable({
      write(chunk, _encoding, done) {
        text[key] += chunk;
        done();
      },
    });
  const code = await main(program, argv, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), ...env },
    now: () => new Date("2026-01-01T00:00:00Z"),
    signal: new AbortController().signal,
    stdin: () => Readable.from([]) as PassThrough,
    stdout: sink("out"),
    stderr: sink("err"),
    ask: null,
  });
  expect(readdirSync(join(folder, "tmp"))).toEqual([".keep"]);
  return { code, ...text };
}

const TOTAL = 'import assert from "node:assert/strict";\nimport { total } from "../files/total.mjs";\n';
const SCRIPTS = {
  "tests/sum.mjs": `${TOTAL}assert.equal(total([1, 2]), 3);\n`,
  "tests/type.mjs": `${TOTAL}assert.equal(typeof total([1, 2]), "number");\n`,
  "tests/same.mjs": `${TOTAL}assert.equal(total.length, 1);\n`,
};

function stage(criteria: readonly object[], more: object = {}, files: Record<string, string> = {}): void {
  put(join(folder, "task"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: "nut-11111111-1111-4111-8111-111111111111",
      task: { title: "Add up", summary: "add up what is given" },
      acceptance: { criteria_file: "tests/criteria.json" },
      ...more,
    }),
    "tests/criteria.json": JSON.stringify({ criteria }),
    "files/total.mjs": "export function total(prices) {}\n",
    ...SCRIPTS,
    ...files,
  });
}

const script = (id: string, path: string) => ({ id, type: "shell", command: `node ${path}` });

describe("check --strength", () => {
  it("tells strong checks from those that anything passes, and from guards", async () => {
    stage([
      script("SUM", "tests/sum.mjs"),
      script("TYPE", "tests/type.mjs"),
      script("SAME", "tests/same.mjs"),
      { ...script("NICE", "tests/sum.mjs"), auto_verifiable: false },
    ]);
    const { code, out } = await nutshell(["check", "task", "--strength", "--json"]);
    const { strength } = JSON.parse(out);
    expect(strength.stand_ins).toContain("functions that return 0");
    expect(strength.checks.map(({ id, worth }: { id: string; worth: string }) => [id, worth])).toEqual([
      ["SUM", "strong"],
      ["TYPE", "weak"],
      ["SAME", "guards"],
      ["NICE", "untried"],
    ]);
    expect(strength.checks[1]).toMatchObject({ untouched: "failed", stand_ins: ["functions that return 0"] });
    expect(code).toBe(1);
  });

  it("says it as a table, and is content with strong checks", async () => {
    stage([script("SUM", "tests/sum.mjs")]);
    const { code, out } = await nutshell(["check", "task", "--strength"]);
    expect(out).toMatch(/SUM +strong +failed untouched/);
    expect(code).toBe(0);
  });

  it("names a check that passes whatever it expects", async () => {
    stage(
      [{ id: "ANY", type: "shell", script: "tests/any.sh" }],
      {},
      { "tests/any.sh": "node tests/sum.mjs || true\n" },
    );
    const { out } = await nutshell(["check", "task", "--strength"]);
    expect(out).toMatch(/ANY +weak +passed untouched +passes on empty files/);
  });

  it("names checks that are met by saying every word", async () => {
    const server =
      'import { createServer } from "node:http";\ncreateServer((_, to) => to.end("hm")).listen(process.env.PORT);\n';
    stage(
      [
        { id: "GREP", type: "shell", command: "node files/report.mjs | grep -q 'total: 6'" },
        { id: "SAYS", type: "shell", command: "python3 files/report.py", expected: { stdout_contains: "it's 6" } },
        { id: "HOLDS", type: "shell", script: "tests/holds.sh" },
        { id: "EXACT", type: "shell", command: '[ "$(node files/report.mjs)" = "total: 6" ]' },
        {
          id: "BODY",
          type: "api_test",
          endpoint: "GET /",
          start: "tests/start.sh",
          expected: { status_code: 200, body_contains: "six" },
        },
      ],
      {},
      {
        "files/report.mjs": 'console.log("total: 0");\n',
        "files/report.py": "def main():\n    print(0)\n\nif __name__ == '__main__':\n    main()\n",
        "files/report.sh": "echo 0\n",
        "files/server.mjs": server,
        "tests/holds.sh": "set -eu\nsh files/report.sh > out.txt\ngrep 'sum: 6' out.txt\n",
        "tests/start.sh": "exec node files/server.mjs\n",
      },
    );
    const { out } = await nutshell(["check", "task", "--strength", "--json"]);
    const rows = JSON.parse(out).strength.checks as { id: string; worth: string; reason?: string }[];
    const why = "passes on answers that hold every word of the checks";
    expect(rows.map(({ id, worth, reason }) => [id, worth, reason])).toEqual([
      ["GREP", "weak", why],
      ["SAYS", "weak", why],
      ["HOLDS", "weak", why],
      ["EXACT", "strong", undefined],
      ["BODY", "weak", why],
    ]);
  });

  it("names a check that fails alone and passes after the ones before it", async () => {
    stage([
      { id: "MAKE", type: "shell", command: "echo 3 > made.txt" },
      { id: "USE", type: "shell", command: "grep -q 3 made.txt" },
    ]);
    const { out } = await nutshell(["check", "task", "--strength"]);
    expect(out).toMatch(/USE +weak .*fails alone on the untouched tree; it passes after MAKE: its "after" may say so/);
  });

  it("runs nothing of a stranger's without a yes, and nothing at all without being asked", async () => {
    stage([{ id: "MARK", type: "shell", command: "false" }]);
    expect(JSON.parse((await nutshell(["check", "task", "--json"])).out).strength).toBeNull();
    await nutshell(["pack", "--dir", "task", "-o", "task.nut"], { XDG_STATE_HOME: join(folder, "stranger") });
    const { code, err } = await nutshell(["check", "task.nut", "--strength"]);
    expect(err).toContain("nobody agreed to run it");
    expect(code).toBe(2);
    expect((await nutshell(["check", "task.nut", "--strength", "--yes"])).out).toContain("MARK");
  });
});

describe("the subject", () => {
  const speaksOf = { task: { title: "Add a script", summary: "add a test script to package.json, and a Makefile" } };

  it("is shown: what is declared, or what the default comes to", async () => {
    stage([script("SUM", "tests/sum.mjs")]);
    expect((await nutshell(["check", "task"])).out).toContain(
      "acceptance.subject: every change but tests and what steers them: files/total.mjs",
    );
    stage([script("SUM", "tests/sum.mjs")], { acceptance: { subject: ["files/"] } });
    expect((await nutshell(["check", "task"])).out).toContain("acceptance.subject: files/");
  });

  it("is asked about when the task speaks of a file that steers checks", async () => {
    stage([script("SUM", "tests/sum.mjs")], speaksOf, { "package.json": "{}" });
    const { findings } = JSON.parse((await nutshell(["check", "task", "--json"])).out);
    const asked = findings.filter(({ code }: { code: string }) => code === "SUBJECT_STEERS");
    expect(asked.map(({ fix }: { fix: string }) => fix)).toEqual([
      "nutshell set acceptance.subject '<folder of the work>/,package.json' --dir task",
      "nutshell set acceptance.subject '<folder of the work>/,Makefile' --dir task",
    ]);
  });

  it("is not asked about when it names the file", async () => {
    const acceptance = { subject: ["files/", "package.json", "Makefile"] };
    stage([script("SUM", "tests/sum.mjs")], { ...speaksOf, acceptance }, { "package.json": "{}" });
    expect((await nutshell(["check", "task"])).out).not.toContain("steers checks");
  });
});
