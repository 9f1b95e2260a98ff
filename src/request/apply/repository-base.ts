// The tree that work began with. Of a request on its own it is the request; of work in a repository it is a commit, which is
// looked up by its name in the repository at hand, so that nobody has to keep an untouched copy.
import { resolve } from "node:path";
import { treeDigest } from "../../acceptance/index.js";
import { type Finding, NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import type { Delivery, RepositoryBase } from "../../schema/delivery.js";
import { askRepository, findCommit, repositoryAt } from "../../trees/git/repository.js";
import { GitStore } from "../../trees/git/store.js";
import { isResult } from "../../trees/result-tree.js";

export interface BaseQuestion {
  /** What the delivery says of itself; null for work that is no delivery yet. */
  readonly delivery: Delivery | null;
  /** Folder of the request, and what was typed as --base. */
  readonly request: string;
  readonly typed: string | undefined;
  /** A folder of ours to check the commit out in. */
  readonly scratch: string;
  /** The command to type again, without --base. */
  readonly command: string;
}

export interface FoundBase {
  readonly folder: string;
  readonly findings: readonly Finding[];
  /** Where the recorded commit was found. */
  readonly repository: { readonly path: string; readonly commit: string } | null;
}

/** Throws BASE_UNKNOWN when a commit is recorded that cannot be found, and says which --base would do. */
export async function findBase(question: BaseQuestion, context: Context): Promise<FoundBase> {
  const { delivery, request, typed, scratch } = question;
  const folder = typed === undefined ? null : resolve(context.cwd, typed);
  const recorded = delivery?.base;
  if (recorded === undefined) return { folder: folder ?? request, findings: [], repository: null };
  const repo = await repositoryAt(folder ?? context.cwd, context);
  const commit = repo === null ? null : await findCommit(repo, recorded.commit, context);
  if (repo !== null && commit === recorded.commit) {
    const store = await GitStore.open({ repo, scratch }, context);
    const tree = `${scratch}/base`;
    await store.checkout(commit, tree);
    const findings = [...digestFindings(recorded, tree), ...(await historyFindings(repo, recorded, context))];
    return { folder: tree, findings, repository: { path: repo, commit } };
  }
  if (folder === null) throw unknown(recorded, question.command);
  return { folder, findings: digestFindings(recorded, folder), repository: null };
}

function digestFindings({ digest, commit }: RepositoryBase, folder: string): Finding[] {
  if (digest === undefined || digest === treeDigest(folder, isResult)) return [];
  const message = `the base is not the tree of commit ${commit.slice(0, 12)}, with which the work began`;
  return [{ code: "BASE_DIFFERS", severity: "error", path: "base.digest", message }];
}

/** A worker could name any commit, also one at which the task was easier. */
async function historyFindings(repo: string, { commit }: RepositoryBase, context: Context): Promise<Finding[]> {
  const args = ["merge-base", "--is-ancestor", commit, "HEAD"];
  const { code } = await askRepository(repo, args, { fine: [0, 1, 128] }, context);
  if (code === 0) return [];
  const message = `the work began with commit ${commit.slice(0, 12)}, which is not in the history of what is checked out here`;
  return [{ code: "BASE_ELSEWHERE", severity: "warning", path: "base.commit", message }];
}

function unknown({ commit, branch, remote }: RepositoryBase, command: string): NutError {
  const where = [branch === undefined ? [] : [`branch ${branch}`], remote === undefined ? [] : [`of ${remote}`]].flat();
  const named = where.length === 0 ? "" : ` (${where.join(" ")})`;
  const message = `the work began with commit ${commit}${named}, which is not in a repository here`;
  const clone = remote === undefined ? "<repository>" : shellWord(remote);
  return new NutError("BASE_UNKNOWN", message, {
    hint: `git clone ${clone} base && ${command} --base base (or run it inside a clone that has that commit)`,
    data: { commit, ...(branch === undefined ? {} : { branch }), ...(remote === undefined ? {} : { remote }) },
  });
}
