// The two kinds of lock, in one process: what each leaves for the other to see, and that it gives way.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { exclusively, type Lock, lockedBy, openLock } from "./lock.js";
import { isDead, thisProcess } from "./lock-holder.js";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-lock-"));
  path = join(folder, "own/store.lock");
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  vi.resetModules();
  vi.doUnmock("./kernel-addon.js");
});

/** A lock as a process has it whose addon does not load. */
async function openFileLock(): Promise<Lock> {
  vi.resetModules();
  vi.doMock("./kernel-addon.js", () => ({
    loadAddon: () => {
      throw new Error("no addon for this platform");
    },
  }));
  return (await import("./lock.js")).openLock(path);
}

const claim = () => `${path}.claim`;
const put = (name: string, text: string) => {
  mkdirSync(join(folder, "own"), { recursive: true });
  writeFileSync(name, text);
};
/** A process of this machine that is gone. */
const gone = () => ({ held: true, ...thisProcess(), pid: spawnSync(process.execPath, ["-e", "0"]).pid });

describe("a lock [P5]", () => {
  it("is held once, also by the process that holds it", () => {
    const [one, other] = [openLock(path), openLock(path)];
    expect([one.tryAcquire(), one.tryAcquire(), other.tryAcquire()]).toEqual([true, false, false]);
    other.release();
    expect(other.tryAcquire()).toBe(false);
    one.release();
    expect(other.tryAcquire()).toBe(true);
    other.release();
  });

  it("is never a file behind a link that lies in its place", () => {
    mkdirSync(join(folder, "own"));
    const target = join(folder, "elsewhere");
    symlinkSync(target, path);
    expect(() => openLock(path).tryAcquire()).toThrow("ELOOP");
    expect(existsSync(target)).toBe(false);
  });

  it("survives that its folder is deleted under it", () => {
    const lock = openLock(path);
    expect(lock.tryAcquire()).toBe(true);
    lock.release();
    rmSync(join(folder, "own"), { recursive: true });
    expect(lock.tryAcquire()).toBe(true);
    expect(openLock(path).tryAcquire()).toBe(false);
    lock.release();
  });

  it("is given back when the work throws, and names its holder to whoever waited in vain", async () => {
    const lock = openLock(path);
    await expect(
      exclusively({ lock, path }, () => {
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(lock.tryAcquire()).toBe(true);
    const waiting = exclusively({ lock: openLock(path), path }, () => 1, 20);
    await expect(waiting).rejects.toMatchObject({ code: "STATE_LOCKED", data: { pid: process.pid } });
    lock.release();
  });
});

describe("a refusal", () => {
  it.each([
    ["names who holds it", { held: true }, `process ${process.pid}`],
    ["names the other one that comes and goes", { held: false, pid: 1 }, "process 1"],
    ["never names this process when it gave the lock back", { held: false }, "another process"],
  ])("%s", (_, mark, who) => {
    mkdirSync(join(folder, "own"));
    writeFileSync(path, JSON.stringify({ ...thisProcess(), ...mark }));
    expect(lockedBy(path, 300).message).toBe(`the project's state is held by ${who} for more than 0.3 s`);
  });
});

describe("a lock of the kernel and a lock of files", () => {
  it("exclude each other, whoever comes first", async () => {
    const kernel = openLock(path);
    const files = await openFileLock();
    expect(kernel.tryAcquire()).toBe(true);
    expect(files.tryAcquire()).toBe(false);
    expect(existsSync(claim())).toBe(false);
    kernel.release();
    expect(files.tryAcquire()).toBe(true);
    expect(existsSync(claim())).toBe(true);
    expect(kernel.tryAcquire()).toBe(false);
    files.release();
    expect(kernel.tryAcquire()).toBe(true);
    kernel.release();
    expect(readdirSync(join(folder, "own"))).toEqual(["store.lock"]);
  });

  it("names a holder of either kind", async () => {
    const files = await openFileLock();
    expect(files.tryAcquire()).toBe(true);
    const waiting = exclusively({ lock: openLock(path), path }, () => 1, 20);
    await expect(waiting).rejects.toMatchObject({ data: { pid: process.pid } });
    files.release();
  });

  it("wait for no holder that is dead", async () => {
    const files = await openFileLock();
    put(path, `${JSON.stringify(gone())}\n`);
    expect(files.tryAcquire()).toBe(true);
    files.release();
    put(claim(), JSON.stringify({ ...gone(), nonce: "ab" }));
    const kernel = openLock(path);
    expect(kernel.tryAcquire()).toBe(true);
    kernel.release();
    put(claim(), JSON.stringify({ ...gone(), nonce: "cd" }));
    expect(files.tryAcquire()).toBe(true);
    files.release();
    expect(readdirSync(join(folder, "own"))).toEqual(["store.lock"]);
  });

  it.each([
    ["on another machine", { place: "elsewhere" }],
    ["that cannot be proved dead: no start is known", { started: null, pid: process.pid }],
  ])("wait for a holder %s", async (_, over) => {
    const files = await openFileLock();
    put(path, JSON.stringify({ ...gone(), ...over }));
    expect(files.tryAcquire()).toBe(false);
    put(claim(), JSON.stringify({ ...gone(), ...over, nonce: "ab" }));
    expect(openLock(path).tryAcquire()).toBe(false);
    expect(existsSync(claim())).toBe(true);
  });

  it.each([
    ["EPERM", false],
    ["ESRCH", true],
  ])("believe a process dead only when the kernel says so: %s", (code, dead) => {
    const kill = vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
    expect(isDead({ ...thisProcess(), pid: process.pid })).toBe(dead);
    kill.mockRestore();
  });

  it.each([
    ["of an earlier boot", { boot: "another" }],
    ["whose pid is another process's now", { pid: process.pid, started: "1" }],
  ])("do not wait for a holder %s", async (_, over) => {
    const files = await openFileLock();
    put(path, JSON.stringify({ held: true, ...thisProcess(), ...over }));
    expect(files.tryAcquire()).toBe(true);
  });

  it.each(["", "12345       \n", "\0\0\0\0", '{"pid":', "null", '{"pid":"1"}'])(
    "take %j in the lock's file for nobody's mark",
    async (text) => {
      const files = await openFileLock();
      put(path, text);
      expect(files.tryAcquire()).toBe(true);
    },
  );

  it("never take a claim away that they cannot read", async () => {
    for (const text of ["", "{}", '{"pid":1}', JSON.stringify({ ...gone(), nonce: "../x" })]) {
      put(claim(), text);
      expect((await openFileLock()).tryAcquire(), text).toBe(false);
      expect(openLock(path).tryAcquire(), text).toBe(false);
      expect(readFileSync(claim(), "utf8")).toBe(text);
    }
  });

  it("leave the right to remove a dead claim to the one who has it", async () => {
    const dead = JSON.stringify({ ...gone(), nonce: "ab" });
    put(claim(), dead);
    // Somebody living is about to remove it.
    put(`${claim()}.ab`, JSON.stringify({ ...thisProcess(), nonce: "cd" }));
    expect((await openFileLock()).tryAcquire()).toBe(false);
    expect(readFileSync(claim(), "utf8")).toBe(dead);
  });
});
