// Who somebody is to git, asked where they work.
import { type GitWorld, ownGit } from "./git.js";
import type { Author } from "./store.js";

/** null when git does not know them. What day they say it is has nothing to do with it, and may be no date. */
export async function identityOf(
  repo: string,
  who: "AUTHOR" | "COMMITTER",
  { env, signal }: GitWorld,
): Promise<Author | null> {
  const undated = { ...env, GIT_AUTHOR_DATE: undefined, GIT_COMMITTER_DATE: undefined };
  const world = { env: undated, signal };
  const { code, out } = await ownGit(["var", `GIT_${who}_IDENT`], { cwd: repo, fine: [0, 1, 128] }, world);
  const found = /^(.+) <([^>]*)> \d+ [+-]\d+$/.exec(out.trim());
  return code === 0 && found !== null ? { name: found[1]!, email: found[2]! } : null;
}
