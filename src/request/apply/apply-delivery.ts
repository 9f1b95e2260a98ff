// Bringing a delivery's work into a repository. It becomes one commit on the commit it began with, made from the artifacts
// in a private place; only then is git asked to bring that commit in, as it would bring in anybody's: three-way, all or
// nothing, conflicts in its own way.
import { join } from "node:path";
import { type Change, compareTrees, deliverable, rebuildTree } from "../../acceptance/index.js";
import { isObeyed } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import type { Delivery } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import { ownGit, rows } from "../../trees/git/git.js";
import { identityOf } from "../../trees/git/identity.js";
import { some, unpointed } from "../../trees/git/lfs.js";
import { findCommit, repositoryAt } from "../../trees/git/repository.js";
import { type Author, GitStore } from "../../trees/git/store.js";
import { isResult, treeDigest } from "../../trees/result-tree.js";
import { type Brought, bringIn } from "./bring-in.js";
import { deliveredPaths } from "./delivered.js";
import { patchFindings, workCommit, workPatch } from "./delivery-patch.js";

/** How it is brought in. */
export type ApplyMode =
  | { readonly kind: "branch"; readonly name: string }
  | { readonly kind: "commit" }
  | { readonly kind: "index" }
  | { readonly kind: "patch" };

export interface ApplyRequest {
  /** As it was typed, for the sentences. */
  readonly name: string;
  /** The unpacked delivery. */
  readonly dir: string;
  readonly manifest: Manifest;
  readonly delivery: Delivery;
  readonly repo: string;
  readonly mode: ApplyMode;
  /** Another commit to take as the one it began with. */
  readonly base?: string | undefined;
  /** Paths that may come along although programs obey them. */
  readonly trust: readonly string[];
  readonly allowDirty: boolean;
  /** A folder of ours. */
  readonly work: string;
}

export interface Applied extends Brought {
  readonly repository: string;
  readonly base: string;
  readonly changes: readonly Change[];
  /** The same work as a mail; only when it was asked for. */
  readonly patch: Buffer | null;
  /** What no commit can hold. */
  readonly left: readonly string[];
}

export async function applyDelivery(request: ApplyRequest, context: Context): Promise<Applied> {
  const { dir, delivery, manifest, mode, work } = request;
  const repository = await repositoryAt(request.repo, context);
  if (repository === null) throw noRepository(request.repo);
  const base = await baseCommit(request, repository, context);
  const store = await GitStore.open({ repo: repository, scratch: work, keep: mode.kind !== "patch" }, context);
  const folder = join(work, "base");
  await store.checkout(base, folder);
  assertSameTree(request, base, folder);
  const result = join(work, "result");
  rebuildTree(folder, dir, deliveredPaths(delivery), result);
  const changes = deliverable(compareTrees(folder, result));
  assertNamed(changes, delivery);
  await assertTrusted(request, changes, repository, context);
  const files = changes.filter((change) => change.folder !== true);
  if (files.length === 0) throw nothingIn(request.name);
  await assertSamePatch({ ...request, repository, base, folder, result }, context);
  await sayUnpointed(repository, files, result, context);
  const title = manifest.task?.title;
  const patch = { store, base: { commit: base, folder }, result, changes, delivery, title, at: context.now() };
  const left = changes.flatMap((change) => (change.folder === true ? [change.path] : []));
  const common = { repository, base, changes: files, left };
  if (mode.kind === "patch") {
    return { ...common, patch: await workPatch(patch), commit: null, conflicts: [], undo: null, isThere: false };
  }
  const committer = mode.kind === "index" ? {} : { committer: await committerOf(repository, context) };
  const commit = await workCommit({ ...patch, ...committer });
  const paths = files.map(({ path }) => path);
  const brought = await bringIn({ repository, commit, mode, paths, allowDirty: request.allowDirty }, context);
  return { ...common, patch: null, ...brought };
}

const noRepository = (path: string) =>
  new NutError("REPOSITORY_FAILED", `${path} is in no git repository with a work tree`, {
    hint: "name the repository: --repo '<dir>'",
    data: { path },
  });

const nothingIn = (name: string) =>
  new NutError("WORK_UNCHANGED", `${name} changes no file of that commit`, {
    hint: `nutshell inspect ${shellWord(name)}`,
  });

/** As it was asked for, for a line that asks again. */
function modeWords(mode: ApplyMode): string {
  if (mode.kind === "branch") return ` --branch ${shellWord(mode.name)}`;
  return mode.kind === "patch" ? " --patch -" : ` --${mode.kind}`;
}

/** Throws BASE_UNKNOWN: without the commit it began with there is nothing to merge three-way. */
async function baseCommit(request: ApplyRequest, repo: string, context: Context): Promise<string> {
  const { base, delivery } = request;
  const wanted = base ?? delivery.base?.commit;
  const again = `nutshell apply ${shellWord(request.name)} --repo ${shellWord(repo)}${modeWords(request.mode)}`;
  if (wanted === undefined) {
    throw new NutError("BASE_UNKNOWN", "the delivery does not say with which commit its work began", {
      hint: `${again} --base HEAD (or the commit that was handed out)`,
    });
  }
  const found = await findCommit(repo, wanted, context);
  if (found !== null) return found;
  const { remote, branch } = delivery.base ?? {};
  const fetch =
    base === undefined && remote !== undefined
      ? `git -C ${shellWord(repo)} fetch ${shellWord(remote)} ${shellWord(branch ?? wanted)} && ${again}`
      : `${again} --base '<commit>'; git -C ${shellWord(repo)} log --oneline shows what there is`;
  throw new NutError("BASE_UNKNOWN", `commit ${wanted} is not in ${repo}`, {
    hint: fetch,
    data: { commit: wanted, path: repo },
  });
}

