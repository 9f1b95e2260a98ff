// A tree as it was: one listing, and git's name for the bytes of every file in it. What a look before this one knew already
// is taken over line by line: a line that is the same stands for the same bytes.
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { atomicWrite, byBytes } from "../files/index.js";
import { type KeptBlobs, NO_OID, OID_BYTES, oidOf } from "./blobs.js";
import { onDisk } from "./disk-names.js";
import { entryOf, ListedRecord, type ListingEntry, linesWhere, pathFrom } from "./listing.js";
import { diffListings, type ListedLine } from "./listing-diff.js";
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

/** A tree, and what of it had to be read. */
export interface Looked {
  readonly kept: KeptTree;
  readonly read: readonly ListedLine[];
}

/** Only what `earlier` does not know by an equal line is read. */
export function keepListing(root: string, listing: Buffer, earlier: KeptTree | null, blobs: KeptBlobs): Looked {
  if (earlier?.listing.equals(listing) === true) return { kept: earlier, read: [] };
  const { same, come, count } = diffListings(earlier?.listing ?? Buffer.alloc(0), listing);
  const oids = Buffer.alloc(count * OID_BYTES);
  for (const run of same)
    earlier!.oids.copy(oids, run.after * OID_BYTES, run.before * OID_BYTES, (run.before + run.count) * OID_BYTES);
  const wanted = earlier === null ? come : [...come, ...unread(listing, oids, come)];
  const read = wanted.filter(({ line }) => line.startsWith("f ") && isReadable(entryOf(line)));
  const kept = blobs.keep(
    root,
    read.map(({ path }) => path),
  );
  for (const [i, { at }] of read.entries()) kept[i]!.copy(oids, at * OID_BYTES);
  return { kept: { listing, oids }, read };
}

/** Files that were there before and could not be read then. */
function unread(listing: Buffer, oids: Buffer, come: readonly ListedLine[]): ListedLine[] {
  const isNew = new Set(come.map(({ at }) => at));
  const hasNone = (at: number) => oids.readUInt32LE(at * OID_BYTES) === 0 && oidAt(oids, at).equals(NO_OID);
  return linesWhere(listing, ({ type }, at) => type === "file" && hasNone(at) && !isNew.has(at));
}

const oidAt = (oids: Buffer, at: number): Buffer => oids.subarray(at * OID_BYTES, (at + 1) * OID_BYTES);

const isReadable = ({ size, mode }: ListingEntry): boolean =>
  size <= MAX_FILE_BYTES && ((mode & 0o400) !== 0 || process.getuid?.() === 0);

/** For the next look: without what was changed so shortly before this one that a second change could bear the same time. */
export function settled(kept: KeptTree, takenMs: number): KeptTree {
  const { listing, oids } = kept;
  const isFresh = ({ seconds, nanoseconds }: ListedRecord) =>
    seconds * 1_000 + nanoseconds / 1e6 > takenMs - CLOCK_GRAIN_MS;
  const fresh = new Set(linesWhere(listing, isFresh).map(({ at }) => at));
  if (fresh.size === 0) return kept;
  const old: [Buffer[], Buffer[]] = [[], []];
  const record = new ListedRecord(listing);
  for (let at = 0, start = 0; record.next(); at += 1, start = record.end) {
    if (fresh.has(at)) continue;
    old[0].push(listing.subarray(start, record.end));
    old[1].push(oidAt(oids, at));
  }
  return { listing: Buffer.concat(old[0]), oids: Buffer.concat(old[1]) };
}

/** Until no change can bear a time that was seen. */
export function waitForClock(sinceMs: number): void {
  const left = sinceMs + CLOCK_GRAIN_MS - Date.now();
  if (left > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left);
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
  const { gone, come } = diffListings(before.listing, now);
  const after = new Map(come.map(({ path, line }) => [path, line]));
  const changes: KeptChange[] = [];
  for (const { path, line, at } of gone) {
    const change = changeOf(root, path, { line, oid: oidAt(before.oids, at) }, after.get(path));
    if (change !== null) changes.push(change);
    after.delete(path);
  }
  for (const [name, line] of after) {
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
