// Bundles against the tools people would use instead, on the same machine in the same run, interleaved, by medians.
//   npx tsx bench/bundle.bench.ts [--quick] [--rounds=5] [--only=start|pack|unpack|zstd]
// BENCH_NODE names another Node to measure (zstd needs 22.15 or newer).
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sourceText, writeTree } from "./bundle-inputs.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const node = process.env.BENCH_NODE ?? process.execPath;
const nutshell = join(root, "bin/nutshell.js");
const quick = process.argv.includes("--quick");
const flag = (name: string) => process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const rounds = Number(flag("rounds") ?? 5);
const only = flag("only");
// Memory, where there is some: the disk is not what is measured.
const work = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "nut-bench-"));
const MB = 1024 ** 2;
// An account of its own: what this one has packed and agreed to before is read by every command.
const env = { ...process.env, HOME: join(work, "home"), XDG_STATE_HOME: "" };
mkdirSync(env.HOME);

interface Measure {
  readonly ms: number;
  readonly peakMb: number;
}

// From /proc: what getrusage reports begins with the size of the process that started this one.
const PEAK =
  'import{readFileSync}from"node:fs";process.on("exit",()=>process.stderr.write("\\npeak="+/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1]+"\\n"))';

function ours(...args: string[]): Measure {
  return timed(node, [nutshell, ...args, "--quiet"]);
}

/** The same with its peak of memory; asking for that takes every start twenty milliseconds more. */
function oursWithPeak(...args: string[]): Measure {
  return timed(node, ["--import", `data:text/javascript,${encodeURIComponent(PEAK)}`, nutshell, ...args, "--quiet"]);
}

function peer(line: string): Measure {
  return timed("sh", ["-c", `set -e; ${line}`]);
}

