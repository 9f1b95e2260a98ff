// Which branch a project is on, read from git's own files: starting git costs more than everything else a tool does.
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { foldersUp, isOurs } from "./find-root.js";
import type { Env } from "./layout.js";

/** What a cycle is filed under when there is no git to ask. */
export const NO_BRANCH = "unknown";

/** The branch checked out at `root`; `HEAD` when it is detached, `unknown` without git. Never throws. */
export function currentBranch(root: string, env: Env = {}): string {
  const folder = gitFolder(root, env);
  if (folder === null) return NO_BRANCH;
  const head = readText(join(folder, "HEAD"));
  if (head === null || head === "") return NO_BRANCH;
  return head.startsWith("ref: refs/heads/") ? head.slice("ref: refs/heads/".length) : "HEAD";
}

/** The git folder of the nearest work tree at or above `start`; a linked work tree has a `.git` file naming it. */
function gitFolder(start: string, env: Env): string | null {
  for (const at of foldersUp(start, env)) {
    const dotGit = join(at, ".git");
    const entry = statSync(dotGit, { throwIfNoEntry: false });
    if (entry === undefined || (at !== start && !isOurs(entry.uid))) continue;
    if (entry.isDirectory()) return dotGit;
    if (entry.isFile()) {
      const target = readText(dotGit)?.match(/^gitdir: (.+)$/m)?.[1];
      return target === undefined ? null : resolve(at, target);
    }
  }
  return null;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}
