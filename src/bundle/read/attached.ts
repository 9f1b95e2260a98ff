// What travels in a .nut file after its archive, outside every digest of the content: lines that somebody signed. They lie in
// gzip members without content, in the header's extra field, where readers of other versions and tools pass over them. A
// bundle in zstd or without compression has no such place: there they lie beside it.
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fromSystemError, NutError } from "../../errors.js";
import { placeFiles, temporaryName } from "../../files/index.js";
import { sweepLeftovers } from "../../process/leftovers.js";
import { openRegular } from "../compression/byte-input.js";
import { GZIP_MAGIC, MAGIC } from "../compression/decompress.js";

export const MAX_ATTACHED_BYTES = 1024 * 1024;

/** A member: ten bytes of header, the extra field's length, our subfield, the length again at its end, an empty body. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff]);
const EMPTY_BODY = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const FIELD = Buffer.from("NS", "latin1");
const LENGTH = Buffer.from("NL", "latin1");
/** An extra field holds 65,535 bytes; ours carries two heads of four bytes and a length. */
const MOST = 60_000;
const TAIL = 8 + EMPTY_BODY.length;
const FRAME = HEADER.length + 2 + 4 + TAIL;

function memberOf(content: Buffer): Buffer {
  const size = Buffer.alloc(2);
  size.writeUInt16LE(content.length);
  const extra = Buffer.alloc(2);
  extra.writeUInt16LE(content.length + 4 + 8);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  return Buffer.concat([HEADER, extra, FIELD, size, content, LENGTH, Buffer.from([4, 0]), length, EMPTY_BODY]);
}

export interface Attached {
  readonly bytes: Buffer;
  /** Where the archive ends and the first of our members begins. */
  readonly archiveBytes: number;
}

/** Reads backwards from the end, so that a large bundle costs no more than a small one. */
export function readAttached(path: string): Attached {
  const file = openRegular(path);
  try {
    return attachedIn(file);
  } finally {
    closeSync(file);
  }
}

function attachedIn(file: number): Attached {
  const parts: Buffer[] = [];
  let end = fstatSync(file).size;
  for (let total = 0; total < MAX_ATTACHED_BYTES; ) {
    const content = lastMember(file, end);
    if (content === null) break;
    parts.unshift(content);
    total += content.length;
    end -= content.length + FRAME;
  }
  return { bytes: Buffer.concat(parts), archiveBytes: end };
}

/** The content of our member that ends at `end`; null when there is none. */
function lastMember(file: number, end: number): Buffer | null {
  if (end < MAGIC.length + FRAME) return null;
  const tail = readAt(file, end - TAIL, TAIL);
  if (
    !tail.subarray(8).equals(EMPTY_BODY) ||
    !tail.subarray(0, 4).equals(Buffer.concat([LENGTH, Buffer.from([4, 0])]))
  ) {
    return null;
  }
  const length = tail.readUInt32LE(4);
  const start = end - FRAME - length;
  if (length === 0 || length > MOST || start < MAGIC.length) return null;
  const member = readAt(file, start, FRAME + length);
  const content = member.subarray(HEADER.length + 6, HEADER.length + 6 + length);
  return member.equals(memberOf(content)) ? Buffer.from(content) : null;
}

function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let have = 0;
  while (have < length) {
    const got = readSync(file, bytes, have, length - have, at + have);
    if (got === 0) break;
    have += got;
  }
  return bytes.subarray(0, have);
}

/** Whether a bundle has a place for it: gzip alone does. */
export function canAttach(path: string): boolean {
  const file = openRegular(path);
  try {
    return readAt(file, 0, 6).equals(Buffer.concat([MAGIC, GZIP_MAGIC]));
  } finally {
    closeSync(file);
  }
}

// A file system that can shares the blocks instead of copying them.
const COPY = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;

/** What every change of a file changes; null when there is none. */
function stateOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || !found.isFile()) return null;
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/** The system's clock for files is coarse: what changed a moment ago could change again and look the same. */
const SETTLED_MS = 100;

/** A copy of a bundle that is made while others read it: there by the time something is to be attached. */
export class EarlyCopy {
  readonly temporary: string;
  private readonly state: string | null;
  private readonly copied: Promise<boolean>;

  constructor(path: string) {
    this.temporary = temporaryName(path);
    const changed = statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? Number.POSITIVE_INFINITY;
    this.state = Date.now() - changed > SETTLED_MS ? stateOf(path) : null;
    // Whoever attaches without this copy makes one, and hears why that cannot be done.
    this.copied =
      this.state === null
        ? Promise.resolve(false)
        : copyFile(path, this.temporary, COPY).then(
            () => true,
            () => false,
          );
  }

  /** Waits until the copy is made: true when there is one. */
  ready(): Promise<boolean> {
    return this.copied;
  }

  /** Whether the file is still the one that was copied. To be asked once the copy is ready. */
  isOf(path: string): boolean {
    return this.state !== null && stateOf(path) === this.state;
  }

  /** Leaves nothing, whether it was used or not. */
  async remove(): Promise<void> {
    await this.copied;
    rmSync(this.temporary, { force: true });
  }
}

/**
 * Puts `bytes` in place of what was attached. The archive's bytes stay as they are; the file is replaced, so that a crash
 * leaves the old one or the new one. `copy` is one that is ready; it is used if the file has not changed since.
 */
export function writeAttached(path: string, bytes: Uint8Array, copy: EarlyCopy | null = null): void {
  if (bytes.length > MAX_ATTACHED_BYTES) {
    throw new NutError("BUNDLE_LIMIT", `more than ${MAX_ATTACHED_BYTES} bytes of signatures`, { data: { path } });
  }
  const { archiveBytes } = readAttached(path);
  sweepLeftovers(dirname(path));
  const early = copy?.isOf(path) === true ? copy.temporary : null;
  const temporary = early ?? temporaryName(path);
  try {
    if (early === null) copyFileSync(path, temporary, COPY);
    const file = openSync(temporary, "r+");
    try {
      ftruncateSync(file, archiveBytes);
      let at = archiveBytes;
      for (let from = 0; from < bytes.length; from += MOST) {
        const member = memberOf(Buffer.from(bytes.subarray(from, from + MOST)));
        for (let done = 0; done < member.length; )
          done += writeSync(file, member, done, member.length - done, at + done);
        at += member.length;
      }
      if (fstatSync(file).size !== at) throw new NutError("DISK_FULL", `${path}: not everything could be written`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    placeFiles([{ path, temporary }]);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw fromSystemError(error, path) ?? error;
  }
}
