// Questions at a real terminal: whoever ends one gets their prompt back, with one line and nothing half done.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { startDouble } from "../market/double.js";
import { runNutshell } from "./run-nutshell.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const place = mkdtempSync(join(tmpdir(), "nut-terminal-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true;

/** Runs a command line in a terminal of its own and types `key` when `question` is shown. */
async function typed(
  line: string,
  question: string,
  key: string,
  { cwd = place, env = {} }: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<{ code: number; shown: string; after: string }> {
  // What follows the command is the person's own shell again: it must find the terminal as it was.
  const whole = `was=$(stty -g); ${line}; code=$?; [ "$was" = "$(stty -g)" ] || echo "the terminal is not as it was"; exit $code`;
  const child = spawn("script", ["-qec", whole, "/dev/null"], {
    cwd,
    env: { PATH: process.env.PATH, HOME: place, TERM: "xterm", ...env },
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
  return { code, shown, after: shown.slice(at) };
}

const TASK = join(root, "examples/1-bug-fix");
const bin = (name: string) => `${process.execPath} ${join(root, "bin", `${name}.js`)}`;

describe.skipIf(!hasScript)("a question at a terminal (script)", () => {
  it.each([
    ["Ctrl-C", "nutshell init new", "in one line", "\x03"],
    ["Ctrl-D", "nutshell init new", "in one line", "\x04"],
    ["Ctrl-C behind some words", "nexus setup claude", "change", "ye\x03"],
    ["Ctrl-D", "nexus fleet work --driver demo", "in the sandbox. Agree?", "\x04"],
    ["Ctrl-C", "nexus fleet work --driver demo --no-sandbox", "here, without a sandbox", "\x03"],
    [
      "Ctrl-C in a secret",
      `nutshell add-credential --name a --type b --encryption none --dir ${TASK}`,
      "not shown",
      "se\x03",
    ],
    ["Ctrl-D", `nutshell add-credential --name a --type b --encryption none --dir ${TASK}`, "not shown", "\x04"],
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

  it("that is closed stops a run so that it can go on, and its agents with it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nut-closed-"));
    const env = { PATH: process.env.PATH, HOME: folder, TERM: "xterm", NUTCRACKER_CONSENT: "all" };
    const example = join(root, "examples/1-bug-fix");
    const line = `${bin("nexus")} run ${example} --driver command --command "sleep 31.41592" -o out.nut`;
    const child = spawn("script", ["-qec", line, "/dev/null"], { cwd: folder, env, stdio: ["pipe", "pipe", "ignore"] });
    const atWork = () =>
      readdirSync("/proc").filter((pid) => {
        try {
          return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("sleep\x0031.41592");
        } catch {
          return false;
        }
      }).length;
    const until = async (isSo: () => boolean) => {
      for (let n = 0; n < 300 && !isSo(); n += 1) await new Promise((done) => setTimeout(done, 100));
      expect(isSo()).toBe(true);
    };
    try {
      await until(() => atWork() > 0);
      child.kill("SIGKILL");
      const journal = () => {
        const runs = join(folder, ".nexus/state/nutcracker/runs");
        return readFileSync(join(runs, readdirSync(runs)[0]!, "journal.jsonl"), "utf8");
      };
      await until(() => journal().includes('"type":"paused"'));
      await until(() => atWork() === 0);
      expect(journal()).toContain('"reason":"interrupted"');
    } finally {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    }
  });

  const STOPPED = /\r\n(?:\x1b\[K)?\r?(?:\x1b\[K)?(?:nutshell|nexus): stopped at a question\r\n$/;
  const KEYS = [
    ["Ctrl-C", "\x03"],
    ["Ctrl-D", "\x04"],
  ] as const;

  it("sends nothing and keeps nothing when publishing is not agreed to", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nut-publish-"));
    const network = await startDouble();
    try {
      cpSync(join(root, "examples/1-bug-fix"), join(folder, "task"), { recursive: true });
      const [node] = network.nodes;
      const line = `${bin("nutshell")} publish --dir task --reward 500 --clawnet ${node!.url}`;
      for (const [name, key] of [...KEYS, ["no", "n\r"]] as const) {
        const { code, after } = await typed(line, "not refunded?", key, { cwd: folder, env: { HOME: folder } });
        expect(code, name).toBe(name === "no" ? 2 : 130);
        if (name === "no") expect(after).toContain("not confirmed; nothing was sent");
        else expect(after).toMatch(STOPPED);
        expect(readdirSync(folder), name).toEqual(["task"]);
      }
      expect((await network.log()).filter(({ method }) => method === "POST")).toEqual([]);
      expect((await network.account(0)).frozen).toBe(0);
    } finally {
      await network.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("installs nothing before somebody agreed, and says with what reach", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nut-consent-"));
    try {
      cpSync(join(root, "examples/1-bug-fix"), join(folder, "task"), { recursive: true });
      const manifest = JSON.parse(readFileSync(join(folder, "task/nutshell.json"), "utf8"));
      manifest.acceptance.install = [{ path: "tests/install.sh" }];
      writeFileSync(join(folder, "task/nutshell.json"), JSON.stringify(manifest));
      writeFileSync(join(folder, "task/tests/install.sh"), "mkdir -p node_modules/x\n");
      const home = join(folder, "author");
      await runNutshell(["pack", "task", "-o", "task.nut"], { cwd: folder, env: { HOME: home } });
      const line = `${bin("nutshell")} accept task --request task.nut`;
      const stranger = { cwd: folder, env: { HOME: join(folder, "home") } };
      for (const [name, key] of KEYS) {
        const { code, shown, after } = await typed(line, "Run this on your machine?", key, stranger);
        expect(shown).toMatch(/installs: tests\/install\.sh by running it, with your network/);
        expect(code, name).toBe(130);
        expect(after).toMatch(STOPPED);
      }
      const no = await typed(line, "Run this on your machine?", "n\r", stranger);
      expect(no).toMatchObject({ code: 2, after: expect.stringContaining("nobody agreed to run it") });
      expect(existsSync(join(folder, "home"))).toBe(false);
      const yes = await typed(line, "Run this on your machine?", "y\r", stranger);
      expect(yes).toMatchObject({ code: 1, after: expect.stringContaining("installing tests/install.sh") });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("asks which agent works when several are installed, takes the only one after saying so, and starts none by guessing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nut-agents-"));
    try {
      for (const name of ["claude", "codex"]) {
        mkdirSync(join(folder, "bin"), { recursive: true });
        const script = `#!/bin/sh\necho ${name} "$@" >> ${join(folder, "calls")}\necho 99.0.0\n`;
        writeFileSync(join(folder, "bin", name), script, { mode: 0o755 });
      }
      cpSync(join(root, "examples/1-bug-fix"), join(folder, "task"), { recursive: true });
      rmSync(join(folder, "task/context/demo-agent.json"));
      const PATH = `${join(folder, "bin")}:${process.env.PATH}`;
      const env = { PATH, HOME: join(folder, "home"), NUTCRACKER_CONSENT: "all" };
      const both = { ANTHROPIC_API_KEY: "k", CODEX_API_KEY: "k" };
      const line = `${bin("nexus")} run task --dry-run`;
      const run = (key: string, more: Record<string, string>) =>
        typed(line, "Which agent works: claude, codex", key, { cwd: folder, env: { ...env, ...more } });
      for (const [name, key] of KEYS) {
        const { code, after } = await run(key, both);
        expect(code, name).toBe(130);
        expect(after).toMatch(STOPPED);
      }
      expect(await run("gpt\r", both)).toMatchObject({
        code: 2,
        after: expect.stringContaining("is none of claude, codex"),
      });
      expect((await run("codex\r", both)).after).toContain("driver codex");
      const one = await run("", { ANTHROPIC_API_KEY: "k" });
      expect(one.shown).toMatch(/with claude, which is installed and logged in here.*driver claude/s);
      expect((await run("", {})).shown).toContain("no agent program is installed and logged in here");
      expect(new Set(readFileSync(join(folder, "calls"), "utf8").trim().split("\n"))).toEqual(
        new Set(["claude --version", "codex --version"]),
      );
      expect(existsSync(join(folder, ".nexus"))).toBe(false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