/** The record of the base must be true, or the delivery was checked on another tree than this one. */
function assertSameTree({ delivery, base, name }: ApplyRequest, commit: string, folder: string): void {
  const digest = delivery.base?.digest;
  if (base !== undefined || digest === undefined || digest === treeDigest(folder, isResult)) return;
  throw new NutError("BUNDLE_MISMATCH", `${name}: its base is not the tree of commit ${commit.slice(0, 12)}`, {
    hint: `nutshell verify ${shellWord(name)} --request '<request>' --rerun`,
  });
}

/** What comes along must be listed: a reader of the list is not to be surprised. */
function assertNamed(changes: readonly Change[], delivery: Delivery): void {
  const { created, modified, deleted, links = [], folders = [], exact } = deliveredPaths(delivery);
  if (exact !== true) return;
  const listed = [...created, ...modified, ...deleted, ...folders, ...links.map(({ path }) => path)];
  const names = new Set(listed.map((path) => path.replace(/^delivery\/artifacts\//, "")));
  const silent = changes.find(({ path }) => !names.has(path));
  if (silent === undefined) return;
  throw new NutError("BUNDLE_UNSAFE_ENTRY", `the delivery changes ${silent.path} without naming it`, {
    data: { path: silent.path },
  });
}

/** Read by git itself, in whichever folder they lie: they name programs of the person's own settings. */
const GIT_OBEYS = /(?:^|\/)\.(?:gitattributes|gitmodules|lfsconfig)$/i;

/** Throws APPLY_UNTRUSTED for what a program would obey merely because it lies there. */
async function assertTrusted(
  { name, trust }: ApplyRequest,
  changes: readonly Change[],
  repo: string,
  context: Context,
): Promise<void> {
  const hooks = await hooksFolder(repo, context);
  const isTrusted = (path: string) =>
    trust.some((one) => path === one || path.startsWith(`${one.replace(/\/+$/, "")}/`));
  const obeyed = changes
    .filter(({ kind }) => kind !== "deleted")
    .map(({ path }) => path)
    .filter((path) => isObeyed(path) || GIT_OBEYS.test(path) || (hooks !== null && `${path}/`.startsWith(hooks)))
    .filter((path) => !isTrusted(path));
  if (obeyed.length === 0) return;
  const more = obeyed.length > 5 ? `, and ${obeyed.length - 5} more` : "";
  throw new NutError("APPLY_UNTRUSTED", `programs would obey what it brings: ${obeyed.slice(0, 5).join(", ")}${more}`, {
    hint: `read it (nutshell serve ${shellWord(name)}), then: nutshell apply ${shellWord(name)} --trust ${shellWord(obeyed[0]!)}`,
    data: { paths: obeyed },
  });
}

/** The folder of hooks, when it lies in the tree, with a slash at its end. */
async function hooksFolder(repo: string, context: Context): Promise<string | null> {
  const { code, out } = await ownGit(["config", "--get-all", "core.hooksPath"], { cwd: repo, fine: [0, 1] }, context);
  // The last one is ours, which turns hooks off.
  const own = code === 0 ? rows(out, "\n").slice(0, -1).at(-1) : undefined;
  if (own === undefined || own.startsWith("~")) return null;
  const inside = own.startsWith("/") ? own.replace(`${repo}/`, "") : own.replace(/^\.\//, "");
  return inside.startsWith("/") || inside.startsWith("..") ? null : `${inside.replace(/\/+$/, "")}/`;
}

/** The work holds files as they are; only git-lfs makes the pointers a repository wants in their place. */
async function sayUnpointed(repo: string, changes: readonly Change[], result: string, context: Context): Promise<void> {
  const paths = changes.flatMap(({ path, kind, link }) => (kind === "deleted" || link === true ? [] : [path]));
  const found = await unpointed(repo, paths, (path) => join(result, path), context);
  if (found.length === 0) return;
  const again = `git add --renormalize ${found.map(shellWord).join(" ")}`;
  const message = `kept by Git LFS in this repository, and brought in as themselves: ${some(found)}; once they are checked out, ${again} makes pointers of them`;
  context.progress({ type: "warning", message });
}

interface PatchSides extends ApplyRequest {
  readonly repository: string;
  readonly folder: string;
  readonly result: string;
  readonly base: string;
}

/** Somebody may have looked at the patch alone. */
async function assertSamePatch(sides: PatchSides, context: Context): Promise<void> {
  const { name, delivery, dir, folder, result, repository, base, work } = sides;
  // With another base than the recorded one, the patch need not fit.
  if (delivery.base?.commit !== base) return;
  const found = { folder, repository: { path: repository, commit: base } };
  const wrong = await patchFindings({ delivery, dir, base: found, result, scratch: join(work, "patch") }, context);
  const first = wrong.find(({ severity }) => severity === "error");
  if (first === undefined) return;
  throw new NutError("PATCH_DIFFERS", `${name}: ${first.message}`, {
    hint: `do not apply either before the sender explains it: nutshell verify ${shellWord(name)} --request '<request>'`,
  });
}

async function committerOf(repo: string, context: Context): Promise<Author> {
  const known = await identityOf(repo, "COMMITTER", context);
  if (known !== null) return known;
  throw new NutError("REPOSITORY_FAILED", "git does not know who you are, and a commit names who made it", {
    hint: `git config --global user.name "your name" && git config --global user.email you@example.org`,
  });
}
