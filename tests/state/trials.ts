// What is done to the store to see whether it keeps its promises. `npm test` does a little of it, `npm run torture` all of it.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NutError } from "../../src/errors.js";
import { addTask, closeCycle, openProject, startPlan, updateTask } from "../../src/state/index.js";
import { ServerProcess, startServers, Unanswered } from "./server-process.js";

interface TaskResult {
  readonly task: { readonly id: number };
}

const TASKS = ".nexus/state/tasks.json";

export function readTasks(project: string): { id: number; title: string }[] {
  return JSON.parse(readFileSync(join(project, TASKS), "utf8")).tasks;
}

/** Every server adds tasks as fast as it can. */
export async function manyWriters(
  project: string,
  processes: number,
  adds: number,
  envOf?: (who: number) => Record<string, string>,
) {
  const servers = await startServers(processes, project, envOf);
  let failed = 0;
  const acknowledged: number[] = [];
  await Promise.all(
    servers.map(async (server, who) => {
      for (let i = 0; i < adds; i += 1) {
        try {
          const { task } = await server.call<TaskResult>("task_add", { title: `${who}-${i}`, context: "c" });
          acknowledged.push(task.id);
        } catch {
          failed += 1;
        }
      }
    }),
  );
  await Promise.all(servers.map((server) => server.kill("SIGTERM")));
  const tasks = readTasks(project);
  const titles = new Set(tasks.map(({ title }) => title));
  return {
    failed,
    lost: processes * adds - titles.size,
    duplicateIds: tasks.length - new Set(tasks.map(({ id }) => id)).size,
    duplicateAnswers: acknowledged.length - new Set(acknowledged).size,
  };
}

/** Servers are killed while they work; what they acknowledged must be there, and the next must not wait for the dead. */
export async function kills(project: string, times: number, atOnce = 4) {
  const acknowledged = new Map<number, string>();
  let slowest = 0;
  let killed = 0;
  let torn = 0;
  const lane = async (who: number) => {
    for (let round = 0; killed < times; round += 1) {
      const server = await new ServerProcess(project).start();
      let end: Promise<void> | undefined;
      try {
        for (let i = 0; ; i += 1) {
          const title = `${who}-${round}-${i}`;
          const start = performance.now();
          const { task } = await server.call<TaskResult>("task_add", { title, context: "c" });
          // The first call also loads the tools; what is asked here is whether anyone waits for the dead.
          if (i > 0) slowest = Math.max(slowest, performance.now() - start);
          acknowledged.set(task.id, title);
          end ??= sleep(Math.random() * 60).then(() => server.kill());
        }
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
      }
      await end;
      killed += 1;
      try {
        if (existsSync(join(project, TASKS))) readTasks(project);
      } catch {
        torn += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, who) => lane(who)));
  const tasks = existsSync(join(project, TASKS)) ? readTasks(project) : [];
  const found = new Map(tasks.map(({ id, title }) => [id, title]));
  // A change that a dead process had entered for another must not be made again by the other.
  const twice = tasks.length - new Set(tasks.map(({ title }) => title)).size;
  const lost = [...acknowledged].filter(([id, title]) => found.get(id) !== title).length;
  return { killed, acknowledged: acknowledged.size, lost, torn, twice, slowestMs: slowest };
}

export interface ToolCall {
  readonly tool: string;
  readonly params: unknown;
}

export const MUTATING: readonly ToolCall[] = [
  { tool: "task_add", params: { title: "new", context: "c", goal: "new goal" } },
  { tool: "task_update", params: { id: 1, status: "completed" } },
  { tool: "task_close", params: {} },
  { tool: "plan_start", params: { topic: "new", issues: ["x"], research_summary: "r" } },
  { tool: "plan_update", params: { action: "reopen", issue_id: 1 } },
  { tool: "plan_decide", params: { issue_id: 2, decision: "d" } },
  { tool: "artifact_write", params: { filename: "a.md", content: "new" } },
];

const SYSCALLS = ["openat", "mkdir", "write", "pwrite64", "fsync", "rename", "unlink", "ftruncate"];

