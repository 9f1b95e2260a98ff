// A fleet in bad weather: 200 jobs on 6 workers that are killed at random; a cluster of three whose servers are killed and
// come back one after another; the same with power taken from all of them at once; disks, clocks, lines and passwords.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { afterEach, describe, expect, it } from "vitest";
import { jumpingClock } from "../fleet/clock.js";
import { AGENT, FleetDesk, type JobRow } from "../fleet/desk.js";
import { startLine } from "../fleet/line.js";
import { type Cluster, hasNats, type NatsServer, startCluster, startNats } from "../fleet/nats.js";
import { weather } from "../fleet/storm.js";
import { root } from "../run/program.js";
import { temporary } from "../temporary.js";

/** Fewer, where there is less time. */
const JOBS = Number(process.env.NUT_STORM_JOBS ?? 200);

describe.skipIf(!hasNats)("a fleet in a storm [P8]", () => {
  const servers: NatsServer[] = [];
  const desks: FleetDesk[] = [];
  afterEach(async () => {
    for (const desk of desks.splice(0)) await desk.stop();
    for (const server of servers.splice(0)) await server.kill();
  });
  const deskFor = (url: string) => {
    const desk = new FleetDesk({ url });
    desks.push(desk);
    return desk;
  };
  const cluster = async (): Promise<Cluster> => {
    const made = await startCluster(temporary("nut-nats-"));
    servers.push(...made.servers);
    return made;
  };
  /** A cluster has no leader at first. */
  const init = async (desk: FleetDesk, lease: string) => {
    for (let tries = 0; tries < 60 && (await desk.nexus(["init", "--lease", lease])).status !== 0; tries += 1)
      await sleep(500);
    return (await desk.ask<{ streams: { replicas: number }[] }>(["init", "--lease", lease])).streams;
  };

  it(`loses none of ${JOBS} jobs and delivers none twice`, async () => {
    const server = await startNats(temporary("nut-nats-"));
    servers.push(server);
    const desk = deskFor(server.url);
    await desk.ask(["init", "--lease", "5s"]);
    await weather(desk, { jobs: JOBS, workers: 6, everyMs: 4_000, kills: JOBS / 5, seconds: 900, rerun: JOBS });
  }, 3_000_000);

  it("goes on while the servers of a cluster are killed and restarted one after another", async () => {
    const { url, servers: three } = await cluster();
    const desk = deskFor(url);
    expect((await init(desk, "5s")).map(({ replicas }) => replicas)).toEqual(Array(7).fill(3));
    const meanwhile = async () => {
      for (const server of three) {
        await sleep(5_000);
        await server.kill();
        await sleep(3_000);
        await server.start();
        await sleep(5_000);
      }
    };
    await weather(desk, { jobs: 40, workers: 4, everyMs: 4_000, kills: 6, seconds: 300, rerun: 40, meanwhile });
  }, 1_200_000);

  it("has after a kill of all three what it had, or hands it in again", async () => {
    const { url, servers: three } = await cluster();
    const desk = deskFor(url);
    await init(desk, "5s");
    const files = await Promise.all(Array.from({ length: 20 }, (_, n) => desk.request(`job-${n}`)));
    await desk.ask(["submit", ...files]);
    for (const server of three) await server.kill();
    for (const server of three) await server.start();
    let changed: readonly { action: string }[] | null = null;
    for (let tries = 0; tries < 60 && changed === null; tries += 1) {
      const ran = await desk.nexus(["reconcile", "--json"]);
      if (ran.status === 0) changed = JSON.parse(ran.stdout).changed;
      else await sleep(500);
    }
    expect(changed?.filter(({ action }) => action === "lost")).toEqual([]);
    const worker = await desk.worker(["--until-empty", "--jobs", "2"]).done;
    expect(worker.status, worker.stderr).toBe(0);
    const rows: readonly JobRow[] = await desk.jobs();
    expect(rows.map(({ state }) => state)).toEqual(Array(20).fill("delivered"));
  }, 600_000);

  it("sets a job aside that costs every worker, with its reason", async () => {
    const server = await startNats(temporary("nut-nats-"));
    servers.push(server);
    const desk = deskFor(server.url);
    await desk.ask(["init", "--lease", "3s"]);
    const { jobs } = await desk.ask<{ jobs: JobRow[] }>(["submit", await desk.request("deadly")]);
    const id = jobs[0]!.job;
    for (let n = 0; n < 3; n += 1) {
      const worker = desk.worker([], { agent: "sh -c 'sleep 60'" });
      await desk.until(`taken ${n}`, (rows) => rows.some((one) => one.job === id && one.tries === n + 1), 60);
      worker.kill("SIGKILL");
      await worker.done;
    }
    await desk.worker(["--until-empty"]).done;
    expect(await desk.jobs()).toMatchObject([
      { state: "dead", deaths: 3, reason: expect.stringContaining("it cost 3 workers") },
    ]);
  }, 300_000);

  it.skipIf(process.getuid?.() !== 0)(
    "leaves a job to another machine when its own disk is full",
    async () => {
      const server = await startNats(temporary("nut-nats-"));
      servers.push(server);
      const desk = deskFor(server.url);
      await desk.ask(["init", "--lease", "3s"]);
      await desk.ask(["submit", await desk.request("full")]);
      const place = join(desk.root, "small");
      mkdirSync(place);
      const words = [
        "fleet",
        "work",
        "--driver",
        "command",
        "--command",
        AGENT,
        "--yes",
        "--until-empty",
        "--folder",
        place,
      ];
      const line = `mount -t tmpfs -o size=40k none "$0" && exec "$@"`;
      const sick = spawnSync(
        "unshare",
        ["-m", "sh", "-c", line, place, process.execPath, join(root, "bin/nexus.js"), ...words],
        {
          cwd: desk.root,
          env: desk.env("sick"),
          encoding: "utf8",
          timeout: 60_000,
        },
      );
      expect(sick.stdout, sick.stderr).toContain("0 jobs delivered, 1 failed");
      expect((await desk.nexus(["show", "full.nut"])).stdout).toContain("DISK_FULL");
      await desk.worker(["--until-empty"]).done;
      expect(await desk.jobs()).toMatchObject([{ state: "delivered", status: "completed", deaths: 1 }]);
    },
    120_000,
  );

  it.each([
    ["forward", 2 * 3_600_000],
    ["back", -2 * 3_600_000],
  ])(
    "does not mind a worker whose clock jumps %s",
    async (_, by) => {
      const server = await startNats(temporary("nut-nats-"));
      servers.push(server);
      const desk = deskFor(server.url);
      await desk.ask(["init", "--lease", "3s"]);
      const jump = desk.write("jump.cjs", jumpingClock(by, 4_000));
      const files = await Promise.all(Array.from({ length: 4 }, (_, n) => desk.request(`clock-${n}`)));
      await desk.ask(["submit", ...files]);
      const agent = "sh -c 'sleep 2; cp files/wanted.txt files/made.txt; echo made it'";
      const options = { agent, extra: { NODE_OPTIONS: `--require=${jump}` } };
      const worker = desk.worker(["--jobs", "2"], options);
      await desk.until("at work", (rows) => rows.some(({ state }) => state === "running"), 30);
      await sleep(4_000);
      const { workers } = await desk.ask<{ workers: { silent: boolean }[] }>(["workers"]);
      expect(workers.map(({ silent }) => silent)).toEqual([false]);
      await desk.until("delivered", (rows) => rows.every(({ state }) => state === "delivered"), 120);
      worker.kill("SIGTERM");
      await worker.done;
      expect((await desk.jobs()).map(({ tries, deaths }) => [tries, deaths])).toEqual(Array(4).fill([1, 0]));
      for (const file of files)
        expect((await desk.ask<{ verified: boolean }>(["fetch", file, "--rerun", "--yes"])).verified).toBe(true);
    },
    300_000,
  );

  it("does not lose its lease over a slow line to the store", async () => {
    const server = await startNats(temporary("nut-nats-"));
    servers.push(server);
    const desk = deskFor(server.url);
    await desk.ask(["init", "--lease", "3s"]);
    const line = await startLine(server.port, 128 * 1024);
    const heavy = randomBytes(768 * 1024).toString("base64");
    await desk.ask(["submit", await desk.request("heavy", { "files/wanted.txt": heavy })]);
    const far = desk.worker(["--until-empty"], { extra: { NATS_URL: `nats://127.0.0.1:${line.port}` } });
    // Another is there to take it, should the first be thought dead.
    await desk.until("taken", (rows) => rows.some(({ state }) => state === "running"), 60);
    const near = desk.worker([], { home: "near" });
    const worked = await far.done;
    expect(worked.stdout, worked.stderr).toContain("1 job delivered");
    near.kill("SIGTERM");
    await near.done;
    line.end();
    expect(await desk.jobs()).toMatchObject([{ state: "delivered", status: "completed", tries: 1, deaths: 0 }]);
    expect((await desk.ask<{ verified: boolean }>(["fetch", "heavy.nut", "--rerun", "--yes"])).verified).toBe(true);
  }, 300_000);

  it("leaves a newer submitter's job alone, and does the others", async () => {
    const server = await startNats(temporary("nut-nats-"));
    servers.push(server);
    const desk = deskFor(server.url);
    await desk.ask(["init", "--lease", "3s"]);
    const { jobs } = await desk.ask<{ jobs: JobRow[] }>([
      "submit",
      await desk.request("newer"),
      await desk.request("plain"),
    ]);
    const nc = await connect({ servers: `127.0.0.1:${server.port}` });
    const kv = await new Kvm(nc).open("nut_jobs");
    const id = jobs[0]!.job;
    const newer = (await kv.get(id))!.json<Record<string, unknown>>();
    const records = [
      { ...newer, version: 2 },
      { ...newer, version: 2, state: "dreaming" },
    ];
    for (const record of records) {
      await kv.put(id, JSON.stringify(record));
      const worker = await desk.worker(["--until-empty"]).done;
      expect([worker.status, worker.stdout], worker.stderr).toEqual([0, expect.stringContaining("0 failed")]);
      expect((await kv.get(id))!.json()).toEqual(record);
    }
    // What was newer is brought back, as a newer worker would understand it.
    await kv.put(id, JSON.stringify(newer));
    await nc.close();
    await desk.worker(["--until-empty"]).done;
    expect((await desk.jobs()).map(({ state, tries }) => [state, tries])).toEqual([
      ["delivered", 1],
      ["delivered", 1],
    ]);
  }, 300_000);

  it("goes on elsewhere when a worker's password is taken from it", async () => {
    const folder = temporary("nut-nats-");
    const config = (password: string) =>
      `authorization { users: [{ user: old, password: ${password} }, { user: own, password: pown }] }\n`;
    const server = await startNats(folder, { config: config("pold") });
    servers.push(server);
    const desk = deskFor(server.url);
    const own = { NATS_USER: "own", NATS_PASSWORD: "pown" };
    await desk.ask(["init", "--lease", "3s"], "alice", own);
    await desk.ask(["submit", await desk.request("revoked")], "alice", own);
    const look = async () => (await desk.ask<{ jobs: JobRow[] }>(["jobs", "--all"], "alice", own)).jobs;
    const agent = "sh -c 'sleep 15; cp files/wanted.txt files/made.txt; echo made it'";
    const old = desk.worker([], { agent, extra: { NATS_USER: "old", NATS_PASSWORD: "pold" } });
    for (let tries = 0; tries < 60 && (await look())[0]!.state !== "running"; tries += 1) await sleep(500);
    const file = join(folder, "nats.conf");
    writeFileSync(file, readFileSync(file, "utf8").replace("pold", "pnew"));
    await server.kill();
    await server.start();
    const denied = desk.worker([], { home: "denied", extra: { NATS_USER: "old", NATS_PASSWORD: "pold" } });
    const refused = await denied.done;
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("does not know these credentials")]);
    expect(refused.stdout + refused.stderr).not.toContain("pold");
    const second = await desk.worker(["--until-empty"], { home: "second", extra: own }).done;
    expect(second.stdout, second.stderr).toContain("1 job delivered");
    old.kill("SIGTERM");
    const ended = await old.done;
    expect(ended.stdout + ended.stderr).not.toContain("1 job delivered");
    expect(await look()).toMatchObject([{ state: "delivered", status: "completed" }]);
    const fetched = await desk.ask<{ verified: boolean }>(["fetch", "revoked.nut", "--rerun", "--yes"], "alice", own);
    expect(fetched.verified).toBe(true);
  }, 300_000);
});
