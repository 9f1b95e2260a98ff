import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { readJournal } from "../../src/run/record/journal.js";
import type { JournalRecord } from "../../src/schema/journal.js";
import { here } from "./here.js";
import { start } from "./program.js";
import { helloRequest, MANIFEST, scratch, sweep } from "./scripted.js";

let cwd: string;
beforeEach(() => {
  cwd = join(scratch(), "project");
  mkdirSync(cwd);
});
afterAll(sweep);

/** A folder of its own under a name of its own, with one task and nothing to judge. */
function request(name: string, manifest: object = {}): string {
  const plan = { tasks: [{ title: `Greet from ${name}`, owner: "engineer" }] };
  return helloRequest(join(cwd, "..", name), {
    ...MANIFEST,
    task: { ...MANIFEST.task, title: `Say hello from ${name}` },
    acceptance: { criteria_file: "tests/criteria.json" },
    extensions: { nexus: { plan } },
    ...manifest,
  });
}

function agent(script: string): string[] {
  return ["--driver", "command", "--command", `sh -c '${script.replaceAll("'", "'\\''")}'`];
}
const GREETS = agent("echo hello world > files/hello.txt; echo done");

const runs = () => join(cwd, ".nexus/state/nutcracker/runs");
const journals = (): (readonly JournalRecord[])[] =>
  existsSync(runs()) ? readdirSync(runs()).map((id) => readJournal(join(runs(), id, "journal.jsonl"))) : [];

/** When agents were at work, as pairs of times, run by run. */
const spells = () =>
  journals().map((records) => {
    const at = (type: string) =>
      records.filter((record) => record.type === type).map((record) => Date.parse(record.at));
    return at("agent_started").map((from, index) => [from, at("agent_ended")[index]!] as const);
  });

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 300 && !holds(); tries += 1) await sleep(50);
  expect(holds()).toBe(true);
}

describe("several requests", () => {
  it("are runs side by side with one summary and one exit status", async () => {
    const [a, b] = [request("first"), request("second")];
    // The one that is told by its title to fail writes something else.
    const line =
      "if grep -q 'hello from second'; then echo no > files/hello.txt; else echo hello world > files/hello.txt; fi; sleep 1; echo done";
    const ran = await here("nexus", cwd, ["run", a, b, ...agent(line), "--jobs", "2", "--yes", "-o", "out", "--json"]);
    expect(ran.status, ran.stderr).toBe(1);
    const lines = ran.stdout
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text));
    const { runs: rows, ...rest } = lines.at(-1);
    expect(rest).toEqual({ type: "result", completed: 1 });
    expect(rows.map(({ request: named, status }: { request: string; status: string }) => [named, status])).toEqual([
      [a, "completed"],
      [b, "failed"],
    ]);
    expect(rows[0].result.delivery.path).toBe(join(cwd, "out", "say-hello-from-first-delivery.nut"));
    expect(readdirSync(join(cwd, "out"))).toEqual([
      "say-hello-from-first-delivery.nut",
      "say-hello-from-second-delivery.nut",
    ]);
    // Every event says whose it is, and both were at work at one time.
    const ids = new Set(lines.slice(0, -1).map(({ run }) => run));
    expect([...ids].sort()).toEqual(rows.map(({ run }: { run: string }) => run).sort());
    const [first, second] = spells().map((spans) => spans[0]!);
    expect(first![0] < second![1] && second![0] < first![1]).toBe(true);
  });

  it("never have more agents at work than --jobs says, and take files that are free", async () => {
    const all = ["one", "two"].map((name) =>
      request(name, { task: { title: "Say hello", summary: "hello.txt must greet the world" } }),
    );
    const ran = await here("nexus", cwd, ["run", ...all, ...GREETS, "--jobs", "1"]);
    expect(ran.status, ran.stdout + ran.stderr).toBe(0);
    expect(ran.stdout).toContain("2 of 2 completed");
    for (const name of ["say-hello-delivery.nut", "say-hello-delivery-2.nut"]) {
      expect(existsSync(join(cwd, name)), name).toBe(true);
    }
    const spans = spells()
      .flat()
      .sort(([a], [b]) => a - b);
    expect(spans).toHaveLength(2);
    expect(spans.every(([from], at) => at === 0 || from >= spans[at - 1]![1])).toBe(true);
    // Their names are all "request": the whole path tells them apart.
    expect(ran.stderr).toContain(`${all[1]}: run `);
  });

  it.each([
    ["one that is not there", (a: string) => [a, "nowhere.nut"], "nowhere.nut: no such file"],
    ["one that is named twice", (a: string) => [a, `${a}/`], "is named twice"],
    ["a branch for all of them", (a: string, b: string) => [a, b, "--apply-to-branch", "x"], "about one request"],
    ["a file for all of them", (a: string, b: string) => [a, b, "-o", `${a}/nutshell.json`], "is no folder"],
  ] as const)("are refused with %s, and nothing is made", async (_, args, words) => {
    const ran = await here("nexus", cwd, ["run", ...args(request("a"), request("b")), ...GREETS]);
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain(words);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("show their plans and start nothing", async () => {
    const ran = await here("nexus", cwd, ["run", request("a"), request("b"), ...GREETS, "--dry-run"]);
    expect(ran.status).toBe(0);
    expect(ran.stdout).toContain("Greet from a");
    expect(ran.stdout).toContain("Greet from b");
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("stop together at Ctrl-C, say how each goes on, and do", async () => {
    const [a, b, c] = [request("a"), request("b"), request("c")];
    const line = "[ -e again ] || sleep 60; echo hello world > files/hello.txt; echo done";
    const child = start(cwd, ["run", a, b, c, ...agent(line), "--jobs", "2"]);
    const sessions = () => journals().filter((records) => records.some(({ type }) => type === "agent_session"));
    await until(() => sessions().length === 2);
    child.kill("SIGINT");
    const ran = await child.done;
    expect(ran.status).toBe(130);
    const ids = readdirSync(runs()).sort();
    expect(ids).toHaveLength(2);
    const [, told] = ran.stderr.split("stopped; 0 of 3 were done. Go on with:\n");
    const hints = told!.trim().split("\n");
    expect(hints).toHaveLength(3);
    expect(hints[2]!.trim()).toBe(`${c} (not begun): nexus run ${c}`);
    for (const id of ids) expect(told).toContain(`nexus resume ${id}`);
    for (const records of journals()) expect(records.at(-1)).toMatchObject({ type: "paused", reason: "interrupted" });
    for (const id of ids) {
      const args = ["resume", id, "--driver", "command", "--command", GREETS[3]!];
      const again = await here("nexus", cwd, args);
      expect(again.status, again.stdout + again.stderr).toBe(0);
    }
    expect(readFileSync(join(cwd, ".nexus/history.json"), "utf8")).toContain("Say hello from b");
  });
});
