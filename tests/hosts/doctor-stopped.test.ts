// A doctor that is stopped on the way calls nothing wrong, and what it leaves when it is killed is nobody's project later.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { temporary } from "../temporary.js";
import { ROOT } from "./hook-process.js";

const NEXUS = join(ROOT, "bin/nexus.js");
let project: string;
let made: string;
let env: Record<string, string>;
beforeEach(() => {
  const place = temporary("nut-doctor-");
  [project, made] = [join(place, "project"), join(place, "tmp")];
  for (const folder of [project, made, join(place, "home")]) mkdirSync(folder);
  env = { PATH: "/usr/bin:/bin", HOME: join(place, "home"), TMPDIR: made };
  expect(nexus("setup", "codex", "-y")).toBe(0);
});

const nexus = (...words: string[]) => spawnSync(process.execPath, [NEXUS, ...words], { cwd: project, env }).status;
const folders = () => readdirSync(made).filter((name) => name.startsWith("nexus-doctor-"));

/** A doctor whose hooks have begun, with the folder they work in. */
async function begun(): Promise<{
  child: ChildProcess;
  folder: string;
  ended: Promise<number | null>;
  said: () => string;
}> {
  const child = spawn(process.execPath, [NEXUS, "doctor", "codex"], { cwd: project, env });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += data));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const started = () => folders().find((name) => existsSync(join(made, name, ".nexus")));
  for (let turn = 0; started() === undefined && turn < 3_000; turn += 1) await sleep(10);
  return { child, folder: join(made, started()!), ended, said: () => text };
}

describe("a doctor that is stopped", () => {
  it("says neither yes nor no, and leaves no folder", async () => {
    const { child, ended, said } = await begun();
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(said()).not.toMatch(/something is wrong|problem/);
    expect(folders()).toEqual([]);
  });

  it("has no say in where the next one works, however it ended", async () => {
    const { child, folder, ended } = await begun();
    child.kill("SIGKILL");
    await ended;
    await sleep(500);
    rmSync(folder, { recursive: true, force: true });
    nexus("doctor", "codex");
    expect(folders()).toEqual([]);
  });
});
