import { statSync } from "node:fs";
import { resolve } from "node:path";
import { NutError, shellWord } from "../errors.js";
import {
  askVersion,
  type Environment,
  findBwrap,
  findProgram,
  howKnown,
  type KnownVersions,
  type VersionQuestion,
  versionIn,
} from "../process/index.js";
import { pastLauncher } from "./codex-launcher.js";
import type { DriverName, Probe } from "./driver.js";
import { QUIRKS } from "./quirks.js";

/** What is installed under a driver's name. `command` names the program of the drivers that have none of their own. */
export async function probeDriver(name: DriverName, env: Environment, command?: string): Promise<Probe> {
  const { program: own, versionArgs, versions, install, abilities } = QUIRKS[name];
  const program = command === undefined ? own : programOf(command);
  const path = findProgram(program, env);
  const isAsked = name !== "command" && command === undefined;
  const stamp = stampOf(path);
  const [bwrap, told] = await Promise.all([
    findBwrap(env),
    isAsked && path !== null ? askOnce({ path: asksOf(name, path), args: versionArgs, env }, stamp) : null,
  ]);
  const base = {
    driver: name,
    program,
    path,
    // What only a sandbox can hold cannot be held without one.
    abilities:
      bwrap !== null
        ? abilities
        : { ...abilities, ...(abilities.deny_edit === "emulated" ? { deny_edit: "absent" as const } : {}) },
  };
  if (path === null) {
    const isPath = command !== undefined && program.includes("/");
    const words = isPath
      ? { reason: `${program} is no program that can be started`, hint: `ls -l ${shellWord(program)}` }
      : { reason: `${program} is not on PATH`, hint: install };
    return { ...base, version: null, usable: false, ...words };
  }
  const version = versionIn(told ?? "");
  const judged = versions === null ? {} : judge(program, version, versions);
  const usable = judged.reason === undefined;
  if (isAsked && usable && stamp !== null) asked.set(name, stamp);
  return { ...base, version, usable, ...judged };
}

function judge(program: string, version: string | null, versions: KnownVersions): Partial<Probe> {
  const { oldest, tried, install: hint } = versions;
  if (version === null) return { reason: `${program} does not say its version`, hint };
  const known = howKnown(version, versions);
  if (known === "old") return { reason: `${program} ${version} is too old, ${oldest} is needed`, hint };
  return known === "tried" ? {} : { note: `${program} ${version} was not tried; ${tried} was` };
}

/** Programs that were asked and can be used, as they lay on the disk: a start costs as much as a short session. */
const asked = new Map<string, string>();

const answers = new Map<string, Promise<string | null>>();

/** A program that answered is not asked again while it is the same file. */
function askOnce(question: VersionQuestion, stamp: string | null): Promise<string | null> {
  if (stamp === null) return askVersion(question);
  const answer = answers.get(stamp) ?? askVersion(question);
  answers.set(stamp, answer);
  return answer.then((told) => {
    if (told === null) answers.delete(stamp);
    return told;
  });
}

/** Who is asked is who will be started. */
const asksOf = (name: DriverName, path: string): string => (name === "codex" ? pastLauncher(path).command : path);

/** Another version of a program is another file. */
function stampOf(path: string | null): string | null {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path ?? "");
    return [path, ino, size, mtimeMs, ctimeMs].join(":");
  } catch {
    return null;
  }
}

/** Begins what whoever runs this program will wait for. */
export function beginProbe(name: DriverName, env: Environment): void {
  const { program, versionArgs } = QUIRKS[name];
  const path = name === "command" ? null : findProgram(program, env);
  if (path !== null) void askOnce({ path: asksOf(name, path), args: versionArgs, env }, stampOf(path));
}

/** The program's path, or the one clear sentence that says why it cannot be used. Asked once per process and program. */
export async function requireProgram(name: DriverName, env: Environment): Promise<string> {
  const found = findProgram(QUIRKS[name].program, env);
  const stamp = stampOf(found);
  return stamp !== null && asked.get(name) === stamp ? found! : askedProgram(name, env);
}

async function askedProgram(name: DriverName, env: Environment): Promise<string> {
  const { usable, path, reason, hint, version } = await probeDriver(name, env);
  if (usable && path !== null) return path;
  throw new NutError(path === null ? "DRIVER_MISSING" : "DRIVER_TOO_OLD", reason ?? `${name} cannot be used`, {
    hint: hint ?? "nexus drivers",
    data: { driver: name, version },
  });
}

/**
 * The line with its program named by the whole path, where it was named by the way from `cwd`: agents start in trees of their
 * own, where `./agent.sh` would be another file or none.
 */
export function lineFrom(line: string | undefined, cwd: string): string | undefined {
  const program = line === undefined ? "" : programOf(line);
  if (line === undefined || !/^[\w.-]+(?:\/[\w.-]+)+$/.test(program)) return line;
  return line.replace(program, () => shellWord(resolve(cwd, program)));
}

/** The first word of a shell line that is not a variable. */
export function programOf(command: string): string {
  const words = command.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/gs) ?? [];
  const word = words.find((part) => !/^\w+=/.test(part)) ?? "";
  return word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs, (_, double?: string, single?: string, one?: string) =>
    double === undefined ? (single ?? one ?? "") : double.replace(/\\(["\\$`])/g, "$1"),
  );
}
