// What commands cost as what they are given grows: processor time and memory at each step, and the exponent of the growth. Ten times as
// much may take 10^1.1 times as long, and nothing more than 300 MB at 100,000 files; docs/growth.md says where and why not.
//   npm run bench -- growth [--only=<text>] [--most=<n>] [--largest] [--quick]
// `--only=files` or `--only=pack:` runs that part, `--most=10000` leaves out larger steps, `--largest` all but the largest: how much each
// holds, and nothing of how it grows. Processor time is that of the command and all it started, which other people's load changes little.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CASES, type Case } from "./growth-cases.js";
import { commandLine, env, remove, work } from "./growth-inputs.js";
import { measurePiece, PIECES } from "./growth-pieces.js";

const flag = (name: string) => process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const quick = process.argv.includes("--quick");
const largest = process.argv.includes("--largest");
const only = flag("only") ?? "";
const most = Number(flag("most") ?? Number.POSITIVE_INFINITY);

const EXPONENT = 1.1;
const MEMORY_MB = 300;
/** What takes less above its start is a matter of chance. */
const SHORTEST_MS = 60;
const SHORTEST_PIECE_MS = 3;
const LIMIT_MS = 600_000;

interface Cost {
  readonly ms: number;
  readonly mb: number;
}

/** bash's own `time` counts the children of children too. */
const TIMED = 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>&4; } 2>&3';
const peakFile = join(work, "peaks");
/** Loaded before each of our processes: the most memory any of them held, which the kernel tells at its end. */
const PEAK = `import{appendFileSync,readFileSync}from"node:fs";process.on("exit",()=>appendFileSync(${JSON.stringify(peakFile)},/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1]+"\\n"))`;
const PRELOAD = `--import=data:text/javascript,${encodeURIComponent(PEAK)}`;

async function run({ program, args, cwd = () => work, input, codes = [] }: Case, n: number): Promise<Cost> {
  const words = [...(await args(n)), ...(program === "hook" ? [] : ["--quiet"])];
  const where = cwd(n);
  const given = input?.(n);
  rmSync(peakFile, { force: true });
  writeFileSync(peakFile, "");
  const { status, output } = spawnSync("bash", ["-c", TIMED, "bash", ...commandLine(program, words)], {
    cwd: where,
    env: { ...env, NODE_OPTIONS: PRELOAD },
    ...(given === undefined ? {} : { input: given }),
    stdio: [given === undefined ? "ignore" : "pipe", "ignore", "inherit", "pipe", "pipe"],
    timeout: LIMIT_MS,
    encoding: "utf8",
  });
  if (![0, 1, ...codes].includes(status ?? -1)) {
    throw new Error(`${words.join(" ")} ended with ${status}: ${(output?.[4] ?? "").slice(0, 300)}`);
  }
  const [user = 0, system = 0] = (output?.[3] ?? "").trim().split(" ").map(Number);
  const peaks = readFileSync(peakFile, "utf8").trim().split("\n").map(Number);
  return { ms: (user + system) * 1_000, mb: Math.max(...peaks) / 1024 };
}

/**
 * The slope of the line through what lies above the start, both axes in logarithms, or that of its last step if it is steeper: what
 * only begins to grow too fast shows there. null when nothing lies above. What is too short to be measured counts as the shortest that
 * is not, so that the first step above it tells something, too.
 */
function exponent(steps: readonly number[], above: readonly number[], shortest: number): number | null {
  const first = above.findIndex((ms) => ms > shortest);
  if (first < 0) return null;
  const from = Math.max(0, first - 1);
  const points = steps
    .slice(from)
    .map((n, i) => [Math.log(n), Math.log(Math.max(above[from + i]!, shortest))] as const);
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  const fitted = over / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  const [before, last] = points.slice(-2);
  return Math.max(fitted, last === undefined ? fitted : (last[1] - before![1]) / (last[0] - before![0]));
}

async function measure(one: Case): Promise<void> {
  const steps = one.steps.filter((n, i) => i === 0 || n <= most).slice(largest ? -1 : 0);
  const least = async (n: number, rounds: number): Promise<Cost> => {
    const costs: Cost[] = [];
    for (let i = 0; i < rounds; i += 1) costs.push(await run(one, n));
    return { ms: Math.min(...costs.map(({ ms }) => ms)), mb: Math.max(...costs.map(({ mb }) => mb)) };
  };
  const costs: Cost[] = [];
  for (const n of steps) costs.push(await least(n, quick || n >= 10_000 ? 1 : 2));
  if (largest) return tell(one.name, steps, costs, null, one.name.endsWith(": files"));
  // The command itself with next to nothing: what it takes to start, and to load what it needs.
  const start = await least(1, quick ? 1 : 3);
  const grows = exponent(
    steps,
    costs.map(({ ms }) => ms - start.ms),
    SHORTEST_MS,
  );
  tell(one.name, steps, costs, grows, one.name.endsWith(": files"));
}

async function measureParts(): Promise<void> {
  for (const one of PIECES.filter(({ name }) => name.includes(only))) {
    const steps = [one.n / 10, one.n, one.n * 10];
    const costs: Cost[] = [];
    for (const n of steps) costs.push({ ms: await measurePiece(one, n, work, quick ? 2 : 4), mb: 0 });
    const times = costs.map(({ ms }) => ms);
    tell(one.name, steps, costs, exponent(steps, times, SHORTEST_PIECE_MS), false);
  }
}

function tell(
  name: string,
  steps: readonly number[],
  costs: readonly Cost[],
  grows: number | null,
  byFiles: boolean,
): void {
  const tooMuch = byFiles && costs.some(({ mb }) => mb > MEMORY_MB);
  const ok = (grows === null || grows <= EXPONENT) && !tooMuch;
  if (!ok) process.exitCode = 1;
  const each = (of: (i: number) => string) => steps.map((_, i) => of(i)).join(" · ");
  const cells = [
    name,
    each((i) => steps[i]!.toLocaleString("en")),
    each((i) => (costs[i]!.ms < 10_000 ? `${costs[i]!.ms.toFixed(0)} ms` : `${(costs[i]!.ms / 1_000).toFixed(1)} s`)),
    costs[0]!.mb > 0 ? `${each((i) => costs[i]!.mb.toFixed(0))} MB` : "",
    largest ? "" : grows === null ? "flat" : grows.toFixed(2),
    ok ? "ok" : tooMuch ? "NO: memory" : "NO",
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

try {
  console.log("| command: what grows | steps | processor time | memory | exponent | |\n|---|---|---|---|---|---|");
  for (const one of CASES.filter(({ name }) => name.includes(only))) {
    await measure(one).catch((error: unknown) => {
      process.exitCode = 1;
      console.log(`| ${one.name} | ${error instanceof Error ? error.message : error} |`);
    });
  }
  if (!largest) await measureParts();
} finally {
  remove();
}
