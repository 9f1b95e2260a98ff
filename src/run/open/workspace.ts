// The request opened for work: unpacked (or copied) into the run's folder, never touched there again, and a main tree
// beside it that starts as its copy. With a repository the tree is a clone: the person's own checkout is only read.
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { isResult, listTree } from "../../acceptance/index.js";
import {
  asidePath,
  contentDigest,
  listFolder,
  MANIFEST_NAME,
  readManifest,
  unpackBundle,
  withNotedRows,
} from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import { foldersAbove, readPieces } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { unsealed } from "../../request/pack/sealed.js";
import type { Manifest } from "../../schema/manifest.js";
import type { Written } from "../../trees/first-look.js";
import { type CommitFiles, commitFiles } from "../../trees/git/commit-files.js";
import { bareGit } from "../../trees/git/git.js";
import { indexNotes } from "../../trees/git/index-notes.js";
import { lfsPointers, some } from "../../trees/git/lfs.js";
import {
  asSafe,
  findCommit,
  isOthers,
  type RepositoryFacts,
  repositoryAt,
  repositoryFacts,
  submodules,
  tellPartial,
  uncommitted,
} from "../../trees/git/repository.js";
import type { Objects } from "../../trees/objects.js";
import { copyFolder } from "../../trees/slots.js";
import {
  compareTrees,
  fileChanges,
  lookAt,
  lookAtCopy,
  type Remembered,
  rememberTree,
  sameEntry,
  slowly,
  type Tree,
  type TreeEntry,
} from "../../trees/tree.js";
import { replaceable } from "../record/damaged-file.js";
import type { RunFolder } from "../record/folder.js";

export interface OpenedRequest {
  readonly manifest: Manifest;
  readonly digest: string;
  readonly warnings: readonly string[];
}

/** Puts the request in its place. Doing it again after a crash starts over; once in place it is left alone. */
export async function openRequest(
  source: string,
  target: string,
  identity: readonly string[],
  context: Context,
  onOpened?: (digest: string) => Promise<void>,
): Promise<OpenedRequest> {
  const { signal } = context;
  const warnings: string[] = [];
  const isKnown = existsSync(target);
  if (!isKnown) {
    if (lstatSync(source, { throwIfNoEntry: false }) === undefined) {
      throw new NutError("FILE_NOT_FOUND", `${source}: no such file or folder`, { data: { path: source } });
    }
    const isFolder = lstatSync(source).isDirectory();
    const aside = isFolder
      ? await copyRequest(source, target, signal, onOpened)
      : await unpackRequest(source, target, { identity, context, onOpened });
    if (aside.length > 0) warnings.push(`set aside, because programs would obey them: ${aside.join(", ")}`);
  }
  const manifest = isKnown ? readAgain(target) : readManifest(target);
  if (manifest.bundle_type !== "request") {
    throw new NutError("RUN_NOT_A_REQUEST", `this is a ${manifest.bundle_type} bundle, not a request`, {
      hint: "nutshell inspect '<bundle>'",
    });
  }
  return { manifest: withNotedRows(manifest), digest: contentDigest(target, { ignoreRules: false }), warnings };
}

/** It was sound when it was put there. */
function readAgain(target: string): Manifest {
  try {
    return readManifest(target);
  } catch (error) {
    throw error instanceof NutError ? replaceable(target, error.message) : error;
  }
}

interface Unpacking {
  readonly identity: readonly string[];
  readonly context: Context;
  readonly onOpened: ((digest: string) => Promise<void>) | undefined;
}

async function unpackRequest(source: string, target: string, { identity, context, onOpened }: Unpacking) {
  const opened = await unpackBundle(await unsealed(source, identity, context), target, { signal: context.signal });
  try {
    await onOpened?.(opened.contentDigest);
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  }
  return opened.quarantined;
}

/** What packing and unpacking would leave, without either: a folder runs as the bundle made from it would. */
async function copyRequest(
  source: string,
  target: string,
  signal: AbortSignal,
  onOpened?: (digest: string) => Promise<void>,
): Promise<string[]> {
  const staging = `${target}.part`;
  const entries = [...listFolder(source, { signal }).entries, { path: MANIFEST_NAME, kind: "file" as const }];
  const copyTo = (folder: string, from: string, place: (path: string) => string) => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const { path, kind } of entries) {
      if (kind === "folder") mkdirSync(join(folder, place(path)), { recursive: true });
      else copyFolder(join(from, path), join(folder, place(path)));
    }
  };
  const asItIs = `${target}.seen`;
  if (onOpened !== undefined) copyTo(asItIs, source, (path) => path);
  try {
    await onOpened?.(contentDigest(asItIs));
    copyTo(staging, onOpened === undefined ? source : asItIs, (path) => asidePath(path) ?? path);
  } finally {
    rmSync(asItIs, { recursive: true, force: true });
  }
  renameSync(staging, target);
  return entries.map(({ path }) => path).filter((path) => asidePath(path) !== null);
}

