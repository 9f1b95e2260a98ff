import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runNutshell } from "./run-nutshell.js";

const work = mkdtempSync(join(tmpdir(), "nut-completion-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const has = (program: string) => spawnSync(program, ["--version"]).error === undefined;
const scripts: Record<string, string> = {};
beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, out } = await runNutshell(["completion", shell], { cwd: work });
    expect(code).toBe(0);
    scripts[shell] = join(work, `nutshell.${shell}`);
    writeFileSync(scripts[shell], out);
  }
});

/** What bash would offer after these words. */
function bash(...words: string[]): string[] {
  const list = words.map((word) => `'${word}'`).join(" ");
  const line = `source ${scripts.bash}; COMP_WORDS=(nutshell ${list}); COMP_CWORD=${words.length}; _nutshell; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync("bash", ["--norc", "-c", line], { encoding: "utf8", cwd: work });
  return stdout.trim().split("\n");
}

describe("completion", () => {
  it.skipIf(!has("bash"))("completes commands, flags and choices in bash", () => {
    expect(bash("che")).toEqual(["check"]);
    expect(bash("check", "--f")).toEqual(["--fix"]);
    expect(bash("check", "-")).toContain("--json");
    expect(bash("check", "nutshell.b")).toEqual(["nutshell.bash"]);
  });

  it.skipIf(!has("zsh"))("is a script zsh accepts", () => {
    const { status, stderr } = spawnSync(
      "zsh",
      ["-f", "-c", `autoload -U compinit && compinit -D -u; source ${scripts.zsh} && print $_comps[nutshell]`],
      {
        encoding: "utf8",
        env: { PATH: process.env.PATH, HOME: work },
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  it.skipIf(!has("fish"))("completes in fish", () => {
    const run = (typed: string) =>
      spawnSync("fish", ["--no-config", "-c", `source ${scripts.fish}; complete -C ${JSON.stringify(typed)}`], {
        encoding: "utf8",
        cwd: work,
        env: { PATH: process.env.PATH, HOME: work },
      }).stdout;
    expect(run("nutshell che")).toMatch(/^check\t/);
    expect(run("nutshell check --fi")).toMatch(/^--fix\t/);
  });

  it.skipIf(!has("bash"))("knows commands of two words", async () => {
    let out = "";
    const stdout = {
      write(text: string) {
        out += text;
      },
    };
    const { default: completion } = await import("../../src/commands/more/completion.js");
    const { program } = await import("../../src/commands/nexus/program.js");
    await completion.run({ shell: "bash" } as never, { stdout } as never, { program, json: false, quiet: false });
    const pair = program.entries.find(({ name, hidden }) => name.includes(" ") && hidden !== true)!;
    const [first, second] = pair.name.split(" ") as [string, string];
    const line = `${out}\nCOMP_WORDS=(nexus ${first} ${second}); COMP_CWORD=2; _nexus; echo "\${COMPREPLY[@]}"`;
    expect(spawnSync("bash", ["--norc"], { input: line, encoding: "utf8" }).stdout.split(/\s/)).toContain(second);
  });

  it("names the shells it knows", async () => {
    const { code, err } = await runNutshell(["completion", "csh"], { cwd: work });
    expect(code).toBe(2);
    expect(err).toContain("bash, zsh, fish");
  });
});
