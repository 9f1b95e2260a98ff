import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { readContenders } from "../../src/commands/nexus/race/contenders.js";
import { believedOptions, recordStarted } from "../../src/commands/nexus/run/run-consent.js";
import type { Context } from "../../src/operation.js";
import { createRun, parseBudget, runsFolder } from "../../src/run/index.js";
import type { RunOptions } from "../../src/schema/run.js";
import type { TryResult } from "../../src/schema/scorecard.js";
import { bestOf, isSolved, rowsOf, scorecardPage, wilson } from "../../src/scorecard/index.js";
import { call, start } from "./program.js";
import { helloRequest, put, scratch, sweep } from "./scripted.js";

let cwd: string;
beforeEach(() => {
  cwd = join(scratch(), "project");
  mkdirSync(cwd);
});
afterAll(sweep);

const PLAN = { tasks: [{ title: "Greet", owner: "engineer" }] };
const request = (name: string, files: Record<string, string> = {}) =>
  helloRequest(
    join(cwd, "..", name),
    {
      task: { title: name, summary: "hello.txt must greet the world" },
      acceptance: { criteria_file: "tests/criteria.json" },
      extensions: { nexus: { plan: PLAN } },
    },
    files,
  );

const usage = `echo '{"nexus_event":"usage","input_tokens":90,"output_tokens":10,"cost_usd":0.25}';`;
const GOOD = `${usage} echo hello world > files/hello.txt; echo done`;
const LONG = "for i in 1 2 3; do echo hello world >> files/hello.txt; done; echo done";
const BAD = "echo helo > files/hello.txt; echo done";
const who = (label: string, line: string) => ["--with", `${label}=command:sh -c '${line.replaceAll("'", "'\\''")}'`];

function solution(name = "solution"): string {
  put(join(cwd, "..", name), { "files/hello.txt": "hello world\n" });
  return join(cwd, "..", name);
}

describe("nexus race", () => {
  it("compares programs, keeps the best by its rule, and always shows noop and oracle", () => {
    const args = ["race", request("Say hello"), ...who("long", LONG), ...who("good", GOOD)];
    const ran = call("nexus", cwd, [...args, "--oracle", solution(), "-o", "out", "--json"]);
    expect(ran.status, ran.stdout + ran.stderr).toBe(0);
    const result = JSON.parse(ran.stdout.trim().split("\n").at(-1)!);
    expect(result.rows).toEqual(["long", "good", "noop", "oracle"]);
    const outcomes = result.tries.map(({ contender, result: { outcome, criteria } }: never) => [
      contender,
      outcome,
      (criteria as TryResult["criteria"]).proven,
    ]);
    expect(outcomes).toEqual([
      ["noop", "failed", 0],
      ["oracle", "completed", 1],
      ["long", "completed", 1],
      ["good", "completed", 1],
    ]);
    // good tells what it costs, so it comes before long, which does not.
    expect(result.best).toEqual({ contender: "good", trial: 1, path: join(cwd, "out/best.nut"), outcome: "completed" });
    expect(readFileSync(join(cwd, "out/best.nut"))).toEqual(readFileSync(join(cwd, "out/good.nut")));
    expect(readdirSync(join(cwd, "out"))).toEqual(["best.nut", "good.nut", "long.nut", "tries"]);
    expect(result.tries[3].result).toMatchObject({ tokens: 100, cost_usd: 0.25, files: 1, sessions: 1 });

    // The same line again makes nothing new, and the table is one a person can read.
    const again = call("nexus", cwd, [...args, "--oracle", solution(), "-o", "out"]);
    expect(again.status).toBe(0);
    expect(again.stdout).toMatch(/good\s+completed\s+1\/1\s+–\s+100\s+\$0\.250/);
    expect(again.stdout).toMatch(/noop\s+failed\s+0\/1/);
    expect(readdirSync(join(cwd, ".nexus/state/nutcracker/runs"))).toHaveLength(4);
    // Another program under a name that is taken is somebody else.
    const other = call("nexus", cwd, ["race", request("Say hello"), ...who("good", BAD), "-o", "out"]);
    expect(other.status).toBe(2);
    expect(other.stderr).toContain("good is command:");
  });

  it("goes on where it was stopped, in the same runs", async () => {
    const flag = join(cwd, "..", "go");
    const args = ["race", request("Wait"), ...who("slow", `[ -e ${flag} ] || sleep 60; ${GOOD}`), "--no-sandbox"];
    const child = start(cwd, args);
    const tries = join(cwd, "wait-race/tries");
    const began = () => existsSync(tries) && readdirSync(tries).some((name) => name.includes("--slow--"));
    for (let at = 0; at < 300 && !began(); at += 1) await sleep(50);
    await sleep(1_500);
    child.kill("SIGINT");
    const ran = await child.done;
    expect(ran.status).toBe(130);
    expect(ran.stderr).toContain("Go on with: the same command once more");
    const ids = readdirSync(join(cwd, ".nexus/state/nutcracker/runs")).sort();
    put(join(cwd, ".."), { go: "" });
    const again = call("nexus", cwd, args);
    expect(again.status, again.stdout + again.stderr).toBe(0);
    expect(again.stdout).toContain("not known: --oracle <dir>");
    expect(readdirSync(join(cwd, ".nexus/state/nutcracker/runs")).sort()).toEqual(ids);
  });
});

