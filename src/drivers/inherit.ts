// An agent's home is the run's own, but the account that pays for it is the person's: their login is linked in, and of
// their settings only what says which model to use. Hooks, servers, plugins and permissions stay behind.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";

/** Links a login file into the run's home. In a sandbox the link leads to a read-only file. */
export function linkLogin(from: string, to: string): void {
  if (!existsSync(from) || from === to) return;
  mkdirSync(dirname(to), { recursive: true });
  rmSync(to, { force: true });
  symlinkSync(from, to);
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
