// How fast the single files start beside node, and how large the npm package is once installed. Both sides take turns, so
// that they see the same machine. `npx tsx bench/package.bench.ts`
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hostTarget } from "../scripts/standalone/targets.js";
import { bytesIn, installPackage, packagesIn } from "../tests/package/installed.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const TURNS = Number(process.env.TURNS ?? 31);

interface Row {
  readonly work: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
  readonly target: string;
  readonly ok: boolean;
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

function time(command: string, args: readonly string[], input: string | undefined, cwd: string): number {
  const start = performance.now();
  const { status } = spawnSync(command, args, { cwd, input, stdio: ["pipe", "ignore", "ignore"] });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
  return performance.now() - start;
}

function startUp(name: string, ours: readonly string[], peer: readonly string[], cwd: string, input?: string): Row {
  const times = { ours: [] as number[], peer: [] as number[] };
  for (let turn = 0; turn < TURNS; turn++) {
    times.ours.push(time(ours[0]!, ours.slice(1), input, cwd));
    times.peer.push(time(peer[0]!, peer.slice(1), input, cwd));
  }
  const [a, b] = [median(times.ours), median(times.peer)];
  const ratio = a / b;
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  return { work: name, ours: ms(a), peer: ms(b), ratio: ratio.toFixed(2), target: "≤ 0.35", ok: ratio <= 0.35 };
}

const aim = (row: Row, most: number): Row => ({ ...row, target: `≤ ${most}`, ok: Number(row.ratio) <= most });

function startUps(): Row[] {
  const target = hostTarget();
  if (target === null) return [];
  execFileSync(process.execPath, ["--import", "tsx", "scripts/build-standalone.ts", target], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const single = (tool: string) => join(root, "dist-standalone", `${tool}-${target}`);
  const node = (tool: string) => [process.execPath, join(root, `bin/${tool}.js`)];
  const work = mkdtempSync(join(tmpdir(), "nutcracker-bench-"));
  const payload = JSON.stringify({
    hook_event_name: "PreToolUse",
    session_id: "s",
    cwd: work,
    tool_name: "Read",
    tool_input: { file_path: join(work, "a.txt") },
  });
  writeFileSync(join(work, "a.txt"), "a\n");
  try {
    return [
      ...["nutshell", "nexus"].map((tool) =>
        startUp(`${tool} version`, [single(tool), "version"], [...node(tool), "version"], work),
      ),
      startUp(
        "hook, PreToolUse",
        [single("nexus"), "hook", "claude", "PreToolUse"],
        [process.execPath, join(root, "dist/hook/hook.js"), "claude", "PreToolUse"],
        work,
        payload,
      ),
    ]
      .map((row) => (row.work.startsWith("hook") ? aim(row, 1) : row))
      .concat(
        // As a host waits for it, beside a Node that does nothing.
        aim(
          startUp(
            "gate of the single file / node -e 0",
            [single("nexus"), "hook", "claude", "PreToolUse"],
            [process.execPath, "-e", "0"],
            work,
            payload,
          ),
          0.4,
        ),
      );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function sizes(): Row[] {
  const installed = installPackage();
  try {
    const modules = join(installed.project, "node_modules");
    const megabytes = bytesIn(modules) / 1e6;
    const count = packagesIn(modules).length;
    const row = (work: string, ours: string, target: string, ok: boolean): Row => ({
      work,
      ours,
      peer: "",
      ratio: "",
      target,
      ok,
    });
    return [
      row("npm package installed", `${megabytes.toFixed(1)} MB`, "≤ 15 MB", megabytes <= 15),
      row("packages installed", String(count), "≤ 12", count <= 12),
    ];
  } finally {
    installed.remove();
  }
}

if (!existsSync(join(root, "dist/nutshell.cjs")))
  execFileSync(process.execPath, ["scripts/build.mjs", "--types"], { cwd: root });
const rows = [...startUps(), ...sizes()];
console.log("work | ours | peer | ratio | target | ok");
console.log("---|---|---|---|---|---");
for (const { work, ours, peer, ratio, target, ok } of rows)
  console.log([work, ours, peer, ratio, target, ok ? "ok" : "MISSED"].join(" | "));
if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
