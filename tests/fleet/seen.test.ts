// What is seen of a fleet while it works, and the limits of a day.
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { temporary } from "../temporary.js";
import { FleetDesk, type JobRow } from "./desk.js";
import { hasNats, type NatsServer, startNats } from "./nats.js";

const can = hasNats && (await bwrapAvailable(process.env));

describe.skipIf(!can)("a fleet at work", () => {
  let server: NatsServer;
  let desk: FleetDesk;
  beforeAll(async () => {
    server = await startNats(temporary("nut-nats-"));
    desk = new FleetDesk(server);
    await desk.ask(["init", "--lease", "3s", "--budget", "jobs=1"]);
  });
  afterAll(async () => {
    await desk?.stop();
    await server?.kill();
  });

  it("is seen by its workers, its figures and its logs, and begins no more than a day allows", async () => {
    const files = [await desk.request("first"), await desk.request("second")];
    const { jobs } = await desk.ask<{ jobs: JobRow[] }>(["submit", ...files]);
    const agent = "sh -c 'sleep 1; cp files/wanted.txt files/made.txt; echo made it'";
    const worker = desk.worker(["--metrics", "0", "--label", "eu"], { agent });
    let said = "";
    worker.stderr?.on("data", (text) => {
      said += text;
    });
    await desk.until("one at work", (rows) => rows.some(({ state }) => state === "running"), 40);
    const { workers } = await desk.ask<{ workers: { jobs: string[]; labels: string[]; silent: boolean }[] }>([
      "workers",
    ]);
    expect(workers).toMatchObject([{ labels: ["eu"], silent: false }]);
    await sleep(300);
    const url = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(said)![0];
    const page = await (await fetch(url)).text();
    expect(page).toMatch(/^nutcracker_fleet_active [01]$/m);
    expect(page).toMatch(/^nutcracker_fleet_queue_tickets [12]$/m);
    expect(await statusFor(url, "evil.example")).toBe(421);
    const states = await Promise.all(jobs.map(({ job }) => desk.ask<{ state: string }>(["show", job])));
    const followed = await desk.nexus(["logs", "-f", jobs[states.findIndex(({ state }) => state !== "queued")]!.job]);
    expect(followed.stdout).toContain("delivered: delivered: completed");
    await sleep(2_000);
    expect(await desk.ask<{ counts: Record<string, number>; workers: number }>(["top"])).toMatchObject({
      counts: { delivered: 1, queued: 1 },
      workers: 1,
    });
    const doctor = await desk.nexus(["doctor"]);
    expect([doctor.status, doctor.stdout]).toEqual([
      1,
      expect.stringContaining("nothing more is begun today: the limit jobs=1 is reached"),
    ]);
    await desk.ask(["init", "--lease", "3s"]);
    worker.kill("SIGTERM");
    expect((await worker.done).status).toBe(0);
    expect((await desk.ask<{ workers: unknown[] }>(["workers"])).workers).toEqual([]);
  }, 90_000);
});

/** As a page would ask whose name leads to this machine. */
const statusFor = (url: string, host: string) =>
  new Promise<number | undefined>((done, fail) => {
    get(url, { headers: { host } }, (response) => done(response.resume().statusCode)).once("error", fail);
  });
