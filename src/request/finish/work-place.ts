// How a folder somebody worked in stands to the request: it is the unpacked request, a copy of it or of one of its folders,
// or a repository beside it. Found out by comparing names, said aloud, and settled by --at or --base when it is not plain.
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { readManifest } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import type { Manifest } from "../../schema/manifest.js";
import { ownGit, rows } from "../../trees/git/git.js";
import {
  findCommit,
  type RepositoryFacts,
  repositoryAt,
  repositoryFacts,
  uncommitted,
} from "../../trees/git/repository.js";
import { GitStore } from "../../trees/git/store.js";
import { isResult, listTree } from "../../trees/result-tree.js";
import type { OpenedFolder } from "../open/work-folder.js";

export interface WorkPlace {
  /** The folder that is compared: the one that was named, or the top of its repository. */
  readonly root: string;
  /** The untouched tree. */
  readonly base: string;
  /** Where in that tree the folder stands: `files/`, or nothing for its root. */
  readonly prefix: string;
  /** The folder's own manifest, when it is an unpacked request. */
  readonly manifest: Manifest | null;
  readonly repository: (RepositoryFacts & { readonly path: string }) | null;
}

export interface WorkPlaceQuestion {
  readonly dir: string;
  readonly request: OpenedFolder;
  readonly at?: string | undefined;
  readonly base?: string | undefined;
  readonly scratch: string;
}

export async function findWorkPlace(question: WorkPlaceQuestion, context: Context): Promise<WorkPlace> {
  const { dir, request, at, base } = question;
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new NutError("FILE_NOT_FOUND", `${dir}: no such folder`, { data: { path: dir } });
  }
  if (at !== undefined && base !== undefined) {
    throw new NutError("USAGE", "--at is for a copy of the request's files, --base for a repository", {
      hint: "nutshell finish '<dir>' --request '<request>' --at files",
    });
  }
  const ofRequest = (prefix: string, manifest: Manifest | null): WorkPlace => ({
    root: dir,
    base: request.dir,
    prefix,
    manifest,
    repository: null,
  });
  if (base !== undefined) return inRepository(question, await repositoryOf(dir, context), context);
  if (at !== undefined) return ofRequest(placeOf(at, request.dir), null);
  const manifest = ownManifest(dir);
  if (manifest !== null) {
    assertSameRequest(manifest, question);
    return ofRequest("", manifest);
  }
  const names = [...listTree(request.dir, isResult).keys()].filter((path) => path !== "nutshell.json");
  const hits = (prefix: string) =>
    names.filter((path) => path.startsWith(prefix) && existsSync(join(dir, path.slice(prefix.length)))).length;
  const [atRoot, inFiles] = [hits(""), hits("files/")];
  const repo = await repositoryAt(dir, context);
  const isTop = repo !== null && realpathSync(repo) === realpathSync(dir);
  if (isTop && (await isSomethingElse(repo, names, Math.max(atRoot, inFiles), context))) {
    return inRepository(question, repo, context);
  }
  const small =
    isTop && (await isSmallProject(repo, names, atRoot, context)) ? await begun(question, repo, context) : null;
  if (small !== null) return small;
  if (atRoot > 0 && atRoot >= inFiles) return ofRequest("", null);
  if (inFiles > 0) return ofRequest("files/", null);
  if (!names.some((path) => path.startsWith("files/"))) return ofRequest("", null);
  throw unmatched(question);
}

