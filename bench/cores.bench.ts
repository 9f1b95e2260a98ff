// Packing with zstd against `tar --zstd` on four cores, where there are two: every thread of either side gets a quota of half a core, so
// that two cores act as four of half their speed. It is an emulation: caches and memory are still those of two cores.
//   npx tsx bench/cores.bench.ts [--rounds=7]        (BENCH_NODE names a Node with zstd: 22.15 or newer)
// It runs as root where the cpu controller of cgroups (version 1) can be written to, makes groups there and removes them. A control comes
// first: a busy program with one, two, four and eight threads must take 1, 1/2, 1/4 and 1/4 of its time.
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sourceText, writeTree } from "./bundle-inputs.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const node = process.env.BENCH_NODE ?? process.execPath;
const rounds = Number(/^--rounds=(\d+)$/.exec(process.argv[2] ?? "")?.[1] ?? 7);
const GROUPS = "/sys/fs/cgroup/cpu/nut-bench-cores";
const PERIOD_US = 10_000;
const CORES = 4;

/** A group in which one thread has its share of a core; threads move there as they appear. */
function makeGroup(name: string): string {
  const group = join(GROUPS, name);
  mkdirSync(group);
  writeFileSync(join(group, "cpu.cfs_period_us"), String(PERIOD_US));
  writeFileSync(join(group, "cpu.cfs_quota_us"), String((PERIOD_US * cpus().length) / CORES));
  return group;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

const threadsOf = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
};

/** All threads of a process and of those it started. */
function everyThread(pid: number): string[] {
  const own = threadsOf(pid);
  const children = own.flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean));
  return [...own, ...children.flatMap((child) => everyThread(Number(child)))];
}

/** Milliseconds that a program takes when each of its threads has a share of a core. */
async function timed(words: readonly string[]): Promise<number> {
  const seen = new Set<string>();
  const first = makeGroup("0");
  const start = performance.now();
  const child = spawn("sh", ["-c", `echo $$ > ${first}/tasks; exec "$@"`, "sh", ...words], {
    cwd: work,
    env: { ...process.env, HOME: work },
    stdio: "ignore",
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  seen.add(String(child.pid));
  while (child.exitCode === null) {
    for (const thread of everyThread(child.pid!).filter((one) => !seen.has(one))) {
      seen.add(thread);
      try {
        writeFileSync(join(makeGroup(thread), "tasks"), thread);
      } catch {
        // It has ended.
      }
    }
    await setTimeout(2);
  }
  const code = await ended;
  const ms = performance.now() - start;
  for (const name of readdirSync(GROUPS, { withFileTypes: true })) if (name.isDirectory()) await remove(name.name);
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}`);
  return ms;
}

/** The kernel lets go of a thread a little after it has ended. */
async function remove(name: string): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    try {
      return rmdirSync(join(GROUPS, name));
    } catch {
      await setTimeout(20);
    }
  }
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
/** Counts to four hundred million, on so many threads. */
const BUSY = `const{Worker}=require("worker_threads");const n=+process.argv[1];
for(let i=0;i<n;i++)new Worker("let x=0;for(let k=0;k<"+400/n+";k++)for(let i=0;i<1e6;i++)x=(x*31+i)|0",{eval:true})`;

async function control(): Promise<void> {
  const took: number[] = [];
  for (const threads of [1, 2, 4, 8]) {
    const all: number[] = [];
    for (let round = 0; round < 3; round += 1) all.push(await timed([node, "-e", BUSY, String(threads)]));
    took.push(median(all));
    console.log(
      `control: ${threads} threads | ${(median(all) / 1_000).toFixed(2)} s | ${(median(all) / took[0]!).toFixed(2)}`,
    );
  }
}

async function pack(): Promise<void> {
  writeTree(join(work, "big"), 400, 512 * 1024, await sourceText(200 * 1024 ** 2));
  const told = join(work, "cores.cjs");
  writeFileSync(told, `require("node:os").availableParallelism=()=>${CORES}`);
  const words = ["pack", "--dir", "big", "-o", "big.nut", "--compression", "zstd", "--quiet"];
  const [ours, peer]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    peer.push(await timed(["tar", "-C", "big", "--zstd", "-c", "-f", "big.tzst", "."]));
    ours.push(await timed([node, "--require", told, join(root, "bin/nutshell.js"), ...words]));
  }
  const ratio = median(ours) / median(peer);
  const cells = [median(ours), median(peer)].map((ms) => `${(ms / 1_000).toFixed(2)} s`);
  console.log(`pack 200 MB with zstd, four cores emulated | ${cells.join(" | ")} | ${ratio.toFixed(2)} | ≤ 1.0`);
  if (ratio > 1) process.exitCode = 1;
}

const work = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : "/tmp", "nut-cores-"));
try {
  if (spawnSync("mkdir", [GROUPS], { stdio: "ignore" }).status !== 0) {
    console.log("cores: there is no cpu controller of cgroups, version 1, that can be written to");
  } else {
    // Others on the same machine get what is left.
    writeFileSync(join(GROUPS, "cpu.shares"), "200000");
    await control();
    await pack();
  }
} finally {
  rmSync(work, { recursive: true, force: true });
  if (existsSync(GROUPS)) await remove("");
}
