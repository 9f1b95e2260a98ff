// A commit brought into a person's repository by git itself. Nothing is touched before everything that could refuse has
// been asked; what git leaves of a conflict is git's own state, and every way has one line that takes it back.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { NutError, shellWord } from "../../errors.js";
import { entryAt, foldersAbove, removeEmpty, removeInside } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { type GitAnswer, gitFailed, ownGit, rows } from "../../trees/git/git.js";
import type { ApplyMode } from "./apply-delivery.js";

export interface BringRequest {
  readonly repository: string;
  /** The work, as one commit on the commit it began with. */
  readonly commit: string;
  readonly mode: Exclude<ApplyMode, { kind: "patch" }>;
  readonly paths: readonly string[];
  readonly allowDirty: boolean;
}

export interface Brought {
  /** The commit that now holds the work; null when none does. */
  readonly commit: string | null;
  /** Files git could not merge, as its status names them. */
  readonly conflicts: readonly string[];
  /** The line that takes it back; null when nothing was changed. */
  readonly undo: string | null;
  /** All of it was there already. */
  readonly isThere: boolean;
}

export async function bringIn(request: BringRequest, context: Context): Promise<Brought> {
  const { mode } = request;
  if (mode.kind === "branch") return makeBranch(request, mode.name, context);
  await assertIdle(request, context);
  await assertClean(request, context);
  return mode.kind === "commit" ? pick(request, context) : stage(request, context);
}

/** Throws before anything is made: a name git does not take, or one that is taken. */
export async function assertNewBranch(repository: string, name: string, context: Context): Promise<void> {
  const form = await ownGit(["check-ref-format", "--branch", name], { cwd: repository, fine: [0, 1, 128] }, context);
  if (form.code !== 0 || form.out.trim() !== name) {
    throw new NutError("USAGE", `"${name}" is no name for a branch`, { hint: "name it such as --branch fix/slugs" });
  }
  const there = ["show-ref", "--verify", "--quiet", `refs/heads/${name}`];
  const { code } = await ownGit(there, { cwd: repository, fine: [0, 1] }, context);
  if (code !== 0) return;
  throw new NutError("REPOSITORY_FAILED", `there is a branch ${name} already`, {
    hint: `name another one: --branch ${shellWord(`${name}-2`)}`,
    data: { path: repository, branch: name },
  });
}

async function makeBranch({ repository, commit }: BringRequest, name: string, context: Context): Promise<Brought> {
  await assertNewBranch(repository, name, context);
  const never = "0".repeat(commit.length);
  const args = ["update-ref", "--create-reflog", "-m", "nutshell apply", `refs/heads/${name}`, commit, never];
  await ownGit(args, { cwd: repository }, context);
  return { commit, conflicts: [], undo: `${at(repository)} branch -D ${shellWord(name)}`, isThere: false };
}

const at = (repository: string): string => `git -C ${shellWord(repository)}`;

/** A merge, rebase or the like that waits for its end must not get our changes mixed in. */
async function assertIdle({ repository }: BringRequest, context: Context): Promise<void> {
  for (const name of ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"]) {
    const { out } = await ownGit(["rev-parse", "--git-path", name], { cwd: repository }, context);
    if (!existsSync(resolve(repository, out.replace(/\n$/, "")))) continue;
    throw new NutError("REPOSITORY_DIRTY", `${repository} is in the middle of something (${name})`, {
      hint: `finish or end it first: ${at(repository)} status; or take the work to a branch: --branch '<name>'`,
      data: { path: repository },
    });
  }
}

async function assertClean({ repository, paths, allowDirty }: BringRequest, context: Context): Promise<void> {
  const args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no"];
  const { out } = await ownGit(args, { cwd: repository }, context);
  const dirty = rows(out).map((row) => row.slice(3));
  const ours = new Set(paths);
  const inTheWay = allowDirty ? dirty.filter((path) => ours.has(path)) : dirty;
  if (inTheWay.length === 0) return;
  const more = inTheWay.length > 3 ? `, and ${inTheWay.length - 3} more` : "";
  const what = allowDirty ? "both you and the delivery changed" : "uncommitted changes in";
  throw new NutError("REPOSITORY_DIRTY", `${what} ${inTheWay.slice(0, 3).join(", ")}${more}`, {
    hint: allowDirty
      ? `commit them first, or take the work to a branch: --branch '<name>'`
      : `commit or stash them, or take the work to a branch: --branch '<name>' (or --allow-dirty, where only other files are changed)`,
    data: { path: repository, files: inTheWay },
  });
}

async function headOf(repository: string, context: Context): Promise<string> {
  return (await ownGit(["rev-parse", "--verify", "HEAD"], { cwd: repository }, context)).out.trim();
}

