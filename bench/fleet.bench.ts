// A fleet's own cost on one machine, against the same `nexus run`: npx tsx bench/fleet.bench.ts [--json] [overhead] [sleeping] [manyJobs] [idle]
// Needs nats-server. Every program is the built one; the agent is a shell line, so what is measured is ours.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { FleetDesk } from "../tests/fleet/desk.js";
import { hasNats, startNats } from "../tests/fleet/nats.js";
import { call, root } from "../tests/run/program.js";
import { sweepTemporary, temporary } from "../tests/temporary.js";

const nexus = join(root, "bin", "nexus.js");
const figures: Record<string, number> = {};
const said = (name: string, value: number, words: string) => {
  figures[name] = value;
  if (!process.argv.includes("--json")) console.log(`${words}: ${value}`);
};
const ms = (from: number) => Math.round(performance.now() - from);
const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[all.length >> 1]!;

if (!hasNats) {
  console.log("no nats-server (Debian package nats-server): nothing measured");
  process.exit(0);
}
const server = await startNats(temporary("nut-bench-nats-"));
const desk = new FleetDesk(server);
/** The built program's answer: the desk asks in its own process. */
const ask = (args: readonly string[]): unknown =>
  JSON.parse(call("nexus", desk.root, ["fleet", ...args, "--json"], desk.env("alice")).stdout);
/** Only these parts, when any is named. */
const only = process.argv.slice(2).filter((word) => !word.startsWith("-"));
try {
  ask(["init"]);
  for (const part of [overhead, sleeping, manyJobs, idle])
    if (only.length === 0 || only.includes(part.name)) await part();
  if (process.argv.includes("--json")) console.log(JSON.stringify(figures));
} finally {
  await desk.stop();
  await server.kill();
  sweepTemporary();
}

