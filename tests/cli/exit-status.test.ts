// The table of exit statuses holds for every command: help is 0, a wrong flag is 2, and whatever else is typed in an
// empty folder or given a broken bundle is 0, 1 or 2 with an error that has a hint.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import type { Program } from "../../src/cli/command.js";
import { main } from "../../src/cli/main.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";

const place = mkdtempSync(join(tmpdir(), "nut-exit-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

async function run(program: Program, argv: readonly string[], cwd: string) {
  const said = { out: "", err: "" };
  const sink = (key: "out" | "err") =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          said[key] += chunk;
          done();
        },
      }),
      { isTTY: false },
    );
  const code = await main(program, argv, {
    cwd,
    // Nothing listens there, and nothing of this account is touched.
    env: { PATH: process.env.PATH, HOME: join(place, "home"), TMPDIR: place, CLAWNET_ADDR: "127.0.0.1:9" },
    now: () => new Date("2026-03-14T10:00:00Z"),
    signal: AbortSignal.timeout(20_000),
    stdin: () => Readable.from([]),
    stdout: sink("out"),
    stderr: sink("err"),
    ask: null,
  });
  return { code, ...said };
}

/** They stay, or look at every program of the machine. */
const STAYS = new Set(["serve", "board", "mcp", "hook", "doctor", "drivers"]);

describe.each([nutshell, nexus] as Program[])("$name", (program) => {
  it.each(program.entries)("$name keeps to the table", async (entry) => {
    const words = entry.name.split(" ");
    const folder = mkdtempSync(join(place, "empty-"));
    const help = await run(program, [...words, "--help"], folder);
    expect({ code: help.code, err: help.err }).toEqual({ code: 0, err: "" });
    const flag = await run(program, [...words, "--no-such-flag"], folder);
    expect(flag.code).toBe(2);
    expect(flag.err).toContain("unknown flag --no-such-flag");
    expect(readdirSync(folder)).toEqual([]);
    if (STAYS.has(entry.name)) return;
    const { positionals } = await entry.load();
    const broken = join(folder, "broken");
    mkdirSync(broken);
    writeFileSync(join(broken, "nutshell.json"), '{"nutshell_version": "0.2.0", "bundle_type": 7');
    writeFileSync(join(broken, "bundle.nut"), "NUT\u0001 not gzip");
    for (const given of ["nowhere.nut", "bundle.nut", "."]) {
      const argv = [...words, ...positionals.slice(0, 1).map(() => given)];
      const { code, err } = await run(program, argv, broken);
      const told = `${argv.join(" ")}: ${code} ${err}`;
      expect([0, 1, 2], told).toContain(code);
      if (code === 2) expect(err, told).toMatch(/: error: .+\n.*: hint: .+\n$/s);
    }
  });
});
