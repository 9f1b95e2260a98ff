// A tree as it was: one listing, and git's name for the bytes of every file in it. What a look before this one knew already
// is taken over line by line: a line that is the same stands for the same bytes.
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { atomicWrite, byBytes } from "../files/index.js";
import { type KeptBlobs, NO_OID, OID_BYTES, oidOf } from "./blobs.js";
import { onDisk } from "./disk-names.js";
import { entryOf, type ListingEntry, linesOf, pathFrom } from "./listing.js";
import type { Change, TreeEntry } from "./tree.js";

export interface KeptTree {
  readonly listing: Buffer;
  /** One after the other, for every entry of the listing; NO_OID for what is no file or could not be read. */
  readonly oids: Buffer;
}

/** File systems stamp with the kernel's tick, which may lag behind the clock. */
const CLOCK_GRAIN_MS = 40;
/** Larger files are watched, and their bytes are not kept. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

const LENGTH_BYTES = 8;

export function writeKept(file: string, { listing, oids }: KeptTree): void {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64LE(BigInt(listing.length));
  atomicWrite(file, Buffer.concat([length, listing, oids]), { mode: 0o600, durable: false });
}

/** null when there is none, or nothing that can be read. */
export function readKept(file: string): KeptTree | null {
  if (!existsSync(file)) return null;
  const bytes = readFileSync(file);
  if (bytes.length < LENGTH_BYTES) return null;
  const end = LENGTH_BYTES + Number(bytes.readBigUInt64LE());
  return end > bytes.length ? null : { listing: bytes.subarray(LENGTH_BYTES, end), oids: bytes.subarray(end) };
}

/** Only what `earlier` does not know by an equal line is read. */
export function keepListing(root: string, listing: Buffer, earlier: KeptTree | null, blobs: KeptBlobs): KeptTree {
  if (earlier?.listing.equals(listing) === true) return earlier;
  const known = earlier === null ? new Map<string, Buffer>() : oidsByLine(earlier);
  const lines = [...linesOf(listing)];
  const wanted = lines.filter(([, line]) => line.startsWith("f ") && !known.has(line) && isReadable(entryOf(line)));
  const kept = blobs.keep(
    root,
    wanted.map(([path]) => path),
  );
  for (const [i, [, line]] of wanted.entries()) known.set(line, kept[i]!);
  return { listing, oids: Buffer.concat(lines.map(([, line]) => known.get(line) ?? NO_OID)) };
}

const isReadable = ({ size, mode }: ListingEntry): boolean =>
  size <= MAX_FILE_BYTES && ((mode & 0o400) !== 0 || process.getuid?.() === 0);

/** For the next look: without what was changed so shortly before this one that a second change could bear the same time. */
export function settled({ listing, oids }: KeptTree, takenMs: number): KeptTree {
  const isFresh = (line: string) => entryOf(line).changedMs > takenMs - CLOCK_GRAIN_MS;
  const lines = [...linesOf(listing).values()];
  if (!lines.some(isFresh)) return { listing, oids };
  const old = lines.flatMap((line, i) => (isFresh(line) ? [] : [{ line, at: i * OID_BYTES }]));
  return {
    listing: Buffer.from(old.map(({ line }) => (line.includes("\0") ? `${line}\0` : `${line}\0\0`)).join(""), "latin1"),
    oids: Buffer.concat(old.map(({ at }) => oids.subarray(at, at + OID_BYTES))),
  };
}

/** Until no change can bear a time that was seen. */
export function waitForClock(sinceMs: number): void {
  const left = sinceMs + CLOCK_GRAIN_MS - Date.now();
  if (left > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left);
}

function oidsByLine({ listing, oids }: KeptTree): Map<string, Buffer> {
  const known = new Map<string, Buffer>();
  let at = 0;
  for (const line of linesOf(listing).values()) {
    const oid = oids.subarray(at, at + OID_BYTES);
    if (!oid.equals(NO_OID)) known.set(line, oid);
    at += OID_BYTES;
  }
  return known;
}

/** A change, with the permissions on both sides; a change of nothing else counts, too. */
export interface KeptChange extends Change {
  readonly mode: number | null;
  readonly oid: Buffer | null;
  readonly target: string;
}

/** What is no longer as it was, in path order. Files are compared by their bytes: one that was only touched has not changed. */
export function changesTo(root: string, before: KeptTree, now: Buffer): KeptChange[] {
  if (before.listing.equals(now)) return [];
  const after = linesOf(now);
  const changes: KeptChange[] = [];
  let at = 0;
  const earlier = linesOf(before.listing);
  for (const [name, line] of earlier) {
    const oid = before.oids.subarray(at, at + OID_BYTES);
    at += OID_BYTES;
    const line2 = after.get(name);
    if (line === line2) continue;
    const change = changeOf(root, name, { line, oid }, line2);
    if (change !== null) changes.push(change);
  }
  for (const [name, line] of after) {
    if (earlier.has(name)) continue;
    const path = pathFrom(name);
    changes.push({ path, kind: "created", before: null, after: entry(entryOf(line), "new"), ...NOTHING });
  }
  return changes.sort((a, b) => byBytes(a.path, b.path));
}

const NOTHING = { mode: null, oid: null, target: "" } as const;

function changeOf(
  root: string,
  name: string,
  { line, oid }: { readonly line: string; readonly oid: Buffer },
  now: string | undefined,
): KeptChange | null {
  const old = entryOf(line);
  const path = pathFrom(name);
  const before = entry(old, oid.toString("hex"));
  const parts = { path, before, mode: old.mode, oid: oid.equals(NO_OID) ? null : oid, target: old.target };
  if (now === undefined) return { ...parts, kind: "deleted", after: null };
  const next = entryOf(now);
  const after = seen(root, path, next);
  const isSame = old.type === next.type && (old.type === "link" || old.mode === next.mode);
  const hasBytes = old.type === "file" || old.type === "link";
  if (isSame && (!hasBytes || before.hash === after.hash)) return null;
  return { ...parts, kind: "modified", after };
}

const entry = ({ type, mode, size, target }: ListingEntry, hash: string): TreeEntry => ({
  type,
  executable: type === "file" && (mode & 0o111) !== 0,
  size,
  hash: type === "file" ? hash : type === "link" ? oidOf(Buffer.from(target, "latin1")).toString("hex") : "",
});

function seen(root: string, path: string, found: ListingEntry): TreeEntry {
  if (found.type !== "file") return entry(found, "");
  const disk = onDisk(join(root, path));
  try {
    if (found.size > MAX_FILE_BYTES || !lstatSync(disk).isFile()) return entry(found, "unread");
    return entry(found, oidOf(readFileSync(disk)).toString("hex"));
  } catch {
    return entry(found, "unread");
  }
}
