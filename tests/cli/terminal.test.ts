// Questions at a real terminal: whoever ends one gets their prompt back, with one line and nothing half done.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const place = mkdtempSync(join(tmpdir(), "nut-terminal-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true;

/** Runs a command line in a terminal of its own and types `key` when `question` is shown. */
async function typed(line: string, question: string, key: string): Promise<{ code: number; after: string }> {
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd: place,
    env: { PATH: process.env.PATH, HOME: place, TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  let at = 0;
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    shown += part;
    if (at > 0 || !shown.includes(question)) return;
    at = shown.length;
    setTimeout(() => child.stdin.write(key), 100);
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  const code = await new Promise<number>((done) => child.once("close", done));
  clearTimeout(timer);
  return { code, after: shown.slice(at) };
}

const bin = (name: string) => `${process.execPath} ${join(root, "bin", `${name}.js`)}`;

describe.skipIf(!hasScript)("a question at a terminal (script)", () => {
  it.each([
    ["Ctrl-C", "nutshell init new", "in one line", "\x03"],
    ["Ctrl-D", "nutshell init new", "in one line", "\x04"],
    ["Ctrl-C behind some words", "nexus setup claude", "change", "ye\x03"],
  ])("ends by %s with 130 and one line: %s", async (_, line, question, key) => {
    const [program, ...words] = line.split(" ");
    const { code, after } = await typed([bin(program!), ...words].join(" "), question, key);
    expect(code).toBe(130);
    expect(after.replace(/\r/g, "").split("\n").slice(-2)).toEqual([`${program}: stopped at a question`, ""]);
    expect(after).not.toMatch(/Error|bug:|\n\s+at /);
    expect(readdirSync(place)).toEqual([]);
  });

  it("ends a run at a question so that it can go on", async () => {
    const line = `${bin("nexus")} run ${join(root, "examples/1-bug-fix")} --driver demo --review-plan -o out.nut`;
    const { code, after } = await typed(line, "run this plan", "\x03");
    expect(code).toBe(130);
    expect(after).toMatch(/paused: the run was interrupted; go on with: nexus resume \S+\r\n$/);
  });
});
