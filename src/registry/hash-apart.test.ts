import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { hashApart } from "./hash-apart.js";

const folder = mkdtempSync(join(tmpdir(), "nut-hash-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "file");
const bytes = Buffer.alloc(3 * 1024 ** 2 + 17, "some text");
writeFileSync(file, bytes);

describe("a file hashed on a thread of its own", () => {
  it("has the digest of its first bytes", async () => {
    const digest = createHash("sha256").update(bytes.subarray(0, -5)).digest("hex");
    expect(await hashApart(file, bytes.length - 5)).toBe(`sha256:${digest}`);
  });

  it("is said to have changed when it is shorter, and not to be there when it is gone", async () => {
    await expect(hashApart(file, bytes.length + 1)).rejects.toMatchObject({ code: "SOURCE_CHANGED" });
    await expect(hashApart(join(folder, "gone"), 1)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is given up when nobody waits for it", async () => {
    const stop = new AbortController();
    const hashed = hashApart("/dev/zero", Number.MAX_SAFE_INTEGER, stop.signal);
    stop.abort(new Error("enough"));
    await expect(hashed).rejects.toThrow("enough");
    await expect(hashApart(file, 1, stop.signal)).rejects.toThrow("enough");
  });
});
