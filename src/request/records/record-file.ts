// What this account did, one row per line, outside every bundle: nothing a stranger sends can write it. A row that cannot
// be read counts for nothing.
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { z } from "zod";
import { isSystemError } from "../../errors.js";
import { makeFolder } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { hasHome, homeOf } from "../vault/keys.js";

/** Where this account's own facts are kept; null without a home. */
export function stateFolder(env: Context["env"]): string | null {
  const state = env.XDG_STATE_HOME ?? "";
  if (isAbsolute(state)) return join(state, "nutshell");
  return hasHome(env) ? join(homeOf(env), ".local", "state", "nutshell") : null;
}

export function readRows<T>(name: string, row: z.ZodType<T>, env: Context["env"]): T[] {
  const folder = stateFolder(env);
  const text = folder === null ? null : readOwn(join(folder, name));
  return text === null ? [] : text.split("\n").flatMap((line) => readRow(line, row));
}

/** A file only this account may write; null when there is none, or others may. The last step to it is no link, unless it may be. */
export function readOwn(path: string, { link = false } = {}): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (link ? 0 : (constants.O_NOFOLLOW ?? 0)));
  } catch {
    return null;
  }
  try {
    return isOurs(file) ? readFileSync(file, "utf8") : null;
  } finally {
    closeSync(file);
  }
}

/** A file that others may write says nothing about this account. */
function isOurs(file: number): boolean {
  const stat = fstatSync(file);
  if (!stat.isFile()) return false;
  return process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o022) === 0);
}

function readRow<T>(line: string, row: z.ZodType<T>): T[] {
  try {
    const parsed = row.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}

/** Says in one line why the row could not be kept; null when it was. Never throws over the disk. */
export function appendRow(name: string, row: object, { env, now }: Context): string | null {
  const folder = stateFolder(env);
  if (folder === null) return "no home folder is set";
  const path = join(folder, name);
  try {
    makeFolder(dirname(path), 0o700);
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    const file = openSync(path, flags, 0o600);
    try {
      writeSync(file, `${JSON.stringify({ ...row, at: now().toISOString() })}\n`);
    } finally {
      closeSync(file);
    }
    return null;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.message;
  }
}