/** A folder of the request, with a slash at its end; nothing for its root. */
function placeOf(at: string, request: string): string {
  const place = at.replace(/^\.\//, "").replace(/\/+$/, "");
  if (place === "" || place === ".") return "";
  const parts = place.split("/");
  if (
    !parts.some((part) => part === "" || part === "..") &&
    lstatSync(join(request, place), { throwIfNoEntry: false })?.isDirectory()
  ) {
    return `${place}/`;
  }
  throw new NutError("USAGE", `the request has no folder "${at}"`, {
    hint: "name one of its folders, or . for its root",
  });
}

function ownManifest(dir: string): Manifest | null {
  return existsSync(join(dir, "nutshell.json")) ? readManifest(dir) : null;
}

function assertSameRequest(manifest: Manifest, { dir, request }: WorkPlaceQuestion): void {
  const { id } = request.manifest;
  const answered = manifest.bundle_type === "delivery" ? (manifest.request_id ?? manifest.parent_id) : manifest.id;
  if (answered === undefined || answered === id) return;
  throw new NutError("WORK_UNMATCHED", `${dir} belongs to another request: ${answered}, not ${id}`, {
    hint: "name the request it was unpacked from: --request '<request>'",
    data: { path: dir },
  });
}

const unmatched = ({ dir }: WorkPlaceQuestion) =>
  new NutError("WORK_UNMATCHED", `no file in ${dir} has the name of one of the request's: it cannot be compared`, {
    hint: "name the folder you worked in; --at files says that it is a copy of the request's files/, --at . of its root",
    data: { path: dir },
  });

async function repositoryOf(dir: string, context: Context): Promise<string> {
  const repo = await repositoryAt(dir, context);
  if (repo !== null) return repo;
  throw new NutError("USAGE", `--base names a commit, and ${dir} is in no git repository`, {
    hint: "leave --base out: the work is compared with the request",
  });
}

/** A repository with more files of its own than of the request's is work beside the request, not a copy of it. */
async function isSomethingElse(
  repo: string,
  names: readonly string[],
  hits: number,
  context: Context,
): Promise<boolean> {
  if ((await findCommit(repo, "HEAD", context)) === null) return false;
  const tracked = rows((await ownGit(["ls-tree", "-r", "-z", "--name-only", "HEAD"], { cwd: repo }, context)).out);
  const known = new Set(names.flatMap((path) => [path, path.replace(/^files\//, "")]));
  return tracked.filter((path) => !known.has(path)).length > hits || hits === 0;
}

/** A few files that are all of the request's files/ are a project too when others know it, or nothing else of the request is in it. */
async function isSmallProject(
  repo: string,
  names: readonly string[],
  atRoot: number,
  context: Context,
): Promise<boolean> {
  if ((await findCommit(repo, "HEAD", context)) === null) return false;
  if ((await ownGit(["remote"], { cwd: repo }, context)).out.trim() !== "") return true;
  const others = names.filter((path) => !path.startsWith("files/"));
  return atRoot > 0 && !others.some((path) => existsSync(join(repo, path)));
}

/** null when it does not show where the work began: then it is compared with the request. */
async function begun(question: WorkPlaceQuestion, repo: string, context: Context): Promise<WorkPlace | null> {
  try {
    return await inRepository(question, repo, context);
  } catch (error) {
    if (error instanceof NutError && error.code === "BASE_UNKNOWN") return null;
    throw error;
  }
}

async function inRepository(question: WorkPlaceQuestion, repo: string, context: Context): Promise<WorkPlace> {
  const { base, scratch } = question;
  const facts = await repositoryFacts(repo, context);
  const commit = base === undefined ? await beginning(question, repo, context) : await findCommit(repo, base, context);
  if (facts === null || commit === null) {
    throw new NutError("BASE_UNKNOWN", `commit ${base ?? "HEAD"} is not in ${repo}`, {
      hint: `git -C ${shellWord(repo)} log --oneline shows what there is`,
      data: { path: repo },
    });
  }
  const store = await GitStore.open({ repo, scratch }, context);
  const tree = join(scratch, "base");
  await store.checkout(commit, tree);
  return { root: repo, base: tree, prefix: "", manifest: null, repository: { ...facts, commit, path: repo } };
}

/** Where a branch left the one it came from; else the last commit, when something was changed since. */
async function beginning({ dir }: WorkPlaceQuestion, repo: string, context: Context): Promise<string> {
  const head = await findCommit(repo, "HEAD", context);
  for (const name of ["@{upstream}", "origin/HEAD", "main", "master"]) {
    const other = await findCommit(repo, name, context);
    if (other === null) continue;
    const { code, out } = await ownGit(["merge-base", "HEAD", other], { cwd: repo, fine: [0, 1] }, context);
    if (code === 0 && out.trim() !== head) return out.trim();
  }
  if (head !== null && (await uncommitted(repo, [], context)).length > 0) return head;
  throw new NutError("BASE_UNKNOWN", `${repo} has no uncommitted work: which commit did the work begin with?`, {
    hint: `nutshell finish ${shellWord(dir)} --request '<request>' --base '<commit>'; git -C ${shellWord(repo)} log --oneline shows them`,
    data: { path: repo },
  });
}
