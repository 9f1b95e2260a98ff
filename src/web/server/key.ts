// A secret of this user on this machine, so that a browser that was let in stays in when the board is started again.
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const BYTES = 32;

/** undefined when there is no place to keep one, or when others could read it: cookies then last as long as the server. */
export function keptKey(env: Readonly<Record<string, string | undefined>>): Buffer | undefined {
  const base = env.XDG_STATE_HOME || (env.HOME ? join(env.HOME, ".local", "state") : "");
  if (base === "" || !base.startsWith("/")) return undefined;
  const folder = join(base, "nutcracker");
  const path = join(folder, "board.key");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return read(path) ?? create(path);
  } catch {
    return undefined;
  }
}

function read(path: string): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { mode, uid } = fstatSync(file);
    if ((mode & 0o077) !== 0 || uid !== process.getuid?.()) throw new Error("others can read it");
    const key = readFileSync(file);
    if (key.length !== BYTES) throw new Error("not a key");
    return key;
  } finally {
    closeSync(file);
  }
}

function create(path: string): Buffer {
  const key = randomBytes(BYTES);
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, key);
  } finally {
    closeSync(file);
  }
  return key;
}
