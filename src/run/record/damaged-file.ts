// What a run's own files must be, and what is said when they are not: the tree it worked on is still there.
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { NutError, shellWord } from "../../errors.js";
import type { RunFolder } from "./folder.js";

export function damagedFile(path: string, why: string): NutError {
  const work = join(dirname(path), "work");
  const keeps = existsSync(work) ? `cp -R ${shellWord(work)} saved-work keeps what was done; ` : "";
  return new NutError("RUN_DAMAGED", `${path} is damaged: ${why}`, {
    hint: `${keeps}start afresh with: nexus run '<request>'`,
    data: { path, ...(keeps === "" ? {} : { work }) },
  });
}

/** What the run makes anew when it is not there. */
export function replaceable(path: string, why: string): NutError {
  const word = shellWord(path);
  return new NutError("RUN_DAMAGED", `${path} is damaged: ${why}`, {
    hint: `mv ${word} ${shellWord(`${path}.damaged`)} && nexus resume ${basename(dirname(path))}`,
    data: { path },
  });
}

/** A folder cannot be read, and of a pipe or a device the reading may never end. What is not there is somebody else's word. */
export function assertFile(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile()) throw damagedFile(path, "it is not a file");
}

/** Nothing recorded, and yet a tree that was worked on: going on would begin anew and lose it. */
export function assertRecorded({ journal, main }: Pick<RunFolder, "journal" | "main">, isEmpty: boolean): void {
  if (isEmpty && existsSync(main)) throw damagedFile(journal, "nothing is recorded there, though work was done");
}
