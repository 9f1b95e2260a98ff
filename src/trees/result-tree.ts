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
import { dirname, join } from "node:path";
import { NutError } from "../errors.js";
import { countChangedLines, countLines } from "./line-diff.js";

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

/** Whether a path counts as part of a result. */
export function isResult(path: string): boolean {
  return !path.split("/").some((part) => LEFTOVERS.has(part)) && !path.endsWith(".pyc");
}

export interface TreeEntry {
  readonly kind: "file" | "link";
  readonly executable: boolean;
  readonly size: number;
}

/** Every file and link below a folder, by path, in byte order. Folders count only through what they hold. */
export function listTree(root: string, counts: (path: string) => boolean = () => true): Map<string, TreeEntry> {
  const rows: [string, TreeEntry][] = [];
  const visit = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (!counts(path)) continue;
      if (entry.isDirectory()) visit(path);
      // Sockets, pipes and devices cannot be delivered and would hang a reader.
      else if (entry.isFile() || entry.isSymbolicLink()) rows.push([path, readEntry(join(root, path))]);
    }
  };
  visit("");
  rows.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return new Map(rows);
}

function readEntry(path: string): TreeEntry {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return { kind: "link", executable: false, size: stat.size };
  return { kind: "file", executable: (stat.mode & 0o111) !== 0, size: stat.size };
}

function content(root: string, path: string, { kind }: TreeEntry): Buffer {
  return kind === "link" ? readlinkSync(join(root, path), "buffer") : readFileSync(join(root, path));
}

/** Digest of a tree: sha256 over one row per file, `<f|x|l> <sha256 of content> <path>\n`, in byte order of the paths. */
export function treeDigest(root: string, counts?: (path: string) => boolean): string {
  const digest = createHash("sha256");
  for (const [path, entry] of listTree(root, counts)) {
    const kind = entry.kind === "link" ? "l" : entry.executable ? "x" : "f";
    digest.update(
      `${kind} ${createHash("sha256")
        .update(content(root, path, entry))
        .digest("hex")} ${path}\n`,
    );
  }
  return `sha256:${digest.digest("hex")}`;
}

export interface Change {
  readonly path: string;
  readonly kind: "created" | "modified" | "deleted";
  /** Lines of a created file; 0 for anything that is not text. */
  readonly lines: number;
  /** Lines added plus lines removed. */
  readonly diffLines: number;
  /** A symbolic link now. Bundles hold none, so it cannot be delivered. */
  readonly link?: true;
}

/** What `after` changed in `before`. Content is compared, never times: an agent can set those. */
export function compareTrees(before: string, after: string, counts: (path: string) => boolean = isResult): Change[] {
  const old = listTree(before, counts);
  const now = listTree(after, counts);
  const changes: Change[] = [];
  for (const [path, entry] of now) {
    const previous = old.get(path);
    const link = entry.kind === "link" ? { link: true as const } : {};
    if (previous === undefined) {
      const lines = countLines(text(content(after, path, entry)));
      changes.push({ path, kind: "created", lines, diffLines: lines, ...link });
      continue;
    }
    const [a, b] = [content(before, path, previous), content(after, path, entry)];
    const same = previous.kind === entry.kind && previous.executable === entry.executable && a.equals(b);
    if (same) continue;
    const difference = countChangedLines(text(a), text(b));
    changes.push({ path, kind: "modified", lines: countLines(text(b)), diffLines: difference, ...link });
  }
  for (const [path, entry] of old) {
    if (now.has(path)) continue;
    changes.push({ path, kind: "deleted", lines: 0, diffLines: countLines(text(content(before, path, entry))) });
  }
  return changes.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}

/** Binary content has no lines. */
function text(bytes: Buffer): string {
  return bytes.includes(0) ? "" : bytes.toString("utf8");
}

/** Copies a tree, links as links. `target` may exist; what stands in the way of a file is replaced. */
export function copyTree(source: string, target: string, counts?: (path: string) => boolean): void {
  mkdirSync(target, { recursive: true });
  for (const [path, entry] of listTree(source, counts)) copyEntry(join(source, path), target, path, entry);
}

