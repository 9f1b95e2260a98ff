// nexus mcp beside nexus-core's own server, through a real MCP client, taking turns so that both see the same machine.
// Ours writes durably (fsync of file and folder); theirs does not. `npx tsx bench/state.bench.ts [name…]`
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const root = fileURLToPath(new URL("..", import.meta.url));
const SHM = "/dev/shm";

interface Side {
  readonly name: "ours" | "peer";
  readonly script: string;
  readonly args: readonly string[];
  addTask(n: number): Record<string, unknown>;
  task(n: number): Record<string, unknown>;
  cycle(n: number): Record<string, unknown>;
  readonly close: Record<string, unknown>;
}

const words = "Measure the start, cut what is not needed, and write down what was given up for it. ";
const T0 = "2026-03-02T08:00:00.000Z";

const ours: Side = {
  name: "ours",
  script: join(root, "bin/nexus.js"),
  args: ["mcp"],
  addTask: (n) => ({ title: `Task ${n}`, context: words, acceptance: "It holds", owner: "engineer" }),
  task: (id) => ({
    id,
    title: `Task ${id}`,
    context: words,
    status: "pending",
    deps: [],
    owner: "engineer",
    created_at: T0,
  }),
  cycle: (n) => cycle(n, "0.7", ours),
  close: {},
};
const peer: Side = {
  name: "peer",
  script: join(root, "node_modules/@moreih29/nexus-core/dist/mcp/server.js"),
  args: [],
  addTask: (n) => ({ title: `Task ${n}`, context: words, acceptance: "It holds", owner: { role: "engineer" } }),
  task: (id) => ({
    id,
    title: `Task ${id}`,
    context: words,
    status: "pending",
    owner: { role: "engineer" },
    created_at: T0,
  }),
  cycle: (n) => cycle(n, "1.0", peer),
  close: { force: true },
};

function cycle(n: number, version: string, side: Side): Record<string, unknown> {
  return {
    schema_version: version,
    completed_at: T0,
    branch: "main",
    plan: {
      id: n,
      topic: `Topic ${n}`,
      issues: [{ id: 1, title: `Issue of ${n}`, status: "decided", decision: `Decision ${n}: ${words}` }],
      research_summary: words,
      created_at: T0,
    },
    tasks: [side.task(1), side.task(2)],
  };
}

interface Setup {
  readonly tasks?: number;
  readonly cycles?: number;
}

function project(side: Side, base: string, { tasks, cycles }: Setup = {}): string {
  const folder = mkdtempSync(join(base, `nexus-bench-${side.name}-`));
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: folder });
  mkdirSync(join(folder, ".nexus/state"), { recursive: true });
  const list = (n: number, make: (n: number) => unknown) => Array.from({ length: n }, (_, i) => make(i + 1));
  const write = (name: string, value: unknown) =>
    writeFileSync(join(folder, ".nexus", name), `${JSON.stringify(value, null, 2)}\n`);
  if (tasks !== undefined) write("state/tasks.json", { goal: "g", decisions: [], tasks: list(tasks, side.task) });
  if (cycles !== undefined) write("history.json", { cycles: list(cycles, side.cycle) });
  return folder;
}

async function connect(side: Side, cwd: string): Promise<Client> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [side.script, ...side.args], cwd, stderr: "ignore" }),
  );
  return client;
}

async function call(client: Client, tool: string, args: Record<string, unknown>): Promise<void> {
  const result = await client.callTool({ name: `nx_${tool}`, arguments: args });
  if (result.isError === true) throw new Error(`${tool}: ${JSON.stringify(result.content)}`);
}

const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

interface Row {
  readonly work: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: number;
  readonly target: string;
  readonly ok: boolean;
}

const rows: Row[] = [];
const ms = (time: number) => `${time.toFixed(2)} ms`;

