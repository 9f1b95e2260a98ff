import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { atomicWrite } from "./atomic-write.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-atomic-"));
});

describe("atomicWrite", () => {
  it("replaces the content and keeps nothing else", () => {
    const path = join(folder, "a.json");
    writeFileSync(path, "old");
    atomicWrite(path, "new ✓", { mode: 0o600 });
    expect(readFileSync(path, "utf8")).toBe("new ✓");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["a.json"]);
  });

  it("leaves the old content and no temporary file when it fails", () => {
    // A folder in place of the file: the rename is what fails, after everything was written.
    expect(() => atomicWrite(folder, "x")).toThrow();
    expect(readdirSync(folder)).toEqual([]);
    chmodSync(folder, 0o755);
  });
});
