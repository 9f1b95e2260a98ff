import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./console.js";

// Without bubblewrap a run says so, and the picture would hold that line.
const sandboxed = spawnSync("bwrap", ["--version"]).status === 0;

it.skipIf(!sandboxed)("docs/demo.svg is what the commands print today (needs bwrap)", () => {
  const place = mkdtempSync(join(tmpdir(), "nut-recording-"));
  try {
    const path = join(place, "demo.svg");
    execFileSync(process.execPath, [join(root, "scripts/record.mjs"), path]);
    const recorded = readFileSync(path, "utf8");
    expect(recorded).toBe(readFileSync(join(root, "docs/demo.svg"), "utf8"));
    expect(recorded).not.toMatch(/<script|href=|url\(/);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});
