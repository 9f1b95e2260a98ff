// Tar as we accept it. Every header is judged before a byte of its entry is passed on; whatever another reader could
// understand differently is refused, never repaired.
import { NutError } from "../../errors.js";
import { type Limits, MAX_PATH_BYTES, MAX_PAX_BYTES, MAX_TRAILING_ZEROS } from "../format/limits.js";
import { assertSafePath, quoted } from "../format/safe-path.js";
import { parsePax } from "./pax.js";
import { BLOCK, checksum, paddingSize } from "./tar-header.js";

export interface ArchiveEntry {
  /** Without a leading `./` and without a trailing slash. */
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly size: number;
  readonly executable: boolean;
  /** Of the entry's header in the tar stream. */
  readonly offset: number;
}

/** Takes an entry's bytes as they come. `chunk` must copy what it keeps. */
export interface EntrySink {
  chunk(bytes: Buffer): void;
  end(): void;
}

export type Visit = (entry: ArchiveEntry) => EntrySink | null;

type Extended = { path?: string; size?: number };
type State = "header" | "body" | "padding" | "extended" | "end";

/** Decodes a tar stream pushed into it in pieces of any size. */
export class TarReader {
  private state: State = "header";
  private offset = 0;
  private remaining = 0;
  private sink: EntrySink | null = null;
  private partial: Buffer[] = [];
  private partialBytes = 0;
  private extendedType = "";
  private extended: Extended | null = null;
  private zeroBlocks = 0;
  private trailing = 0;
  private entries = 0;
  private totalBytes = 0;
  private readonly files = new Set<string>();
  private readonly folders = new Set<string>();
  private readonly visit: Visit;
  private readonly limits: Limits;

