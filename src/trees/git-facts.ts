// What a repository says besides its files: where HEAD is, refs, configuration, hooks. An agent that may not edit may not
// change these either, and nobody may change configuration or hooks, since those run later with the person's rights.
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface GitFacts {
  /** HEAD, refs and stash: moved by an honest commit. */
  readonly refs: string;
  /** Configuration, hooks, attributes: obeyed by git itself. */
  readonly trusted: string;
}

/** null when the folder is no repository of its own. */
export function gitFacts(folder: string): GitFacts | null {
  const git = join(folder, ".git");
  if (lstatSync(git, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  return {
    refs: digest(git, ["HEAD", "packed-refs", "refs"]),
    trusted: digest(git, ["config", "config.worktree", "hooks", "info", "objects/info/alternates", "modules"]),
  };
}

function digest(root: string, names: readonly string[]): string {
  const hash = createHash("sha256");
  const visit = (path: string): void => {
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stats === undefined) return;
    hash.update(`${path}\0${stats.mode}\0`);
    if (stats.isDirectory()) for (const name of readdirSync(join(root, path)).sort()) visit(`${path}/${name}`);
    else if (stats.isFile()) hash.update(readFileSync(join(root, path)));
  };
  for (const name of names) visit(name);
  return hash.digest("hex");
}
