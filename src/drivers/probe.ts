import { NutError } from "../errors.js";
import { type Environment, findBwrap, findProgram, runChild } from "../process/index.js";
import type { DriverName, Probe } from "./driver.js";
import { QUIRKS } from "./quirks.js";

/** What is installed under a driver's name. `command` names the program of the drivers that have none of their own. */
export async function probeDriver(name: DriverName, env: Environment, command?: string): Promise<Probe> {
  const { program: own, versionArgs, minimum, install, abilities } = QUIRKS[name];
  const program = command === undefined ? own : programOf(command);
  const path = findProgram(program, env);
  const hasSandbox = (await findBwrap(env)) !== null;
  const base = {
    driver: name,
    program,
    path,
    // What only a sandbox can hold cannot be held without one.
    abilities: hasSandbox
      ? abilities
      : { ...abilities, ...(abilities.deny_edit === "emulated" ? { deny_edit: "absent" as const } : {}) },
  };
  if (path === null) {
    return { ...base, version: null, usable: false, reason: `${program} is not on PATH`, hint: install };
  }
  const version = name === "command" || command !== undefined ? null : await versionOf(path, versionArgs, env);
  if (version === null && minimum !== null) {
    return { ...base, version, usable: false, reason: `${program} does not say its version`, hint: install };
  }
  if (version !== null && minimum !== null && isOlder(version, minimum)) {
    return {
      ...base,
      version,
      usable: false,
      reason: `${program} ${version} is too old, ${minimum} is needed`,
      hint: install,
    };
  }
  return { ...base, version, usable: true };
}

/** The program's path, or the one clear sentence that says why it cannot be used. */
export async function requireProgram(name: DriverName, env: Environment): Promise<string> {
  const { usable, path, reason, hint, version } = await probeDriver(name, env);
  if (usable && path !== null) return path;
  throw new NutError(path === null ? "DRIVER_MISSING" : "DRIVER_TOO_OLD", reason ?? `${name} cannot be used`, {
    hint: hint ?? "nexus drivers",
    data: { driver: name, version },
  });
}

/** The first word of a shell line that is not a variable. */
export function programOf(command: string): string {
  const words = command.trim().split(/\s+/);
  const word = words.find((part) => !/^\w+=/.test(part)) ?? "";
  return word.replace(/^(["'])(.*)\1$/, "$2");
}

async function versionOf(path: string, args: readonly string[], env: Environment): Promise<string | null> {
  try {
    // Version flags need no home; without one they also leave nothing behind in the person's own.
    const result = await runChild({
      command: path,
      args,
      cwd: "/",
      env: { PATH: env.PATH, HOME: "/nonexistent" },
      timeoutMs: 20_000,
    });
    return /\d+\.\d+\.\d+/.exec(result.stdout.text)?.[0] ?? null;
  } catch {
    return null;
  }
}

export function isOlder(version: string, minimum: string): boolean {
  const [a, b] = [version, minimum].map((text) => text.split(".").map(Number)) as [number[], number[]];
  for (let i = 0; i < 3; i += 1) {
    if (a[i] !== b[i]) return a[i]! < b[i]!;
  }
  return false;
}
