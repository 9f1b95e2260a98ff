// Where a result lives. The workspace is the unpacked request (or a repository); the result is what changed in it. A
// delivery holds each created or modified file under delivery/artifacts/<path> and names the deleted ones, so anyone can
// rebuild the tree: base + artifacts − deletions. Acceptance runs on that rebuilt tree, never on the workspace itself:
// what is not delivered cannot help to pass. This file knows files and digests; it knows nothing of tests.
import { createHash } from "node:crypto";
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { isSystemError, NutError, shellWord } from "../errors.js";
import { byBytes, entryAt, foldersAbove, isText, sortByBytes } from "../files/index.js";
import { Folders } from "./folders.js";
import { countChangedLines, countLines } from "./line-diff.js";
import {
  type Change,
  compareTrees,
  lookAt,
  parentsAreFolders,
  pathsIn,
  type Tree,
  type TreeEntry,
  unchangedTree,
  without,
} from "./tree.js";

export const ARTIFACTS = "delivery/artifacts";

/** Path inside a delivery that holds a result's file. */
export const artifactPath = (path: string): string => `${ARTIFACTS}/${path}`;

/** Folders that programs fill while they work: no part of a result, wherever they stand. */
const LEFTOVERS: ReadonlySet<string> = new Set([
  ".git",
  ".nexus",
  "node_modules",
  "__pycache__",
  ".pytest_cache",
  ".venv",
  ".cache",
]);

/** Checks sealed for whoever verifies. In no tree that anybody works on, and in no room. */
export const HIDDEN_FILE = "acceptance/hidden.age";

/** Whether a path counts as part of a result. */
export function isResult(path: string): boolean {
  if (path === HIDDEN_FILE) return false;
  return !path.split("/").some((part) => LEFTOVERS.has(part)) && !path.endsWith(".pyc");
}

/** Which paths take part, folders included. */
type Counts = (path: string) => boolean;

export interface ListedEntry {
  readonly kind: "file" | "link";
  readonly executable: boolean;
  readonly size: number;
}

/** Every file and link below a folder, by path, in byte order. Folders count only through what they hold. */
export function listTree(root: string, counts: Counts = () => true): Map<string, ListedEntry> {
  const rows: [string, ListedEntry][] = [];
  for (const path of pathsIn(root, (inside) => !counts(inside))) {
    assertReadable(root, path, root);
    const entry = listEntry(join(root, path));
    if (entry !== null) rows.push([path, entry]);
  }
  return new Map(rows.sort(([a], [b]) => byBytes(a, b)));
}

/** null for a folder, and for sockets, pipes and devices, which cannot be delivered and would hang a reader. */
function listEntry(path: string): ListedEntry | null {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return { kind: "link", executable: false, size: stat.size };
  return stat.isFile() ? { kind: "file", executable: (stat.mode & 0o111) !== 0, size: stat.size } : null;
}

export interface ResultTree extends Tree {
  /** Folders that hold nothing at all. */
  readonly emptyFolders: readonly string[];
}

/** The files and links of a tree with their hashes. One that nobody touched since it was remembered gives the same object again. */
export function lookAtFiles(root: string, counts: Counts = () => true): ResultTree {
  const same = unchangedTree(root);
  return same === null ? filesOf(root, lookAt(root, { skip: skipping(root, counts) })) : filesIn(root, same, counts);
}

const filesByTree = new WeakMap<Tree, Map<Counts, ResultTree>>();

/** The same of a tree that was looked at and is so still. */
export function filesIn(root: string, tree: Tree, counts: Counts): ResultTree {
  const known = filesByTree.get(tree) ?? new Map<Counts, ResultTree>();
  filesByTree.set(tree, known);
  const files = known.get(counts) ?? filesOf(root, without(tree, skipping(root, counts)));
  known.set(counts, files);
  return files;
}

function filesOf(root: string, tree: Tree): ResultTree {
  const { takenMs } = tree;
  const full = foldersAbove(tree.entries.keys());
  const emptyFolders = pathsOf(tree, "folder").filter(
    (path) => !full.has(path) && readdirSync(join(root, path)).length === 0,
  );
  const entries = new Map<string, TreeEntry>();
  for (const path of sortByBytes(pathsOf(tree, "file", "link"))) entries.set(path, tree.entries.get(path)!);
  return { entries, takenMs, emptyFolders };
}

