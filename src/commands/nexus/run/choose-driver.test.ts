import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NutError } from "../../../errors.js";
import type { Context, Prompter } from "../../../operation.js";
import { chooseDriver } from "./choose-driver.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "nut-choose-"));
  mkdirSync(join(home, "bin"));
  for (const name of ["claude", "codex"]) {
    writeFileSync(join(home, "bin", name), "#!/bin/sh\necho 99.0.0\n");
    chmodSync(join(home, "bin", name), 0o755);
  }
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const said: string[] = [];
const person = (answer: string): Prompter => ({
  text: async () => answer,
  confirm: async () => true,
  secret: async () => "",
});
const context = (env: Record<string, string>, ask: Prompter | null): Context => ({
  cwd: home,
  env: { PATH: `${join(home, "bin")}:/usr/bin:/bin`, HOME: home, ...env },
  now: () => new Date(),
  signal: new AbortController().signal,
  progress: ({ message }) => said.push(message ?? ""),
  ask,
  stdin: () => Readable.from([]),
  stdout: () => new PassThrough(),
});
const choose = (facts: object, env: Record<string, string> = {}, ask: Prompter | null = person("codex")) =>
  chooseDriver(
    { named: undefined, configured: undefined, hasDemo: false, line: "nexus run task.nut", ...facts },
    context(env, ask),
  );

describe("who works when nobody is named", () => {
  it("is the one that was named, then the configured one, then the demo agent for a request made for it", async () => {
    expect(await choose({ named: "claude", configured: "codex", hasDemo: true })).toBe("claude");
    expect(await choose({ configured: "codex", hasDemo: true })).toBe("codex");
    expect(await choose({ hasDemo: true }, {}, null)).toBe("demo");
    await expect(choose({ named: "demo" })).rejects.toMatchObject({ code: "DRIVER_MISSING" });
  });

  it("is the one that is installed and logged in, and that is said", async () => {
    expect(await choose({}, { ANTHROPIC_API_KEY: "k" })).toBe("claude");
    expect(said.at(-1)).toContain("with claude");
    mkdirSync(join(home, ".codex"));
    writeFileSync(join(home, ".codex/auth.json"), "{}");
    expect(await choose({})).toBe("codex");
  });

  it("is asked for when there are several, and never guessed", async () => {
    const both = { ANTHROPIC_API_KEY: "k", CODEX_API_KEY: "k" };
    expect(await choose({}, both)).toBe("codex");
    await expect(choose({}, both, person("gpt"))).rejects.toMatchObject({ code: "USAGE" });
  });

  it("is nobody without a login, and nobody without a terminal", async () => {
    await expect(choose({})).rejects.toMatchObject({ code: "DRIVER_MISSING" });
    await expect(choose({}, { ANTHROPIC_API_KEY: "k" }, null)).rejects.toMatchObject({
      code: "USAGE",
      hint: expect.stringContaining("--driver"),
    });
  });

  const one = { ANTHROPIC_API_KEY: "k" };
  it.each<[string, object, Record<string, string>, Prompter | null, string]>([
    ["a terminal, nobody ready", {}, {}, person(""), "nexus drivers"],
    ["no terminal, nobody ready", {}, {}, null, "nexus drivers"],
    ["no terminal, one ready", {}, one, null, "nexus run task.nut --driver claude"],
    ["no terminal, two ready", {}, { ...one, CODEX_API_KEY: "k" }, null, "nexus run task.nut --driver claude"],
    ["no demo, nobody ready", { named: "demo" }, {}, null, "nexus drivers"],
    ["no demo, one ready", { named: "demo" }, { CODEX_API_KEY: "k" }, null, "nexus run task.nut --driver codex"],
  ])("hints can be pasted: %s", async (_, facts, env, ask, hint) => {
    const refusal = (await choose(facts, env, ask).catch((error: unknown) => error)) as NutError;
    expect(refusal.hint).toBe(hint);
    expect(spawnSync("bash", ["-n", "-c", refusal.hint!]).status).toBe(0);
  });
});
