// What the harness costs besides the agents: the demo with 10 tasks, ten short sessions, the way to 500, and eight agents side
// by side.
// Run: npx tsx bench/run.bench.ts
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const nexus = join(root, "bin", "nexus.js");
const work = mkdtempSync(join(tmpdir(), "nut-bench-run-"));
const rounds = Number(process.env.ROUNDS ?? 3);

interface Timing {
  readonly wallMs: number;
  readonly agentsMs: number;
  readonly acceptanceMs: number;
  /** From the plan to the last finished task: what more agents at once can shorten. */
  readonly workMs: number;
}

/** A request with `tasks` independent tasks of one file each. */
function makeRequest(tasks: number): { request: string; plan: string } {
  const request = join(work, `request-${tasks}`);
  const title = (n: number) => `Write part ${n}`;
  const numbers = Array.from({ length: tasks }, (_, i) => i + 1);
  const put = (path: string, value: unknown) => {
    mkdirSync(dirname(join(request, path)), { recursive: true });
    writeFileSync(join(request, path), typeof value === "string" ? value : JSON.stringify(value));
  };
  put("nutshell.json", {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: `nut-bench-${tasks}`,
    task: { title: "Many small parts", summary: "one file each" },
    acceptance: { criteria_file: "tests/criteria.json" },
    harness: { constraints: ["Do not modify files outside files/"] },
  });
  put("tests/criteria.json", {
    criteria: [{ id: "AC-1", type: "shell", script: "tests/all.sh", expected: { exit_code: 0 } }],
  });
  put("tests/all.sh", `test $(ls files/parts | wc -l) -eq ${tasks}\n`);
  put("files/README.md", "parts\n");
  put("context/demo-agent.json", {
    work: Object.fromEntries(
      numbers.map((n) => [title(n), [{ edits: [{ path: `files/parts/${n}.txt`, content: `part ${n}\n` }] }]]),
    ),
  });
  const plan = join(work, `plan-${tasks}.json`);
  const rows = numbers.map((n) => ({ title: title(n), files: [`files/parts/${n}.txt`] }));
  writeFileSync(plan, JSON.stringify({ tasks: rows }));
  return { request, plan };
}

function run(tasks: number, jobs: number, driver: readonly string[]): Timing {
  const { request, plan } = makeRequest(tasks);
  const cwd = mkdtempSync(join(work, "project-"));
  const started = performance.now();
  const args = [nexus, "run", request, "--plan", plan, "--jobs", String(jobs), "-o", "out.nut", "-q", ...driver];
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  const wallMs = performance.now() - started;
  if (status !== 0) throw new Error(`exit ${status}: ${stderr}${stdout}`);
  const runs = join(cwd, ".nexus/state/nutcracker/runs");
  const journal = readFileSync(join(runs, readdirSync(runs)[0]!, "journal.jsonl"), "utf8")
    .trim()
    .split("\n");
  const ended = journal.map((line) => JSON.parse(line)).filter(({ type }) => type === "agent_ended");
  rmSync(cwd, { recursive: true, force: true });
  const at = (kind: string) =>
    Date.parse(journal.map((line) => JSON.parse(line)).findLast(({ type }) => type === kind).at);
  const workMs = at("task_completed") - at("planned");
  const records = journal.map((line) => JSON.parse(line));
  const acceptanceMs = records.reduce(
    (sum, { type, at: end }, i) => sum + (type === "accepted" ? Date.parse(end) - Date.parse(records[i - 1].at) : 0),
    0,
  );
  return { wallMs, workMs, acceptanceMs, agentsMs: ended.reduce((sum, { ms }) => sum + ms, 0) };
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const overhead = ({ wallMs, agentsMs }: Timing) => wallMs - agentsMs;
const repeat = (times: number, work: () => Timing) => Array.from({ length: times }, work);

const quick = [
  "--driver",
  "command",
  "--command",
  "sh -c 'mkdir -p files/parts; echo x > files/parts/$NEXUS_TASK_ID.txt; echo done'",
];
const sleeper = [
  "--driver",
  "command",
  "--command",
  "sh -c 'sleep 5; mkdir -p files/parts; echo x > files/parts/$NEXUS_TASK_ID.txt; echo done'",
];

const rows: string[][] = [["work", "ours", "peer", "ratio", "target", "ok"]];
const row = (name: string, ours: string, peer: string, ratio: number, target: string, ok: boolean) =>
  rows.push([name, ours, peer, ratio.toFixed(2), target, ok ? "yes" : "NO"]);

const demo = median(repeat(rounds, () => run(10, 1, ["--driver", "demo"])).map(overhead));
row("overhead of 10 demo tasks", `${Math.round(demo)} ms`, "1500 ms", demo / 1500, "≤ 1", demo <= 1500);

/** The same ten starts by hand: Node once, and a sandbox for each. */
function bareStarts(): number {
  const started = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  const held = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--"];
  for (let i = 0; i < 10; i += 1) spawnSync("bwrap", [...held, "sh", "-c", "echo done"]);
  return performance.now() - started;
}

// What it was before the walls is 5.1 of these, and a tenth more is allowed.
const short = median(repeat(rounds, () => run(10, 1, quick)).map(({ wallMs, acceptanceMs }) => wallMs - acceptanceMs));
const bare = median(Array.from({ length: rounds }, bareStarts));
row(
  "10 short sessions without acceptance, peer: bare starts",
  `${Math.round(short)} ms`,
  `${Math.round(bare)} ms`,
  short / bare,
  "≤ 5.6",
  short <= 5.6 * bare,
);

const ten = median(repeat(rounds, () => run(10, 1, quick)).map(overhead)) / 10;
const many = overhead(run(500, 1, quick)) / 500;
row(
  "overhead per task at 500, peer: at 10",
  `${many.toFixed(1)} ms`,
  `${ten.toFixed(1)} ms`,
  many / ten,
  "≤ 1.3",
  many <= 1.3 * ten,
);

const eight = run(8, 8, sleeper);
const share = eight.agentsMs / 8 / eight.workMs;
row(
  "8 sleepers of 5 s side by side, peer: an eighth of their own time",
  `${eight.workMs} ms`,
  `${Math.round(eight.agentsMs / 8)} ms`,
  share,
  "≥ 0.9",
  share >= 0.9,
);

rmSync(work, { recursive: true, force: true });
const widths = rows[0]!.map((_, i) => Math.max(...rows.map((cells) => cells[i]!.length)));
for (const cells of rows) console.log(cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | "));
