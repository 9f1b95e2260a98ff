// What a stranger's input costs as it grows: ten times as much may take thirteen times as long, not a hundred.
//   npm run bench -- growth [--quick] [--only=<text>]
// Processor time of the command and all it started, which other people's load changes little; what it takes to start is taken
// off first.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { measurePiece, PIECES } from "./growth-pieces.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const quick = process.argv.includes("--quick");
const only = process.argv.find((word) => word.startsWith("--only="))?.slice("--only=".length) ?? "";
const work = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "nut-growth-"));
const home = join(work, "home");
mkdirSync(home);

const MOST = 13;
/** What takes less is a matter of chance. */
const SHORTEST_MS = 40;
const SHORTEST_PIECE_MS = 2;
const LIMIT_MS = 180_000;

type Program = "nutshell" | "nexus";

interface Timed {
  readonly ms: number;
  readonly code: number | null;
}

/** bash's own `time` counts the children of children too. */
const TIMED = 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>&1; } 2>&3';

function run(program: Program, args: readonly string[], cwd: string): Timed {
  const command = [process.execPath, join(root, `bin/${program}.js`), ...args, "--quiet"];
  const { status, output } = spawnSync("bash", ["-c", TIMED, "bash", ...command], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: work, NUTCRACKER_CONSENT: "all" },
    stdio: ["ignore", "ignore", "inherit", "pipe"],
    timeout: LIMIT_MS,
    encoding: "utf8",
  });
  const [user = 0, system = 0] = (output?.[3] ?? "").trim().split(" ").map(Number);
  return { ms: (user + system) * 1_000, code: status };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function manifest(more: object = {}): string {
  return JSON.stringify({
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: "nut-00000000-0000-4000-8000-000000000001",
    task: { title: "Growth", summary: "What grows" },
    ...more,
  });
}

const many = (n: number, of: (i: number) => string): string => Array.from({ length: n }, (_, i) => of(i)).join("");
/** Two of three lines are those of the other text, in another order in places. */
const lines = (n: number, seed: number): string => many(n, (i) => `${i % 3 === seed ? i * 7 + seed : i}\n`);

/** Folders and files by axis, made once each: `make(folder, n)`. */
const folders = {
  files: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    for (let i = 0; i < n; i += 1) put(join(dir, `files/d${i % 100}/f${i}.txt`), `content of ${i}\n`);
  },
  lines: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    put(join(dir, "files/long.txt"), lines(n, 0));
  },
  otherLines: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    put(join(dir, "files/long.txt"), lines(n, 1));
  },
  blanks: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    put(join(dir, "files/blank.txt"), `${"\n".repeat(n)}x${" ".repeat(n)}x${"\t".repeat(n)}`);
  },
  repeats: (dir: string, n: number) => {
    const big = "context/big.md";
    put(join(dir, "nutshell.json"), manifest({ context: { requirements: big, additional: Array(n).fill(big) } }));
    put(
      join(dir, big),
      many(200_000, (i) => `line ${i}\n`),
    );
  },
  entries: (dir: string, n: number) => {
    const checklist = Array.from({ length: n }, (_, i) => `point ${i} holds`);
    const criteria = Array.from({ length: n }, (_, i) => ({ id: `c${i}`, type: "shell", command: "true" }));
    put(join(dir, "nutshell.json"), manifest({ acceptance: { checklist, criteria_file: "tests/criteria.json" } }));
    put(join(dir, "tests/criteria.json"), JSON.stringify({ criteria }));
  },
  spaces: (dir: string, n: number) => {
    const constraints = [`do not modify ${" ".repeat(n)}x`, `only change ${"a, ".repeat(n / 3)}`, `${".".repeat(n)}x`];
    put(join(dir, "nutshell.json"), manifest({ harness: { constraints } }));
    put(join(dir, "files/a.txt"), "a\n");
    put(join(dir, "tests/criteria.json"), JSON.stringify({ criteria: [{ id: "c", type: "shell", command: "true" }] }));
  },
  delivery: (dir: string, n: number) => {
    const id = "nut-00000000-0000-4000-8000-000000000002";
    const request = "nut-00000000-0000-4000-8000-000000000001";
    put(
      join(dir, "nutshell.json"),
      manifest({ id, bundle_type: "delivery", request_id: request, status: "completed" }),
    );
    for (let i = 0; i < n; i += 1) put(join(dir, `delivery/artifacts/files/d${i % 100}/f${i}.txt`), `work on ${i}\n`);
    const created = Array.from({ length: n }, (_, i) => ({ path: `files/d${i % 100}/f${i}.txt`, lines: 1 }));
    const result = { request_id: request, status: "completed", artifacts: { files_created: created } };
    put(join(dir, "delivery/result.json"), JSON.stringify(result));
  },
  depth: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    put(join(dir, "files", ...Array<string>(n).fill("d"), "a.txt"), "a\n");
  },
} as const;

type Axis = keyof typeof folders;

