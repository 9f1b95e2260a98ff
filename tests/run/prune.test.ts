// What finished runs keep on disk, and what a person can take back.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lockRun } from "../../src/run/record/lock.js";
import { type PruneRules, pruneRuns } from "../../src/run/record/prune.js";
import { type Agent, helloRequest, put, scratch, sweep, type World, world } from "./scripted.js";

const TREES = ["checkpoints", "homes", "objects", "scratch", "slots", "work"];
const honest: Agent = ({ role, cwd }) => {
  if (role === "engineer") put(cwd, { "files/hello.txt": "hello world\n" });
  return role === "reviewer" ? "VERDICT: pass\n[passed] 1: files/hello.txt says so" : "RESULT: done";
};

let w: World;
let runs: string;
beforeAll(async () => {
  const root = scratch();
  helloRequest(root, { harness: { checkpoints: true } });
  w = await world({ root, agent: honest });
  expect((await w.go()).delivery?.result.status).toBe("completed");
  runs = dirname(w.folder.root);
  // The same run as it was before its last record: it can still go on.
  const open = join(runs, "open");
  cpSync(w.folder.root, open, { recursive: true });
  const lines = readFileSync(join(open, "journal.jsonl"), "utf8").split("\n").slice(0, -2);
  writeFileSync(join(open, "journal.jsonl"), `${lines.join("\n")}\n`);
  for (const id of ["busy", "damaged"]) cpSync(w.folder.root, join(runs, id), { recursive: true });
  writeFileSync(join(runs, "damaged/journal.jsonl"), "{\n");
});
afterAll(sweep);

const treesOf = (id: string) => readdirSync(join(runs, id)).filter((name) => TREES.includes(name));

function pruneBesideWork(rules: PruneRules, dryRun = false) {
  const lock = lockRun({ id: "busy", lock: join(runs, "busy/lock") });
  try {
    return pruneRuns(runs, rules, dryRun);
  } finally {
    lock.release();
  }
}

it("takes the trees of finished runs; what can go on, is at work or cannot be read stays as it is", async () => {
  const before = ["open", "busy", "damaged"].map(treesOf);
  const told = pruneBesideWork({}, true);
  expect(told).toMatchObject([{ id: "r1", action: "trimmed" }]);
  expect(told[0]!.bytes).toBeGreaterThan(4_000);
  expect(treesOf("r1")).toContain("work");
  expect(pruneBesideWork({})).toEqual(told);
  expect(treesOf("r1")).toEqual([]);
  expect(pruneBesideWork({})).toEqual([]);
  expect(["open", "busy", "damaged"].map(treesOf)).toEqual(before);
  // It still tells what came of it.
  expect(await w.go()).toMatchObject({ recorded: true, delivery: { result: { status: "completed" } } });
});

it("touches nothing behind a link that stands for a run", () => {
  const elsewhere = join(scratch(), "project");
  cpSync(join(runs, "busy"), elsewhere, { recursive: true });
  symlinkSync(elsewhere, join(runs, "linked"));
  pruneBesideWork({});
  expect(existsSync(join(elsewhere, "work/files/hello.txt"))).toBe(true);
  rmSync(join(runs, "linked"));
});

it("removes finished runs by a rule, and no other", () => {
  expect(pruneBesideWork({ keep: 0 })).toMatchObject([{ id: "r1", action: "removed" }]);
  expect(existsSync(w.folder.root)).toBe(false);
  expect(["open", "busy", "damaged"].every((id) => existsSync(join(runs, id)))).toBe(true);
});
