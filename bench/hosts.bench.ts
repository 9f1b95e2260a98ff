// How much a host waits for us. Run by `npx tsx bench/hosts.bench.ts`; the peer is Node itself, started for nothing, in the same run.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const hook = join(root, "dist/hook/hook.js");
const RUNS = Number(process.env.RUNS ?? 100);

interface Row {
  readonly work: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
  readonly target: string;
  readonly ok: boolean;
}

const project = mkdtempSync(join(tmpdir(), "nut-bench-"));
mkdirSync(join(project, ".git"));
mkdirSync(join(project, ".nexus/state"), { recursive: true });
const tasks = Array.from({ length: 1_000 }, (_, i) => ({
  id: i + 1,
  title: `task ${i + 1}`,
  context: "c".repeat(200),
  status: "pending",
  deps: [],
}));
writeFileSync(join(project, ".nexus/state/tasks.json"), JSON.stringify({ goal: "g", decisions: [], tasks }));

const payload = (event: string, fields: object = {}) =>
  JSON.stringify({ session_id: "s", cwd: project, hook_event_name: event, ...fields });
const write = payload("PreToolUse", {
  tool_name: "Write",
  tool_input: { file_path: join(project, "a.txt"), content: "x" },
});
const median = (list: number[]): number => list.sort((a, b) => a - b)[Math.floor(list.length / 2)]!;

function timed(args: readonly string[], input: string): number {
  const started = performance.now();
  const { status } = spawnSync(process.execPath, args, { input });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
  return performance.now() - started;
}

/** Ours and the peer take turns, so that whatever else the machine does hits both. */
function compare(work: string, args: readonly string[], input: string, limit: number | null): Row {
  const ours: number[] = [];
  const peer: number[] = [];
  for (let i = 0; i < RUNS; i += 1) {
    peer.push(timed(["-e", "0"], input));
    ours.push(timed(args, input));
  }
  const ratio = median(ours) / median(peer);
  return {
    work,
    ours: `${median(ours).toFixed(1)} ms`,
    peer: `${median(peer).toFixed(1)} ms`,
    ratio: ratio.toFixed(2),
    target: limit === null ? "–" : `≤ ${limit}`,
    ok: limit === null || ratio <= limit,
  };
}

async function inProcess(): Promise<Row> {
  const { nexusPlugin } = await import(join(root, "dist/hook/opencode-plugin.js"));
  const plugin = await nexusPlugin({ node: process.execPath, hook })({ directory: project });
  const times: number[] = [];
  for (let i = 0; i < 1_000; i += 1) {
    const started = performance.now();
    await plugin["tool.execute.before"](
      { tool: "write", sessionID: "s" },
      { args: { filePath: join(project, "a.txt"), content: "x" } },
    );
    times.push(performance.now() - started);
  }
  const p50 = median(times);
  return {
    work: "OpenCode gate, in process, 1,000 calls",
    ours: `${p50.toFixed(2)} ms`,
    peer: "–",
    ratio: "–",
    target: "≤ 2 ms",
    ok: p50 <= 2,
  };
}

/** Sixteen at once, eight times, in turns with sixteen that do nothing: the slowest of each counts. */
async function together(): Promise<Row> {
  const exits: (number | null)[] = [];
  let [ours, peer] = [0, 0];
  for (let round = 0; round < 8; round += 1) {
    peer = Math.max(peer, ...(await sixteen(["-e", "0"], [])));
    ours = Math.max(ours, ...(await sixteen([hook, "claude", "PreToolUse"], exits)));
  }
  const wrong = exits.filter((code) => code !== 0 && code !== 2).length;
  return {
    work: "16 gates at once, 128 in all: slowest; other exits",
    ours: `${ours.toFixed(0)} ms; ${wrong}`,
    peer: `${peer.toFixed(0)} ms`,
    ratio: (ours / peer).toFixed(2),
    target: "≤ 2000 ms; 0",
    ok: ours <= 2_000 && wrong === 0,
  };
}

function sixteen(args: readonly string[], exits: (number | null)[]): Promise<number[]> {
  const one = () =>
    new Promise<number>((resolve) => {
      const started = performance.now();
      const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "ignore"] });
      child.stdin.on("error", () => {});
      child.stdin.end(write);
      child.on("close", (code) => {
        exits.push(code);
        resolve(performance.now() - started);
      });
    });
  return Promise.all(Array.from({ length: 16 }, one));
}

const rows = [
  compare("gate (pre_tool_use), 1,000 tasks on disk", [hook, "claude", "PreToolUse"], write, 1.35),
  compare(
    "post_tool_use",
    [hook, "claude", "PostToolUse"],
    payload("PostToolUse", { tool_name: "Read", tool_input: {}, tool_response: {} }),
    null,
  ),
  await inProcess(),
  await together(),
];
const header = { work: "work", ours: "ours", peer: "node -e 0", ratio: "ratio", target: "target", ok: "ok" };
for (const row of [header, ...rows])
  console.log(
    [
      row.work,
      row.ours,
      row.peer,
      row.ratio,
      row.target,
      typeof row.ok === "boolean" ? (row.ok ? "yes" : "NO") : row.ok,
    ].join(" | "),
  );
rmSync(project, { recursive: true, force: true });
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
// The plugin would tell its session's end to the harness.
process.removeAllListeners("exit");