  constructor(visit: Visit, limits: Limits) {
    this.visit = visit;
    this.limits = limits;
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) at += this.step(at === 0 ? bytes : bytes.subarray(at));
  }

  /** The stream has ended: is the archive whole? */
  finish(): void {
    if (this.state === "body" || this.state === "extended" || this.partialBytes > 0) {
      throw corrupt("the archive ends in the middle of an entry", this.offset);
    }
    // Padding after the last entry may be missing, as may the end blocks: nothing of the content is.
    if (this.extended !== null) throw corrupt("the archive ends after an extended header", this.offset);
    if (this.offset === 0) throw corrupt("the archive is empty", 0);
  }

  private step(bytes: Buffer): number {
    switch (this.state) {
      case "body":
        return this.body(bytes);
      case "padding":
        return this.skip(bytes);
      case "end":
        return this.tail(bytes);
      default:
        return this.collect(bytes);
    }
  }

  private body(bytes: Buffer): number {
    const taken = Math.min(this.remaining, bytes.length);
    this.sink?.chunk(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    this.remaining -= taken;
    this.offset += taken;
    if (this.remaining === 0) this.endBody();
    return taken;
  }

  private endBody(): void {
    this.sink?.end();
    this.sink = null;
    this.remaining = paddingSize(this.offset);
    this.state = this.remaining > 0 ? "padding" : "header";
  }

  private skip(bytes: Buffer): number {
    const taken = Math.min(this.remaining, bytes.length);
    for (let index = 0; index < taken; index += 1) {
      if (bytes[index] !== 0) throw corrupt("the padding of an entry is not empty", this.offset + index);
    }
    this.remaining -= taken;
    this.offset += taken;
    if (this.remaining === 0) this.state = "header";
    return taken;
  }

  /** After the end only zeros may follow, and not without end. */
  private tail(bytes: Buffer): number {
    for (let index = 0; index < bytes.length; index += 1) {
      if (bytes[index] !== 0) throw corrupt("there is data after the end of the archive", this.offset + index);
    }
    this.trailing += bytes.length;
    this.offset += bytes.length;
    if (this.trailing > MAX_TRAILING_ZEROS) throw corrupt("endless zeros follow the archive", this.offset);
    return bytes.length;
  }

  /** Gathers a header block or an extended header's body, which are needed whole. */
  private collect(bytes: Buffer): number {
    const wanted = this.state === "header" ? BLOCK : this.remaining;
    if (this.partialBytes === 0 && bytes.length >= wanted) {
      this.offset += wanted;
      this.collected(bytes.subarray(0, wanted));
      return wanted;
    }
    const taken = Math.min(wanted - this.partialBytes, bytes.length);
    this.partial.push(Buffer.from(bytes.subarray(0, taken)));
    this.partialBytes += taken;
    this.offset += taken;
    if (this.partialBytes === wanted) {
      const whole = Buffer.concat(this.partial);
      this.partial = [];
      this.partialBytes = 0;
      this.collected(whole);
    }
    return taken;
  }

  private collected(whole: Buffer): void {
    if (this.state === "header") this.header(whole);
    else this.extendedBody(whole);
  }

  private header(block: Buffer): void {
    const at = this.offset - BLOCK;
    if (isZero(block)) {
      if (this.extended !== null) throw corrupt("the archive ends after an extended header", at);
      this.zeroBlocks += 1;
      if (this.zeroBlocks === 2) this.state = "end";
      return;
    }
    if (this.zeroBlocks > 0) throw corrupt("there is data after the end of the archive", at);
    if (number(block, 148, 8, "checksum", at) !== checksum(block)) throw corrupt("a header's checksum is wrong", at);
    const type = String.fromCharCode(block[156]!);
    if (type === "x" || type === "g" || type === "L") this.beginExtended(block, type, at);
    else this.entry(block, type, at);
  }

  private beginExtended(block: Buffer, type: string, at: number): void {
    const size = number(block, 124, 12, "size", at);
    if (size > MAX_PAX_BYTES) {
      throw new NutError("BUNDLE_LIMIT", `an extended header of ${size} bytes (at most ${MAX_PAX_BYTES})`, {
        data: { offset: at, size },
      });
    }
    if (size === 0) throw corrupt("an extended header is empty", at);
    if (type !== "g" && this.extended !== null) throw corrupt("an entry has two extended headers", at);
    if (type === "g") this.count();
    this.extendedType = type;
    this.remaining = size;
    this.state = "extended";
  }

  private extendedBody(body: Buffer): void {
    const at = this.offset - body.length - BLOCK;
    if (this.extendedType === "L") {
      this.extended = { path: text(body, 0, body.length, at) };
    } else {
      const records = parsePax(body, { global: this.extendedType === "g", offset: at });
      if (this.extendedType === "x") this.extended = records;
    }
    this.remaining = paddingSize(body.length);
    this.state = this.remaining > 0 ? "padding" : "header";
  }

  private entry(block: Buffer, type: string, at: number): void {
    const extended = this.extended;
    this.extended = null;
    const named = extended?.path ?? headerName(block, at);
    const kind = kindOf(type, named, at);
    const size = extended?.size ?? number(block, 124, 12, "size", at);
    if (kind === "folder" && size !== 0) throw unsafeEntry(named, "is a folder with content", at);
    const path = cleanName(named, kind);
    this.state = "header";
    this.count();
    if (path === null) return;
    assertSafePath(path);
    this.register(path, kind, at);
    this.totalBytes += size;
    if (this.totalBytes > this.limits.maxTotalBytes) throw tooLarge(this.limits);
    const executable = kind === "file" && (number(block, 100, 8, "mode", at) & 0o100) !== 0;
    this.sink = this.visit({ path, kind, size, executable, offset: at });
    if (kind === "folder") return;
    this.remaining = size;
    this.state = "body";
    if (size === 0) this.endBody();
  }

  /** One name, one entry; and nothing is both a file and a folder. */
  private register(path: string, kind: "file" | "folder", at: number): void {
    if (this.files.has(path)) throw unsafeEntry(path, "is there twice", at);
    if (kind === "file" && this.folders.has(path)) throw unsafeEntry(path, "is both a file and a folder", at);
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const parent = path.slice(0, slash);
      if (this.folders.has(parent)) break;
      if (this.files.has(parent)) throw unsafeEntry(parent, "is both a file and a folder", at);
      this.folders.add(parent);
    }
    (kind === "file" ? this.files : this.folders).add(path);
  }

  private count(): void {
    this.entries += 1;
    if (this.entries <= this.limits.maxEntries) return;
    throw new NutError("BUNDLE_LIMIT", `the bundle has more than ${this.limits.maxEntries} entries`, {
      hint: "if you expected that, unpack it with a higher limit: nutshell unpack '<bundle>' --max-entries '<n>'",
      data: { max_entries: this.limits.maxEntries },
    });
  }
}

