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
