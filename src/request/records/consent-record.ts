// What this account packed, unpacked and agreed to on this machine, one row per line. It lies outside every bundle, so
// nothing a stranger sends can write it. A row that cannot be read counts for nothing: at worst a question is asked again.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { z } from "zod";
import type { Context } from "../../operation.js";
import { appendRow, readRows } from "./record-file.js";

const Row = z.object({
  /** Digest of what was packed here. */
  packed: z.string().optional(),
  /** Folder that was unpacked here, and the digest of its bundle. */
  unpacked: z.string().optional(),
  digest: z.string().optional(),
  /** What its manifest calls it, by which it is known again wherever it is moved or copied to. */
  id: z.string().optional(),
  /** Digest of what the person agreed to run. */
  allowed: z.string().optional(),
  /** Request whose checks were hidden here, and the digests of what lay there in clear. */
  hidden: z.string().optional(),
  clear: z.array(z.string()).optional(),
});
type Row = z.infer<typeof Row>;

export interface ConsentRecord {
  readonly packed: ReadonlySet<string>;
  readonly allowed: ReadonlySet<string>;
  /** Digest of the bundle, by folder. */
  readonly unpacked: ReadonlyMap<string, string>;
  /** Digests of bundles that were unpacked here, by what their manifest calls them. */
  readonly named: ReadonlyMap<string, readonly string[]>;
  /** Digests of what was hidden, by request. */
  readonly hidden: ReadonlyMap<string, readonly string[]>;
}

const FILE = "consent.jsonl";

export function readConsentRecord(env: Context["env"]): ConsentRecord {
  const rows = readRows(FILE, Row, env);
  const values = (key: "packed" | "allowed") => rows.flatMap((row) => row[key] ?? []);
  return {
    packed: new Set(values("packed")),
    allowed: new Set(values("allowed")),
    unpacked: new Map(
      rows.flatMap(({ unpacked, digest }) => (unpacked && digest ? [[unpacked, digest] as const] : [])),
    ),
    named: namedIn(rows),
    hidden: hiddenIn(rows),
  };
}

function namedIn(rows: readonly Row[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { id, digest } of rows) if (id && digest) found.set(id, [...(found.get(id) ?? []), digest]);
  return found;
}

function hiddenIn(rows: readonly Row[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { hidden, clear = [] } of rows) {
    // The latest counts: what was hidden before may be shown by now.
    if (hidden !== undefined) found.set(hidden, clear);
  }
  return found;
}

const append = (row: Row, context: Context): string | null => appendRow(FILE, row, context);

/** What is packed here is one's own, unless it is a stranger's folder that nobody agreed to. */
export function recordPacked(folder: string, digest: string, context: Context): void {
  const record = readConsentRecord(context.env);
  const stranger = strangerDigest(folder, record);
  if (record.packed.has(digest) || (stranger !== null && !isAllowed(stranger, record))) return;
  append({ packed: digest }, context);
}

export function recordUnpacked(folder: string, digest: string, context: Context): void {
  const path = realpathSync(folder);
  const id = nameOf(path);
  const problem = append({ unpacked: path, digest, ...(id === null ? {} : { id }) }, context);
  if (problem === null) return;
  const message = `it could not be noted that ${folder} is somebody else's work (${problem}): later commands take it for yours`;
  context.progress({ type: "warning", message });
}

export function recordAllowed(digest: string, context: Context): void {
  append({ allowed: digest }, context);
}

/** What a later pack must not find in clear. */
export function recordHidden(request: string, clear: readonly string[], context: Context): void {
  append({ hidden: request, clear: [...clear] }, context);
}

export function isAllowed(digest: string, { packed, allowed }: ConsentRecord): boolean {
  return packed.has(digest) || allowed.has(digest);
}

/**
 * The bundle a folder was unpacked from; null for the person's own folder. Somebody else's folder is its own digest's, "":
 * another account's, or one that was moved or copied from where it was unpacked.
 */
export function strangerDigest(folder: string, record: ConsentRecord): string | null {
  const path = realpathSync(folder);
  const above: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const digest = record.unpacked.get(at);
    if (digest !== undefined) return digest;
    above.push(at);
    if (at === dirname(at) || at === sep) break;
  }
  const moved = record.named.size === 0 ? null : above.map((at) => movedDigest(at, record)).find((one) => one !== null);
  if (moved != null) return moved;
  const owned = process.getuid === undefined || statSync(path).uid === process.getuid();
  return owned ? null : "";
}

/** Anybody can give a bundle the name of another, so a name is agreed to when all that bear it are. */
function movedDigest(folder: string, record: ConsentRecord): string | null {
  const digests = record.named.get(nameOf(folder) ?? "");
  if (digests === undefined) return null;
  return digests.every((digest) => isAllowed(digest, record)) ? digests[0]! : "";
}

/** A manifest is small; what is larger is none. */
const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;

/** `request:nut-…`, as a folder's manifest says; null where there is none that can be read. */
function nameOf(folder: string): string | null {
  const path = join(folder, "nutshell.json");
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > MAX_MANIFEST_BYTES) return null;
  try {
    const { bundle_type: type, id } = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    return typeof id === "string" && id !== "" && id.length <= 200 ? `${String(type).slice(0, 20)}:${id}` : null;
  } catch {
    return null;
  }
}
