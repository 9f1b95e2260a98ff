// Workers that die, stop or are told to. A job goes on from where it was, and has one result.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { start } from "../run/program.js";
import { temporary } from "../temporary.js";
import { FleetDesk, type JobRow, slow } from "./desk.js";
import { hasNats, type NatsServer, startNats } from "./nats.js";

const can = hasNats && (await bwrapAvailable(process.env));

describe.skipIf(!can)("a job of a fleet [P8]", () => {
  let server: NatsServer;
  let desk: FleetDesk;
  beforeAll(async () => {
    server = await startNats(temporary("nut-nats-"));
    desk = new FleetDesk(server);
    await desk.ask(["init", "--lease", "3s"]);
  });
  afterEach(() => desk.stop());
  afterAll(() => server.kill());

  it("goes to another worker when its own is killed, and nothing of the dead one stays", async () => {
    const id = await desk.submit("killed");
    const first = desk.worker([], { agent: slow(60) });
    await desk.until("at work", async () => /works on task 1/.test(await desk.logs(id)), 40);
    // What was not kept yet is begun anew.
    await desk.until("kept", async () => (await desk.nexus(["show", id])).stdout.includes("checkpoint: run "), 40);
    first.kill("SIGKILL");
    await first.done;
    const second = await desk.worker(["--until-empty"]).done;
    expect(second.stdout, second.stderr).toContain("1 job delivered");
    expect(await desk.job(id)).toMatchObject({ state: "delivered", tries: 2, deaths: 1 });
    // The same run went on: it was started once.
    expect((await desk.logs(id)).match(/run_started/g)).toHaveLength(1);
    expect(await desk.logs(id)).toMatch(/works on it, from line \d+ of run/);
    expect(readdirSync(join(desk.root, "homes/worker/.local/state/nutshell/fleet-work"))).toEqual([]);
    expect((await desk.ask<{ verified: boolean }>(["fetch", id, "--rerun", "--yes"])).verified).toBe(true);
  }, 90_000);

  it("is handed over at once by a worker that drains, and stays with one that lives, however long it takes", async () => {
    const id = await desk.submit("drained");
    const first = desk.worker([], { agent: slow(60) });
    await desk.until("at work", async () => /works on task 1/.test(await desk.logs(id)), 40);
    first.kill("SIGTERM");
    const drained = await first.done;
    expect([drained.status, drained.stdout]).toEqual([0, expect.stringContaining("1 handed over")]);
    expect(await desk.job(id)).toMatchObject({ state: "queued", deaths: 0 });
    // Longer than the lease, while another waits for it to run out.
    const second = desk.worker([], { agent: slow(5) });
    await desk.running(id);
    desk.worker([], { home: "idle" });
    await desk.until("delivered", (jobs) => jobs.some(({ job, state }) => job === id && state === "delivered"), 60);
    expect(await desk.job(id)).toMatchObject({ tries: 2, deaths: 0 });
    second.kill("SIGTERM");
    expect((await second.done).stdout).toContain("1 job delivered");
  }, 180_000);

  it("is cancelled at work, and delivers nothing; a delivered one is not", async () => {
    const id = await desk.submit("cancelled");
    const worker = desk.worker(["--until-empty"], { agent: slow(60) });
    await desk.running(id);
    expect(await desk.ask<JobRow>(["cancel", id])).toMatchObject({ state: "cancelled" });
    expect((await worker.done).stdout).toContain("0 jobs delivered, 0 failed, 0 handed over, 1 let go");
    expect((await desk.job(id)).state).toBe("cancelled");
    await desk.ask(["cancel", id]);
    expect((await desk.nexus(["submit", join(desk.root, "cancelled.nut")])).stdout).toContain(
      `nexus fleet retry ${id.slice(0, 10)}`,
    );
    await desk.ask(["retry", id]);
    // What was cancelled before is no end of what was taken up again.
    const followed = start(desk.root, ["fleet", "logs", "-f", id], desk.env("alice"));
    await desk.worker(["--until-empty"]).done;
    const told = (await followed.done).stdout;
    expect(told).toContain(" delivered: delivered: completed");
    expect(told.match(/ cancelled: /g)).toHaveLength(1);
    expect((await desk.job(id)).state).toBe("delivered");
    expect((await desk.nexus(["cancel", id])).stderr).toContain("has delivered: there is nothing to cancel");
  }, 90_000);
});