function compare(work: string, times: Record<Side["name"], number[]>, atMost: number): void {
  const [a, b] = [median(times.ours), median(times.peer)];
  rows.push({ work, ours: ms(a), peer: ms(b), ratio: a / b, target: `≤ ${atMost}`, ok: a / b <= atMost });
  console.log(line(rows.at(-1)!));
}

const line = ({ work, ours: a, peer: b, ratio, target, ok }: Row) =>
  [
    work.padEnd(44),
    a.padStart(12),
    b.padStart(12),
    ratio.toFixed(2).padStart(7),
    target.padStart(8),
    ok ? "ok" : "NO",
  ].join(" | ");

async function coldStart(): Promise<void> {
  const times = { ours: [] as number[], peer: [] as number[] };
  const folders = { ours: project(ours, tmpdir()), peer: project(peer, tmpdir()) };
  for (let i = 0; i < 15; i += 1) {
    for (const side of i % 2 === 0 ? [ours, peer] : [peer, ours]) {
      let client: Client | undefined;
      times[side.name].push(
        await timed(async () => {
          client = await connect(side, folders[side.name]);
          await client.listTools();
        }),
      );
      await client!.close();
    }
  }
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true });
  compare("cold start to tools/list", times, 0.4);
}

interface Work {
  readonly name: string;
  readonly base: string;
  readonly setup: Setup;
  readonly rounds: number;
  readonly atMost: number;
  readonly warm?: number;
  run(client: Client, side: Side, round: number): Promise<void>;
}

async function sideBySide({ name, base, setup, rounds, atMost, warm = 2, run }: Work): Promise<void> {
  const folders = [ours, peer].map((side) => project(side, base, setup));
  const clients = [await connect(ours, folders[0]!), await connect(peer, folders[1]!)];
  const times = { ours: [] as number[], peer: [] as number[] };
  for (let round = -warm; round < rounds; round += 1) {
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const side = [ours, peer][at]!;
      const time = await timed(() => run(clients[at]!, side, round + warm));
      if (round >= 0) times[side.name].push(time);
    }
  }
  for (const client of clients) await client.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
  compare(name, times, atMost);
}

const add = (client: Client, side: Side, round: number) => call(client, "task_add", side.addTask(round));
const STATUS = ["in_progress", "completed"];
const update = (client: Client, _: Side, round: number) =>
  call(client, "task_update", { id: 1 + (round % 10), status: STATUS[Math.floor(round / 10) % 2] });

/**
 * Eight servers add tasks to one project, and each client goes on as soon as it is answered. What counts is what the file
 * holds at the end, for both sides: an answer whose task is not there, and a call that gave up, are no throughput.
 * Measured at two lengths, because the ratio depends on it: a short run is mostly the servers' warming up.
 */
async function eightServers(base: string, where: string, each: number): Promise<void> {
  const SERVERS = 8;
  const lost = { ours: 0, peer: 0 };
  const rate = async (side: Side): Promise<number> => {
    const folder = project(side, base, { tasks: 10 });
    const clients = await Promise.all(Array.from({ length: SERVERS }, () => connect(side, folder)));
    // What a server loads with its first call is measured elsewhere.
    await Promise.all(clients.map((client) => call(client, "task_list", {})));
    const seconds =
      (await timed(() =>
        Promise.all(
          clients.map(async (client, who) => {
            for (let i = 0; i < each; i += 1) {
              const args = { ...side.addTask(i), title: `${who}-${i}` };
              await call(client, "task_add", args).catch(() => {});
            }
          }),
        ),
      )) / 1000;
    await Promise.all(clients.map((client) => client.close()));
    const { tasks } = JSON.parse(readFileSync(join(folder, ".nexus/state/tasks.json"), "utf8"));
    const there = new Set(
      tasks.map(({ title }: { title: string }) => title).filter((title: string) => /^\d/.test(title)),
    );
    lost[side.name] += SERVERS * each - there.size;
    rmSync(folder, { recursive: true });
    return there.size / seconds;
  };
  const rates = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round < 3; round += 1) {
    for (const side of round % 2 === 0 ? [ours, peer] : [peer, ours]) rates[side.name].push(await rate(side));
  }
  const [a, b] = [median(rates.ours), median(rates.peer)];
  const row = {
    work: `eight servers × ${each} task_add, ${where}`,
    ours: `${a.toFixed(0)}/s`,
    peer: `${b.toFixed(0)}/s`,
    ratio: a / b,
    target: "≥ 3",
    ok: a / b >= 3 && lost.ours === 0,
  };
  rows.push(row);
  console.log(line(row));
  const total = 3 * SERVERS * each;
  console.log(`  (tasks in the file at the end, of ${total}: ours ${total - lost.ours}, peer ${total - lost.peer})`);
}