/** A commit on what is checked out. */
async function pick(request: BringRequest, context: Context): Promise<Brought> {
  const { repository, commit } = request;
  const before = await headOf(repository, context);
  const { answer, conflicts } = await cherryPick(request, ["--keep-redundant-commits", commit], context);
  const after = await headOf(repository, context);
  if (answer.code === 0) {
    const same = await ownGit(["diff", "--quiet", before, after], { cwd: repository, fine: [0, 1] }, context);
    if (same.code === 0) {
      await ownGit(["reset", "--quiet", "--keep", before], { cwd: repository }, context);
      return { commit: before, conflicts: [], undo: null, isThere: true };
    }
    return { commit: after, conflicts: [], undo: `${at(repository)} reset --keep ${before}`, isThere: false };
  }
  return { commit: null, conflicts, undo: `${at(repository)} cherry-pick --abort`, isThere: false };
}

/** The index and the files, and no commit. */
async function stage(request: BringRequest, context: Context): Promise<Brought> {
  const { repository, commit, paths, allowDirty } = request;
  const { conflicts } = await cherryPick(request, ["--no-commit", commit], context);
  const staged = await ownGit(["diff", "--cached", "--quiet", "HEAD"], { cwd: repository, fine: [0, 1] }, context);
  if (staged.code === 0 && conflicts.length === 0) return { commit: null, conflicts: [], undo: null, isThere: true };
  const only = paths.map(shellWord).join(" ");
  const undo = allowDirty
    ? `${at(repository)} restore --source=HEAD --staged --worktree -- ${only}`
    : `${at(repository)} reset --merge`;
  return { commit: null, conflicts, undo, isThere: false };
}

/**
 * Git's own way to bring a commit in. It ends well, in conflicts, or refused; then nothing of it is left, also where git
 * stopped in the middle: on a full disk, at a Ctrl-C.
 */
async function cherryPick(
  request: BringRequest,
  args: readonly string[],
  context: Context,
): Promise<{ answer: GitAnswer; conflicts: string[] }> {
  const { repository, paths } = request;
  const isFree = (path: string) => !isThere(repository, path);
  const before = {
    head: await headOf(repository, context),
    fresh: paths.filter(isFree),
    folders: [...foldersAbove(paths)].filter(isFree).sort().reverse(),
  };
  try {
    const answer = await ownGit(["cherry-pick", ...args], { cwd: repository, fine: [0, 1, 128] }, context);
    const conflicts = answer.code === 0 ? [] : await unmerged(repository, context);
    const isStuck = /unable to (?:write|create) |No space left|Disk quota|could not write/i.test(answer.error);
    if (answer.code === 0 || (conflicts.length > 0 && !isStuck)) return { answer, conflicts };
    throw isStuck ? stuck(repository, answer.error) : gitFailed(repository, answer.error);
  } catch (error) {
    await putBack(request, before, { ...context, signal: new AbortController().signal });
    throw error;
  }
}

function stuck(repository: string, said: string): NutError {
  const { message, data } = gitFailed(repository, said);
  return new NutError("DISK_FULL", `${message}; nothing was changed`, {
    hint: `df -h ${shellWord(repository)} shows the space there is; make some, then run the command again`,
    data,
  });
}

/** The files and the index as they were. What was not there goes first: it may be what fills the disk. */
async function putBack(
  { repository, paths, allowDirty }: BringRequest,
  { head, fresh, folders }: Before,
  context: Context,
): Promise<void> {
  const ask = async (args: readonly string[]) => rows((await ownGit(args, { cwd: repository }, context)).out);
  if ((await headOf(repository, context)) !== head) {
    await ownGit(["reset", "--quiet", "--keep", head], { cwd: repository }, context);
    return;
  }
  for (const path of fresh) if (isThere(repository, path)) removeInside(repository, path);
  await ownGit(["cherry-pick", "--quit"], { cwd: repository, fine: [0, 1, 128] }, context);
  const changed = await ask(["diff", "--name-only", "--no-renames", "-z", "HEAD", "--"]);
  // Where everything was clean before, all of it is ours; else only what the work names.
  const worked = new Set(paths);
  const ours = allowDirty ? changed.filter((path) => worked.has(path)) : changed;
  const known = new Set(await ask(["ls-tree", "-r", "-z", "--name-only", "HEAD"]));
  const stdin = (names: readonly string[]) => names.map((name) => `${name}\0`).join("");
  const from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  const literal = ["--literal-pathspecs"];
  const [back, added] = [ours.filter((path) => known.has(path)), ours.filter((path) => !known.has(path))];
  const options = (names: readonly string[]) => ({ cwd: repository, stdin: stdin(names) });
  if (added.length > 0)
    await ownGit([...literal, "rm", "-f", "-q", "--ignore-unmatch", ...from], options(added), context);
  if (back.length > 0)
    await ownGit([...literal, "restore", "--source=HEAD", "--staged", "--worktree", ...from], options(back), context);
  for (const folder of folders) removeEmpty(join(repository, folder));
}

const isThere = (repository: string, path: string): boolean => entryAt(join(repository, path)) !== undefined;

/** What was there before git was asked. */
interface Before {
  readonly head: string;
  /** Paths of the work where nothing lay. */
  readonly fresh: readonly string[];
  /** Folders on the way to them that were not there, the deepest first. */
  readonly folders: readonly string[];
}

async function unmerged(repository: string, context: Context): Promise<string[]> {
  const args = ["diff", "--name-only", "--diff-filter=U", "-z"];
  return rows((await ownGit(args, { cwd: repository }, context)).out);
}
