// Lists of what is written to all the time, on the real server: each ends.
import { setTimeout as sleep } from "node:timers/promises";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Events } from "../../src/fleet/events.js";
import { newestOf } from "../../src/fleet/index.js";
import { EVENT_SUBJECTS, EVENTS, eventSubject } from "../../src/fleet/names.js";
import { temporary } from "../temporary.js";
import { hasNats, type NatsServer, startNats } from "./nats.js";

const ROUNDS = 40;

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

  async function dial(): Promise<NatsConnection> {
    const line = await connect({ servers: server.url });
    lines.push(line);
    return line;
  }

  const open = async (): Promise<KV> => new Kvm(jetstream(await dial())).create("records", { history: 1 });

  /** Writes so often that no silence of the server ends a list, until it is told to stop. */
  function keepWriting(write: (at: number) => Promise<unknown>): () => Promise<void> {
    let isOver = false;
    const done = (async () => {
      for (let at = 0; at < 5_000 && !isOver; at += 1) {
        await write(at);
        await sleep(at % 3);
      }
    })();
    return () => {
      isOver = true;
      return done;
    };
  }

  const inTime = <T>(found: Promise<T>) => Promise.race([found, sleep(20_000, "never", { ref: false })]);

  it.each([1, 3])(
    "of %i keys ends, and has each once",
    async (count) => {
      const [reader, writer] = [await open(), await open()];
      const keys = Array.from({ length: count }, (_, at) => `k${at}`);
      for (const key of keys) await writer.put(key, "0");
      const stop = keepWriting((at) => writer.put(keys[at % count]!, String(at)));
      for (let round = 0; round < ROUNDS; round += 1) {
        const found = newestOf(reader, ({ key }) => key);
        expect(await inTime(found.then((all) => all.sort()))).toEqual(keys);
      }
      await stop();
      for (const key of keys) await writer.delete(key);
      expect(await newestOf(reader, ({ key }) => key)).toEqual([]);
    },
    60_000,
  );

  it("of events ends although older ones make room for newer ones", async () => {
    const [reader, writer] = [await dial(), await dial()];
    const jsm = await jetstreamManager(writer);
    await jsm.streams.add({ name: EVENTS, subjects: [EVENT_SUBJECTS], max_msgs_per_subject: 20 });
    const [events, js, job] = [new Events(jetstream(reader)), jetstream(writer), "chatty"];
    const event = (at: number) => ({ at: "2026-03-14T10:00:00Z", job, type: "progress", message: String(at) });
    const write = (at: number) => js.publish(eventSubject(job), JSON.stringify(event(at)));
    for (let at = 0; at < 20; at += 1) await write(at);
    const stop = keepWriting(write);
    const { signal } = new AbortController();
    const told = async () => {
      let count = 0;
      for await (const _ of events.of(job, { follow: false, signal })) count += 1;
      return count >= 20 && count <= 60;
    };
    for (let round = 0; round < ROUNDS; round += 1) expect(await inTime(told())).toBe(true);
    await stop();
  }, 60_000);
});