describe("nexus bench", () => {
  it("counts, warns of what cannot be solved, and writes one page and one JSON", () => {
    const tasks = join(cwd, "..", "tasks");
    request("tasks/one");
    request("tasks/two");
    put(join(cwd, "..", "solutions"), {
      "one/request/files/hello.txt": "hello world\n",
      "two/request/files/hello.txt": "hello moon\n",
    });
    const args = ["bench", tasks, ...who("good", GOOD), "--oracle", join(cwd, "..", "solutions")];
    const ran = call("nexus", cwd, [...args, "--json"]);
    expect(ran.status, ran.stdout + ran.stderr).toBe(0);
    const result = JSON.parse(ran.stdout.trim().split("\n").at(-1)!);
    expect(result.requests.map(({ name }: { name: string }) => name)).toEqual(["one/request", "two/request"]);
    expect(
      result.rows.map(({ contender, tries, solved, cost_per_solved_usd: cost }: never) => [
        contender,
        tries,
        solved,
        cost,
      ]),
    ).toEqual([
      ["good", 2, 2, 0.25],
      ["noop", 2, 0, null],
      ["oracle", 2, 1, null],
    ]);
    expect(result.warnings).toEqual(["not solved by the known solution, so perhaps nobody can here: two/request"]);
    const page = readFileSync(join(cwd, "nexus-bench/scorecard.html"), "utf8");
    expect(page).toContain("<svg");
    expect(page).not.toMatch(/<script|https?:/);
    expect(JSON.parse(readFileSync(join(cwd, "nexus-bench/scorecard.json"), "utf8"))).toEqual(result);
    // A further one is added; what is there is not done again.
    const runs = () => readdirSync(join(cwd, ".nexus/state/nutcracker/runs")).length;
    const before = runs();
    const more = call("nexus", cwd, [...args, ...who("more", LONG)]);
    expect(more.status, more.stdout + more.stderr).toBe(0);
    expect(more.stdout).toMatch(/good\s+2\/2\s+100 %\s+34 %–100 %\s+\$0\.250/);
    expect(more.stdout).toMatch(/more\s+2\/2\s+100 %/);
    expect(runs()).toBe(before + 2);
  });
});

describe("a known solution", () => {
  it("is laid over the work only for whoever named it", () => {
    const options: RunOptions = {
      id: "r1",
      created_at: new Date().toISOString(),
      title: "x",
      request_id: "x",
      request: cwd,
      driver: "oracle",
      oracle: "/home/somebody/.ssh",
      budget: parseBudget([]),
      review_plan: false,
      yes: true,
      force: false,
      output: join(cwd, "x.nut"),
    };
    const folder = createRun(runsFolder(cwd), options);
    const context = { env: { HOME: join(cwd, "home") }, cwd, progress: () => {} } as unknown as Context;
    // Nobody here started it: what it names is not the person's word.
    expect(believedOptions(folder, options, context).oracle).toBeUndefined();
    recordStarted(folder, context);
    expect(believedOptions(folder, options, context).oracle).toBe("/home/somebody/.ssh");
  });
});

