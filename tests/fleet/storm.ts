// Many jobs, workers that are killed at random, and what must hold afterwards: nothing lost, nothing delivered twice, every
// delivery verifies, nothing left on the machines.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { FleetDesk, JobRow, Machine } from "./desk.js";

export interface Storm {
  readonly jobs: number;
  readonly workers: number;
  /** Milliseconds between two kills; the last one is before the last job. */
  readonly everyMs: number;
  readonly kills: number;
  readonly seconds: number;
  /** How many deliveries are run again. */
  readonly rerun: number;
  /** What else goes wrong on the way. */
  readonly meanwhile?: () => Promise<void>;
}

export async function weather(desk: FleetDesk, storm: Storm): Promise<void> {
  const files: string[] = [];
  for (let n = 0; n < storm.jobs; n += 1) files.push(await desk.request(`job-${n}`));
  const { jobs } = await desk.ask<{ jobs: JobRow[] }>(["submit", ...files]);
  expect(new Set(jobs.map(({ job }) => job)).size).toBe(storm.jobs);
  const homes = Array.from({ length: storm.workers }, (_, index) => `machine-${index}`);
  const machines = new Map<string, Machine>();
  const begin = (home: string) => machines.set(home, desk.worker([], { home }));
  for (const home of homes) begin(home);
  const meanwhile = storm.meanwhile?.();
  for (let kill = 0; kill < storm.kills; kill += 1) {
    await sleep(storm.everyMs * (0.5 + Math.random()));
    const home = homes[Math.floor(Math.random() * homes.length)]!;
    const machine = machines.get(home)!;
    machine.kill("SIGKILL");
    await machine.done;
    begin(home);
  }
  await meanwhile;
  let left = storm.seconds * 2;
  for (; left > 0; left -= 1) {
    const rows = await lookAt(desk);
    // Three kills may meet one job: what was set aside for that is taken up again, as a person would.
    for (const { job } of rows.filter(({ state }) => state === "dead")) await desk.nexus(["retry", job]);
    if (rows.length === storm.jobs && rows.every(({ state }) => state === "delivered")) break;
    await sleep(500);
  }
  for (const machine of machines.values()) machine.kill("SIGTERM");
  for (const machine of machines.values()) await machine.done;
  const rows = await desk.jobs();
  expect(rows.filter(({ state }) => state !== "delivered")).toEqual([]);
  expect(rows).toHaveLength(storm.jobs);
  expect(rows.every(({ status }) => status === "completed")).toBe(true);
  for (const { job } of rows.slice(0, Math.max(storm.rerun, 3))) {
    const told = (await desk.nexus(["logs", job])).stdout.match(/ delivered: delivered: completed/g) ?? [];
    // A worker killed between the record and the event says nothing; nobody says it twice.
    expect(told.length, job).toBeLessThanOrEqual(1);
  }
  for (const { job, title } of rows.slice(0, storm.rerun)) {
    const fetched = await desk.ask<{ verified: boolean }>(["fetch", job, "--rerun", "--yes", "-o", `${job}.done.nut`]);
    expect(fetched.verified, title).toBe(true);
  }
  for (const home of homes) {
    const place = join(desk.root, "homes", home, ".local/state/nutshell/fleet-work");
    // Who is killed in the moment of its start leaves a folder that a worker removes when it is a minute old.
    const left = (existsSync(place) ? readdirSync(place) : []).filter((name) => !name.endsWith(".new"));
    expect(left).toEqual([]);
  }
  expect((await desk.ask<{ changed: unknown[] }>(["reconcile"])).changed).toEqual([]);
}

/** A server that is just choosing a leader is asked again. */
async function lookAt(desk: FleetDesk): Promise<readonly JobRow[]> {
  const ran = await desk.nexus(["jobs", "--all", "--json"]);
  return ran.status === 0 ? (JSON.parse(ran.stdout) as { jobs: JobRow[] }).jobs : [];
}
