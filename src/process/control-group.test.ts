// Control groups belong to the kernel and few machines give one away, so what is written is looked at in a folder that
// stands for one. Where this machine has a place, the group is real.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeControlGroup, makeGroupIn, placeIn } from "./control-group.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-group-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SHARE = { tasks: 80, memoryBytes: 300 };

function offer(group: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(group, name), text);
}

describe("where a group may be made", () => {
  const mounted = () => `30 23 0:26 / ${folder} rw,nosuid shared:4 - cgroup2 cgroup2 rw`;
  const divided = (path: string, controllers: string) => {
    mkdirSync(join(folder, path), { recursive: true });
    offer(join(folder, path), { "cgroup.subtree_control": `${controllers}\n`, "cgroup.procs": "" });
  };

  it("is beside our own", () => {
    divided("app", "cpu memory pids");
    expect(placeIn("0::/app/shell.scope\n", mounted())).toBe(join(folder, "app"));
  });
  it("is nowhere when the kernel does not divide what is there", () => {
    divided("app", "cpu");
    expect(placeIn("0::/app/shell.scope\n", mounted())).toBe(null);
  });
  it("is nowhere when moving a process is not ours to do", () => {
    mkdirSync(join(folder, "app"));
    offer(join(folder, "app"), { "cgroup.subtree_control": "memory pids\n" });
    expect(placeIn("0::/app/shell.scope\n", mounted())).toBe(null);
  });
  it("is nowhere with version 1 alone, outside the mount, or without any", () => {
    divided("", "memory pids");
    expect(placeIn("4:memory:/x\n", mounted())).toBe(null);
    expect(placeIn("0::/../other\n", mounted())).toBe(null);
    expect(placeIn("0::/\n", "")).toBe(null);
    expect(placeIn("0::/\n", mounted())).toBe(folder);
  });
});

it("holds whoever is in it to a number of processes and to memory, swapped or not, and tells what was refused", () => {
  const group = makeGroupIn(folder, SHARE)!;
  const own = join(folder, readdirSync(folder)[0]!);
  expect(group.members).toBe(join(own, "cgroup.procs"));
  expect(group.refused()).toBe(null);
  offer(own, { "pids.events": "max 0\n", "memory.events": "low 0\noom 1\noom_kill 0\n" });
  expect(group.refused()).toBe(null);
  offer(own, { "memory.events": "low 0\noom 1\noom_kill 2\n" });
  expect(group.refused()).toBe("memory");
  offer(own, { "pids.events": "max 4\n" });
  expect(group.refused()).toBe("tasks");
});

it("what a killed process left is swept, and nobody else's", () => {
  const gone = Number(execFileSync("/bin/sh", ["-c", "echo $$"], { encoding: "utf8" }));
  for (const name of [`nutcracker-${gone}-00ff`, `nutcracker-${process.ppid}-00ff`, "other"])
    mkdirSync(join(folder, name));
  const group = makeGroupIn(folder, SHARE)!;
  expect(existsSync(join(folder, `nutcracker-${gone}-00ff`))).toBe(false);
  group.remove();
  expect(readdirSync(folder).sort()).toEqual([`nutcracker-${process.ppid}-00ff`, "other"]);
});

it("on this machine: none, or one that goes again", () => {
  const group = makeControlGroup(SHARE);
  if (group === null) return;
  expect(readFileSync(group.members, "utf8")).toBe("");
  group.remove();
  expect(existsSync(group.members)).toBe(false);
});