async function definitions(): Promise<void> {
  const folder = project(ours, tmpdir());
  const client = await connect(ours, folder);
  const { tools } = await client.listTools();
  await client.close();
  const tokens = encode(JSON.stringify(tools)).length;
  const row = {
    work: "tokens of all tool definitions (o200k)",
    ours: String(tokens),
    peer: "",
    ratio: tokens / 3000,
    target: "≤ 3000",
    ok: tokens <= 3000,
  };
  rows.push(row);
  console.log(line(row));
  rmSync(folder, { recursive: true });
}

const disk = tmpdir();
const small = { tasks: 10 };
const works: Record<string, () => Promise<void>> = {
  cold: coldStart,
  "add-disk": () =>
    sideBySide({ name: "task_add, 10 tasks, on disk", base: disk, setup: small, rounds: 60, atMost: 1, run: add }),
  "update-disk": () =>
    sideBySide({
      name: "task_update, 10 tasks, on disk",
      base: disk,
      setup: small,
      rounds: 60,
      atMost: 1,
      run: update,
    }),
  "add-tmpfs": () =>
    sideBySide({ name: "task_add, 10 tasks, tmpfs", base: SHM, setup: small, rounds: 60, atMost: 0.7, run: add }),
  "update-tmpfs": () =>
    sideBySide({ name: "task_update, 10 tasks, tmpfs", base: SHM, setup: small, rounds: 60, atMost: 0.7, run: update }),
  "add-10k": () =>
    sideBySide({
      name: "task_add, 10,000 tasks, on disk",
      base: disk,
      setup: { tasks: 10_000 },
      rounds: 20,
      atMost: 0.5,
      run: add,
    }),
  "update-10k": () =>
    sideBySide({
      name: "task_update, 10,000 tasks, on disk",
      base: disk,
      setup: { tasks: 10_000 },
      rounds: 20,
      atMost: 0.5,
      run: update,
    }),
  search: () =>
    sideBySide({
      name: "history_search, 10,000 cycles, after the first",
      base: disk,
      setup: { cycles: 10_000 },
      rounds: 20,
      atMost: 0.25,
      run: (client, _, round) => call(client, "history_search", { query: `decision ${5_000 + round}:` }),
    }),
  close: () =>
    sideBySide({
      name: "task_close, 10,000 cycles, on disk",
      base: disk,
      setup: { cycles: 10_000 },
      rounds: 12,
      atMost: 0.5,
      run: (client, side) => call(client, "task_close", side.close),
    }),
  eight: () => eightServers(disk, "on disk", 100),
  "eight-tmpfs": () => eightServers(SHM, "tmpfs", 100),
  "eight-long": () => eightServers(disk, "on disk", 250),
  tokens: definitions,
};

const wanted = process.argv.slice(2);
console.log(
  ["work".padEnd(44), "ours".padStart(12), "peer".padStart(12), "ratio".padStart(7), "target".padStart(8), "ok"].join(
    " | ",
  ),
);
for (const [name, work] of Object.entries(works)) if (wanted.length === 0 || wanted.includes(name)) await work();
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
