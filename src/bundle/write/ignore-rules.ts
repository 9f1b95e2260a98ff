// .nutignore, with gitignore's meaning in full: negation, anchors, `**`, folders, nested files.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import ignore, { type Ignore } from "ignore";
import { fromSystemError, NutError, shellWord } from "../../errors.js";

export const IGNORE_NAME = ".nutignore";
const MAX_IGNORE_BYTES = 16 * 1024 ** 2;

/** The rules that hold in one folder: its own file's, then those of the folders above. */
export interface IgnoreRules {
  readonly base: string;
  readonly matcher: Ignore;
  readonly above: IgnoreRules | null;
}

/** Reads a folder's .nutignore on top of the rules above it. `base` is the folder's path with a trailing slash, or "". */
export function readRules(file: string, base: string, above: IgnoreRules | null): IgnoreRules {
  const text = readRegular(file)
    .toString("utf8")
    .replace(/^\ufeff/, "");
  const matcher = ignore({ ignorecase: false, allowRelativePaths: false }).add(text);
  return { base, matcher, above };
}

/** Whether a path (folders end in a slash) is left out. The nearest file with an opinion decides. */
export function isIgnored(rules: IgnoreRules | null, path: string): boolean {
  for (let level = rules; level !== null; level = level.above) {
    const { ignored, unignored } = level.matcher.test(path.slice(level.base.length));
    if (ignored) return true;
    if (unignored) return false;
  }
  return false;
}

function readRegular(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > MAX_IGNORE_BYTES) {
      throw new NutError("SOURCE_UNSAFE", `${path}: not a regular file of reasonable size`, {
        hint: `ls -ld ${shellWord(path)}`,
        data: { path },
      });
    }
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
