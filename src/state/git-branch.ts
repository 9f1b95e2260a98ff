// Which branch a project is on, read from git's own files: starting git costs more than everything else a tool does.
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** What a cycle is filed under when there is no git to ask. */
export const NO_BRANCH = "unknown";

/** The branch checked out at `root`; `HEAD` when it is detached, `unknown` without git. Never throws. */
export function currentBranch(root: string): string {
  const folder = gitFolder(root);
  if (folder === null) return NO_BRANCH;
  const head = readText(join(folder, "HEAD"));
  if (head === null || head === "") return NO_BRANCH;
  return head.startsWith("ref: refs/heads/") ? head.slice("ref: refs/heads/".length) : "HEAD";
}

/** The git folder of the nearest work tree at or above `start`; a linked work tree has a `.git` file naming it. */
function gitFolder(start: string): string | null {
  for (let at = start; ; at = dirname(at)) {
    const dotGit = join(at, ".git");
    const kind = statSync(dotGit, { throwIfNoEntry: false });
    if (kind?.isDirectory()) return dotGit;
    if (kind?.isFile()) {
      const target = readText(dotGit)?.match(/^gitdir: (.+)$/m)?.[1];
      return target === undefined ? null : resolve(at, target);
    }
    if (dirname(at) === at) return null;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}