/** Kills a tool at each system call by which it changes anything, and looks at what is left. */
export async function killAtSystemCalls({ tool, params }: ToolCall, most = Number.POSITIVE_INFINITY) {
  const program = [process.execPath, resolve("bin/nexus.js"), "call", tool, JSON.stringify(params)];
  const points = mutatingCalls(program);
  const step = Math.max(1, Math.ceil(points.length / most));
  const wrong: string[] = [];
  let tried = 0;
  const left = points.filter((_, index) => index % step === 0);
  const lane = async () => {
    for (let point = left.shift(); point !== undefined; point = left.shift()) await tryOne(point);
  };
  const tryOne = async ({ name, nth }: { name: string; nth: number }) => {
    const project = await seeded();
    const inject = `${name}:signal=KILL:when=${nth}`;
    const child = spawn(
      "strace",
      ["-qq", "-o", "/dev/null", "-e", `trace=${SYSCALLS.join(",")}`, "-e", `inject=${inject}`, ...program],
      { cwd: project, env: { ...process.env, NEXUS_PROJECT_DIR: project }, stdio: "ignore" },
    );
    await once(child, "exit");
    tried += 1;
    wrong.push(...(await look(project)).map((text) => `${tool} killed at ${name} ${nth}: ${text}`));
    rmSync(project, { recursive: true, force: true });
  };
  await Promise.all([lane(), lane(), lane()]);
  return { tried, wrong };
}

/** Every file can be read, nothing acknowledged before is gone, and the next change goes through at once. */
async function look(project: string): Promise<string[]> {
  const said: string[] = [];
  const read = (name: string) => {
    const path = join(project, ".nexus", name);
    if (!existsSync(path)) return null;
    try {
      return JSON.parse(readFileSync(path, "utf8"));
    } catch {
      said.push(`${name} is torn`);
      return null;
    }
  };
  const history = read("history.json")?.cycles ?? [];
  const filed = JSON.stringify(history);
  const tasks = JSON.stringify(read("state/tasks.json")?.tasks ?? []);
  const plan = JSON.stringify(read("state/plan.json"));
  if (!filed.includes("first cycle")) said.push("the first cycle is gone");
  if (!tasks.includes("kept task") && !filed.includes("kept task")) said.push("the task is gone");
  if (!plan.includes("kept plan") && !filed.includes("kept plan")) said.push("the plan is gone");
  const own = openProject(project, { harnessId: `after-${Math.random().toString(36).slice(2)}`, lockWaitMs: 1_000 });
  try {
    await addTask(own, { title: "next", context: "c" }, new Date());
    const twice = await closeCycle(own, new Date());
    if (twice.total_cycles > history.length + 1) said.push("a cycle was filed twice");
  } catch (error) {
    said.push(`the next change fails: ${String(error)}`);
  }
  own.store.forget();
  const left = readdirSync(join(project, ".nexus"), { recursive: true, encoding: "utf8" });
  if (left.some((name) => name.includes(".nut-tmp-"))) said.push("a temporary file is left");
  return said;
}

async function seeded(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "nexus-kill-"));
  const project = openProject(folder, { env: { NEXUS_PROJECT_DIR: folder } });
  const now = new Date();
  await addTask(project, { title: "first cycle", context: "c" }, now);
  await closeCycle(project, now);
  await startPlan(project, { topic: "kept plan", issues: ["one", "two"], research_summary: "r" }, now);
  await addTask(project, { title: "kept task", context: "c" }, now);
  await updateTask(project, { id: 1, status: "in_progress" }, now);
  project.store.forget();
  return folder;
}

/** Which calls of the main thread touch the project, as strace counts them: the nth of its name. */
function mutatingCalls(program: readonly string[]): { name: string; nth: number }[] {
  const folder = mkdtempSync(join(tmpdir(), "nexus-trace-"));
  const log = join(folder, "trace");
  const project = join(folder, "project");
  mkdirSync(join(project, ".nexus/state"), { recursive: true });
  const plan = {
    id: 1,
    topic: "t",
    issues: [
      { id: 1, title: "a", status: "decided" },
      { id: 2, title: "b", status: "pending" },
    ],
  };
  writeFileSync(join(project, ".nexus/state/plan.json"), JSON.stringify(plan));
  writeFileSync(join(project, TASKS), JSON.stringify({ tasks: [{ id: 1, title: "a", status: "pending" }] }));
  execFileSync("strace", ["-qq", "-y", "-o", log, "-e", `trace=${SYSCALLS.join(",")}`, ...program], {
    cwd: project,
    env: { ...process.env, NEXUS_PROJECT_DIR: project },
    stdio: "ignore",
  });
  const counts = new Map<string, number>();
  const points: { name: string; nth: number }[] = [];
  for (const line of readFileSync(log, "utf8").split("\n")) {
    const name = line.match(/^(\w+)\(/)?.[1];
    if (name === undefined) continue;
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    const reads = name === "openat" && !line.includes("O_CREAT");
    if (line.includes("/.nexus") && !reads) points.push({ name, nth });
  }
  rmSync(folder, { recursive: true, force: true });
  return points;
}

export function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "nexus-mount-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]).status === 0;
  if (mounted) spawnSync("umount", [folder]);
  rmSync(folder, { recursive: true, force: true });
  return mounted;
}