/** A folder, or the bundle packed from it. */
const made = new Set<string>();
function folder(axis: Axis, n: number): string {
  const dir = join(work, `${axis}-${n}`);
  if (!made.has(dir)) folders[axis](dir, n);
  made.add(dir);
  return dir;
}
function bundle(axis: Axis, n: number): string {
  const file = join(work, `${axis}-${n}.nut`);
  if (made.has(file)) return file;
  const { code } = run("nutshell", ["pack", "--force", "--dir", folder(axis, n), "-o", file], work);
  if (code !== 0) throw new Error(`pack of ${axis} ${n} ended with ${code}`);
  made.add(file);
  return file;
}
const fresh = (name: string): string => {
  const path = join(work, name);
  rmSync(path, { recursive: true, force: true });
  return path;
};

interface Case {
  readonly name: string;
  readonly program?: Program;
  /** At the smaller size. */
  readonly n: number;
  readonly args: (n: number) => readonly string[];
  readonly cwd?: (n: number) => string;
  /** Other answers than yes and no that are right. */
  readonly codes?: readonly number[];
}

const FILES = 4_000;
const LINES = 40_000;
const parts = (n: number) => [1, 2].map((i) => join(work, `part-${n}-part-${i}`));
const freshParts = (n: number): string => {
  for (const path of parts(n)) rmSync(path, { recursive: true, force: true });
  return join(work, `part-${n}`);
};

const CASES: readonly Case[] = [
  { name: "pack: files", n: FILES, args: (n) => ["pack", "--force", "-d", folder("files", n), "-o", fresh("out.nut")] },
  {
    name: "compress: files",
    n: FILES,
    args: (n) => ["compress", "--force", "-d", folder("files", n), "-o", fresh("c.nut")],
  },
  { name: "check: files of a folder", n: FILES, args: (n) => ["check", folder("files", n)] },
  { name: "check: files of a bundle", n: FILES, args: (n) => ["check", bundle("files", n)] },
  { name: "validate: files", n: FILES, args: (n) => ["validate", bundle("files", n)] },
  { name: "inspect: files", n: FILES, args: (n) => ["inspect", bundle("files", n)] },
  { name: "unpack: files", n: FILES, args: (n) => ["unpack", bundle("files", n), "-o", fresh("out")] },
  { name: "diff: files", n: FILES, args: (n) => ["diff", bundle("files", n), folder("files", n)] },
  { name: "set: files", n: FILES, args: (n) => ["set", "task.title", "Growth", "-d", folder("files", n)] },
  { name: "split: files", n: FILES, args: (n) => ["split", folder("files", n), "-n", "2", "-o", freshParts(n)] },
  { name: "merge: files", n: FILES, args: (n) => ["merge", ...parts(n), "-o", fresh("merged")] },
  { name: "export: files", n: FILES, args: (n) => ["export", bundle("files", n), "-o", fresh("page.html")] },
  { name: "accept: files", n: FILES, args: (n) => ["accept", folder("files", n), "-r", bundle("files", n), "--quick"] },
  {
    name: "verify: files",
    n: FILES / 4,
    args: (n) => ["verify", bundle("delivery", n), "-r", bundle("files", FILES)],
    codes: [2],
  },
  { name: "validate: files of a delivery", n: FILES / 4, args: (n) => ["validate", bundle("delivery", n)] },
  {
    name: "pack: blank lines",
    n: LINES,
    args: (n) => ["pack", "--force", "-d", folder("blanks", n), "-o", fresh("out.nut")],
  },
  { name: "check: blank lines", n: LINES, args: (n) => ["check", folder("blanks", n)] },
  { name: "diff -t: lines", n: LINES, args: (n) => ["diff", "-t", folder("lines", n), folder("otherLines", n)] },
  { name: "check: one path listed often", n: 50, args: (n) => ["check", bundle("repeats", n)] },
  { name: "validate: one path listed often", n: 50, args: (n) => ["validate", bundle("repeats", n)] },
  { name: "inspect: one path listed often", n: 50, args: (n) => ["inspect", bundle("repeats", n)] },
  { name: "check: entries of lists", n: 2_000, args: (n) => ["check", folder("entries", n)] },
  {
    name: "set --append: entries",
    n: 2_000,
    args: (n) => ["set", "acceptance.checklist", "one more", "-a", "-d", folder("entries", n)],
  },
  { name: "inspect: entries of lists", n: 2_000, args: (n) => ["inspect", bundle("entries", n)] },
  { name: "accept: spaces in a constraint", n: 20_000, args: (n) => ["accept", folder("spaces", n), "--quick"] },
  { name: "check: spaces in a constraint", n: 20_000, args: (n) => ["check", folder("spaces", n)] },
  { name: "check: depth", n: 150, args: (n) => ["check", folder("depth", n)], codes: [2] },
  {
    name: "pack: depth",
    n: 150,
    args: (n) => ["pack", "--force", "-d", folder("depth", n), "-o", fresh("out.nut")],
    codes: [2],
  },
  { name: "diff: depth", n: 150, args: (n) => ["diff", folder("depth", n), folder("depth", n)], codes: [2] },
  {
    name: "split: depth",
    n: 150,
    args: (n) => ["split", folder("depth", n), "-n", "2", "-o", fresh(`deep-${n}`)],
    codes: [2],
  },
  { name: "accept: depth", n: 150, args: (n) => ["accept", folder("depth", n), "--quick"], codes: [2] },
  { name: "validate: entries of lists", n: 2_000, args: (n) => ["validate", folder("entries", n)] },
  { name: "merge: depth", n: 150, args: (n) => ["merge", folder("depth", n), "-o", fresh("merged-deep")], codes: [2] },
  { name: "nexus runs: runs", program: "nexus", n: 200, args: () => ["runs"], cwd: runs },
  { name: "nexus status: tasks", program: "nexus", n: 300, args: () => ["status"], cwd: tasks },
  { name: "nexus task: tasks", program: "nexus", n: 300, args: () => ["task"], cwd: tasks },
  {
    name: "nexus task add: tasks",
    program: "nexus",
    n: 300,
    args: () => ["task", "add", "one more", "context"],
    cwd: tasks,
  },
  { name: "nexus history: cycles", program: "nexus", n: 3_000, args: () => ["history", "absent"], cwd: cycles },
];

