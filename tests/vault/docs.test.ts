// The commands that docs/credentials.md shows, run as they stand, one after another.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { Desk } from "./run.js";

const page = readFileSync(fileURLToPath(new URL("../../docs/credentials.md", import.meta.url)), "utf8");
const bin = fileURLToPath(new URL("../../bin/nutshell.js", import.meta.url));
const commands = [...page.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block]) =>
  block!
    .split("\n")
    .filter((line) => line.startsWith("$ "))
    .map((line) => line.slice(2)),
);
const desk = new Desk();
afterAll(() => desk.remove());

describe("docs/credentials.md", () => {
  it("shows commands that work", () => {
    mkdirSync(desk.path("bin"));
    writeFileSync(desk.path("bin/nutshell"), `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`, { mode: 0o755 });
    const env = { ...desk.env, PATH: `${desk.path("bin")}:${process.env.PATH}` };
    expect(commands.length).toBeGreaterThan(8);
    for (const command of commands) {
      const { status, stderr } = spawnSync("sh", ["-c", command], { cwd: desk.dir, env, encoding: "utf8" });
      expect(status, `${command}\n${stderr}`).toBe(0);
    }
  });
});
