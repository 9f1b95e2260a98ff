import { rmSync } from "node:fs";
import { isSystemError } from "../errors.js";

/**
 * Takes away what a command made for itself, at its end. Tried twice where the disk failed once; what is left then is a
 * temporary file's, and neither changes an answer nor hides why the command failed.
 */
export function clearAway(path: string): void {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      return;
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }
}
