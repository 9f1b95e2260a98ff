import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { TryResult } from "../../src/schema/scorecard.js";
import { here } from "./here.js";
import { start } from "./program.js";
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
  it("compares programs, keeps the best by its rule, and always shows noop and oracle", async () => {
    const args = ["race", request("Say hello"), ...who("long", LONG), ...who("good", GOOD)];
    const ran = await here("nexus", cwd, [...args, "--oracle", solution(), "-o", "out", "--json"]);
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
    const again = await here("nexus", cwd, [...args, "--oracle", solution(), "-o", "out"]);
    expect(again.status).toBe(0);
    expect(again.stdout).toMatch(/good\s+completed\s+1\/1\s+–\s+100\s+\$0\.250/);
    expect(again.stdout).toMatch(/noop\s+failed\s+0\/1/);
    expect(readdirSync(join(cwd, ".nexus/state/nutcracker/runs"))).toHaveLength(4);
    // Another program under a name that is taken is somebody else.
    const other = await here("nexus", cwd, ["race", request("Say hello"), ...who("good", BAD), "-o", "out"]);
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
    const again = await here("nexus", cwd, args);
    expect(again.status, again.stdout + again.stderr).toBe(0);
    expect(again.stdout).toContain("not known: --oracle <dir>");
    expect(readdirSync(join(cwd, ".nexus/state/nutcracker/runs")).sort()).toEqual(ids);
  });
});

describe("nexus bench", () => {
  it("counts, warns of what cannot be solved, and writes one page and one JSON", async () => {
    const tasks = join(cwd, "..", "tasks");
    request("tasks/one");
    request("tasks/two");
    put(join(cwd, "..", "solutions"), {
      "one/request/files/hello.txt": "hello world\n",
      "two/request/files/hello.txt": "hello moon\n",
    });
    const args = ["bench", tasks, ...who("good", GOOD), "--oracle", join(cwd, "..", "solutions")];
    const ran = await here("nexus", cwd, [...args, "--json"]);
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
    const more = await here("nexus", cwd, [...args, ...who("more", LONG)]);
    expect(more.status, more.stdout + more.stderr).toBe(0);
    expect(more.stdout).toMatch(/good\s+2\/2\s+100 %\s+34 %–100 %\s+\$0\.250/);
    expect(more.stdout).toMatch(/more\s+2\/2\s+100 %/);
    expect(runs()).toBe(before + 2);
  });
});

describe("before anybody begins", () => {
  it("a flag nobody understands is refused, and nothing is made", async () => {
    const ran = await here("nexus", cwd, ["race", request("Say hello"), ...who("good", GOOD), "--budget", "lots"]);
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain("--budget does not understand");
    expect(readdirSync(cwd)).toEqual([]);
  });
});