/** Applies changes to a tree; `source(path)` says where the new content of a path is. */
export function applyChanges(target: string, changes: readonly Change[], source: (path: string) => string): void {
  // Deletions first: a folder may have become a file.
  for (const { path, kind } of changes) {
    if (kind !== "deleted") continue;
    assertInside(path);
    if (realParent(target, path)) rmSync(join(target, path), { force: true, recursive: true });
  }
  mkdirSync(target, { recursive: true });
  for (const { path, kind } of changes) {
    if (kind === "deleted") continue;
    assertInside(path);
    copyEntry(source(path), target, path, readEntry(source(path)));
  }
}

/** What of a result a delivery can hold. */
export const deliverable = (changes: readonly Change[]): Change[] => changes.filter(({ link }) => link !== true);

/** Puts the files a delivery must hold under `<delivery>/delivery/artifacts/`; links stay behind. */
export function writeArtifacts(result: string, delivery: string, changes: readonly Change[]): void {
  const kept = deliverable(changes).filter(({ kind }) => kind !== "deleted");
  applyChanges(join(delivery, ARTIFACTS), kept, (path) => join(result, path));
}

export interface Delivered {
  /** Paths as the delivery names them, with or without the delivery/artifacts/ prefix. */
  readonly created: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
}

/** Rebuilds the result tree in `target` from its base and an unpacked delivery. */
export function rebuildTree(base: string, delivery: string, delivered: Delivered, target: string): void {
  const root = artifactsRoot(base, delivered);
  const place = (path: string) => `${root}${bare(path)}`;
  copyTree(base, target);
  const changes = [
    ...delivered.deleted.map((path) => change(place(path), "deleted")),
    ...[...listArtifacts(delivery)].map((path) => change(place(path), "modified")),
  ];
  applyChanges(target, changes, (path) => join(delivery, ARTIFACTS, path.slice(root.length)));
}

const change = (path: string, kind: Change["kind"]): Change => ({ path, kind, lines: 0, diffLines: 0 });

function listArtifacts(delivery: string): Iterable<string> {
  const folder = join(delivery, ARTIFACTS);
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ? listTree(folder).keys() : [];
}

const bare = (path: string): string => (path.startsWith(`${ARTIFACTS}/`) ? path.slice(ARTIFACTS.length + 1) : path);

/** Other tools leave out the request's `files/` folder; a modified file that exists only below it gives them away. */
function artifactsRoot(base: string, { modified, deleted }: Delivered): "" | "files/" {
  const exists = (path: string) => lstatSync(join(base, path), { throwIfNoEntry: false }) !== undefined;
  const known = [...modified, ...deleted].map(bare);
  return known.some((path) => !exists(path) && exists(`files/${path}`)) ? "files/" : "";
}

function assertInside(path: string): void {
  const parts = path.split("/");
  if (path === "" || path.includes("\0") || parts.some((part) => part === "" || part === "." || part === "..")) {
    throw new NutError("BUNDLE_UNSAFE_PATH", `"${path}" leaves the result's folder`, { data: { path } });
  }
}

/** Whether every folder above a path is a real one; a link there would lead outside. */
function realParent(target: string, path: string): boolean {
  const parts = path.split("/").slice(0, -1);
  return parts.every((_, i) => {
    const stat = lstatSync(join(target, ...parts.slice(0, i + 1)), { throwIfNoEntry: false });
    return stat?.isDirectory() === true;
  });
}

/** Writes one entry, never through a link: whatever stands in its way, links included, is removed first. */
function copyEntry(source: string, target: string, path: string, { kind, executable }: TreeEntry): void {
  const parts = path.split("/");
  for (let i = 1; i < parts.length; i += 1) {
    const folder = join(target, ...parts.slice(0, i));
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat?.isDirectory()) continue;
    if (stat !== undefined) rmSync(folder);
    mkdirSync(folder);
  }
  const file = join(target, path);
  rmSync(file, { recursive: true, force: true });
  mkdirSync(dirname(file), { recursive: true });
  if (kind === "link") {
    symlinkSync(readlinkSync(source), file);
    return;
  }
  copyFileSync(source, file, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  chmodSync(file, executable ? 0o755 : 0o644);
}