/** Changes on a disk with ever less room: each either happens or leaves everything as it was. */
export async function fullDisk(steps: readonly number[]) {
  const folder = mkdtempSync(join(tmpdir(), "nexus-full-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", folder]);
  const wrong: string[] = [];
  let refused = 0;
  let done = 0;
  try {
    const env = { NEXUS_PROJECT_DIR: folder };
    const project = openProject(folder, { env });
    for (let i = 0; i < 60; i += 1)
      await addTask(project, { title: `task ${i}`, context: "c".repeat(150) }, new Date());
    for (const blocks of steps) {
      const filler = join(folder, "filler");
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(Math.max(0, (bavail - blocks) * bsize)));
      const before = readFileSync(join(folder, TASKS));
      try {
        const { task } = await addTask(project, { title: `at ${blocks}`, context: "c" }, new Date());
        done += 1;
        if (readTasks(folder).at(-1)?.id !== task.id) wrong.push(`${blocks}: acknowledged and not there`);
      } catch (error) {
        refused += 1;
        if (!(error instanceof NutError) || error.code !== "DISK_FULL") wrong.push(`${blocks}: ${String(error)}`);
        if (!readFileSync(join(folder, TASKS)).equals(before)) wrong.push(`${blocks}: refused and changed`);
      }
      const left = readdirSync(join(folder, ".nexus/state")).filter((name) => name.includes(".nut-tmp-"));
      if (left.length > 0) wrong.push(`${blocks}: left ${left}`);
    }
    project.store.forget();
  } finally {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  }
  return { refused, done, wrong };
}

interface Op {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** A value that is kept in the project, written and read through the tools. */
export interface Register {
  write(server: ServerProcess, value: string): Promise<unknown>;
  read(server: ServerProcess): Promise<string>;
}

/** Written alone, under both locks. */
export const lastDecision: Register = {
  write: (server, decision) => server.call("plan_decide", { issue_id: 1, decision }),
  read: async (server) => (await server.call<{ issues: { decision: string }[] }>("plan_status")).issues[0]!.decision,
};

/** Written in groups. */
export const lastTask: Register = {
  write: (server, title) => server.call("task_add", { title, context: "c" }),
  read: async (server) => (await server.call<{ tasks: { title: string }[] }>("task_list")).tasks.at(-1)!.title,
};

/** Several clients write a value and read it back, all at once; every value is written once. */
export async function register(
  project: string,
  clients: number,
  rounds: number,
  { write, read }: Register,
): Promise<Op[]> {
  const servers = await startServers(clients, project);
  await servers[0]!.call("plan_start", { topic: "t", issues: ["register"], research_summary: "r" });
  await write(servers[0]!, "first");
  const ops: Op[] = [{ value: "first", start: performance.now(), end: performance.now() }];
  await Promise.all(
    servers.map(async (server, who) => {
      for (let i = 0; i < rounds; i += 1) {
        const start = performance.now();
        let value = `${who}-${i}`;
        if ((who + i) % 2 === 0) await write(server, value);
        else value = await read(server);
        ops.push({ value, start, end: performance.now() });
      }
    }),
  );
  await Promise.all(servers.map((server) => server.kill("SIGTERM")));
  return ops;
}

/**
 * Whether some order of the operations, each at one moment between its start and its end, explains what was read. With
 * every value written once, each value's operations span a zone: two that must have held for a while may not overlap, and
 * one that held for a moment may not lie inside one that held throughout.
 */
export function isLinearizable(ops: readonly Op[]): boolean {
  const zones = [...groupBy(ops).values()].map((group) => {
    const firstEnd = Math.min(...group.map(({ end }) => end));
    const lastStart = Math.max(...group.map(({ start }) => start));
    return { forward: firstEnd < lastStart, low: Math.min(firstEnd, lastStart), high: Math.max(firstEnd, lastStart) };
  });
  const held = zones.filter(({ forward }) => forward);
  const moments = zones.filter(({ forward }) => !forward);
  const overlap = held.some((a, i) => held.some((b, j) => i < j && a.low < b.high && b.low < a.high));
  const inside = held.some((a) => moments.some((b) => a.low < b.low && b.high < a.high));
  return !overlap && !inside;
}

function groupBy(ops: readonly Op[]): Map<string, Op[]> {
  const groups = new Map<string, Op[]>();
  for (const op of ops) groups.set(op.value, [...(groups.get(op.value) ?? []), op]);
  return groups;
}
