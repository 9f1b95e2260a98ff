import fs, { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasStrace, killedPack, killRotate } from "./kill-rotate.js";
import { Desk } from "./run.js";

const desk = new Desk();
afterAll(() => desk.remove());

describe.skipIf(!hasStrace)("SIGKILL during rotate (strace)", () => {
  beforeAll(async () => {
    await desk.run(["keygen"]);
    await desk.run(["add-credential", "--name", "db", "--type", "token", "--expires", "2099-01-01", "--value-stdin"], {
      stdin: "value-0",
    });
  });

  it("leaves the old vault or the new one, and the next command works", async () => {
    const seen = new Set<string>();
    let last = "value-0";
    let kills = 0;
    for (const [i, [call, when]] of (
      [
        ["fsync", 1],
        ["rename", 1],
        ["fsync", 2],
        ["fsync", 3],
        ["rename", 2],
      ] as const
    ).entries()) {
      const fresh = `value-${i + 1}`;
      const { killed, value, leftovers } = await killRotate(desk, call, when, fresh);
      expect([last, fresh], `${call} ${when}`).toContain(value);
      expect(leftovers, `${call} ${when}`).toEqual([]);
      seen.add(value === fresh ? "new" : "old");
      if (killed) kills += 1;
      last = value;
    }
    expect(kills).toBe(5);
    expect(seen).toEqual(new Set(["old", "new"]));
  });
});

const CHANGES = ["openSync", "writeSync", "fsyncSync", "linkSync", "renameSync", "mkdirSync", "rmSync"] as const;

/** Runs it while the disk takes nothing from the nth change on, as if the process had ended there. Returns whether it came to that. */
async function endingAt(nth: number, act: () => Promise<unknown>): Promise<boolean> {
  const real = CHANGES.map((name) => fs[name]);
  let left = nth;
  CHANGES.forEach((name, at) => {
    Object.assign(fs, {
      [name]: (...given: unknown[]) => {
        const isChange = name !== "openSync" || String(given[1]).includes("w");
        if (isChange) left -= 1;
        if (isChange && left < 1) throw Object.assign(new Error("EROFS"), { code: "EROFS", errno: -30, syscall: name });
        return (real[at] as (...given: unknown[]) => unknown)(...given);
      },
    });
  });
  syncBuiltinESMExports();
  try {
    await act();
  } finally {
    CHANGES.forEach((name, at) => {
      Object.assign(fs, { [name]: real[at] });
    });
    syncBuiltinESMExports();
  }
  return left < 1;
}

describe("rotate --export that ends in the middle", () => {
  const own = new Desk();
  afterAll(() => own.remove());

  it("has written both or neither, as the next command sees it, wherever it ended [P8]", async () => {
    const add = ["add-credential", "--name", "db", "--type", "token", "--expires", "2099-01-01", "--value-stdin"];
    for (const argv of [["keygen"], ["keygen", "--peer"], add]) await own.run(argv, { stdin: "value-0" });
    const outcomes = new Set<string>();
    let last = "value-0";
    for (let nth = 1, ended = true; ended; nth += 1) {
      const [fresh, out] = [`value-${nth}`, own.path(`${nth}.rotation.json`)];
      const before = readFileSync(join(own.dir, "nutshell.json"), "utf8");
      ended = await endingAt(nth, () => own.run(["rotate", "db", "--value-stdin", "--export", out], { stdin: fresh }));
      const seen = await own.run(["reveal", "db"]);
      const isNew = seen.out === fresh;
      expect([last, fresh], `${nth}: ${seen.err}`).toContain(seen.out);
      expect(existsSync(out), `${nth}: ${seen.out}`).toBe(isNew);
      const manifest = readFileSync(join(own.dir, "nutshell.json"), "utf8");
      expect(manifest === before, `${nth}: the manifest`).toBe(!isNew);
      outcomes.add(isNew ? "both" : "neither");
      last = seen.out;
    }
    expect(outcomes).toEqual(new Set(["both", "neither"]));
    expect(readdirSync(own.path("home/.config/nutshell/locks")).filter((name) => name.endsWith("json"))).toEqual([]);
  });
});

describe("what was done since a rotation ended in the middle", () => {
  const own = new Desk();
  const manifestPath = join(own.dir, "nutshell.json");
  const vaultPath = join(own.dir, "credentials/vault.enc.json");
  const manifest = () => JSON.parse(readFileSync(manifestPath, "utf8"));
  /** Ends after vault and manifest were moved and before the export was. */
  const half = async (value: string) => {
    const before = readFileSync(vaultPath);
    for (
      let nth = 10;
      readFileSync(vaultPath).equals(before) || (manifest().credentials.rotation?.at ?? "") !== at(value);
      nth += 1
    ) {
      await endingAt(nth, () => rotate(value));
    }
  };
  const at = (value: string) => `2026-03-14T10:00:0${value}Z`;
  const rotate = (value: string) =>
    own.run(["rotate", "db", "--value-stdin", "--export", own.path("x.json")], {
      stdin: value,
      now: new Date(at(value)),
    });
  afterAll(() => own.remove());
  beforeAll(async () => {
    const add = ["add-credential", "--name", "db", "--type", "token", "--expires", "2099-01-01", "--value-stdin"];
    for (const argv of [["keygen"], ["keygen", "--peer"], add]) await own.run(argv, { stdin: "0" });
  });

  it("is kept: an edit of the manifest, whose credentials follow the vault again", async () => {
    await half("1");
    writeFileSync(manifestPath, JSON.stringify({ ...manifest(), task: { title: "Edited" } }));
    expect((await own.run(["pack", "--force", "-o", own.path("x.nut")])).code).toBe(0);
    expect((await own.run(["reveal", "db"])).out).toBe("0");
    expect(manifest()).toMatchObject({ task: { title: "Edited" } });
    expect(manifest().credentials).not.toHaveProperty("rotation");
  });

  it("is kept: another vault", async () => {
    await half("2");
    const other = own.path("other");
    cpSync(own.dir, other, { recursive: true });
    await own.run(["rotate", "db", "--value-stdin", "--dir", other], { stdin: "mine" });
    cpSync(join(other, "credentials"), join(own.dir, "credentials"), { recursive: true });
    expect((await own.run(["reveal", "db"])).out).toBe("mine");
    expect((await own.run(["rotate", "db", "--value-stdin"], { stdin: "next" })).code).toBe(0);
    expect((await own.run(["reveal", "db"])).out).toBe("next");
  });

  it.each(["nutshell.json", "credentials/vault.enc.json"])("an export is never written over %s", async (name) => {
    const before = readFileSync(join(own.dir, name));
    const { code, err } = await own.run(["rotate", "db", "--expires", "9d", "--export", name]);
    expect(code, err).toBe(2);
    expect(readFileSync(join(own.dir, name))).toEqual(before);
  });
});

describe.skipIf(!hasStrace)("SIGKILL during pack --peer (strace)", () => {
  it.each([
    ["pwrite64", 1],
    ["fsync", 1],
    ["rename", 1],
    ["fsync", 2],
    ["unlink", 1],
    ["unlink", 2],
  ])("leaves nothing in clear, killed at %s %i", (call, when) => {
    const { files, clear } = killedPack(desk, call, when);
    expect(clear, files.join(" ")).toEqual([]);
  });
});
