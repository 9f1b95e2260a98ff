// A fleet on this machine: a server, people who submit, machines that work. Machines are the real program; what people type
// is run in this process, which takes a tenth of the time.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packFolder } from "../../src/bundle/index.js";
import { here } from "../run/here.js";
import { environment, type Ran, start } from "../run/program.js";
import { put } from "../run/scripted.js";
import { temporary } from "../temporary.js";
import type { NatsServer } from "./nats.js";

export interface JobRow {
  readonly job: string;
  readonly title: string;
  readonly state: string;
  readonly status: string | null;
  readonly tries: number;
  readonly deaths: number;
  readonly worker: string | null;
  readonly reason: string | null;
  readonly fresh?: boolean;
}

export type Machine = ChildProcess & { readonly done: Promise<Ran> };

/** Does the one task of `request` below: the words of the request become the file it asks for. */
export const AGENT = "sh -c 'cp files/wanted.txt files/made.txt; echo made it'";

/** The same, after a while. */
export const slow = (seconds: number) => `sh -c 'sleep ${seconds}; cp files/wanted.txt files/made.txt; echo made it'`;

export class FleetDesk {
  readonly root = temporary("nut-fleet-");
  readonly url: string;
  readonly machines: Machine[] = [];

  constructor(server: Pick<NatsServer, "url">) {
    this.url = server.url;
  }

  env(home: string, extra: Record<string, string> = {}): Record<string, string> {
    const folder = join(this.root, "homes", home);
    mkdirSync(folder, { recursive: true });
    const { NUTCRACKER_CONSENT: _, ...rest } = environment(folder, { NATS_URL: this.url, TMPDIR: this.root, ...extra });
    return rest;
  }

  nexus(args: readonly string[], home = "alice", extra: Record<string, string> = {}): Promise<Ran> {
    return here("nexus", this.root, ["fleet", ...args], this.env(home, extra));
  }

  /** The answer of a command that says yes. */
  async ask<T>(args: readonly string[], home = "alice", extra: Record<string, string> = {}): Promise<T> {
    const ran = await this.nexus([...args, "--json"], home, extra);
    if (ran.status !== 0) throw new Error(`fleet ${args.join(" ")}: ${ran.status}\n${ran.stdout}${ran.stderr}`);
    return JSON.parse(ran.stdout) as T;
  }

  /** A request whose one check is that files/made.txt says what files/wanted.txt says. */
  async request(name: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
    const folder = join(this.root, "requests", name);
    put(folder, {
      "nutshell.json": JSON.stringify({
        nutshell_version: "0.2.0",
        bundle_type: "request",
        id: "nut-0f000000-0000-4000-8000-000000000001",
        created_at: "2026-03-14T10:00:00Z",
        task: { title: `Make ${name}`, summary: "files/made.txt must say what files/wanted.txt says" },
        context: { requirements: "context/requirements.md" },
        acceptance: { criteria_file: "tests/criteria.json" },
        harness: { execution_strategy: "one-shot" },
      }),
      "context/requirements.md": "Copy files/wanted.txt to files/made.txt\n",
      "files/wanted.txt": `${name}\n`,
      "files/made.txt": "nothing\n",
      "tests/criteria.json": JSON.stringify({
        criteria_version: "0.2.0",
        criteria: [
          { id: "AC-1", description: "made", type: "shell", script: "tests/made.sh", expected: { exit_code: 0 } },
        ],
      }),
      "tests/made.sh": "cmp files/wanted.txt files/made.txt\n",
      ...files,
    });
    const path = join(this.root, `${name}.nut`);
    await packFolder(folder, { output: path });
    return path;
  }

  worker(
    args: readonly string[] = [],
    { home = "worker", agent = AGENT, extra = {} as Record<string, string> } = {},
  ): Machine {
    const words = ["fleet", "work", "--driver", "command", "--command", agent, "--yes", ...args];
    const machine = start(this.root, words, this.env(home, extra));
    this.machines.push(machine);
    return machine;
  }

  async jobs(...args: string[]): Promise<readonly JobRow[]> {
    return (await this.ask<{ jobs: JobRow[] }>(["jobs", "--all", ...args])).jobs;
  }

  /** Hands in a request of that name; the job's id. */
  async submit(name: string, more: readonly string[] = []): Promise<string> {
    return (await this.ask<{ jobs: JobRow[] }>(["submit", await this.request(name), ...more])).jobs[0]!.job;
  }

  async job(id: string): Promise<JobRow> {
    return (await this.jobs()).find(({ job }) => job === id)!;
  }

  async logs(id: string): Promise<string> {
    return (await this.nexus(["logs", id])).stdout;
  }

  async running(id: string): Promise<void> {
    await this.until("running", (jobs) => jobs.some(({ job, state }) => job === id && state === "running"), 60);
  }

  async until(
    what: string,
    test: (jobs: readonly JobRow[]) => boolean | Promise<boolean>,
    seconds = 60,
  ): Promise<readonly JobRow[]> {
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      const jobs = await this.jobs();
      if (await test(jobs)) return jobs;
      await sleep(250);
    }
    throw new Error(`${what}: not within ${seconds} s\n${JSON.stringify(await this.jobs(), null, 1)}`);
  }

  write(name: string, text: string): string {
    const path = join(this.root, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Ends every machine that was started here. */
  async stop(): Promise<void> {
    for (const machine of this.machines.splice(0)) {
      if (machine.exitCode === null && machine.signalCode === null) machine.kill("SIGKILL");
      await machine.done;
    }
  }
}
