// The short form of tests/torture/fleet.torture.ts.
import { afterAll, beforeAll, describe, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { temporary } from "../temporary.js";
import { FleetDesk } from "./desk.js";
import { hasNats, type NatsServer, startNats } from "./nats.js";
import { weather } from "./storm.js";

const can = hasNats && (await bwrapAvailable(process.env));

describe.skipIf(!can)("a storm [P8]", () => {
  let server: NatsServer;
  let desk: FleetDesk;
  beforeAll(async () => {
    server = await startNats(temporary("nut-nats-"));
    desk = new FleetDesk(server);
    await desk.ask(["init", "--lease", "2s"]);
  });
  afterAll(async () => {
    await desk?.stop();
    await server?.kill();
  });

  it("loses none of 8 jobs and delivers none twice while workers are killed", async () => {
    await weather(desk, { jobs: 8, workers: 3, everyMs: 1_500, kills: 3, seconds: 90, rerun: 1 });
  }, 150_000);
});
