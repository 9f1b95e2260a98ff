// An agent's home is its session's own, but the account that pays for it is the person's: their login is linked in, and of
// their settings only what says which model to use. Hooks, servers, plugins and permissions stay behind.
import { readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { NutError } from "../errors.js";
import { removeInside, within } from "../files/index.js";

/** Links a login file into a home. Returns what the program must be able to read: in a sandbox that one file, read-only. */
export function linkLogin(from: string, home: string, to: string): string[] {
  const real = realFile(from);
  if (real === null || real === join(home, to)) return [];
  within(home, to, { make: true }, (folder, name) => {
    rmSync(join(folder, name), { force: true });
    symlinkSync(real, join(folder, name));
  });
  return [real];
}

function realFile(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Takes a file of ours out of a home again. One that was moved behind a link is not ours any more. */
export function forgetInside(home: string, path: string): void {
  try {
    removeInside(home, path);
  } catch (error) {
    if (!(error instanceof NutError)) throw error;
  }
}

export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

export function pick(settings: unknown, keys: readonly string[]): Record<string, unknown> {
  if (settings === null || typeof settings !== "object") return {};
  return Object.fromEntries(Object.entries(settings).filter(([key]) => keys.includes(key)));
}
