import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readSecretFile, writeSecretFile } from "./secret-file.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-secret-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("makes a key file for its owner alone, in a folder of its owner's, and never over another", () => {
  const path = join(folder, "keys/id");
  const umask = process.umask(0);
  try {
    writeSecretFile(path, "key");
  } finally {
    process.umask(umask);
  }
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "keys")).mode & 0o777).toBe(0o700);
  expect(readSecretFile(path).toString()).toBe("key");
  expect(() => writeSecretFile(path, "other")).toThrow(expect.objectContaining({ code: "FILE_EXISTS" }));
  expect(readFileSync(path, "utf8")).toBe("key");
});

it.each([0o640, 0o604, 0o620, 0o601])("refuses a key of mode %o, which others may use", (mode) => {
  const path = join(folder, "id");
  writeFileSync(path, "key");
  chmodSync(path, mode);
  expect(() => readSecretFile(path)).toThrow(expect.objectContaining({ code: "IDENTITY_EXPOSED" }));
});

it("refuses a folder, and a file that is too large for a key", () => {
  mkdirSync(join(folder, "d"), { mode: 0o700 });
  writeFileSync(join(folder, "big"), Buffer.alloc((1 << 20) + 1), { mode: 0o600 });
  for (const name of ["d", "big"]) {
    expect(() => readSecretFile(join(folder, name))).toThrow(expect.objectContaining({ code: "FILE_UNREADABLE" }));
  }
});
