// The files a delivery's work began with, when it was done in a repository and that commit is in the one the viewer was started
// in. The request does not hold them.

import { type GitWorld, rows } from "../../trees/git/git.js";
import { askRepository, findCommit, repositoryAt } from "../../trees/git/repository.js";
import { type Loose, line, object } from "./safe-text.js";

export interface BaseFiles {
  /** Bytes of each file, by path. */
  readonly sizes: ReadonlyMap<string, number>;
  /** null when it is no text. */
  text(path: string): Promise<string | null>;
}

/** null when the delivery names no commit, or nobody here has it. */
export async function baseFiles(delivery: object, cwd: string, world: GitWorld): Promise<BaseFiles | null> {
  const named = line(object((delivery as Loose).base).commit);
  if (!/^[0-9a-f]{40,64}$/.test(named)) return null;
  const repo = await repositoryAt(cwd, world);
  const commit = repo === null ? null : await findCommit(repo, named, world);
  if (repo === null || commit !== named) return null;
  const ask = async (args: readonly string[]) => (await askRepository(repo, args, {}, world)).out;
  const listed = rows(await ask(["ls-tree", "-r", "-l", "-z", "--full-tree", commit]));
  const files = listed.flatMap((row) => {
    const [, object, size, path] = /^\d+ blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(row) ?? [];
    return object === undefined ? [] : [[path!, { object, size: Number(size) }] as const];
  });
  const found = new Map(files);
  return {
    sizes: new Map(files.map(([path, { size }]) => [path, size])),
    text: async (path) => {
      const text = await ask(["cat-file", "blob", found.get(path)!.object]);
      return /[\0\uFFFD]/.test(text) ? null : text;
    },
  };
}
