// files.tree: what the manifest says about the files, and whether the archive agrees.
import type { Finding } from "../../errors.js";
import { formatJson, keepSpelling, parseJson } from "../../files/index.js";
import type { Manifest, TreeRow } from "../../schema/manifest.js";
import { MANIFEST_NAME } from "../format/safe-path.js";

export interface HashedFile {
  readonly path: string;
  readonly size: number;
  /** `sha256:<hex>` */
  readonly hash: string;
}

export interface TreeJudgement {
  readonly findings: readonly Finding[];
  /** Files no row vouches for. */
  readonly unverified: readonly string[];
}

/** Rows as they can be used, whatever stands in the manifest. */
export function treeRows(manifest: Manifest): readonly TreeRow[] {
  const tree: unknown = (manifest.files as { tree?: unknown } | undefined)?.tree;
  if (!Array.isArray(tree)) return [];
  return tree.filter((row): row is TreeRow => typeof row === "object" && row !== null && typeof row.path === "string");
}

const COMPUTED: ReadonlySet<string> = new Set(["path", "size", "hash", "executable"]);

/** Rows in which an author wrote something; packing computes the others anew. */
export const notedRows = (manifest: Manifest): readonly TreeRow[] =>
  treeRows(manifest).filter((row) => Object.keys(row).some((key) => !COMPUTED.has(key)));

/**
 * The manifest with the rows alone in which an author wrote something, for whoever keeps it for long: its texts are pieces of the text it
 * was read from, and of a hundred thousand files that is twice what is known of them.
 */
export function withNotedRows(manifest: Manifest): Manifest {
  const { files } = manifest;
  if (files === undefined) return manifest;
  const less = keepSpelling({ ...files, tree: notedRows(manifest) }, files);
  return parseJson(formatJson(keepSpelling({ ...manifest, files: less }, manifest), { indent: 0 })) as Manifest;
}

/** Whether the tree claims to name every file with its hash; such a tree must agree exactly. */
export function isCompleteTree(manifest: Manifest): boolean {
  const rows = treeRows(manifest);
  return manifest.files?.total_count === rows.length && rows.every(({ hash }) => typeof hash === "string");
}

/** path → hash as the tree gives it, for the files it vouches for. Of two rows for one path the first counts. */
export function treeHashes(manifest: Manifest): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>();
  for (const { path, hash } of treeRows(manifest)) {
    const clean = cleanPath(path);
    // A hash that is no text fits nothing.
    if (hash !== undefined && !hashes.has(clean)) hashes.set(clean, String(hash).toLowerCase());
  }
  return hashes;
}

const cleanPath = (path: string) => (path.startsWith("./") ? path.slice(2) : path);

/** Compares the tree with the files that are really there. */
export function judgeTree(manifest: Manifest, files: readonly HashedFile[]): TreeJudgement {
  const rows = treeRows(manifest);
  const byPath = new Map(files.map((file) => [file.path, file]));
  const listedPaths = new Set<string>();
  const findings: Finding[] = [];
  const report = (code: string, path: string, message: string) =>
    findings.push({ code, severity: "error", path, message });
  for (const row of rows) {
    const path = cleanPath(row.path);
    // A manifest cannot hold its own hash; the row some tools write for it never matches.
    if (path === MANIFEST_NAME) continue;
    if (listedPaths.has(path)) report("TREE_DUPLICATE", path, `${path} is listed twice in files.tree`);
    listedPaths.add(path);
    const problem = rowProblem(row, byPath.get(path));
    if (problem !== null) report(problem[0], path, problem[1]);
  }
  const unlisted = files.filter(({ path }) => !listedPaths.has(path)).map(({ path }) => path);
  if (isCompleteTree(manifest)) {
    for (const path of unlisted) report("TREE_UNLISTED", path, `${path} is in the bundle but not in files.tree`);
    const total = rows.reduce((sum, { size }) => sum + size, 0);
    const claimedTotal = manifest.files?.total_size_bytes;
    // Of rows without a size nobody knows the sum; the schema has told so.
    const isKnown = rows.every(({ size }) => typeof size === "number");
    if (isKnown && claimedTotal !== undefined && claimedTotal !== total) {
      report(
        "TREE_TOTAL",
        "files.total_size_bytes",
        `files.total_size_bytes is ${claimedTotal}, the rows add up to ${total}`,
      );
    }
    return { findings, unverified: [] };
  }
  const hashedPaths = new Set(rows.filter(({ hash }) => hash !== undefined).map(({ path }) => cleanPath(path)));
  return { findings, unverified: files.filter(({ path }) => !hashedPaths.has(path)).map(({ path }) => path) };
}

function rowProblem(row: TreeRow, file: HashedFile | undefined): readonly [string, string] | null {
  if (file === undefined) return ["TREE_MISSING", `${row.path} is in files.tree but not in the bundle`];
  if (typeof row.size === "number" && row.size !== file.size) {
    return ["TREE_SIZE", `${row.path} has ${file.size} bytes, files.tree says ${row.size}`];
  }
  if (row.hash === undefined || row.hash === file.hash) return null;
  if (typeof row.hash !== "string" || !/^sha256:[0-9a-f]{64}$/i.test(row.hash)) {
    return ["TREE_HASH", `${row.path} has a hash of an unknown kind in files.tree`];
  }
  return row.hash.toLowerCase() === file.hash
    ? null
    : ["TREE_HASH", `${row.path} does not have the hash in files.tree`];
}
