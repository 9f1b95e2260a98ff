import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Room } from "./room.js";

const never = new AbortController().signal;
const copies = (files: number) => ({ files, layered: false });

/** Whether a promise is kept by the time everything else is done. */
async function isDone(one: Promise<unknown>): Promise<boolean> {
  let done = false;
  void one.then(
    () => {
      done = true;
    },
    () => {
      done = true;
    },
  );
  await setImmediate();
  return done;
}

describe("room for trees", () => {
  it("is there for any number of small ones", async () => {
    const room = new Room(100);
    for (let i = 0; i < 50; i += 1) {
      await room.wait(never);
      room.take(copies(1));
    }
  });

  it("is there for one, however large", async () => {
    const room = new Room(100);
    await room.wait(never);
    room.take(copies(1_000));
  });

  it("is made by whoever leaves, once", async () => {
    const room = new Room(100);
    const leave = room.take(copies(60));
    const other = room.take(copies(40));
    const waiting = room.wait(never);
    expect(await isDone(waiting)).toBe(false);
    leave();
    leave();
    expect(await isDone(waiting)).toBe(true);
    const next = room.take(copies(60));
    const last = room.wait(never);
    expect(await isDone(last)).toBe(false);
    other();
    next();
    expect(await isDone(last)).toBe(true);
  });

  it("is for four times as many where agents work on layers", async () => {
    const room = new Room(100);
    for (let i = 0; i < 4; i += 1) {
      await room.wait(never);
      room.take({ files: 100, layered: true });
    }
    expect(await isDone(room.wait(never))).toBe(false);
  });

  it("is not waited for by whoever was stopped", async () => {
    const room = new Room(100);
    room.take(copies(100));
    const stop = new AbortController();
    const waiting = room.wait(stop.signal);
    stop.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
  });
});
