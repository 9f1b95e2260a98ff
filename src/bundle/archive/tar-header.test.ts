import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../format/limits.js";
import { pathProblem } from "../format/safe-path.js";
import { encodeHeader, type TarItem } from "./tar-header.js";
import { type ArchiveEntry, TarReader } from "./tar-reader.js";

function readBack(item: TarItem, pieces = 512): Omit<ArchiveEntry, "offset"> {
  const seen: ArchiveEntry[] = [];
  const limits = { ...DEFAULT_LIMITS, maxTotalBytes: Number.MAX_SAFE_INTEGER };
  const reader = new TarReader((entry) => {
    seen.push(entry);
    return null;
  }, limits);
  const bytes = encodeHeader(item);
  for (let at = 0; at < bytes.length; at += pieces) reader.push(bytes.subarray(at, at + pieces));
  const { offset: _, ...entry } = seen[0]!;
  return entry;
}

describe("encodeHeader", () => {
  it("says what the reader understands, for any legal path, size and mode", () => {
    const path = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 300 })
      .filter((one) => pathProblem(one) === null);
    fc.assert(
      fc.property(
        path,
        fc.maxSafeNat(),
        fc.boolean(),
        fc.integer({ min: 1, max: 600 }),
        (name, size, executable, pieces) => {
          const item: TarItem = { path: name, size, executable, kind: "file" };
          expect(readBack(item, pieces)).toEqual(item);
        },
      ),
    );
  });

  it.each([99, 100, 101, 155, 156, 255])("keeps a path of %i bytes", (length) => {
    for (const path of [`d/${"n".repeat(length - 2)}`, "ab/".repeat(length / 3).padEnd(length, "x")]) {
      const item: TarItem = { path, size: 0, executable: true, kind: "file" };
      if (pathProblem(path) === null) expect(readBack(item)).toEqual(item);
    }
  });

  it("keeps sizes beyond 8 GiB, which ustar cannot say", () => {
    for (const size of [8 * 1024 ** 3 - 1, 8 * 1024 ** 3, 9 * 1024 ** 4]) {
      expect(readBack({ path: "big", size, executable: false, kind: "file" }).size).toBe(size);
    }
  });

  it("marks folders", () => {
    expect(readBack({ path: "a/b", size: 0, executable: false, kind: "folder" })).toMatchObject({
      path: "a/b",
      kind: "folder",
    });
  });
});
