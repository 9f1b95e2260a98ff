// Runs commands in one process whose file calls can be made to fail (shim.c is loaded into it), and prints what each
// trial came to as one line of JSON. Arguments: the folder to work in, then the file that lists the trials.
import { cpSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { Program } from "../../src/cli/command.js";
import { main } from "../../src/cli/main.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";

export interface Trial {
  readonly line: string;
  readonly calls: string;
  readonly errno: keyof typeof constants.errno;
  /** The first call that fails. */
  readonly at: number;
  /** Only that one fails, not those after it. */
  readonly once?: boolean;
}

export interface Outcome extends Trial {
  readonly struck: boolean;
  readonly code: number;
  readonly err: string;
  /** Names whose content is not what it was; null when the command ended well. */
  readonly changed: readonly string[] | null;
}

const [place, list] = process.argv.slice(2) as [string, string];
const template = join(place, "template");
const world = join(place, "world");
process.env.FAULT_ROOT = world;

const magic = (name: string): string => {
  try {
    openSync(`/nut-fault/${name}`, "r");
    return "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code!;
  }
};

/** path → what lies there. */
function snapshot(folder: string, base = "", into = new Map<string, string>()): Map<string, string> {
  for (const name of readdirSync(join(folder, base))) {
    const path = base === "" ? name : `${base}/${name}`;
    const stats = lstatSync(join(folder, path));
    into.set(path, stats.isFile() ? readFileSync(join(folder, path), "latin1") : "folder");
    if (stats.isDirectory()) snapshot(folder, path, into);
  }
  return into;
}

function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort();
}

async function run(program: Program, argv: readonly string[]): Promise<{ code: number; err: string }> {
  let err = "";
  const sink = (keep: boolean) =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          if (keep) err += chunk;
          done();
        },
      }),
      { isTTY: false },
    );
  const code = await main(program, argv, {
    cwd: world,
    env: {
      PATH: process.env.PATH,
      HOME: join(world, "home"),
      TMPDIR: join(world, "tmp"),
      GIT_CONFIG_GLOBAL: "/dev/null",
    },
    now: () => new Date("2026-03-14T10:00:00Z"),
    signal: new AbortController().signal,
    stdin: () => Readable.from([Buffer.from("secret")]),
    stdout: sink(false),
    stderr: sink(true),
    ask: null,
  });
  return { code, err };
}

for (const trial of JSON.parse(readFileSync(list, "utf8")) as Trial[]) {
  rmSync(world, { recursive: true, force: true });
  mkdirSync(world);
  cpSync(template, world, { recursive: true });
  const before = snapshot(world);
  const [name, ...words] = trial.line.split(" ");
  process.env.FAULT_CALLS = trial.calls;
  process.env.FAULT_ERRNO = String(constants.errno[trial.errno]);
  process.env.FAULT_AT = String(trial.at);
  process.env.FAULT_ONCE = trial.once === true ? "1" : "0";
  magic("reset");
  const { code, err } = await run(name === "nexus" ? nexus : nutshell, words);
  process.env.FAULT_CALLS = "";
  const outcome: Outcome = {
    ...trial,
    struck: magic("seen") === "EEXIST",
    code,
    err: err.replaceAll(world, "~"),
    changed: code === 0 ? null : differences(before, snapshot(world)),
  };
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