/** Paths alone: a row of two for each of a hundred thousand takes more memory than the tree. */
function pathsOf({ entries }: Tree, ...types: readonly TreeEntry["type"][]): string[] {
  const paths: string[] = [];
  for (const [path, { type }] of entries) if (types.includes(type)) paths.push(path);
  return paths;
}

/** Leaves out what takes no part; throws at a name that could not be compared, and says where a person finds it. */
export function skipping(root: string, counts: Counts, found = root): (path: string) => boolean {
  return (path) => {
    if (!counts(path)) return true;
    assertReadable(root, path, found);
    return false;
  };
}

/** Bytes that are no UTF-8 come to us as a mark under which the file is not found: it would be passed over in silence. */
function assertReadable(root: string, path: string, found: string): void {
  if (!path.includes("\uFFFD") || lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined) return;
  throw new NutError("SOURCE_UNSAFE", `the name of "${path}" is not UTF-8, so it cannot be compared or delivered`, {
    hint: `ls -b ${shellWord(dirname(join(found, path)))}`,
    data: { path },
  });
}

/** Digest of a tree: sha256 over one row per file, `<f|x|l> <sha256 of content> <path>\n`, in byte order of the paths. */
export const treeDigest = (root: string, counts?: Counts): string => entriesDigest(lookAtFiles(root, counts).entries);

/** The digest of a tree that was looked at, folders and all. */
export const digestOf = (tree: Tree): string => rowsDigest(tree.entries, pathsOf(tree, "file", "link"), []);

/** The same digest for entries that are known already. */
export const entriesDigest = (entries: Tree["entries"]): string => rowsDigest(entries, [...entries.keys()], []);

/**
 * The same with some entries in another version, or not there (null). Empty folders that the work made are rows after all others.
 */
export function digestOver(
  entries: Tree["entries"],
  own: ReadonlyMap<string, TreeEntry | null>,
  madeFolders: readonly string[],
): string {
  const paths: string[] = [];
  for (const path of entries.keys()) if (!own.has(path)) paths.push(path);
  for (const [path, entry] of own) if (entry !== null) paths.push(path);
  return rowsDigest({ get: (path) => own.get(path) ?? entries.get(path) }, paths, madeFolders);
}

/** Rows that are hashed at once: one takes longer than its bytes, all of them are a text as large as the tree. */
const ROWS = 1_000;

function rowsDigest(entries: Pick<Tree["entries"], "get">, paths: string[], madeFolders: readonly string[]): string {
  const digest = createHash("sha256");
  sortByBytes(paths);
  for (let from = 0; from < paths.length; from += ROWS) {
    let rows = "";
    for (let at = from; at < Math.min(paths.length, from + ROWS); at += 1) {
      const path = paths[at]!;
      const { type, executable, hash } = entries.get(path)!;
      rows += `${type === "link" ? "l" : executable ? "x" : "f"} ${hash} ${path}\n`;
    }
    digest.update(rows);
  }
  for (const path of [...madeFolders].sort(byBytes)) digest.update(`d ${path}\n`);
  return `sha256:${digest.digest("hex")}`;
}

/** One file, link or empty folder of a result. */
export interface ResultChange {
  readonly path: string;
  readonly kind: "created" | "modified" | "deleted";
  /** Lines of a created file; 0 for anything that is not text. */
  readonly lines: number;
  /** Lines added plus lines removed. */
  readonly diffLines: number;
  /** A symbolic link now. */
  readonly link?: true;
  /** Where the link leads, when that is inside the tree: only such a link can be delivered. */
  readonly target?: string;
  /** A folder that holds nothing. */
  readonly folder?: true;
}

/** What the tree in `after` changed in the one in `before`. */
export function resultChanges(before: string, after: string, counts: Counts = isResult): ResultChange[] {
  return changesBetween(lookAtFiles(before, counts), lookAtFiles(after, counts), { before, after });
}

