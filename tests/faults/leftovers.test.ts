// What a killed command left behind is gone after the next one, and nothing else is.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runNutshell } from "../cli/run-nutshell.js";

const example = fileURLToPath(new URL("../../examples/1-bug-fix", import.meta.url));
let work: string;
beforeEach(async () => {
  work = mkdtempSync(join(tmpdir(), "nut-left-"));
  cpSync(example, join(work, "task"), { recursive: true });
  await runNutshell(["pack", "task", "-o", "task.nut"], { cwd: work });
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

/** The number of a process that has ended. */
const gone = () => spawnSync(process.execPath, ["-e", ""]).pid;

describe("the next command", () => {
  it.each([
    ["pack", "task", "-o", "out.nut"],
    ["unpack", "task.nut", "-o", "out"],
    ["split", "task", "-n", "2", "-o", "out"],
    ["merge", "task.nut", "-o", "out", "--partial"],
    ["init", "out", "--from", "bug-fix"],
    ["export", "task.nut", "-o", "out.html"],
    ["sign", "task.nut", "--key", "key"],
    ["sign", "task.nut", "--sidecar", "--key", "key"],
  ])("%s sweeps what killed ones left beside its output", async (...argv) => {
    const pid = gone();
    mkdirSync(join(work, `.got.nut-tmp-${pid}-1/deep`), { recursive: true });
    writeFileSync(join(work, `.got.nut-tmp-${pid}-1/deep/file`), "x");
    writeFileSync(join(work, `.page.html.nut-tmp-${pid}-7`), "x");
    const kept = [
      `.got.nut-tmp-${process.pid}-1`,
      ".nut-tmp-notes",
      `mine.nut-tmp-${pid}-1`,
      `.x.nut-tmp-${pid}-1.txt`,
    ];
    for (const name of kept) writeFileSync(join(work, name), "mine");
    if (argv[0] === "sign") await runNutshell(["keygen", "--peer", "-o", "key"], { cwd: work });
    expect((await runNutshell(argv, { cwd: work })).err).not.toContain("error");
    expect(readdirSync(work).filter((name) => name.includes("nut-tmp"))).toEqual([...kept].sort());
  });

  it("set sweeps what a killed one left in the folder", async () => {
    writeFileSync(join(work, `task/.nutshell.json.nut-tmp-${gone()}-1`), "x");
    expect((await runNutshell(["set", "task.title", "Hello", "--dir", "task"], { cwd: work })).code).toBe(0);
    expect(readdirSync(join(work, "task")).filter((name) => name.includes("nut-tmp"))).toEqual([]);
  });
});
