// A fleet's own cost on one machine, against the same `nexus run`: npx tsx bench/fleet.bench.ts [--json]
// Needs nats-server. Every program is the built one; the agent is a shell line, so what is measured is ours.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FleetDesk } from "../tests/fleet/desk.js";
import { hasNats, startNats } from "../tests/fleet/nats.js";
import { root } from "../tests/run/program.js";
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
try {
  desk.ask(["init"]);
  await overhead();
  await sleeping();
  await manyJobs();
  await idle();
  if (process.argv.includes("--json")) console.log(JSON.stringify(figures));
} finally {
  await desk.stop();
  await server.kill();
  sweepTemporary();
}

/** The same request by `nexus run`, and from ticket to result by a worker: the median of several. */
async function overhead(): Promise<void> {
  const rounds = 5;
  const alone: number[] = [];
  const agent = ["--driver", "command", "--command", "sh -c 'cp files/wanted.txt files/made.txt; echo made it'"];
  for (let n = 0; n < rounds; n += 1) {
    const request = await desk.request(`alone-${n}`);
    const cwd = join(desk.root, `alone-${n}`);
    mkdirSync(cwd);
    const from = performance.now();
    spawnSync(process.execPath, [nexus, "run", request, ...agent, "--yes", "--json", "-o", "out.nut"], {
      cwd,
      env: desk.env("alone"),
    });
    alone.push(ms(from));
  }
  const workers = [0, 1, 2, 3].map((n) => desk.worker([], { home: `bench-${n}` }));
  await sleep(3_000);
  const fleet: number[] = [];
  for (let n = 0; n < rounds; n += 1) {
    const request = await desk.request(`fleet-${n}`);
    desk.ask(["submit", request]);
    // Waits without looking: looking would take the processor from what is measured.
    desk.nexus(["logs", "-f", request]);
    const { jobs } = desk.ask<{ jobs: { created_at: string; updated_at: string }[] }>(["jobs", "--all"]);
    fleet.push(Date.parse(jobs.at(-1)!.updated_at) - Date.parse(jobs.at(-1)!.created_at));
  }
  for (const worker of workers) worker.kill("SIGTERM");
  await Promise.all(workers.map(({ done }) => done));
  said("run_ms", median(alone), "one nexus run, ms");
  said("job_ms", median(fleet), "one job from submission to result, ms");
  said("overhead_ms", median(fleet) - median(alone), "overhead per job with 4 workers, ms (at most 150)");
}

/** 8 jobs that sleep 5 s on 4 workers with 2 places each, against all of them at once. */
async function sleeping(): Promise<void> {
  const agent = "sh -c 'sleep 5; cp files/wanted.txt files/made.txt; echo made it'";
  const workers = [0, 1, 2, 3].map((n) => desk.worker(["--jobs", "2"], { agent, home: `sleeper-${n}` }));
  await sleep(4_000);
  const files = await Promise.all(Array.from({ length: 8 }, (_, n) => desk.request(`sleep-${n}`)));
  const from = performance.now();
  desk.ask(["submit", ...files]);
  await desk.until("delivered", (jobs) => jobs.every(({ state }) => state === "delivered"), 120);
  const took = ms(from);
  for (const worker of workers) worker.kill("SIGTERM");
  await Promise.all(workers.map(({ done }) => done));
  const cwd = join(desk.root, "alone-sleep");
  mkdirSync(cwd);
  const start = performance.now();
  await Promise.all(
    files.map(
      (file, n) =>
        new Promise((done) =>
          spawn(
            process.execPath,
            [nexus, "run", file, "--driver", "command", "--command", agent, "--yes", "-o", `o${n}.nut`],
            {
              cwd,
              env: desk.env(`plain-${n}`),
              stdio: "ignore",
            },
          ).once("close", done),
        ),
    ),
  );
  said("sleeping_ms", took, "8 sleeping jobs on 4 workers with 2 places, ms");
  said("sleeping_ideal", Math.round((ms(start) / took) * 100) / 100, "of eight nexus run at once (at least 0.9)");
}

/** 1,000 small requests handed in, then listed with 10,000 in the queue. */
async function manyJobs(): Promise<void> {
  const first = await desk.request("many-0");
  const files: string[] = [first];
  for (let n = 1; n < 1_000; n += 1) files.push(await desk.request(`many-${n}`));
  let from = performance.now();
  desk.ask(["submit", ...files, "--label", "nobody"]);
  said("submit_1000_ms", ms(from), "1,000 requests handed in by one command, ms (at most 10,000)");
  for (let round = 1; round < 10; round += 1) desk.ask(["submit", ...files, "--label", `nobody-${round}`]);
  from = performance.now();
  desk.ask(["jobs"]);
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
