// What a run changed, as the board shows it: what the journal names, or nothing.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createRun, type RunFolder, runsFolder } from "../../src/run/record/folder.js";
import { Journal } from "../../src/run/record/journal.js";
import { RunChanges } from "../../src/web/board/run-changes.js";
import { temporary } from "./folders.js";

const at = "2026-01-01T00:00:00Z";
const id = "20260101-000000-aaaa";
const digest = `sha256:${"0".repeat(64)}`;
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const entry = (text: string) => ({ type: "file" as const, executable: false, size: text.length, hash: hashOf(text) });

let root: string;
let remove: () => void;
let folder: RunFolder;

beforeEach(() => {
  ({ path: root, remove } = temporary());
  folder = createRun(runsFolder(root), {
    ...{ id, created_at: at, title: "T", request_id: "nut-1", request: "/request", driver: "demo" },
    ...{ budget: { agentMs: 1, stallMs: 1, loop: 1 }, review_plan: false, yes: false, force: false, output: "/d.nut" },
  });
  mkdirSync(folder.objects, { recursive: true });
  mkdirSync(folder.request, { recursive: true });
  const task = { id: 1, title: "t", context: "c", deps: [], owner: "engineer", kind: "work" as const };
  const work = { agent: "engineer-1", task: 1 } as const;
  const changes = [
    { path: "a.txt", kind: "modified" as const, before: entry("one\n"), after: entry("two\n") },
    { path: "b.txt", kind: "created" as const, before: null, after: entry("new\n") },
  ];
  const journal = new Journal(folder.journal);
  journal.append({ at, type: "created", version: 3, run: id });
  journal.append({ at, type: "opened", digest, base: digest });
  journal.append({
    at,
    type: "planned",
    plan: { source: "default", goal: "", decisions: [], issues: [], tasks: [task] },
  });
  const start = { role: "engineer", purpose: "work", mode: "fresh", reason: "", base: 0, slot: "s" } as const;
  journal.append({ at, type: "agent_started", ...work, ...start });
  const end = { outcome: "done", text: "", ms: 1, usage: { tokens: 1, costUsd: 0 }, problems: [], tools: [] } as const;
  const more = { reported: true, decisions: [], issues: [], judgements: [] };
  journal.append({ at, type: "agent_ended", ...work, ...end, ...more, problems: [], tools: [], changes });
  journal.append({ at, type: "merging", ...work, changes });
  journal.append({ at, type: "merged", ...work });
  journal.close();
  writeFileSync(join(folder.request, "a.txt"), "one\n");
  for (const text of ["two\n", "new\n"]) writeFileSync(join(folder.objects, hashOf(text)), text);
});
afterEach(() => remove());

it("shows what a run and a session changed, with counts", () => {
  for (const agent of ["", "engineer-1"]) {
    const changes = new RunChanges(root, id, agent);
    expect(changes.rows()).toMatchObject([
      { path: "a.txt", change: "changed" },
      { path: "b.txt", change: "added", before: "" },
    ]);
    expect(changes.counts()).toEqual([
      ["a.txt", 1, 1],
      ["b.txt", 1, 0],
    ]);
    expect(changes.diff("a.txt").lines).toMatchObject([{ kind: "changed", left: "one", right: "two" }]);
  }
});

it("shows nothing of a session that has not ended, which is no mistake", () => {
  const lines = readFileSync(folder.journal, "utf8").split("\n");
  const begun = lines.findIndex((line) => line.includes('"agent_started"')) + 1;
  writeFileSync(folder.journal, `${lines.slice(0, begun).join("\n")}\n`);
  expect(new RunChanges(root, id, "engineer-1").rows()).toEqual([]);
});

it("finds them in the delivery once the run's own are gone", () => {
  rmSync(folder.objects, { recursive: true });
  const artifacts = join(folder.delivery, "delivery/artifacts");
  mkdirSync(artifacts, { recursive: true });
  writeFileSync(join(artifacts, "a.txt"), "two\n");
  const changes = new RunChanges(root, id, "");
  expect(changes.diff("a.txt").lines).toHaveLength(1);
  expect(changes.diff("b.txt").note).toContain("no longer kept");
});

it("shows nothing that is not what the journal names, wherever a link leads", () => {
  const secret = join(root, "secret");
  writeFileSync(secret, "key\n");
  rmSync(join(folder.objects, hashOf("new\n")));
  writeFileSync(join(folder.objects, hashOf("two\n")), "bad\n");
  rmSync(join(folder.request, "a.txt"));
  symlinkSync(secret, join(folder.request, "b.txt"));
  const changes = new RunChanges(root, id, "");
  expect(changes.bytes("a.txt", "after")).toBeNull();
  expect(changes.bytes("b.txt", "after")).toBeNull();
  expect(() => changes.diff("../secret")).toThrow("no such change");
  expect(() => new RunChanges(root, "../..", "")).toThrow("no such change");
  expect(() => new RunChanges(root, id, "nobody-1")).toThrow("no such change");
});
