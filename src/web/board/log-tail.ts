// The end of a file that somebody may still be writing, or that a stranger put there.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

const LOG_TAIL = 16 * 1024;

export function logTail(path: string, most = LOG_TAIL): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return ""; // Pruned, or never written.
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return "";
    const { size } = stats;
    const buffer = Buffer.alloc(Math.min(size, most));
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, size - buffer.length)).toString("utf8");
  } finally {
    closeSync(file);
  }
}
