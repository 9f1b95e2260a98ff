// A fleet in bad weather: 200 jobs on 6 workers that are killed at random; a cluster of three whose servers are killed and
// come back one after another; the same with power taken from all of them at once.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { AGENT, FleetDesk, type JobRow } from "../fleet/desk.js";
import { type Cluster, hasNats, type NatsServer, startCluster, startNats } from "../fleet/nats.js";
import { weather } from "../fleet/storm.js";
import { root } from "../run/program.js";
import { temporary } from "../temporary.js";

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
    for (let tries = 0; tries < 60 && desk.nexus(["init", "--lease", lease]).status !== 0; tries += 1) await sleep(500);
    return desk.ask<{ streams: { replicas: number }[] }>(["init", "--lease", lease]).streams;
  };

  it("loses none of 200 jobs and delivers none twice", async () => {
    const server = await startNats(temporary("nut-nats-"));
    servers.push(server);
    const desk = deskFor(server.url);
    desk.ask(["init", "--lease", "5s"]);
    await weather(desk, { jobs: 200, workers: 6, everyMs: 4_000, kills: 40, seconds: 900, rerun: 200 });
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
    desk.ask(["submit", ...files]);
    for (const server of three) await server.kill();
    for (const server of three) await server.start();
    let changed: readonly { action: string }[] | null = null;
    for (let tries = 0; tries < 60 && changed === null; tries += 1) {
      const ran = desk.nexus(["reconcile", "--json"]);
      if (ran.status === 0) changed = JSON.parse(ran.stdout).changed;
      else await sleep(500);
    }
    expect(changed?.filter(({ action }) => action === "lost")).toEqual([]);
    const worker = await desk.worker(["--until-empty", "--jobs", "2"]).done;
    expect(worker.status, worker.stderr).toBe(0);
    const rows: readonly JobRow[] = desk.jobs();
    expect(rows.map(({ state }) => state)).toEqual(Array(20).fill("delivered"));
  }, 600_000);

  it("sets a job aside that costs every worker, with its reason", async () => {
    const server = await startNats(temporary("nut-nats-"));
    servers.push(server);
    const desk = deskFor(server.url);
    desk.ask(["init", "--lease", "3s"]);
    const { jobs } = desk.ask<{ jobs: JobRow[] }>(["submit", await desk.request("deadly")]);
    const id = jobs[0]!.job;
    for (let n = 0; n < 3; n += 1) {
      const worker = desk.worker([], { agent: "sh -c 'sleep 60'" });
      await desk.until(`taken ${n}`, (rows) => rows.some((one) => one.job === id && one.tries === n + 1), 60);
      worker.kill("SIGKILL");
      await worker.done;
    }
    await desk.worker(["--until-empty"]).done;
    expect(desk.jobs()).toMatchObject([
      { state: "dead", deaths: 3, reason: expect.stringContaining("it cost 3 workers") },
    ]);
  }, 300_000);

  it.skipIf(process.getuid?.() !== 0)(
    "leaves a job to another machine when its own disk is full",
    async () => {
      const server = await startNats(temporary("nut-nats-"));
      servers.push(server);
      const desk = deskFor(server.url);
      desk.ask(["init", "--lease", "3s"]);
      desk.ask(["submit", await desk.request("full")]);
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
      expect(desk.nexus(["show", "full.nut"]).stdout).toContain("DISK_FULL");
      await desk.worker(["--until-empty"]).done;
      expect(desk.jobs()).toMatchObject([{ state: "delivered", status: "completed", deaths: 1 }]);
    },
    120_000,
  );
});