/** The same for trees that were looked at already; `roots` says where they are. */
export function changesBetween(
  before: ResultTree,
  after: ResultTree,
  roots: { readonly before: string; readonly after: string },
): ResultChange[] {
  const isFolder = (path: string) => lstatSync(join(roots.before, path), { throwIfNoEntry: false })?.isDirectory();
  const folders = after.emptyFolders.filter((path) => isFolder(path) !== true);
  return [
    ...compareTrees(before, after).map((change) => withLines(change, roots.before, roots.after)),
    ...folders.map((path): ResultChange => ({ ...change(path, "created"), folder: true })),
  ];
}

/** One change with its lines; `oldRoot` and `newRoot` are the trees it was found between. */
function withLines({ path, kind, before, after }: Change, oldRoot: string, newRoot: string): ResultChange {
  const [old, now] = [textOf(oldRoot, path, before), textOf(newRoot, path, after)];
  return {
    path,
    kind,
    lines: countLines(now),
    diffLines: countChangedLines(old, now),
    ...(after?.type === "link" ? linkOf(path, readlinkSync(join(newRoot, path))) : {}),
  };
}

function linkOf(path: string, target: string): Pick<ResultChange, "link" | "target"> {
  return staysInside(path, target) ? { link: true, target } : { link: true };
}

/** Upwards at the start only: after a name, `..` may lead through another link to anywhere. */
function staysInside(path: string, target: string): boolean {
  const parts = target.split("/");
  const up = parts.findIndex((part) => part !== "..");
  const rest = up < 0 ? [] : parts.slice(up);
  if (target === "" || target.includes("\0") || rest.some((part) => part === ".." || part === "")) return false;
  const place = posix.join(posix.dirname(path), target);
  return !place.startsWith("..") && !place.startsWith("/") && isResult(place);
}

/** Nobody reads more lines than these. */
const TEXT_LIMIT = 16 * 1024 * 1024;

/** Binary content has no lines, nor has what is not there. */
function textOf(root: string, path: string, entry: TreeEntry | null): string {
  if (entry === null || entry.size > TEXT_LIMIT) return "";
  const bytes = entry.type === "link" ? readlinkSync(join(root, path), "buffer") : readFileSync(join(root, path));
  return isText(bytes) ? bytes.toString("utf8") : "";
}

/** Copies a tree, links as links. `target` may exist; what stands in the way of a file is replaced. */
export function copyTree(source: string, target: string, counts?: Counts): void {
  mkdirSync(target, { recursive: true });
  const folders = new Folders(target);
  for (const [path, entry] of listTree(source, counts)) copyEntry(join(source, path), folders, path, entry);
}

/** Applies changes to a tree; `source(path)` says where the new content of a path is. */
export function applyChanges(target: string, changes: readonly ResultChange[], source: (path: string) => string): void {
  // Deletions first: a folder may have become a file.
  for (const { path, kind } of changes) {
    if (kind !== "deleted") continue;
    assertInside(path);
    if (parentsAreFolders(target, path)) rmSync(join(target, path), { force: true, recursive: true });
  }
  mkdirSync(target, { recursive: true });
  const folders = new Folders(target);
  for (const { path, kind, folder } of changes) {
    if (kind === "deleted") continue;
    if (folder === true) {
      putFolder(folders, path);
      continue;
    }
    assertInside(path);
    const entry = listEntry(source(path));
    if (entry === null) throw new NutError("BUNDLE_UNSAFE_ENTRY", `"${path}" is not a file`, { data: { path } });
    copyEntry(source(path), folders, path, entry);
  }
}

/** What of a result a delivery can say: all but links that lead out of the tree. */
export const deliverable = (changes: readonly ResultChange[]): ResultChange[] =>
  changes.filter(({ link, target }) => link !== true || target !== undefined);

/** What a delivery holds as files: bundles have neither links nor empty folders, so `result.json` names those. */
export const deliveredFiles = (changes: readonly ResultChange[]): ResultChange[] =>
  changes.filter(({ link, folder }) => link !== true && folder !== true);

/** Puts the files a delivery must hold under `<delivery>/delivery/artifacts/`. */
export function writeArtifacts(result: string, delivery: string, changes: readonly ResultChange[]): void {
  const files = deliveredFiles(changes).filter(({ kind }) => kind !== "deleted");
  applyChanges(join(delivery, ARTIFACTS), files, (path) => join(result, path));
}

