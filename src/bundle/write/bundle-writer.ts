// Writes a bundle. The manifest comes first and holds every hash, so the rest is compressed into a nameless spool file
// and the finished bundle is put together under a temporary name, then renamed: a failure leaves nothing behind.
import { createHash } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, rmSync, write } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { fromSystemError, NutError } from "../../errors.js";
import { NamelessFile, placeFiles, syncFolder, takeName, temporaryName } from "../../files/index.js";
import { sweepLeftovers } from "../../process/leftovers.js";
import {
  BLOCK,
  END_OF_ARCHIVE,
  encodeHeader,
  padding,
  paddingSize,
  type TarItem,
  writeHeader,
} from "../archive/tar-header.js";
import { type Compressor, compressWhole, createCompressor, type Level } from "../compression/compressor.js";
import { type Compression, MAGIC } from "../compression/decompress.js";
import { MANIFEST_NAME } from "../format/safe-path.js";
import type { Looker, Piece } from "./look.js";

export interface WriterOptions {
  readonly output: string;
  /** Refuses to replace a file that is there by then. */
  readonly isNew?: boolean | undefined;
  readonly compression: Compression;
  readonly level: Level;
  readonly seal?: Seal | undefined;
  /** Sees all that is added, the manifest aside. */
  readonly look: Looker;
}

/** Turns a finished bundle into the file that is written instead of it, so that the bundle itself never has a name. Pieces are used again. */
export type Seal = (pieces: Iterable<Buffer>, bytes: number) => Uint8Array;

export interface WrittenBundle {
  readonly bytes: number;
  /** `sha256:<hex>` of the whole file. */
  readonly hash: string;
}

/** Fills `target` from its start with an entry's next bytes and returns how many; 0 at the end. */
export type Fill = (target: Buffer) => number;

export class BundleWriter {
  private readonly options: WriterOptions;
  private readonly spool: NamelessFile;
  private readonly compressor: Compressor;
  private readonly free: Buffer[] = [];
  private block: Buffer;
  private used = 0;
  private files = 0;

  private constructor(options: WriterOptions, spool: NamelessFile, compressor: Compressor) {
    this.options = options;
    this.spool = spool;
    this.compressor = compressor;
    this.block = this.newBlock();
  }

  static async open(options: WriterOptions): Promise<BundleWriter> {
    const spool = new NamelessFile(options.output);
    try {
      const compressor = await createCompressor(options.compression, options.level, (bytes) => spool.append(bytes));
      return new BundleWriter(options, spool, compressor);
    } catch (error) {
      spool.close();
      throw error;
    }
  }

  /** Bytes after the manifest's member, once `end` has been called. */
  get compressedBytes(): number {
    return this.spool.bytes;
  }

  /** Adds an entry; `fill` must give exactly `item.size` bytes. */
  async add(item: TarItem, fill?: Fill): Promise<void> {
    await this.write(encodeHeader(item));
    if (fill === undefined) return;
    if (item.size === 0) this.sees(item.path, 0, { first: true, last: true });
    for (let left = item.size; left > 0; ) {
      if (this.used === this.block.length) await this.flush();
      const room = this.block.subarray(this.used, Math.min(this.block.length, this.used + left));
      const filled = fill(room);
      if (filled === 0) throw new NutError("SOURCE_CHANGED", `${item.path} became shorter while it was packed`, {});
      this.sees(item.path, filled, { first: left === item.size, last: left === filled });
      this.used += filled;
      left -= filled;
    }
    this.files += 1;
    await this.write(padding(item.size));
  }

  /** Makes room for an entry in one piece. */
  async makeRoom(size: number): Promise<void> {
    if (this.used + roomFor(size) > this.block.length) await this.flush();
  }

  /**
   * Adds a file for which room was made: `read` puts its bytes into the buffer at the place given, at most one more than
   * expected, and says how many they were. False, and nothing is added, when they are not exactly as many or the name needs
   * more than a plain header.
   */
  addSmall(item: TarItem, read: (target: Buffer, at: number, length: number) => number): boolean {
    const { block, used } = this;
    if (used + roomFor(item.size) > block.length || !writeHeader(item, block, used)) return false;
    const at = used + BLOCK;
    if (read(block, at, item.size + 1) !== item.size) return false;
    this.used = at;
    this.sees(item.path, item.size, { first: true, last: true });
    this.files += 1;
    this.used = at + item.size + paddingSize(item.size);
    block.fill(0, at + item.size, this.used);
    return true;
  }

