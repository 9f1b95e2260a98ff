// An agent's home is its session's own, but the account that pays for it is the person's: of their settings it gets what says
// which model to use (and of their login what lets it in: logins.ts). Hooks, servers, plugins and permissions stay behind.
import { readFileSync } from "node:fs";
import { NutError } from "../errors.js";
import { removeInside } from "../files/index.js";

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
