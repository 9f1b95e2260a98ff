// Work that lies in a delivery where its author found the files, as other tools leave it. Nobody rebuilds a tree from there, so
// honest work would come to nothing without a word.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Delivered } from "../../acceptance/index.js";
import type { Finding } from "../../errors.js";
import { entryAt } from "../../files/index.js";
import { ARTIFACTS, isResult, listTree } from "../../trees/result-tree.js";

export interface InPlaceQuestion {
  /** Folders of the delivery and of the request it answers. */
  readonly delivery: string;
  readonly request: string;
  readonly delivered: Delivered;
  /** What makes a delivery of it, to be pasted. */
  readonly command: string;
}

export function inPlaceFindings({ delivery, request, delivered, command }: InPlaceQuestion): Finding[] {
  const bare = (path: string) => (path.startsWith(`${ARTIFACTS}/`) ? path.slice(ARTIFACTS.length + 1) : path);
  const brought = new Set(
    [...delivered.created, ...delivered.modified, ...delivered.deleted]
      .map(bare)
      .filter((path) => isThere(join(delivery, ARTIFACTS, path)) || delivered.deleted.includes(path)),
  );
  // A file of files/ may be delivered by its path below it.
  const isBrought = (path: string) => brought.has(path) || brought.has(path.replace(/^files\//, ""));
  const asked = listTree(request, isResult);
  const changed = [...listTree(delivery, isWork)].filter(
    ([path, { size }]) =>
      !isBrought(path) &&
      (asked.get(path) === undefined
        ? path.startsWith("files/")
        : asked.get(path)!.size !== size || !isSame(join(delivery, path), join(request, path))),
  );
  if (changed.length === 0) return [];
  const named = changed.map(([path]) => path);
  const more = named.length > 3 ? `, and ${named.length - 3} more` : "";
  const message = `changed in place, where nobody looks for work: ${named.slice(0, 3).join(", ")}${more}; make a delivery of it: ${command}`;
  return [{ code: "WORK_NOT_DELIVERED", severity: "warning", path: named[0]!, message, fix: command }];
}

/** What could be work, and is no part of how a delivery is made or checked. */
const isWork = (path: string): boolean =>
  isResult(path) &&
  !/^(?:nutshell\.json$|\.nutignore$|(?:delivery|tests|context|credentials|quarantine)(?:\/|$))/.test(path);

const isThere = (path: string): boolean => entryAt(path)?.isFile() === true;

const isSame = (one: string, other: string): boolean =>
  isThere(one) && isThere(other) ? readFileSync(one).equals(readFileSync(other)) : isThere(one) === isThere(other);
