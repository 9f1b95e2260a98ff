// Programs that are fetched for a build or a test, with an npm that brings whatever it likes.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fetchPackage } from "../../scripts/fetch-package.js";

let place: string;
let cache: string;
const path = process.env.PATH;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "nutcracker-fetch-"));
  cache = join(place, "cache");
  mkdirSync(join(place, "package"));
  writeFileSync(join(place, "package/tool"), "the tool\n");
  execFileSync("tar", ["-czf", "tool.tgz", "package"], { cwd: place });
  writeFileSync(
    join(place, "npm"),
    `#!/bin/sh\nfor folder; do :; done\ncp '${place}/tool.tgz' "$folder/tool-1.0.0.tgz"\necho '[{"filename":"tool-1.0.0.tgz"}]'\n`,
  );
  chmodSync(join(place, "npm"), 0o755);
  process.env.PATH = `${place}${delimiter}${path}`;
});
afterEach(() => {
  process.env.PATH = path;
  rmSync(place, { recursive: true, force: true });
});

const integrity = () =>
  `sha512-${createHash("sha512")
    .update(readFileSync(join(place, "tool.tgz")))
    .digest("base64")}`;

describe("a pinned package", () => {
  it("is unpacked when it is what it was, and fetched once", () => {
    const pinned = { name: "tool", version: "1.0.0", integrity: integrity() };
    expect(readFileSync(join(fetchPackage(pinned, cache), "tool"), "utf8")).toBe("the tool\n");
    rmSync(join(place, "npm"));
    expect(existsSync(join(fetchPackage(pinned, cache), "tool"))).toBe(true);
  });

  it("is refused, and nothing of it kept, when it is something else", () => {
    const pinned = { name: "tool", version: "1.0.0", integrity: integrity() };
    writeFileSync(join(place, "package/tool"), "another tool\n");
    execFileSync("tar", ["-czf", "tool.tgz", "package"], { cwd: place });
    expect(() => fetchPackage(pinned, cache)).toThrow("tool@1.0.0 is not what it was: sha512 ");
    expect(readdirSync(cache)).toEqual([]);
  });
});