describe("who takes part", () => {
  it.each([
    ["codex", { label: "codex", driver: "codex" }],
    ["claude:opus", { label: "claude:opus", driver: "claude", model: "opus" }],
    ["opencode:a/b:free", { label: "opencode:a/b:free", driver: "opencode", model: "a/b:free" }],
    ["x=command:env A=b ./agent", { label: "x", driver: "command", command: "env A=b ./agent" }],
  ])("reads %s", (word, wanted) => {
    expect(readContenders([word])[0]).toMatchObject(wanted);
  });

  it.each([
    [[], "nobody takes part"],
    [["codx"], 'there is no driver "codx"'],
    [["noop"], "always in the table"],
    [["command"], "needs a program's line"],
    [["claude:"], "needs a model"],
    [["codex", "codex"], "two take part as codex"],
    [["claude:a b", "claude:a-b"], "two take part as claude:a-b"],
  ])("refuses %j", (words, why) => {
    expect(() => readContenders(words)).toThrow(why);
  });
});

const result = (fields: Partial<TryResult>): { result: TryResult } => ({
  result: {
    outcome: "completed",
    final: true,
    why: "",
    criteria: { total: 2, passed: 2, failed: 0, proven: 2 },
    checklist: { total: 0, passed: 0 },
    review: null,
    tokens: 0,
    cost_usd: 0,
    ms: 1,
    sessions: 1,
    files: 1,
    lines: 1,
    delivery: "x.nut",
    ...fields,
  },
});

describe("figures", () => {
  it("are Wilson's, as published", () => {
    const { low, high } = wilson(8, 10);
    expect(low).toBeCloseTo(0.4902, 4);
    expect(high).toBeCloseTo(0.9433, 4);
    expect(wilson(0, 5)).toEqual({ low: 0, high: expect.closeTo(0.4345, 4) });
    expect(wilson(5, 5)).toEqual({ low: expect.closeTo(0.5655, 4), high: 1 });
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  });

  it("count a request for noop and oracle when every criterion passes, for others when it is completed", () => {
    const guards = result({ outcome: "failed", criteria: { total: 2, passed: 2, failed: 0, proven: 0 } }).result;
    const half = result({ outcome: "partial", criteria: { total: 2, passed: 1, failed: 1, proven: 1 } }).result;
    const none = result({ outcome: "partial", criteria: { total: 0, passed: 0, failed: 0, proven: 0 } }).result;
    expect([guards, half, none, result({}).result].map((each) => isSolved(true, each))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect([guards, half, none, result({}).result].map((each) => isSolved(false, each))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it("call best what the rule says, in its order", () => {
    const order = [
      result({ lines: 3, tokens: 5, cost_usd: 1 }),
      result({ lines: 2, tokens: 5, cost_usd: 2 }),
      result({ lines: 2, tokens: 4 }),
      result({ lines: 1, tokens: 5 }),
      result({ lines: 2 }),
      result({ lines: 2, ms: 2 }),
      result({ criteria: { total: 2, passed: 2, failed: 0, proven: 1 } }),
      result({ outcome: "partial", cost_usd: 0.01 }),
    ];
    for (const [at, each] of order.entries()) {
      expect(bestOf([...order.slice(at)].reverse()), String(at)).toBe(each);
    }
    expect(bestOf([result({ outcome: "failed" }), result({ delivery: undefined })])).toBe(null);
  });

  it("count only what has ended, and escape what others wrote", () => {
    const tries = [result({}), result({ outcome: "paused", final: false }), result({ outcome: "failed", ms: 3 })].map(
      (each, at) => ({
        version: 1 as const,
        request: "<b>",
        digest: `sha256:${"0".repeat(64)}`,
        contender: "a",
        program: "a",
        trial: at + 1,
        run: "r",
        ...each,
      }),
    );
    const rows = rowsOf([{ label: "a", standIn: false }], tries);
    expect(rows[0]).toMatchObject({
      tries: 2,
      solved: 1,
      rate: 0.5,
      unfinished: 1,
      median_ms: 2,
      cost_per_solved_usd: null,
    });
    const page = scorecardPage({ title: "<i>", about: [], rows, requests: ["<b>"], tries, warnings: ["<script>"] });
    expect(page).not.toMatch(/<[bi]>|<script>/);
  });
});
