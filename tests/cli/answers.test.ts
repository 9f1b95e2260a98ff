// How every command answers, whatever it does: streams, colour, questions, exit codes, flags.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunOptions, runNutshell } from "./run-nutshell.js";

const place = mkdtempSync(join(tmpdir(), "nut-answers-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const run = (argv: readonly string[], options: Partial<RunOptions> = {}) =>
  runNutshell(argv, { cwd: place, ...options });

beforeAll(async () => {
  expect((await run(["init", "--dir", "task"])).code).toBe(0);
});

describe("an answer", () => {
  it("is on standard output alone; a refusal is on standard error alone", async () => {
    expect(await run(["check", "--dir", "task"])).toMatchObject({ code: 1, err: "" });
    const refused = await run(["check", "--dir", "nowhere"]);
    expect([refused.code, refused.out]).toEqual([2, ""]);
    expect(refused.err).toMatch(/^nutshell: error: .+\nnutshell: hint: .+\n$/);
  });

  it("takes no mistake of the machine's or the reader's for ours", async () => {
    const { code, err } = await run(["check", "--dir", "a".repeat(300)]);
    expect(code).toBe(2);
    expect(err).toMatch(/error: .+: the name is too long\n/);
    const below = await run(["export", "task", "-o", "task/nutshell.json/page.html"]);
    expect(below.code).toBe(2);
    expect(below.err).toMatch(/error: .+: not a folder\nnutshell: hint: ls -ld /);
  });

  it("says which signal ended it, and nothing else", async () => {
    for (const [name, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ] as const) {
      const signal = AbortSignal.abort(name);
      expect(await run(["pack", "--dir", "task", "-o", "a.nut"], { signal })).toEqual({ code, out: "", err: "" });
    }
  });

  it("lets no name speak to the terminal, in answers, refusals and hints [P3]", async () => {
    const name = "\x1b[31mred\u202e";
    const missing = await run(["check", "--dir", name]);
    expect(missing.err).toContain("\\x1b[31mred\\u{202e}");
    const unknown = await run([name]);
    expect(unknown.err).toContain('unknown command "\\x1b[31mred\\u{202e}"');
    mkdirSync(join(place, name));
    writeFileSync(join(place, name, "nutshell.json"), "{");
    const broken = await run(["check", "--dir", name]);
    const task = await run(["init", "--dir", `${name}-new`]);
    for (const text of [missing, unknown, broken, task].map(({ out, err }) => out + err))
      expect(text.replaceAll("\n", "")).not.toMatch(/[\x00-\x1f\u202e]/);
  });

  it("is coloured on a terminal that wants colour, and nowhere else", async () => {
    const coloured = async (options: Partial<RunOptions>) =>
      (await run(["check", "--dir", "task"], options)).out.includes("\x1b[");
    expect(await coloured({ terminal: true })).toBe(true);
    expect(await coloured({})).toBe(false);
    expect(await coloured({ env: { FORCE_COLOR: "1" } })).toBe(true);
    expect(await coloured({ terminal: true, env: { NO_COLOR: "1" } })).toBe(false);
    expect(await coloured({ terminal: true, env: { TERM: "dumb" } })).toBe(false);
    expect((await run(["check", "--dir", "task", "--no-color"], { terminal: true })).out).not.toContain("\x1b[");
  });

  it("asks nobody with --json", async () => {
    const asked: string[] = [];
    const ask = {
      text: async (question: string) => {
        asked.push(question);
        return "typed";
      },
      confirm: async () => true,
      secret: async (question: string) => {
        asked.push(question);
        return "typed";
      },
    };
    const add = ["add-credential", "--dir", "task", "--name", "db", "--type", "token", "--encryption", "none"];
    await run([...add, "--json"], { ask });
    expect(asked).toEqual([]);
    await run(add, { ask });
    expect(asked).not.toEqual([]);
  });
});

describe("a flag", () => {
  it.each([
    [["pack", "--dir", "task", "--constructor"], "unknown flag --constructor"],
    [["pack", "--dir", "task", "--__proto__=x"], "unknown flag --__proto__"],
    [["pack", "--dir", "task", "--dir", "other"], "--dir is given twice"],
    [["pack", "--dir"], "--dir needs a value: --dir <dir>"],
    [["pack", "--dir", "task", "--force=yes"], "--force takes no value"],
    [["pack", "--dir", "task", "--compression", "rar"], "--compression is one of"],
  ])("%j is refused by its name", async (argv, message) => {
    const { code, out, err } = await run(argv);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(`nutshell: error: ${message}`);
    expect(err).toContain("nutshell: hint: nutshell pack --help\n");
  });

  it("of a command behind -- is not ours", async () => {
    const { code, err } = await run(["exec", "--dir", "task", "--", "ls", "--json", "--help"]);
    expect(code).toBe(2);
    expect(err).toMatch(/^nutshell: error: nutshell exec: --with: /);
  });
});