/** A job's record, as far as it matters here. */
interface JobRecord {
  readonly title: string;
  readonly state: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Records as they are written. To look by a command again and again would take the processor from what is measured. */
async function watchJobs() {
  const nc = await connect({ servers: server.url.replace("nats://", "") });
  const known = new Map<string, JobRecord>();
  let heard = () => {};
  const entries = await (await new Kvm(nc).open("nut_jobs")).watch();
  void (async () => {
    for await (const entry of entries) {
      const job = entry.json<JobRecord>();
      known.set(job.title, job);
      heard();
    }
  })();
  return {
    delivered: async (titles: readonly string[]): Promise<JobRecord[]> => {
      const there = () => titles.map((title) => known.get(title)).filter((job) => job?.state === "delivered");
      const late = setTimeout(() => {
        throw new Error(`not delivered within 3 minutes: ${there().length} of ${titles.length}`);
      }, 180_000);
      while (there().length < titles.length)
        await new Promise<void>((next) => {
          heard = next;
        });
      clearTimeout(late);
      return there() as JobRecord[];
    },
    close: () => nc.close(),
  };
}

/** One `nexus run` in a folder of its own, as a worker starts it; how long it took. */
function runAlone(request: string, name: string, home: string, command: string): Promise<number> {
  const cwd = join(desk.root, name);
  mkdirSync(cwd);
  const from = performance.now();
  const words = ["run", request, "--driver", "command", "--command", command, "--yes", "--json", "-o", "out.nut"];
  const child = spawn(process.execPath, [nexus, ...words], { cwd, env: desk.env(home), stdio: "ignore" });
  return new Promise((done) => child.once("close", () => done(ms(from))));
}

/**
 * The same request by `nexus run` and from submission to result by one of four workers, in turns, so that whatever else the
 * machine does meets both. The workers are there all the time, and each has done a job before.
 */
async function overhead(): Promise<void> {
  const agent = "sh -c 'cp files/wanted.txt files/made.txt; echo made it'";
  const workers = [0, 1, 2, 3].map((n) => desk.worker([], { home: `bench-${n}` }));
  const watch = await watchJobs();
  const first = await Promise.all(Array.from({ length: 8 }, (_, n) => desk.request(`warm-${n}`)));
  ask(["submit", ...first]);
  await watch.delivered(first.map((_, n) => `Make warm-${n}`));
  await runAlone(await desk.request("alone-warm"), "alone-warm-run", "alone", agent);
  const [alone, fleet]: [number[], number[]] = [[], []];
  for (let n = 0; n < 7; n += 1) {
    alone.push(await runAlone(await desk.request(`alone-${n}`), `alone-run-${n}`, "alone", agent));
    ask(["submit", await desk.request(`fleet-${n}`)]);
    const [job] = await watch.delivered([`Make fleet-${n}`]);
    fleet.push(Date.parse(job!.updated_at) - Date.parse(job!.created_at));
  }
  for (const worker of workers) worker.kill("SIGTERM");
  await Promise.all(workers.map(({ done }) => done));
  await watch.close();
  const more = fleet.map((took, n) => took - alone[n]!);
  said("run_ms", median(alone), "one nexus run, ms");
  said("job_ms", median(fleet), "one job from submission to result, ms");
  said("overhead_ms", median(more), "overhead per job with 4 workers, ms (at most 150)");
}

/**
 * 8 jobs whose agents sleep, on 4 workers with 2 places each. Ideal is all eight at once: eight `nexus run` started together
 * on the same cores, since what a run computes itself is no faster here than there.
 */
async function sleeping(): Promise<void> {
  const agent = "sh -c 'sleep 5; cp files/wanted.txt files/made.txt; echo made it'";
  const files = await Promise.all(Array.from({ length: 8 }, (_, n) => desk.request(`sleep-${n}`)));
  const start = performance.now();
  await Promise.all(files.map((file, n) => runAlone(file, `plain-run-${n}`, `plain-${n}`, agent)));
  const ideal = ms(start);
  const workers = [0, 1, 2, 3].map((n) => desk.worker(["--jobs", "2"], { agent, home: `sleeper-${n}` }));
  const watch = await watchJobs();
  const there = () => (ask(["workers"]) as { workers: unknown[] }).workers.length;
  while (there() < 4) await sleep(500);
  ask(["submit", ...files]);
  const jobs = await watch.delivered(files.map((_, n) => `Make sleep-${n}`));
  const took =
    Math.max(...jobs.map(({ updated_at }) => Date.parse(updated_at))) -
    Math.min(...jobs.map(({ created_at }) => Date.parse(created_at)));
  for (const worker of workers) worker.kill("SIGTERM");
  await Promise.all(workers.map(({ done }) => done));
  await watch.close();
  said("sleeping_ideal_ms", ideal, "eight nexus run at once whose agents sleep, ms");
  said("sleeping_ms", took, "the same as 8 jobs on 4 workers with 2 places, ms");
  said("sleeping_ideal", Math.round((ideal / took) * 100) / 100, "of ideal (at least 0.9)");
}

/** 1,000 small requests handed in, then listed with 10,000 in the queue. */
async function manyJobs(): Promise<void> {
  const first = await desk.request("many-0");
  const files: string[] = [first];
  for (let n = 1; n < 1_000; n += 1) files.push(await desk.request(`many-${n}`));
  let from = performance.now();
  ask(["submit", ...files, "--label", "nobody"]);
  said("submit_1000_ms", ms(from), "1,000 requests handed in by one command, ms (at most 10,000)");
  for (let round = 1; round < 10; round += 1) ask(["submit", ...files, "--label", `nobody-${round}`]);
  from = performance.now();
  ask(["jobs"]);
  said("jobs_10000_ms", ms(from), "nexus fleet jobs with 10,000 queued, ms (at most 1,000)");
}

async function idle(): Promise<void> {
  const worker = desk.worker([], { home: "idle" });
  await sleep(5_000);
  const ticks = () => {
    const fields = readFileSync(`/proc/${worker.pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return Number(fields[11]) + Number(fields[12]);
  };
  const before = ticks();
  await sleep(10_000);
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${worker.pid}/status`, "utf8"))![1]!;
  said("idle_mb", Math.round(Number(rss) / 1024), "an idle worker's memory, MB (at most 80)");
  // Hundredths of a second in ten seconds are milliseconds in one.
  said("idle_cpu_ms_per_s", ticks() - before, "its processor time, ms for each second");
  worker.kill("SIGTERM");
  await worker.done;
}
