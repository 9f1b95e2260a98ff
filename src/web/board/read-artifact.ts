import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { isText, pathProblem } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import { layoutOf } from "../../state/index.js";

const MOST_BYTES = 512 * 1024;

/** The beginning of an artifact, as text. Nothing outside the folder is reachable, by name or by link. */
export function readArtifact(root: string, name: string): { text: string; cut: boolean } {
  const folder = layoutOf(root).artifacts;
  if (name === "" || pathProblem(name) !== null) throw missing();
  const path = join(folder, name);
  let file: number;
  try {
    const real = realpathSync(folder);
    const parent = realpathSync(dirname(path));
    if (parent !== real && !parent.startsWith(real + sep)) throw missing();
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    throw missing();
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw missing();
    const buffer = Buffer.alloc(Math.min(found.size, MOST_BYTES));
    const bytes = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
    return { text: isText(bytes) ? bytes.toString("utf8") : "(not text)", cut: found.size > MOST_BYTES };
  } finally {
    closeSync(file);
  }
}

function missing(): NutError {
  return new NutError("ENTRY_NOT_FOUND", "there is no such artifact", {
    hint: "load the page again: it may have been taken away",
  });
}
