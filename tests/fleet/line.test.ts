import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { temporary } from "../temporary.js";
import { AGENT, FleetDesk, type JobRow, slow } from "./desk.js";
import { startLine } from "./line.js";
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

  it("of a worker that lost the line is delivered by its twin, and what comes late is discarded", async () => {
    const line = await startLine(server.port);
    const id = await desk.submit("twins");
    const late = desk.worker([], {
      agent: slow(12),
      home: "far",
      extra: { NATS_URL: `nats://127.0.0.1:${line.port}` },
    });
    await desk.running(id);
    line.cut();
    const twin = await desk.worker(["--until-empty"], { agent: AGENT }).done;
    expect(twin.stdout, twin.stderr).toContain("1 job delivered");
    const { worker } = await desk.job(id);
    line.mend();
    await sleep(1_000);
    for (let tries = 0; tries < 60 && !/discarded/.test(await desk.logs(id)); tries += 1) await sleep(500);
    late.kill("SIGTERM");
    expect((await late.done).stdout).toContain("0 jobs delivered");
    expect(await desk.job(id)).toMatchObject({ state: "delivered", worker, tries: 2 });
    expect((await desk.logs(id)).match(/ delivered: delivered/g)).toHaveLength(1);
    line.end();
  }, 120_000);

  it("goes on when the server is killed and comes back", async () => {
    const id = await desk.submit("restarted");
    const worker = desk.worker(["--until-empty"], { agent: slow(2) });
    await desk.running(id);
    await server.kill();
    await sleep(1_000);
    await server.start();
    const worked = await worker.done;
    expect(worked.stdout).toContain("1 job delivered");
    expect(worked.stderr).toMatch(/does not answer; it is waited for[\s\S]*answers again/);
    expect(await desk.job(id)).toMatchObject({ state: "delivered" });
  }, 90_000);

  it("goes on when the server is killed while the request is being fetched", async () => {
    const line = await startLine(server.port, 1024 * 1024);
    const large = { "files/large.bin": randomBytes(3 * 1024 * 1024).toString("base64") };
    const id = (await desk.ask<{ jobs: JobRow[] }>(["submit", await desk.request("fetched", large)])).jobs[0]!.job;
    const worker = desk.worker(["--until-empty"], { extra: { NATS_URL: `nats://127.0.0.1:${line.port}` } });
    await desk.running(id);
    await server.kill();
    await sleep(500);
    await server.start();
    expect((await worker.done).stdout).toContain("1 job delivered, 0 failed");
    expect(await desk.job(id)).toMatchObject({ state: "delivered", tries: 1 });
    line.end();
  }, 90_000);
});