/** A project with tasks, each waiting for the one before. */
function tasks(n: number): string {
  return project(`tasks-${n}`, (dir) => {
    const rows = Array.from({ length: n }, (_, i) => ({
      ...{ id: i + 1, title: `task ${i}`, owner: "engineer", status: "pending", context: "c".repeat(200) },
      ...{ deps: i === 0 ? [] : [i], created_at: "2026-01-01T00:00:00Z" },
    }));
    put(join(dir, ".nexus/state/tasks.json"), JSON.stringify({ goal: "g", decisions: [], tasks: rows }));
  });
}

/** Runs that were begun and never went on. */
function runs(n: number): string {
  return project(`runs-${n}`, (dir) => {
    const options = { version: 2, request: "r.nut", title: "t", driver: "demo", created_at: "2026-01-01T00:00:00Z" };
    for (let i = 0; i < n; i += 1) {
      const run = join(dir, `.nexus/state/nutcracker/runs/20260101-000000-${String(i).padStart(6, "0")}`);
      put(join(run, "options.json"), JSON.stringify(options));
      put(join(run, "journal.jsonl"), "");
    }
  });
}

function cycles(n: number): string {
  return project(`cycles-${n}`, (dir) => {
    const cycle = (i: number) => ({
      ...{ schema_version: "1.0.0", completed_at: "2026-01-01T00:00:00Z", branch: "main" },
      ...{ plan: { id: i, topic: `topic ${i}`, issues: [] }, tasks: [] },
    });
    put(
      join(dir, ".nexus/history.json"),
      JSON.stringify({ cycles: Array.from({ length: n }, (_, i) => cycle(i + 1)) }),
    );
  });
}

function project(name: string, fill: (dir: string) => void): string {
  const dir = join(work, name);
  if (made.has(dir)) return dir;
  made.add(dir);
  fill(dir);
  return dir;
}

function measure(
  { program = "nutshell", args, cwd = () => work, codes = [] }: Case,
  n: number,
  startMs: number,
): number {
  const rounds = quick ? 1 : 3;
  const times = Array.from({ length: rounds }, () => {
    const { ms, code } = run(program, args(n), cwd(n));
    if (![0, 1, ...codes].includes(code ?? -1)) throw new Error(`${args(n).join(" ")} ended with ${code}`);
    return ms;
  });
  return Math.max(Math.min(...times) - startMs, SHORTEST_MS);
}

async function main(): Promise<void> {
  const start = { nutshell: startTime("nutshell"), nexus: startTime("nexus") };
  console.log(`${"what grows".padEnd(40)}${"n".padStart(8)}${"at n".padStart(10)}${"at 10 n".padStart(10)}   factor`);
  for (const one of CASES.filter(({ name }) => name.includes(only))) {
    const startMs = start[one.program ?? "nutshell"];
    await tell(one, (n) => measure(one, n, startMs));
  }
  for (const one of PIECES.filter(({ name }) => name.includes(only))) {
    await tell(one, async (n) => Math.max(await measurePiece(one, n, work, quick ? 2 : 4), SHORTEST_PIECE_MS));
  }
}

async function tell({ name, n }: Pick<Case, "name" | "n">, at: (n: number) => number | Promise<number>): Promise<void> {
  try {
    const [small, large] = [await at(n), await at(n * 10)];
    const factor = large / small;
    if (factor > MOST) process.exitCode = 1;
    const figures = [String(n).padStart(8), ...[small, large].map((ms) => `${ms.toFixed(0)} ms`.padStart(10))];
    console.log(`${name.padEnd(40)}${figures.join("")}   ${factor.toFixed(1)} ${factor > MOST ? "NO" : "ok"}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`${name.padEnd(40)}   ${error instanceof Error ? error.message : error}`);
  }
}

function startTime(program: Program): number {
  return Math.min(...Array.from({ length: 3 }, () => run(program, ["--version"], work).ms));
}

try {
  await main();
} finally {
  rmSync(work, { recursive: true, force: true });
}