function timed(program: string, args: readonly string[]): Measure {
  const start = performance.now();
  const { status, stderr } = spawnSync(program, args, {
    cwd: work,
    env,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ms = performance.now() - start;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return { ms, peakMb: Number(/peak=(\d+)/.exec(stderr)?.[1] ?? 0) / 1024 };
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Runs both in turn and returns the medians; `before` clears the ground for each. */
function race(mine: () => Measure, theirs: () => Measure, before: () => void = () => {}, times = rounds) {
  const a: number[] = [];
  const b: number[] = [];
  for (let round = 0; round < times; round += 1) {
    before();
    b.push(theirs().ms);
    before();
    a.push(mine().ms);
  }
  return { ours: median(a), peer: median(b) };
}

const rows: string[][] = [["work", "ours", "peer", "ratio", "target", "ok"]];

function report(name: string, mine: string, theirs: string, ratio: number, target: number): void {
  rows.push([name, mine, theirs, ratio.toFixed(2), `≤ ${target}`, ratio <= target ? "yes" : "NO"]);
  console.error(rows.at(-1)!.join(" | "));
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

function makeTree(name: string, count: number, size: number, text: Buffer): string {
  writeTree(join(work, name), count, size, text);
  return name;
}

function packRows(): void {
  if (has("pigz")) {
    const { ours: mine, peer: theirs } = race(
      () => ours("pack", "--dir", "big", "-o", "big.nut"),
      () => peer("tar -C big -c . | pigz > big.tgz"),
    );
    report("pack 200 MB against tar | pigz", seconds(mine), seconds(theirs), mine / theirs, 1.1);
    const sizes = ["big.nut", "big.tgz"].map((name) => statSync(join(work, name)).size);
    report(
      "  its size",
      `${(sizes[0]! / MB).toFixed(1)} MB`,
      `${(sizes[1]! / MB).toFixed(1)} MB`,
      sizes[0]! / sizes[1]!,
      1.05,
    );
  } else rows.push(["pack 200 MB against tar | pigz", "", "pigz is missing", "", "≤ 1.1", "?"]);
  const small = race(
    () => ours("pack", "--dir", "small", "-o", "small.nut"),
    () => peer("tar -C small -cz -f small.tgz ."),
  );
  report(
    "pack 20,000 files of 4 kB against tar cz",
    seconds(small.ours),
    seconds(small.peer),
    small.ours / small.peer,
    0.75,
  );
}

function unpackRows(): void {
  const clear = () => {
    rmSync(join(work, "out"), { recursive: true, force: true });
    rmSync(join(work, "tar-out"), { recursive: true, force: true });
    mkdirSync(join(work, "tar-out"));
  };
  for (const [name, label, target] of [
    ["big", "unpack 200 MB in 400 files against tar xz", 1.2],
    ["small", "unpack 20,000 files of 4 kB against tar xz", 1.5],
  ] as const) {
    if (!existsSync(join(work, `${name}.nut`))) ours("pack", "--dir", name, "-o", `${name}.nut`);
    peer(`tail -c +5 ${name}.nut > ${name}.tgz`);
    const { ours: mine, peer: theirs } = race(
      () => ours("unpack", `${name}.nut`, "-o", "out"),
      () => peer(`tar -xz -f ${name}.tgz -C tar-out`),
      clear,
    );
    report(label, seconds(mine), seconds(theirs), mine / theirs, target);
  }
  clear();
}

function zstdRow(): void {
  const label = "pack 200 MB with zstd against tar --zstd";
  const native = spawnSync(node, ["-e", "process.exit(require('zlib').zstdCompress ? 0 : 1)"]).status === 0;
  if (!native || !has("zstd")) {
    rows.push([label, "", native ? "zstd is missing" : "this Node has no zstd (BENCH_NODE=)", "", "≤ 1.6", "?"]);
    return;
  }
  const { ours: mine, peer: theirs } = race(
    () => ours("pack", "--dir", "big", "-o", "big-z.nut", "--compression", "zstd"),
    () => peer("tar -C big --zstd -c -f big.tzst ."),
  );
  report(label, seconds(mine), seconds(theirs), mine / theirs, 1.6);
}

function startRow(): void {
  const { ours: mine, peer: theirs } = race(
    () => timed(node, [nutshell, "version"]),
    () => timed(node, ["-e", "0"]),
    undefined,
    rounds * 5,
  );
  report("start-up: version against node -e 0", `${mine.toFixed(0)} ms`, `${theirs.toFixed(0)} ms`, mine / theirs, 1.2);
}

function largeRows(text: Buffer): void {
  makeTree("tiny", 2, MB / 2, text);
  ours("pack", "--dir", "tiny", "-o", "tiny.nut");
  const perByte = ours("pack", "--dir", "big", "-o", "big.nut").ms / 200;
  // Few files of much text: the manifest stays as small as the small bundle's.
  makeTree("gigabyte", 10, 100 * MB, text);
  const pack = oursWithPeak("pack", "--dir", "gigabyte", "-o", "gigabyte.nut");
  report("peak memory packing 1 GB", `${pack.peakMb.toFixed(0)} MB`, "160 MB", pack.peakMb / 160, 1);
  rmSync(join(work, "gigabyte"), { recursive: true });
  const unpack = oursWithPeak("unpack", "gigabyte.nut", "-o", "out");
  report("peak memory unpacking 1 GB", `${unpack.peakMb.toFixed(0)} MB`, "160 MB", unpack.peakMb / 160, 1);
  rmSync(join(work, "out"), { recursive: true });
  const { ours: mine, peer: theirs } = race(
    () => ours("inspect", "--manifest", "gigabyte.nut", "--json"),
    () => ours("inspect", "--manifest", "tiny.nut", "--json"),
    undefined,
    rounds * 3,
  );
  report(
    "manifest of a 1 GB bundle against 1 MB",
    `${mine.toFixed(0)} ms`,
    `${theirs.toFixed(0)} ms`,
    mine / theirs,
    1.5,
  );
  rmSync(join(work, "gigabyte.nut"));
  makeTree("two", 4000, MB / 2, text);
  const two = ours("pack", "--dir", "two", "-o", "two.nut").ms / 2000;
  const again = ours("pack", "--dir", "big", "-o", "big.nut").ms / 200;
  const base = (perByte + again) / 2;
  report(
    "pack cost per byte at 2 GB against 200 MB",
    `${two.toFixed(1)} ms/MB`,
    `${base.toFixed(1)} ms/MB`,
    two / base,
    1.1,
  );
}

try {
  const text = await sourceText(200 * MB);
  makeTree("big", 400, MB / 2, text);
  makeTree("small", 20_000, 4096, text);
  const parts = { start: startRow, pack: packRows, unpack: unpackRows, zstd: zstdRow };
  for (const [name, measure] of Object.entries(parts)) if (only === undefined || only === name) measure();
  if (!quick && only === undefined) largeRows(text);
  for (const row of rows) console.log(row.join(" | "));
} finally {
  rmSync(work, { recursive: true, force: true });
}