interface Source {
  readonly repo: string;
  readonly request: string;
  readonly output: string;
  /** Nobody who works can write to the clone, so it may share the repository's objects with it. */
  readonly readOnly: boolean;
}

export interface OpenedRepository {
  readonly facts: RepositoryFacts;
  readonly warnings: readonly string[];
  /** What git just wrote; null when the clone was there, or when files may differ from what the commit holds. */
  readonly written: Written | null;
}

/** A clone of the repository at its current commit. Uncommitted work of the person stays theirs. */
export async function openRepository(
  { repo, request, output, readOnly }: Source,
  target: string,
  world: Pick<Context, "env" | "signal">,
): Promise<OpenedRepository> {
  const refused = async (error: unknown): Promise<never> => {
    const told = await tellPartial(error, repo, world);
    if (!(told instanceof NutError) || told.code !== "REPOSITORY_FAILED") throw told;
    throw new NutError("RUN_NO_REPOSITORY", told.message.replace(" git says:", ""), {
      hint: told === error ? `git -C ${shellWord(repo)} status` : told.hint!,
      data: { path: repo },
    });
  };
  if (["HEAD", "objects", "refs"].every((name) => existsSync(join(repo, name))) && !existsSync(join(repo, ".git"))) {
    throw new NutError("RUN_NO_REPOSITORY", `${repo}: a bare repository has no files to work in`, {
      hint: `git clone ${shellWord(repo)} '<folder>'`,
      data: { path: repo },
    });
  }
  if (!existsSync(join(repo, ".git"))) {
    // Not taken instead: it may hold far more than whoever named a folder of it wanted to show.
    const around = await repositoryAt(repo, world);
    throw new NutError(
      "RUN_NO_REPOSITORY",
      around === null ? `${repo}: no git repository` : `${repo}: only a folder of the repository ${around}`,
      {
        hint: around === null ? "the same, without --repo" : `the same, with: --repo ${shellWord(around)}`,
        data: { path: repo },
      },
    );
  }
  // What lies there because of this very run is no work of the person.
  const ours = [request, output].map((path) => relative(repo, path));
  const isTheirs = isOthers(repo);
  const [dirty, facts, { commit, unseen, pointers, written }] = await together([
    // Looking into files would run the filters its settings name.
    isTheirs ? [] : uncommitted(repo, ours, world).catch(refused),
    repositoryFacts(repo, world),
    cloned({ repo, readOnly }, target, world).catch(refused),
  ]);
  if (facts === null || commit === null) {
    throw new NutError("RUN_NO_REPOSITORY", `${repo}: nothing was committed there yet`, {
      hint: `git -C ${shellWord(repo)} add --all && git -C ${shellWord(repo)} commit -m start`,
      data: { path: repo },
    });
  }
  const warnings = [
    ...(isTheirs
      ? [
          "the repository is another user's: whether it has uncommitted changes was not asked; the run starts from its last commit",
        ]
      : []),
    ...(dirty.length === 0 ? [] : ["the repository has uncommitted changes; the run starts from its last commit"]),
    ...(unseen.length === 0 ? [] : [`files of submodules are not there for agents and checks: ${some(unseen)}`]),
    ...(pointers.length === 0
      ? []
      : [`Git LFS keeps these elsewhere, and agents and checks see pointers in their place: ${some(pointers)}`]),
  ];
  return { facts: { ...facts, commit }, warnings, written };
}

interface Clone extends Pick<OpenedRepository, "written"> {
  /** null when nothing was committed yet. */
  readonly commit: string | null;
  readonly unseen: readonly string[];
  readonly pointers: readonly string[];
}

