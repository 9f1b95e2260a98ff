// Files in the server's object store, under the SHA-256 of their bytes. They go in and come out in pieces, so that a large
// one needs no more memory than a small one, and both ends look at the sum.
import { createHash, type Hash } from "node:crypto";
import { closeSync, createReadStream, openSync, rmSync, statSync, writeSync } from "node:fs";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { setTimeout as sleep } from "node:timers/promises";
import type { JetStreamManager } from "@nats-io/jetstream";
import type { ObjectInfo, ObjectStore } from "@nats-io/obj";
import { fromSystemError, NutError } from "../errors.js";
import { renameOver, temporaryName } from "../files/index.js";

const PIECE_BYTES = 256 * 1024;
/** Names of a few hundred thousand files. */
const LONGEST_LIST = 64 * 1024 * 1024;
/** A replica that lags behind is asked again, this often. */
const LOOKS = 20;

export interface Stored {
  readonly sha256: string;
  readonly size: number;
}

type Take = (piece: Uint8Array) => void;

export class StoredFiles {
  readonly #store: ObjectStore;
  readonly #jsm: JetStreamManager;
  readonly #bucket: string;

  constructor(bucket: string, store: ObjectStore, jsm: JetStreamManager) {
    this.#bucket = bucket;
    this.#store = store;
    this.#jsm = jsm;
  }

  async has(name: string): Promise<boolean> {
    return (await this.#info(name)) !== null;
  }

  async #info(name: string): Promise<ObjectInfo | null> {
    const info = await this.#store.info(name).catch((error: Error & { code?: number }) => {
      if (error.code === 10037) return null;
      throw error;
    });
    return info === null || info.deleted ? null : info;
  }

  /** Stores a file once. Throws SOURCE_CHANGED when it is no longer what `stored` says. */
  async putFile(path: string, stored: Stored, name: string = stored.sha256): Promise<void> {
    if (isStored(await this.#info(name), stored)) return;
    const read = Readable.toWeb(createReadStream(path, { highWaterMark: PIECE_BYTES })) as ReadableStream<Uint8Array>;
    await this.#put(name, read as never, stored, path);
  }

  async putBytes(bytes: Uint8Array, name?: string): Promise<Stored> {
    const stored = { sha256: createHash("sha256").update(bytes).digest("hex"), size: bytes.length };
    const under = name ?? stored.sha256;
    if (!isStored(await this.#info(under), stored)) {
      const stream = Readable.toWeb(Readable.from([bytes], { objectMode: false })) as ReadableStream<Uint8Array>;
      await this.#put(under, stream as never, stored, under);
    }
    return stored;
  }

  async #put(name: string, bytes: never, { sha256, size }: Stored, path: string): Promise<void> {
    const options = { max_chunk_size: PIECE_BYTES };
    const put = await this.#store.put({ name, options }, bytes, { timeout: 20_000 });
    if (put !== null && put.size === size && hexOf(put.digest) === sha256) return;
    await this.#store.delete(name);
    throw new NutError("SOURCE_CHANGED", `${path} changed while it was being sent`, { data: { path } });
  }

  /** The whole file, or nothing and a refusal: FLEET_CORRUPT when it is gone or not what was asked for. */
  async getFile(path: string, stored: Stored, name: string = stored.sha256): Promise<void> {
    const temporary = temporaryName(path);
    try {
      await this.#whole(name, stored, async (each) => {
        const file = openSync(temporary, "w", 0o600);
        try {
          await each((piece) => {
            for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
          });
        } finally {
          closeSync(file);
        }
      });
      renameOver(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw fromSystemError(error, path) ?? error;
    }
  }

  async getBytes(stored: Stored, name: string = stored.sha256): Promise<Buffer> {
    let pieces: Uint8Array[] = [];
    await this.#whole(name, stored, async (each) => {
      pieces = [];
      await each((piece) => pieces.push(piece));
    });
    return Buffer.concat(pieces);
  }

  /** Whoever stores the same bytes at the same time takes the pieces away under a reader's hands: it begins once more. */
  async #whole(
    name: string,
    stored: Stored,
    read: (each: (take: Take) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const before = await this.#info(name);
    try {
      await read((take) => this.#each(name, stored, take));
    } catch (error) {
      if (!(error instanceof NutError) || error.code !== "FLEET_CORRUPT") throw error;
      const after = await this.#info(name);
      if (after === null || after.nuid === before?.nuid) throw error;
      await read((take) => this.#each(name, stored, take));
    }
  }

  /** Bytes whose sum is known and whose length is not. */
  async getNamed(name: string, sha256: string): Promise<Buffer> {
    const info = await this.#info(name);
    if (info === null || info.size > LONGEST_LIST) throw this.#gone(name);
    return this.getBytes({ sha256, size: info.size }, name);
  }

  /** The library's own reader hands out pieces as fast as they come, whoever is waiting; here each is asked for. */
  async #each(name: string, { sha256, size }: Stored, take: Take): Promise<void> {
    const hash: Hash = createHash("sha256");
    const info = await this.#info(name);
    if (info === null) throw this.#gone(name);
    const subject = `$O.${this.#bucket}.C.${info.nuid}`;
    let [seq, got] = [0, 0];
    while (got < size) {
      const piece = await this.#piece(subject, seq + 1);
      if (piece === null) throw this.#gone(name);
      seq = piece.seq;
      got += piece.data.length;
      if (got > size) break;
      hash.update(piece.data);
      take(piece.data);
    }
    if (got !== size || hash.digest("hex") !== sha256) {
      throw new NutError("FLEET_CORRUPT", `the server's copy of ${name} is not what was stored`, {
        hint: "nexus fleet doctor; then submit the request again with --again",
        data: { name, size, got },
      });
    }
  }

  async #piece(subject: string, from: number) {
    for (let look = 0; ; look += 1) {
      const piece = await this.#jsm.direct
        .getMessage(`OBJ_${this.#bucket}`, { seq: from, next_by_subj: subject })
        .catch((error: Error & { code?: number }) => {
          if (error.code === 404 || error.code === 10037) return null;
          throw error;
        });
      if (piece !== null || look === LOOKS) return piece;
      await sleep(50);
    }
  }

  #gone(name: string): NutError {
    return new NutError("FLEET_CORRUPT", `${name} is no longer in the fleet's store`, {
      hint: "what is not written to goes after a time: nexus fleet doctor says after which; submit the request again",
      data: { name },
    });
  }

  async remove(name: string): Promise<void> {
    await this.#store.delete(name);
  }
}

/** What lies there by its name may be something else. */
const isStored = (info: ObjectInfo | null, { sha256, size }: Stored): boolean =>
  info !== null && info.size === size && hexOf(info.digest) === sha256;

/** `SHA-256=<base64url>`, as object stores have it. */
function hexOf(digest: string): string {
  return Buffer.from(digest.replace(/^SHA-256=/, ""), "base64url").toString("hex");
}

/** What a file is called in the store. */
export async function sumOf(path: string): Promise<Stored> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
    return { sha256: hash.digest("hex"), size: statSync(path).size };
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}
