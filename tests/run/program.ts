// The real programs, as a person starts them.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JournalFollower, readJournal } from "../../src/run/record/journal.js";
import type { JournalRecord } from "../../src/schema/journal.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = (program: string) => join(root, "bin", `${program}.js`);

/** Nothing of the person who runs the tests gets in, a home of its own included. */
export function environment(home: string, extra: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: home, LANG: "C.UTF-8", NUTCRACKER_CONSENT: "all", ...extra };
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function call(program: "nexus" | "nutshell", cwd: string, args: readonly string[], env = environment(cwd)): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin(program), ...args], {
    cwd,
    env,
    encoding: "utf8",
    timeout: 120_000,
  });
  return { status, stdout, stderr };
}

export function start(
  cwd: string,
  args: readonly string[],
  env = environment(cwd),
): ChildProcess & { done: Promise<Ran> } {
  const child = spawn(process.execPath, [bin("nexus"), ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const done = new Promise<Ran>((resolve) => child.once("close", (status) => resolve({ status, stdout, stderr })));
  return Object.assign(child, { done });
}

export function runFolderOf(cwd: string): string {
  const runs = join(cwd, ".nexus/state/nutcracker/runs");
  return join(runs, readdirSync(runs).sort().at(-1)!);
}

export function journalOf(cwd: string): readonly JournalRecord[] {
  return readJournal(join(runFolderOf(cwd), "journal.jsonl"));
}

export const stateOf = (cwd: string) => new JournalFollower(join(runFolderOf(cwd), "journal.jsonl")).look();
