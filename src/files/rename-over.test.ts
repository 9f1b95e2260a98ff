import { describe, expect, it } from "vitest";
import { renameOver } from "./rename-over.js";

/** A disk that refuses so many times. */
function disk(platform: string, code: string, refusals: number) {
  const pauses: number[] = [];
  let left = refusals;
  const rename = () => {
    left -= 1;
    if (left >= 0) throw Object.assign(new Error(code), { code, errno: -1, syscall: "rename" });
  };
  return { platform, rename, pause: (ms: number) => void pauses.push(ms), pauses };
}

describe("renaming over a file that is in use", () => {
  it("tries again on Windows, for about a second", () => {
    const passing = disk("win32", "EPERM", 3);
    renameOver("a", "b", passing);
    expect(passing.pauses).toEqual([1, 2, 4]);
    const lasting = disk("win32", "EBUSY", 99);
    expect(() => renameOver("a", "b", lasting)).toThrow("EBUSY");
    expect(lasting.pauses.reduce((sum, ms) => sum + ms)).toBe(1_023);
  });

  it("says any other error at once, and every error elsewhere", () => {
    for (const world of [disk("win32", "ENOENT", 1), disk("linux", "EPERM", 1)]) {
      expect(() => renameOver("a", "b", world)).toThrow();
      expect(world.pauses).toEqual([]);
    }
  });
});
