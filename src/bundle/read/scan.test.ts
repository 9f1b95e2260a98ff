import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { scan } from "../archive/scan.js";
import { fileInput } from "../compression/byte-input.js";
import { withLimits } from "../format/limits.js";
import { packFolder } from "../write/pack-folder.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "nut-scan-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function bundle(title: string, summary = "s"): Promise<string> {
  const folder = join(dir, title);
  mkdirSync(folder);
  const manifest = { nutshell_version: "0.2.0", bundle_type: "request", id: "nut-1", task: { title, summary } };
  writeFileSync(join(folder, "nutshell.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "a.txt"), title);
  return (await packFolder(folder, { output: `${folder}.nut`, compression: "none" })).path;
}

const pass = async (path: string, known?: Awaited<ReturnType<typeof scan>>) =>
  scan(fileInput(path), { limits: withLimits({}), hashes: true, ...(known === undefined ? {} : { known }) });

it("takes a manifest that was read before only while its bytes are the same", async () => {
  const [one, two] = [await bundle("one"), await bundle("two")];
  // Longer than a piece, so that the two differ after some that are the same.
  const [long, longer] = [await bundle("long", "x".repeat(100_000)), await bundle("longer", "x".repeat(100_001))];
  const known = await pass(one);
  expect((await pass(one, known)).manifest).toBe(known.manifest);
  for (const other of [two, long]) expect(await pass(other, known)).toEqual(await pass(other));
  expect(await pass(longer, await pass(long))).toEqual(await pass(longer));
  expect(await pass(long, await pass(longer))).toEqual(await pass(long));
});
