// One digest for a tree, whatever tool, machine or compression packed it: over the author's manifest and, in order,
// every entry's kind, hash and path. Computed fields (files, completeness, compression) are left out, so a folder, its
// bundle and the folder unpacked from it agree.
import { createHash } from "node:crypto";
import { byBytes, foldersAbove, formatJson } from "../../files/index.js";
import type { Manifest } from "../../schema/manifest.js";
import { MANIFEST_NAME } from "../format/safe-path.js";
import { notedRows } from "../manifest/tree.js";

export interface DigestEntry {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly executable: boolean;
  /** `sha256:<hex>`; absent for folders. */
  readonly hash?: string | undefined;
}

export function digestOf(manifest: Manifest, entries: readonly DigestEntry[]): string {
  const digest = createHash("sha256");
  digest.update("nutshell content 1\n");
  digest.update(`${formatJson(authorsManifest(manifest, entries), { indent: 0 })}\n`);
  const parents = foldersAbove(entries.map(({ path }) => path));
  let lines = "";
  for (const { path, kind, executable, hash } of inOrder(entries)) {
    if (path === MANIFEST_NAME) continue;
    // Other tools write an entry for every folder; only an empty one says something.
    if (kind === "folder" && parents.has(path)) continue;
    lines += kind === "folder" ? `d - ${path}\n` : `${executable ? "x" : "f"} ${hash} ${path}\n`;
    if (lines.length < BATCH) continue;
    digest.update(lines);
    lines = "";
  }
  return `sha256:${digest.update(lines).digest("hex")}`;
}

const BATCH = 64 * 1024;

/** Our own bundles are in order already, and comparing is most of sorting. */
function inOrder(entries: readonly DigestEntry[]): readonly DigestEntry[] {
  const compare = (a: DigestEntry, b: DigestEntry) => byBytes(a.path, b.path);
  return entries.every((entry, at) => at === 0 || compare(entries[at - 1]!, entry) <= 0)
    ? entries
    : [...entries].sort(compare);
}

/** The manifest without what packing computes; of the tree, what an author wrote about files that exist. */
function authorsManifest(manifest: Manifest, entries: readonly DigestEntry[]): Record<string, unknown> {
  const { files, completeness: _, compression: __, ...rest } = manifest;
  const noted = notedRows(manifest);
  const present = new Set(noted.length === 0 ? [] : entries.map(({ path }) => path));
  const notes = noted
    .map(({ size: _size, hash: _hash, executable: _run, ...row }) => row)
    .filter((row) => row.path !== MANIFEST_NAME && present.has(row.path))
    .sort((a, b) => byBytes(a.path, b.path));
  const { total_count: _count, total_size_bytes: _bytes, tree: _tree, ...others } = files ?? {};
  const authorsFiles = { ...others, ...(notes.length > 0 ? { tree: notes } : {}) };
  return Object.keys(authorsFiles).length > 0 ? { ...rest, files: authorsFiles } : rest;
}