  /** Notes that a file's next bytes lie where the block is filled to. */
  private sees(path: string, length: number, { first, last }: Pick<Piece, "first" | "last">): void {
    this.options.look.see(this.block, { file: this.files, path, start: this.used, length, first, last });
  }

  /** Ends the archive; afterwards `compressedBytes` is known. */
  async end(): Promise<void> {
    await this.write(END_OF_ARCHIVE);
    await this.flush();
    await this.compressor.finish();
  }

  /** Puts manifest and archive together at the output. */
  async commit(manifest: Buffer): Promise<WrittenBundle> {
    const { compression, level, output, seal, isNew = false } = this.options;
    const item: TarItem = { path: MANIFEST_NAME, kind: "file", size: manifest.length, executable: false };
    const head = Buffer.concat([encodeHeader(item), manifest, padding(manifest.length)]);
    const member = await compressWhole(head, compression, level);
    try {
      const pieces = piecesOf([MAGIC, member], this.spool);
      if (seal === undefined) return await assemble(output, pieces, isNew);
      const bytes = MAGIC.length + member.length + this.spool.bytes;
      return await assemble(output, [Buffer.from(seal(pieces, bytes))], isNew);
    } finally {
      this.spool.close();
    }
  }

  /** Gives everything up. Safe to call at any time, and after `commit`. */
  discard(): void {
    this.spool.close();
  }

  private async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.used === this.block.length) await this.flush();
      const copied = bytes.copy(this.block, this.used, at);
      this.used += copied;
      at += copied;
    }
  }

  private async flush(): Promise<void> {
    const full = this.block;
    const block = full.subarray(0, this.used);
    this.used = 0;
    let holders = 2;
    const release = () => {
      holders -= 1;
      if (holders === 0) this.free.push(full);
    };
    await Promise.all([this.compressor.push(block, release), this.options.look.turn(full, release)]);
    this.block = this.free.pop() ?? this.newBlock();
  }

  private newBlock(): Buffer {
    const { blockBytes } = this.compressor;
    return this.options.look.isApart
      ? Buffer.from(new SharedArrayBuffer(blockBytes))
      : Buffer.allocUnsafeSlow(blockBytes);
  }
}

/** A header, the bytes with one to spare, and what fills the last block. */
const roomFor = (size: number) => BLOCK + size + 1 + BLOCK;

const COPY_BYTES = 1024 ** 2;

function* piecesOf(head: readonly Buffer[], spool: NamelessFile): Generator<Buffer> {
  yield* head;
  // One is written while the next is read, and nobody needs a third.
  const both = [Buffer.allocUnsafeSlow(COPY_BYTES), Buffer.allocUnsafeSlow(COPY_BYTES)];
  for (let at = 0, turn = 0; at < spool.bytes; at += COPY_BYTES, turn = 1 - turn) {
    const piece = both[turn]!.subarray(0, Math.min(COPY_BYTES, spool.bytes - at));
    spool.read(at, piece);
    yield piece;
  }
}

/** A piece may be used again once the one after the next is asked for. */
async function assemble(output: string, pieces: Iterable<Buffer>, isNew: boolean): Promise<WrittenBundle> {
  sweepLeftovers(dirname(output));
  const temporary = temporaryName(output);
  try {
    const file = openSync(temporary, "wx", 0o644);
    const hash = createHash("sha256");
    let bytes = 0;
    let written: Promise<void> = Promise.resolve();
    try {
      for (const piece of pieces) {
        await written;
        written = writeAll(file, piece);
        // While another thread writes it.
        hash.update(piece);
        bytes += piece.length;
      }
      await written;
      // A short file renamed over a good one is how a full disk destroys data.
      if (fstatSync(file).size !== bytes) throw new NutError("DISK_FULL", `${output}: not everything could be written`);
      fsyncSync(file);
    } finally {
      await written.catch(() => {});
      closeSync(file);
    }
    if (!isNew) placeFiles([{ path: output, temporary }]);
    else if (takeName(temporary, output)) syncFolder(dirname(output));
    else throw new NutError("FILE_EXISTS", `${output}: appeared meanwhile`, { hint: "name another file: -o '<file>'" });
    return { bytes, hash: `sha256:${hash.digest("hex")}` };
  } catch (error) {
    rmSync(temporary, { force: true });
    throw fromSystemError(error, output) ?? error;
  }
}

const writeSome = promisify(write);

async function writeAll(file: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await writeSome(file, bytes, at, bytes.length - at, null)).bytesWritten;
}
