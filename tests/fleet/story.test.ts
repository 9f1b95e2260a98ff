// A fleet from an empty server to a fetched, verified delivery, with real programs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { temporary } from "../temporary.js";
import { Desk } from "../vault/run.js";
import { FleetDesk, type JobRow } from "./desk.js";
import { hasNats, type NatsServer, startNats } from "./nats.js";

const can = hasNats && (await bwrapAvailable(process.env));

describe.skipIf(!can)("a fleet", () => {
  let server: NatsServer;
  let desk: FleetDesk;
  beforeAll(async () => {
    server = await startNats(temporary("nut-nats-"));
    desk = new FleetDesk(server);
  });
  afterAll(async () => {
    await desk.stop();
    await server.kill();
  });

  it("says what is missing before it is set up, and is set up as often as one likes", async () => {
    const before = await desk.nexus(["jobs"]);
    expect(before.status).toBe(2);
    expect(before.stderr).toContain("hint: nexus fleet init\n");
    expect(
      (await desk.ask<{ streams: { made: boolean }[] }>(["init", "--lease", "4s"])).streams.every(({ made }) => made),
    ).toBe(true);
    const again = await desk.ask<{ next: string; streams: { made: boolean; replicas: number }[] }>([
      "init",
      "--lease",
      "4s",
    ]);
    expect(again.next).toBe("nexus fleet work on every machine that should work, nexus fleet submit task.nut from any");
    expect(again.streams.map(({ made, replicas }) => [made, replicas])).toEqual(again.streams.map(() => [false, 1]));
  });

  it("takes requests in, does each once, and gives back what a stranger can check", async () => {
    const files = [await desk.request("one"), await desk.request("two")];
    const { jobs } = await desk.ask<{ jobs: JobRow[] }>(["submit", ...files]);
    expect(jobs.map(({ fresh, state }) => [fresh, state])).toEqual([
      [true, "queued"],
      [true, "queued"],
    ]);
    const twice = await desk.ask<{ jobs: JobRow[] }>(["submit", files[0]!]);
    expect(twice.jobs[0]).toMatchObject({ fresh: false, job: jobs[0]!.job });
    const worker = desk.worker(["--until-empty", "--jobs", "2"]);
    const worked = await worker.done;
    expect(worked.status, worked.stderr).toBe(0);
    expect(worked.stdout, worked.stderr).toContain("2 jobs delivered, 0 failed");
    expect((await desk.jobs()).map(({ state, status, tries }) => [state, status, tries])).toEqual([
      ["delivered", "completed", 1],
      ["delivered", "completed", 1],
    ]);
    const fetched = await desk.ask<{ verified: boolean; rerun: boolean; path: string }>([
      "fetch",
      jobs[0]!.job,
      "--rerun",
      "--yes",
    ]);
    expect(fetched).toMatchObject({ verified: true, rerun: true });
    expect(existsSync(fetched.path)).toBe(true);
    const logs = (await desk.nexus(["logs", jobs[1]!.job])).stdout;
    for (const word of ["submitted", "taken", "delivered: completed"]) expect(logs).toContain(word);
    expect(logs.match(/delivered: completed/g)).toHaveLength(1);
    // Nothing of a run stays where it was done.
    expect(readdirSync(join(desk.root, "homes/worker/.local/state/nutshell/fleet-work"))).toEqual([]);
  });

  it("believes the request it is held against, not the worker", async () => {
    const job = (await desk.jobs()).find(({ title }) => title === "Make one");
    const other = await desk.nexus([
      "fetch",
      job!.job,
      "-o",
      "other-delivery.nut",
      "--request",
      join(desk.root, "two.nut"),
    ]);
    expect(other.status, other.stderr).toBe(1);
    expect(other.stdout).toContain("does not hold");
  });

  it("gives jobs to whom they fit, the urgent first", async () => {
    const plain = await desk.request("plain");
    const gpu = await desk.request("gpu");
    const urgent = await desk.request("urgent");
    await desk.ask(["submit", plain, "--priority", "low"]);
    await desk.ask(["submit", gpu, "--label", "gpu"]);
    await desk.ask(["submit", urgent, "--priority", "high", "--driver", "command"]);
    const worker = await desk.worker(["--until-empty"]).done;
    expect(worker.stdout).toContain("2 jobs delivered");
    const order = [...worker.stderr.matchAll(/with command: Make (\w+)/g)].map(([, name]) => name);
    expect(order).toEqual(["urgent", "plain"]);
    expect((await desk.jobs("--state", "queued")).map(({ title }) => title)).toEqual(["Make gpu"]);
    expect((await desk.nexus(["doctor"])).stdout).toContain("queued jobs that fit no worker that is there: 1 (gpu)");
    expect((await desk.worker(["--until-empty", "--label", "gpu"]).done).stdout).toContain("1 job delivered");
  });

  it("sets a request aside that no worker could do, with the reason, and takes it up again when told to", async () => {
    const file = await desk.request("hopeless");
    const { jobs } = await desk.ask<{ jobs: JobRow[] }>(["submit", file, "--budget", "agent=1s"]);
    const slow = "sh -c 'sleep 30'";
    await desk.worker(["--until-empty"], { agent: slow }).done;
    const [dead] = await desk.jobs("--dead");
    expect(dead).toMatchObject({ job: jobs[0]!.job, state: "dead" });
    expect(dead!.reason).toMatch(/paused/);
    expect((await desk.nexus(["fetch", dead!.job])).stderr).toContain(`hint: nexus fleet retry ${dead!.job}`);
    await desk.ask(["retry", dead!.job, "--budget", "agent=1m"]);
    await desk.worker(["--until-empty"]).done;
    expect((await desk.jobs()).find(({ job }) => job === dead!.job)).toMatchObject({
      state: "delivered",
      status: "completed",
    });
  });

  it("asks before strangers' requests run, and refuses folders, deliveries and nonsense by name", async () => {
    const asked = await desk.nexus(["work", "--driver", "demo"]);
    expect([asked.status, asked.stderr]).toEqual([2, expect.stringContaining("nobody agreed to that")]);
    expect((await desk.nexus(["work"])).stderr).toContain("hint: nexus drivers");
    expect((await desk.nexus(["jobs", "--server", "nats://127.0.0.1:1"])).stderr).toContain(
      "127.0.0.1:1: nobody answers there\nnexus: hint: nats-server --jetstream --addr 127.0.0.1 --port 1 ",
    );
    expect((await desk.nexus(["init", "--lease", "12h"])).stderr).toContain(
      "between 2s and 5m\nnexus: hint: --lease 30s, or 2m\n",
    );
    expect((await desk.nexus(["submit", "requests/one"])).stderr).toContain("is a folder");
    // Said before any server is asked, and before what is there is handed in.
    const missing = await desk.nexus(["submit", "one.nut", "none.nut", "--again", "--server", "nats://127.0.0.1:1"]);
    expect([missing.status, missing.stderr]).toEqual([2, expect.stringContaining("none.nut: no such file")]);
    writeFileSync(join(desk.root, "bad.nut"), "no bundle");
    expect((await desk.nexus(["submit", "bad.nut"])).status).toBe(2);
    expect((await desk.nexus(["submit", "one.nut", "--label", "No Good"])).stderr).toContain("is no label");
    expect((await desk.nexus(["show", "ffff"])).stderr).toContain('there is no job "ffff"');
    expect((await desk.nexus(["jobs", "--server", "nats://example.org:4222"])).stderr).toContain(
      "tls://example.org:4222",
    );
    expect((await desk.nexus(["jobs", "--server", "nats://a:b@127.0.0.1:4222"])).stderr).toContain(
      "holds no user or password",
    );
  });

  it("tells to type what asks the same server as the same user", async () => {
    const alice = new Desk();
    const at = `--server ${desk.url} --user 'o'\\''hara'`;
    const file = await desk.request("typed");
    const told = async (...args: string[]) => {
      const words = ["fleet", ...args, "--server", desk.url, "--user", "o'hara"];
      const { out, err } = await alice.run(words, { program: "nexus", now: new Date() });
      return `${out}${err}`;
    };
    expect(await told("show", "ffff")).toContain(`hint: nexus fleet jobs ${at}\n`);
    expect(await told("show", file)).toContain(`hint: nexus fleet submit ${at} ${file}\n`);
    const made = await told("init", "--lease", "4s");
    expect(made).toContain(`next: nexus fleet work ${at} on every machine`);
    expect(made).toContain(`nexus fleet submit ${at} task.nut from any`);
    await told("submit", file, "--label", "gpu");
    expect(await told("doctor")).toContain(`; nexus fleet work ${at} --label gpu\n`);
    expect(await told("fetch", file, "-o", "x.nut")).toContain(`nexus fleet fetch ${file} -o x.nut ${at} --wait\n`);
    await told("cancel", file);
    const { job } = (await desk.jobs()).find(({ title }) => title === "Make typed")!;
    const twice = await told("submit", file, "--label", "gpu");
    expect(twice).toContain(`(nexus fleet retry ${at} ${job.slice(0, 10)} takes it up`);
    const folder = await told("submit", join(desk.root, "requests/one"), "--label", "gpu");
    expect(folder).toContain(`nexus fleet submit task.nut --label gpu ${at}\n`);
    expect(await told("work", "--driver", "demo")).toContain(`nexus fleet work --driver demo ${at} --yes agrees`);
    const [delivered] = await desk.jobs("--state", "delivered");
    expect(await told("show", delivered!.job)).toContain(`fetch it: nexus fleet fetch ${at} ${delivered!.job}\n`);
    alice.remove();
  });

  it("hands in again what a server forgot, and does nothing twice", async () => {
    const file = await desk.request("kept");
    const { jobs } = await desk.ask<{ jobs: JobRow[] }>(["submit", file]);
    await server.kill();
    const empty = await startNats(temporary("nut-nats-"));
    const other = { NATS_URL: empty.url };
    try {
      await desk.ask(["init"], "alice", other);
      // The ledger names the server it was handed in to; another one forgot nothing.
      expect((await desk.ask<{ changed: unknown[] }>(["reconcile"], "alice", other)).changed).toEqual([]);
    } finally {
      await empty.kill();
    }
    const ledger = join(desk.root, "homes/alice/.local/state/nutshell/fleet.jsonl");
    expect(readFileSync(ledger, "utf8")).toContain(jobs[0]!.job);
    await server.start();
    expect(await desk.ask<{ known: number; changed: unknown[] }>(["reconcile"])).toEqual({ known: 1, changed: [] });
    // What a power cut takes: the ticket, then the record.
    const nc = await connect({ servers: `127.0.0.1:${server.port}` });
    const lose = async () => (await jetstreamManager(nc)).streams.purge("NUT_WORK");
    const forget = async () => (await new Kvm(nc).open("nut_jobs")).purge(jobs[0]!.job);
    for (const [cut, action] of [
      [lose, "requeued"],
      [forget, "resubmitted"],
    ] as const) {
      await cut();
      const { changed } = await desk.ask<{ changed: { job: string; action: string }[] }>(["reconcile"]);
      expect(changed.map(({ job, action: done }) => [job, done])).toEqual([[jobs[0]!.job, action]]);
    }
    await desk.worker(["--until-empty"]).done;
    // Checkpoints go with the job they are of.
    expect(await (await new Objm(nc).open("nut_runs")).list()).toEqual([]);
    await nc.close();
    const { state, status, tries } = (await desk.jobs()).find(({ job }) => job === jobs[0]!.job)!;
    expect([state, status, tries]).toEqual(["delivered", "completed", 1]);
  }, 120_000);
});
