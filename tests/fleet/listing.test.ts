// Lists of a store that is written to all the time, on the real server: each ends.
import { setTimeout as sleep } from "node:timers/promises";
import { jetstream } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newestOf } from "../../src/fleet/index.js";
import { temporary } from "../temporary.js";
import { hasNats, type NatsServer, startNats } from "./nats.js";

describe.skipIf(!hasNats)("a list of what is written to", () => {
  let server: NatsServer;
  const lines: NatsConnection[] = [];
  beforeAll(async () => {
    server = await startNats(temporary("nut-nats-"));
  });
  afterAll(async () => {
    for (const line of lines) await line.close();
    await server.kill();
  });

  async function open(): Promise<KV> {
    const line = await connect({ servers: server.url });
    lines.push(line);
    return new Kvm(jetstream(line)).create("records", { history: 1 });
  }

  it.each([1, 3])(
    "of %i keys ends, and has each once",
    async (count) => {
      const [reader, writer] = [await open(), await open()];
      const keys = Array.from({ length: count }, (_, at) => `k${at}`);
      for (const key of keys) await writer.put(key, "0");
      let isOver = false;
      // Often enough that no silence of the server ends a list, for as long as the lists take.
      const writing = (async () => {
        for (let at = 0; at < 5_000 && !isOver; at += 1) {
          await writer.put(keys[at % count]!, String(at));
          await sleep(at % 3);
        }
      })();
      for (let round = 0; round < 40; round += 1) {
        const found = newestOf(reader, ({ key }) => key);
        const late = sleep(4_000, "not within 4 s", { ref: false });
        expect(await Promise.race([found.then((all) => all.sort()), late])).toEqual(keys);
      }
      isOver = true;
      await writing;
      for (const key of keys) await writer.delete(key);
      expect(await newestOf(reader, ({ key }) => key)).toEqual([]);
    },
    60_000,
  );
});
