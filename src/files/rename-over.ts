// Renaming over a file that somebody may have open. POSIX lets that happen; Windows refuses while a reader, an indexer or a
// virus scanner has it, for moments.
import { type PathLike, renameSync } from "node:fs";
import { isSystemError } from "../errors.js";

export interface RenameWorld {
  readonly platform: string;
  readonly rename: (from: PathLike, to: PathLike) => void;
  readonly pause: (ms: number) => void;
}

const HERE: RenameWorld = {
  platform: process.platform,
  rename: (from, to) => renameSync(from, to),
  pause: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

/** 1 + 2 + 4 … ms: a second in all. */
const TRIES = 10;
const IN_USE: ReadonlySet<string> = new Set(["EPERM", "EACCES", "EBUSY"]);

/** Throws the system's error; on Windows only after a second of trying. */
export function renameOver(from: PathLike, to: PathLike, { platform, rename, pause }: RenameWorld = HERE): void {
  for (let tried = 0; ; tried += 1) {
    try {
      rename(from, to);
      return;
    } catch (error) {
      const isPassing = platform === "win32" && isSystemError(error) && IN_USE.has(error.code);
      if (!isPassing || tried === TRIES) throw error;
      pause(2 ** tried);
    }
  }
}
