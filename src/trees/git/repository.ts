// What a repository says of where work began: its commit, branch and remote. Credentials in a remote's address stay here.
import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { NutError, shellWord } from "../../errors.js";
import { type GitAnswer, type GitOptions, type GitWorld, ownGit, rows } from "./git.js";

export interface RepositoryFacts {
  readonly commit: string;
  /** Absent when HEAD is on no branch. */
  readonly branch?: string;
  /** Absent when there is none that somebody else could reach. */
  readonly remote?: string;
}

/** Another user's repository is refused by git unless it is named; reading it is what we were asked to do. */
export const asSafe = (repo: string): string[] => [
  "-c",
  `safe.directory=${repo}`,
  "-c",
  `safe.directory=${join(repo, ".git")}`,
];

/** Whether a repository is another user's. Of one whose owner is not seen here git decides, and refuses it. */
export function isOthers(repo: string): boolean {
  const me = process.geteuid?.();
  const owners = [repo, join(repo, ".git")].map((path) => lstatSync(path, { throwIfNoEntry: false })?.uid);
  return me !== undefined && owners.some((owner) => owner !== undefined && owner !== me);
}

/**
 * Asks about commits and settings, in another user's repository too. Git would start what settings name (a watcher, whatever fetches
 * missing objects), which is why it refuses to look there; here nothing of another user's is started. What reads files, and would run
 * filters, is not asked this way.
 */
export function askRepository(
  repo: string,
  args: readonly string[],
  options: Omit<GitOptions, "cwd">,
  world: GitWorld,
): Promise<GitAnswer> {
  if (!isOthers(repo)) return ownGit(args, { ...options, cwd: repo }, world);
  const env = { ...world.env, GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" };
  const careful = [...asSafe(repo), "-c", "core.fsmonitor=false"];
  return ownGit([...careful, ...args], { ...options, cwd: repo }, { ...world, env });
}

/** The top of the repository a folder lies in; null when it lies in none. */
export async function repositoryAt(folder: string, world: GitWorld): Promise<string | null> {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  const args = ["rev-parse", "--show-toplevel"];
  const { code, out } = await askRepository(folder, args, { fine: [0, 128] }, world);
  return code === 0 && out.trim() !== "" ? out.replace(/\n$/, "") : null;
}

/** The full name of a commit, or null when the repository does not have it. */
export async function findCommit(repo: string, name: string, world: GitWorld): Promise<string | null> {
  if (name === "" || name.startsWith("-")) return null;
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
  const { code, out } = await askRepository(repo, args, { fine: [0, 1, 128] }, world);
  return code === 0 ? out.trim() : null;
}

/** What git says when it has not all it needs. */
const LACKING = /\b(?:objects?|blob|sha1 file)\b/;

/** The error, or a plainer one when a repository left objects with the one it was cloned from and they were asked for here. */
export async function tellPartial(error: unknown, repo: string, world: GitWorld): Promise<unknown> {
  if (!(error instanceof NutError) || error.code !== "REPOSITORY_FAILED" || !LACKING.test(error.message)) return error;
  const args = ["config", "--get-regexp", "^remote\\..*\\.promisor$", "true"];
  if ((await askRepository(repo, args, { fine: [0, 1] }, world)).code !== 0) return error;
  return new NutError("REPOSITORY_FAILED", `${repo}: a partial clone, and it lacks files of the commit`, {
    hint: `git -C ${shellWord(repo)} fetch --refetch --no-filter`,
    data: { path: repo },
  });
}

/** Where objects are, in a linked work tree too. */
export async function objectsOf(repo: string, world: GitWorld): Promise<{ folder: string; format: string }> {
  const ask = async (args: readonly string[]) =>
    (await askRepository(repo, ["rev-parse", ...args], {}, world)).out.replace(/\n$/, "");
  return { folder: resolve(repo, await ask(["--git-path", "objects"])), format: await ask(["--show-object-format"]) };
}

/** The facts of HEAD; null when nothing was committed yet. */
export async function repositoryFacts(repo: string, world: GitWorld): Promise<RepositoryFacts | null> {
  const commit = await findCommit(repo, "HEAD", world);
  if (commit === null) return null;
  const ask = async (args: readonly string[]) => {
    const { code, out } = await askRepository(repo, args, { fine: [0, 1, 2, 128] }, world);
    return code === 0 && out.trim() !== "" ? out.trim() : undefined;
  };
  const branch = await ask(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  const upstream = branch === undefined ? undefined : await ask(["config", "--get", `branch.${branch}.remote`]);
  const address = await ask(["config", "--get", `remote.${upstream ?? "origin"}.url`]);
  const remote = address === undefined ? null : publicRemote(address);
  return { commit, ...(branch === undefined ? {} : { branch }), ...(remote === null ? {} : { remote }) };
}

/** An address as it may be handed on: no password, no token, no folder of this machine. */
export function publicRemote(address: string): string | null {
  const short = /^(?:([\w.-]+)@)?([\w.-]+):(?!\/\/)(?!\\)([^\s]+)$/.exec(address);
  if (short !== null)
    return short[2]!.length === 1 ? null : `${short[1] === undefined ? "" : `${short[1]}@`}${short[2]}:${short[3]}`;
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  if (!["https:", "http:", "ssh:", "git:"].includes(url.protocol)) return null;
  url.password = "";
  // With ssh the name is how the server is asked, as in git@; elsewhere it may be the token itself.
  if (url.protocol !== "ssh:") url.username = "";
  url.search = "";
  url.hash = "";
  return url.href;
}

/** Tracked files that differ from the last commit, and new ones git would show; nothing of ours. Refused in another user's. */
export async function uncommitted(repo: string, ours: readonly string[], world: GitWorld): Promise<string[]> {
  // Whoever asks does more at once, and threads would take the processor from it.
  const alone = ["-c", "core.preloadIndex=false"];
  const args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal"];
  // Nothing of a submodule is in the trees we make, so what programs left lying in one is no change either.
  const { out } = await ownGit([...alone, ...args, "--ignore-submodules=untracked"], { cwd: repo }, world);
  const found = rows(out).map((row) => ({ state: row.slice(0, 2), path: row.slice(3) }));
  const isOurs = (path: string) => /^\.nexus(?:\/|$)/.test(path) || ours.includes(path);
  return found.filter(({ state, path }) => state !== "??" || !isOurs(path)).map(({ path }) => path);
}

/** Folders of a commit that hold another repository, whose files are in no tree of this one. */
export async function submodules(repo: string, commit: string, world: GitWorld): Promise<string[]> {
  const { out } = await askRepository(repo, ["ls-tree", "-r", "-z", commit], {}, world);
  // Few of many rows, so the list is not taken apart.
  return [...out.matchAll(/(?<=^|\0)160000 [^\t\0]*\t([^\0]*)/g)].map(([, path]) => path!);
}

/** Submodules that are at another commit than recorded, or hold changes of their own to files git knows. */
export async function changedSubmodules(repo: string, commit: string, world: GitWorld): Promise<string[]> {
  const known = await submodules(repo, commit, world);
  if (known.length === 0) return [];
  const args = ["diff", "--name-only", "-z", "--ignore-submodules=untracked", commit, "--", ...known];
  return rows((await ownGit(args, { cwd: repo }, world)).out);
}