/** Makes the clone unless it is there. Its files take most of the time; what is in its commit is asked meanwhile. */
async function cloned(
  { repo, readOnly }: Pick<Source, "repo" | "readOnly">,
  target: string,
  world: Pick<Context, "env" | "signal">,
): Promise<Clone> {
  if (existsSync(target)) {
    const commit = await findCommit(target, "HEAD", world);
    return { commit, ...(commit === null ? NOTHING_COMMITTED : await inCommit(target, commit, world)), written: null };
  }
  const place = `${target}.part`;
  rmSync(place, { recursive: true, force: true });
  const links = readOnly ? [] : ["--no-hardlinks"];
  const clone = ["clone", "--quiet", "--no-checkout", "--template=", ...links, "--no-tags", "--single-branch"];
  await bareGit([...asSafe(repo), ...clone, "--", repo, place], { cwd: "/" }, world);
  const commit = await findCommit(place, "HEAD", world);
  // Has no files to write, and is told of by whoever asked.
  if (commit === null) return { commit, ...NOTHING_COMMITTED, written: null };
  const [, files] = await together([
    bareGit([...PARALLEL, "read-tree", "-m", "-u", commit], { cwd: place }, world),
    filesIn(place, commit, world),
    bareGit(["remote", "remove", "origin"], { cwd: place }, world),
  ]);
  renameSync(place, target);
  return { commit, ...files, written: writtenTo(target, commit, files.files) };
}

const NOTHING_COMMITTED = { unseen: [], pointers: [] };

/** As many as there are processors. */
const PARALLEL = ["-c", "checkout.workers=0"];

async function filesIn(clone: string, commit: string, world: Pick<Context, "env" | "signal">) {
  const files = await commitFiles(clone, commit, world);
  if (files === null) return { files, ...(await inCommit(clone, commit, world)) };
  const hasPointers = files.attributes.some((text) => text.includes("filter=lfs"));
  return { files, unseen: files.submodules, pointers: hasPointers ? await lfsPointers(clone, commit, world) : [] };
}

/** Attributes by which git writes other bytes than those it keeps. */
const CONVERTING = /crlf|ident|encoding/;

function writtenTo(clone: string, commit: string, files: CommitFiles | null): Written | null {
  if (files === null || files.attributes.some((text) => CONVERTING.test(text))) return null;
  return { entries: files.entries, notes: () => indexNotes(clone, commit, files.entries) };
}

async function inCommit(clone: string, commit: string, world: Pick<Context, "env" | "signal">) {
  const unseen = await submodules(clone, commit, world);
  return { unseen, pointers: await lfsPointers(clone, commit, world) };
}

/** What one of them throws is thrown when none is at work any more. */
async function together<T extends readonly unknown[]>(all: T): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(all);
  return Promise.all(all);
}

/** The main tree: a copy of the base, which was looked at, made once; of a repository, what differs from it. */
export function openMain(folder: RunFolder, look: Remembered): void {
  if (folder.isDelta) {
    mkdirSync(folder.main, { recursive: true });
    rememberTree(folder.base, look);
    return;
  }
  if (existsSync(folder.main)) return;
  const staging = `${folder.main}.part`;
  rmSync(staging, { recursive: true, force: true });
  copyFolder(folder.base, staging);
  renameSync(staging, folder.main);
  // No agent has started yet.
  rememberTree(folder.base, look);
  rememberTree(folder.main, slowly(lookAtCopy(folder.main, look.tree)));
}

/** Makes the main tree what the journal says, and names what was not. */
export function putBack(
  { main, isDelta }: Pick<RunFolder, "main" | "isDelta">,
  expected: Tree,
  { start, objects }: { readonly start: Tree; readonly objects: Objects },
): string[] {
  const held = isDelta ? deltaOf(start, expected) : expected;
  const wrong = compareTrees(lookAt(main, { skip: (inside) => !counts(inside) }), held);
  objects.apply(main, wrong);
  return fileChanges(wrong).map((change) => change.path);
}

/** What of a tree differs from where it started, with the folders it lies in. */
function deltaOf(start: Tree, { entries, takenMs }: Tree): Tree {
  const paths = new Set<string>();
  for (const [path, entry] of entries) if (!sameEntry(start.entries.get(path), entry)) paths.add(path);
  const held = new Map<string, TreeEntry>();
  for (const path of [...foldersAbove(paths), ...paths]) {
    const entry = entries.get(path);
    if (entry !== undefined) held.set(path, entry);
  }
  return { entries: held, takenMs };
}

/** What counts as work in a tree: the result, and neither git's own files nor what programs leave lying about. */
export const counts = isResult;

/** A digest of the base tree, so that a resumed run knows it still works on the same one. */
export function baseDigest(base: string): string {
  const hash = createHash("sha256");
  // One for all files: making it takes longer than reading most of them.
  const piece = Buffer.alloc(1024 ** 2);
  for (const [path, { executable }] of listTree(base, isResult)) {
    hash.update(`${executable ? "x" : "-"} ${path}\0`);
    if (lstatSync(join(base, path)).isSymbolicLink()) hash.update("link");
    else for (const bytes of readPieces(join(base, path), piece)) hash.update(bytes);
  }
  return `sha256:${hash.digest("hex")}`;
}
