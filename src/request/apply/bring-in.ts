// A commit brought into a person's repository by git itself. Nothing is touched before everything that could refuse has
// been asked; what git leaves of a conflict is git's own state, and every way has one line that takes it back.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { gitFailed, ownGit, rows } from "../../trees/git/git.js";
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
      hint: `finish or end it first: ${at(repository)} status; or take the work to a branch: --branch <name>`,
      data: { path: repository },
    });
  }
}

async function assertClean({ repository, paths, allowDirty }: BringRequest, context: Context): Promise<void> {
  const args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no"];
  const { out } = await ownGit(args, { cwd: repository }, context);
  const dirty = rows(out).map((row) => row.slice(3));
  const inTheWay = allowDirty ? dirty.filter((path) => paths.includes(path)) : dirty;
  if (inTheWay.length === 0) return;
  const more = inTheWay.length > 3 ? `, and ${inTheWay.length - 3} more` : "";
  const what = allowDirty ? "both you and the delivery changed" : "uncommitted changes in";
  throw new NutError("REPOSITORY_DIRTY", `${what} ${inTheWay.slice(0, 3).join(", ")}${more}`, {
    hint: allowDirty
      ? `commit them first, or take the work to a branch: --branch <name>`
      : `commit or stash them, or take the work to a branch: --branch <name> (or --allow-dirty, where only other files are changed)`,
    data: { path: repository, files: inTheWay },
  });
}

async function headOf(repository: string, context: Context): Promise<string> {
  return (await ownGit(["rev-parse", "--verify", "HEAD"], { cwd: repository }, context)).out.trim();
}

/** A commit on what is checked out. */
async function pick({ repository, commit }: BringRequest, context: Context): Promise<Brought> {
  const before = await headOf(repository, context);
  const args = ["cherry-pick", "--keep-redundant-commits", commit];
  const answer = await ownGit(args, { cwd: repository, fine: [0, 1, 128] }, context);
  const after = await headOf(repository, context);
  if (answer.code === 0) {
    const same = await ownGit(["diff", "--quiet", before, after], { cwd: repository, fine: [0, 1] }, context);
    if (same.code === 0) {
      await ownGit(["reset", "--quiet", "--keep", before], { cwd: repository }, context);
      return { commit: before, conflicts: [], undo: null, isThere: true };
    }
    return { commit: after, conflicts: [], undo: `${at(repository)} reset --keep ${before}`, isThere: false };
  }
  const conflicts = await unmerged(repository, context);
  // Refused before anything was touched, such as a file in the way.
  if (conflicts.length === 0) throw gitFailed(repository, answer.error);
  return { commit: null, conflicts, undo: `${at(repository)} cherry-pick --abort`, isThere: false };
}

/** The index and the files, and no commit. */
async function stage({ repository, commit, paths, allowDirty }: BringRequest, context: Context): Promise<Brought> {
  const answer = await ownGit(["cherry-pick", "--no-commit", commit], { cwd: repository, fine: [0, 1, 128] }, context);
  const conflicts = answer.code === 0 ? [] : await unmerged(repository, context);
  if (answer.code !== 0 && conflicts.length === 0) throw gitFailed(repository, answer.error);
  const staged = await ownGit(["diff", "--cached", "--quiet", "HEAD"], { cwd: repository, fine: [0, 1] }, context);
  if (staged.code === 0 && conflicts.length === 0) return { commit: null, conflicts: [], undo: null, isThere: true };
  const only = paths.map(shellWord).join(" ");
  const undo = allowDirty
    ? `${at(repository)} restore --source=HEAD --staged --worktree -- ${only}`
    : `${at(repository)} reset --merge`;
  return { commit: null, conflicts, undo, isThere: false };
}

async function unmerged(repository: string, context: Context): Promise<string[]> {
  const args = ["diff", "--name-only", "--diff-filter=U", "-z"];
  return rows((await ownGit(args, { cwd: repository }, context)).out);
}
