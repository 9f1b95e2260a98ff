// What this account packed, unpacked and agreed to on this machine, one row per line. It lies outside every bundle, so
// nothing a stranger sends can write it. A row that cannot be read counts for nothing: at worst a question is asked again.
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { z } from "zod";
import { isSystemError } from "../errors.js";
import type { Context } from "../operation.js";
import { hasHome, homeOf } from "./keys.js";

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

function recordFile(env: Context["env"]): string | null {
  const state = env.XDG_STATE_HOME ?? "";
  if (isAbsolute(state)) return join(state, "nutshell", "consent.jsonl");
  return hasHome(env) ? join(homeOf(env), ".local", "state", "nutshell", "consent.jsonl") : null;
}

export function readConsentRecord(env: Context["env"]): ConsentRecord {
  const rows = readRows(recordFile(env));
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

function readRows(path: string | null): Row[] {
  if (path === null) return [];
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return [];
  }
  try {
    if (!isOurs(file)) return [];
    return readFileSync(file, "utf8").split("\n").flatMap(readRow);
  } finally {
    closeSync(file);
  }
}

/** A file that others may write says nothing about this account. */
function isOurs(file: number): boolean {
  const { uid, mode } = fstatSync(file);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

function readRow(line: string): Row[] {
  try {
    const parsed = Row.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}

/** Says in one line why the row could not be kept; null when it was. Never throws over the disk. */
function append(row: Row, { env, now }: Context): string | null {
  const path = recordFile(env);
  if (path === null) return "no home folder is set";
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    const file = openSync(path, flags, 0o600);
    try {
      writeSync(file, `${JSON.stringify({ ...row, at: now().toISOString() })}\n`);
    } finally {
      closeSync(file);
    }
    return null;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.message;
  }
}

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
