// What this account packed, unpacked and agreed to on this machine, one row per line. It lies outside every bundle, so
// nothing a stranger sends can write it. A row that cannot be read counts for nothing: at worst a question is asked again.
import { realpathSync, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import { z } from "zod";
import type { Context } from "../operation.js";
import { appendRow, readRows } from "./record-file.js";

const Row = z.object({
  /** Digest of what was packed here. */
  packed: z.string().optional(),
  /** Folder that was unpacked here, and the digest of its bundle. */
  unpacked: z.string().optional(),
  digest: z.string().optional(),
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
    hidden: hiddenIn(rows),
  };
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
  const problem = append({ unpacked: realpathSync(folder), digest }, context);
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

/** The bundle a folder was unpacked from; null for the person's own folder. Somebody else's folder is its own digest's, "". */
export function strangerDigest(folder: string, { unpacked }: ConsentRecord): string | null {
  const path = realpathSync(folder);
  for (let at = path; ; at = dirname(at)) {
    const digest = unpacked.get(at);
    if (digest !== undefined) return digest;
    if (at === dirname(at) || at === sep) break;
  }
  const owned = process.getuid === undefined || statSync(path).uid === process.getuid();
  return owned ? null : "";
}