export interface Delivered {
  /** Paths as the delivery names them, with or without the delivery/artifacts/ prefix. */
  readonly created: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
  readonly links?: readonly { readonly path: string; readonly target: string }[];
  /** Empty folders. */
  readonly folders?: readonly string[];
  /** It names its tree by digest, so its paths are meant as they stand. */
  readonly exact?: boolean;
}

/** Rebuilds the result tree in `target` from its base and an unpacked delivery. */
export function rebuildTree(base: string, delivery: string, delivered: Delivered, target: string): void {
  const root = artifactsRoot(base, delivered);
  const place = (path: string) => `${root}${bare(path)}`;
  const artifacts = new Map(ARTIFACT_FOLDERS.flatMap((folder) => listArtifacts(join(delivery, folder))));
  // What is delivered anew need not be copied first.
  copyTree(base, target, (path) => !path.startsWith(root) || !artifacts.has(path.slice(root.length)));
  const changes = [
    ...delivered.deleted.map((path) => change(place(path), "deleted")),
    ...[...artifacts.keys()].map((path) => change(place(path), "modified")),
  ];
  applyChanges(target, changes, (path) => artifacts.get(path.slice(root.length)) ?? path);
  const folders = new Folders(target);
  for (const path of delivered.folders ?? []) putFolder(folders, place(path));
  for (const { path, target: leadsTo } of delivered.links ?? []) putLink(folders, place(path), leadsTo);
}

function putFolder(folders: Folders, path: string): void {
  assertInside(path);
  folders.make(path);
}

function putLink(folders: Folders, path: string, target: string): void {
  assertInside(path);
  if (!staysInside(path, target)) {
    throw new NutError("BUNDLE_UNSAFE_PATH", `the link "${path}" leads out of the result, to "${target}"`, {
      data: { path },
    });
  }
  symlinkSync(target, folders.free(path));
}

/** Unpacking sets aside what programs obey; in the result it is a file like any other. */
const ARTIFACT_FOLDERS = [`quarantine/${ARTIFACTS}`, ARTIFACTS] as const;

const change = (path: string, kind: ResultChange["kind"]): ResultChange => ({ path, kind, lines: 0, diffLines: 0 });

/** Path in the result, and the file that holds it. */
function listArtifacts(folder: string): [string, string][] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return [...listTree(folder).keys()].map((path) => [path, join(folder, path)]);
}

const bare = (path: string): string => (path.startsWith(`${ARTIFACTS}/`) ? path.slice(ARTIFACTS.length + 1) : path);

/** Other tools leave out the request's `files/` folder; a modified file that exists only below it gives them away. */
function artifactsRoot(base: string, { modified, deleted, exact }: Delivered): "" | "files/" {
  if (exact === true) return "";
  const exists = (path: string) => entryAt(join(base, path)) !== undefined;
  const oldPaths = [...modified, ...deleted].map(bare);
  const isElsewhere = (path: string) => !exists(path) && exists(`files/${path}`);
  // All of them or none: one odd name must not move the rest to where no test looks.
  return oldPaths.length > 0 && oldPaths.every(isElsewhere) ? "files/" : "";
}

function assertInside(path: string): void {
  const parts = path.split("/");
  if (path === "" || path.includes("\0") || parts.some((part) => part === "" || part === "." || part === "..")) {
    throw new NutError("BUNDLE_UNSAFE_PATH", `"${path}" leaves the result's folder`, { data: { path } });
  }
}

/** Writes one entry, never through a link: whatever stands in its way, links included, is removed first. */
function copyEntry(source: string, folders: Folders, path: string, { kind, executable }: ListedEntry): void {
  if (kind === "link") {
    symlinkSync(readlinkSync(source), folders.free(path));
    return;
  }
  const file = folders.at(path);
  try {
    // Never what is there already, and never through a link.
    copyFileSync(source, file, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  } catch (error) {
    if (!isSystemError(error) || (error.code !== "EEXIST" && error.code !== "EPERM")) throw error;
    copyFileSync(source, folders.free(path), constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  }
  chmodSync(file, executable ? 0o755 : 0o644);
}