export function tooLarge(limits: Limits): NutError {
  return new NutError("BUNDLE_LIMIT", `the bundle unpacks to more than ${limits.maxTotalBytes} bytes`, {
    hint: "if you expected that, unpack it with a higher limit: nutshell unpack '<bundle>' --max-size '<bytes>'",
    data: { max_bytes: limits.maxTotalBytes },
  });
}

const REFUSED: Readonly<Record<string, string>> = {
  "1": "is a hard link",
  "2": "is a symbolic link",
  "3": "is a character device",
  "4": "is a block device",
  "6": "is a named pipe",
  "7": "is a contiguous file",
  K: "has a long link name",
  M: "continues from another volume",
  S: "is a sparse file",
  V: "is a volume label",
};

function kindOf(type: string, name: string, at: number): "file" | "folder" {
  if (type === "5") return "folder";
  if (type === "0" || type === "\0") {
    if (name.endsWith("/")) throw unsafeEntry(name, "is a file with the name of a folder", at);
    return "file";
  }
  throw unsafeEntry(name, REFUSED[type] ?? `is of an unknown type (${JSON.stringify(type)})`, at);
}

/** null for the root itself, which some tools list as `./`. */
function cleanName(name: string, kind: "file" | "folder"): string | null {
  const bare = kind === "folder" ? name.replace(/\/$/, "") : name;
  if (bare === "." && kind === "folder") return null;
  return bare.startsWith("./") ? bare.slice(2) : bare;
}

function headerName(block: Buffer, at: number): string {
  const name = text(block, 0, 100, at);
  // GNU's own flavour keeps other things where ustar keeps the prefix.
  const ustar = block.toString("latin1", 257, 263) === "ustar\0";
  const prefix = ustar ? text(block, 345, 500, at) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A name field: UTF-8 up to the first NUL, with nothing hidden behind it. */
function text(block: Buffer, start: number, end: number, at: number): string {
  let stop = block.indexOf(0, start);
  if (stop < 0 || stop > end) stop = end;
  for (let index = stop; index < end; index += 1) {
    if (block[index] !== 0) throw unsafeName("a name has bytes hidden behind a NUL", at);
  }
  if (stop - start > MAX_PATH_BYTES + 16) {
    throw new NutError("BUNDLE_LIMIT", `a name is longer than ${MAX_PATH_BYTES} bytes`, { data: { offset: at } });
  }
  try {
    return decoder.decode(block.subarray(start, stop));
  } catch {
    throw unsafeName("a name is not valid UTF-8", at);
  }
}

/** Octal digits, or base-256 when the first bit is set. */
function number(block: Buffer, start: number, length: number, field: string, at: number): number {
  const first = block[start]!;
  if (first & 0x80) return base256(block.subarray(start, start + length), field, at);
  const digits = block.toString("latin1", start, start + length);
  const match = /^ *([0-7]*)[ \0]*$/.exec(digits);
  if (match === null) throw corrupt(`a header's ${field} is not a number`, at);
  return match[1] === "" ? 0 : Number.parseInt(match[1]!, 8);
}

function base256(bytes: Buffer, field: string, at: number): number {
  if (bytes[0] !== 0x80) throw corrupt(`a header's ${field} is negative or too large`, at);
  let value = 0;
  for (const byte of bytes.subarray(1)) value = value * 256 + byte;
  if (!Number.isSafeInteger(value)) throw corrupt(`a header's ${field} is too large`, at);
  return value;
}

function isZero(block: Buffer): boolean {
  for (let index = 0; index < BLOCK; index += 1) if (block[index] !== 0) return false;
  return true;
}

export function corrupt(message: string, offset: number): NutError {
  return new NutError("BUNDLE_CORRUPT", `${message} (at byte ${offset} of the archive)`, {
    data: { offset },
  });
}

function unsafeEntry(name: string, message: string, offset: number): NutError {
  return new NutError("BUNDLE_UNSAFE_ENTRY", `entry ${quoted(name)} ${message}`, {
    data: { path: name, offset },
  });
}

function unsafeName(message: string, offset: number): NutError {
  return new NutError("BUNDLE_UNSAFE_PATH", `${message} (at byte ${offset} of the archive)`, { data: { offset } });
}
