// Blobs to a registry and back: in pieces, on where a broken connection left off, every byte compared with its digest.
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { fromSystemError, NutError } from "../errors.js";
import { pieces } from "./file-part.js";
import { hashApart } from "./hash-apart.js";
import { bodyOf, broken } from "./http.js";
import { isUnreachable, TRIES, type Transport } from "./transport.js";

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Large enough that a registry's work per piece does not count. What arrived of one is not sent again where a registry keeps it. */
const CHUNK_BYTES = 256 * 1024 * 1024;
/** Smaller ones are hashed before anything is sent: that takes no time. */
const EAGER_BYTES = 16 * 1024 * 1024;
/** So much more makes up for a broken connection: a large blob may meet many. */
const GOOD_BYTES = 1024 * 1024;

export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

interface Upload {
  readonly location: URL;
  /** How many bytes the registry has. */
  readonly at: number;
  /** The least a registry takes as one piece, the last aside. */
  readonly leastBytes: number;
}

export class Blobs {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  async has(digest: string): Promise<boolean> {
    const answer = await this.transport.send({ method: "HEAD", url: this.transport.url(`blobs/${digest}`) });
    answer.resume();
    const { statusCode: status = 0 } = answer;
    // Some lead to their storage even here.
    return status === 200 || (status >= 300 && status < 400 && answer.headers.location !== undefined);
  }

  async putBytes(bytes: Buffer): Promise<void> {
    const digest = digestOf(bytes);
    for (let tries = 1; !(await this.has(digest)); tries += 1) {
      try {
        return await this.finish((await this.begin()).location, digest, bytes);
      } catch (error) {
        if (!isUnreachable(error) || tries >= TRIES || this.transport.isAborted) throw error;
        await this.transport.wait(200 * tries);
      }
    }
  }

  /**
   * Uploads the first `size` bytes of a file in pieces, going on where a broken connection left off; false when it was there.
   * A large one is sent while its digest is still being made: if the registry turns out to have it, no more is sent.
   */
  async putFile(path: string, named: string | Promise<string>, size: number): Promise<boolean> {
    const digest = typeof named === "string" || size < EAGER_BYTES ? await named : named;
    const there = Promise.resolve(digest).then((one) => this.has(one));
    const vain = new AbortController();
    there.then(
      (isThere) => isThere && vain.abort(),
      () => {},
    );
    if (typeof digest === "string" && (await there)) return false;
    let upload = await this.begin();
    let isCut = false;
    for (let failures = 0, reached = 0; ; ) {
      try {
        if (isCut) {
          // The end may have been reached, and only its answer lost.
          if (await this.has(await digest)) return true;
          upload = (await this.uploaded(upload)) ?? (await this.begin());
          if (upload.at - reached >= GOOD_BYTES) failures = 0;
          reached = upload.at;
        }
        while (upload.at < size && !vain.signal.aborted) upload = await this.putChunk(upload, path, size, vain.signal);
        if (await there) return await this.giveUp(upload);
        await this.finish(upload.location, await digest, Buffer.alloc(0));
        return true;
      } catch (error) {
        if (vain.signal.aborted) return await this.giveUp(upload);
        failures += 1;
        if (!isUnreachable(error) || failures >= TRIES || this.transport.isAborted) throw error;
        await this.transport.wait(200 * failures);
        isCut = true;
      }
    }
  }

  /** Ends an upload that nobody needs. A registry that cannot do so forgets it after a while. */
  private async giveUp({ location }: Upload): Promise<false> {
    const ask = { method: "DELETE", url: location, once: true } as const;
    await this.transport.send(ask, "pull,push").then(
      (answer) => bodyOf(answer, location),
      () => {},
    );
    return false;
  }

  private async begin(): Promise<Upload> {
    const upload = await this.start({});
    if (upload === null) throw this.transport.lie("it does not say where to upload");
    return upload;
  }

  /** Mounts a blob of another repository of the same registry; false when that is not possible. */
  async mount(digest: string, from: string): Promise<boolean> {
    if (await this.has(digest)) return true;
    // What it says it shares is looked for: a name for a blob that is not there would be good for nothing.
    return (await this.start({ mount: digest, from })) === null && (await this.has(digest));
  }

  /** Writes a blob to a new file. What does not have its digest is left there for the caller to remove. */
  async getFile({ digest, size }: Descriptor, path: string): Promise<void> {
    const { transport } = this;
    const file = await open(path, "wx", 0o644);
    const got = { at: 0, hash: createHash("sha256") };
    try {
      for (let failures = 0; got.at < size; ) {
        const before = got.at;
        try {
          await this.receive(digest, size, { file, path }, got);
        } catch (error) {
          const cut = error instanceof NutError ? error : broken(transport.base, error);
          failures = got.at - before >= GOOD_BYTES ? 1 : failures + 1;
          if (!isUnreachable(cut) || failures >= TRIES || transport.isAborted) throw cut;
          await transport.wait(200 * failures);
        }
      }
      if (`sha256:${got.hash.digest("hex")}` !== digest) throw transport.lie(`what was sent is not ${digest}`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  private async receive(
    digest: string,
    size: number,
    { file, path }: { readonly file: FileHandle; readonly path: string },
    got: { at: number; hash: ReturnType<typeof createHash> },
  ): Promise<void> {
    const answer = await this.open(digest, got.at);
    if (got.at > 0 && answer.statusCode === 200) {
      // It knows nothing of ranges and begins again; so do we.
      await file.truncate(0);
      Object.assign(got, { at: 0, hash: createHash("sha256") });
    }
    const disk = new Behind(file, path);
    try {
      for await (const part of answer as AsyncIterable<Buffer>) {
        if (got.at + part.length > size) throw this.transport.lie(`${digest} is longer than ${size} bytes`);
        await disk.write(part, got.at);
        got.hash.update(part);
        got.at += part.length;
      }
    } finally {
      await disk.flush();
    }
    if (got.at < size) throw broken(this.transport.base, new Error("the answer was cut off"));
  }

  /** A small blob as a whole. */
  async getBytes({ digest, size }: Descriptor): Promise<Buffer> {
    const bytes = await bodyOf(await this.open(digest, 0), this.transport.base);
    if (bytes.length !== size || digestOf(bytes) !== digest) throw this.transport.lie(`what was sent is not ${digest}`);
    return bytes;
  }

  /** A blob's bytes from `at` on, wherever the registry leads; all of them where it cannot begin there. */
  private async open(digest: string, at: number): Promise<IncomingMessage> {
    const { transport } = this;
    const headers: Record<string, string> = at === 0 ? {} : { Range: `bytes=${at}-` };
    let url = transport.url(`blobs/${digest}`);
    for (let hops = 0; hops < 5; hops += 1) {
      const answer = await transport.send({ method: "GET", url, headers });
      const { statusCode: status = 0 } = answer;
      if (status >= 300 && status < 400 && answer.headers.location !== undefined) {
        answer.resume();
        url = transport.elsewhere(answer.headers.location, url);
        continue;
      }
      if (status === 200 || (at > 0 && status === 206)) return answer;
      const body = await bodyOf(answer, url);
      if (status >= 500) throw broken(url, new Error(`it answered ${status}`));
      transport.expect(answer, 200, body);
    }
    throw transport.lie("it leads from one address to the next");
  }

  /** null when the registry had the blob to mount. */
  private async start(query: Record<string, string>): Promise<Upload | null> {
    const { transport } = this;
    const url = transport.url(`blobs/uploads/?${new URLSearchParams(query)}`);
    const scope = query.from === undefined ? "pull,push" : `pull,push from ${query.from}`;
    const answer = await transport.send({ method: "POST", url, headers: { "Content-Length": "0" } }, scope);
    const body = await bodyOf(answer, url);
    if (query.mount !== undefined && answer.statusCode === 201) return null;
    transport.expect(answer, 202, body);
    const least = Number(answer.headers["oci-chunk-min-length"] ?? 0);
    const leastBytes = Number.isSafeInteger(least) ? Math.max(0, least) : 0;
    return { location: this.locationOf(answer, url), at: 0, leastBytes };
  }

  private locationOf(answer: IncomingMessage, url: URL): URL {
    const { location } = answer.headers;
    if (location === undefined) throw this.transport.lie("it does not say where to upload");
    return this.transport.elsewhere(location, url);
  }

  private async putChunk(upload: Upload, path: string, size: number, vain: AbortSignal): Promise<Upload> {
    const { location, at, leastBytes } = upload;
    const end = Math.min(size, at + Math.max(leastBytes, CHUNK_BYTES));
    const headers = {
      "Content-Type": "application/octet-stream",
      "Content-Length": String(end - at),
      "Content-Range": `${at}-${end - 1}`,
    };
    const body = { path, start: at, end };
    const answer = await this.transport.send(
      { method: "PATCH", url: location, headers, body, once: true, signal: vain },
      "pull,push",
    );
    const bytes = await bodyOf(answer, location);
    const { statusCode: status = 0 } = answer;
    // 416: it has less or more than we think, which it will tell.
    if (status >= 500 || status === 416) throw broken(location, new Error(`it answered ${status}`));
    this.transport.expect(answer, 202, bytes);
    return { location: this.locationOf(answer, location), at: end, leastBytes };
  }

  /** How far an upload got; null when the registry no longer knows it. */
  private async uploaded({ location, leastBytes }: Upload): Promise<Upload | null> {
    const answer = await this.transport.send({ method: "GET", url: location }, "pull,push");
    const body = await bodyOf(answer, location);
    if (answer.statusCode === 404) return null;
    this.transport.expect(answer, 204, body);
    const end = /^(?:bytes=)?0-(\d+)$/.exec(String(answer.headers.range ?? ""))?.[1];
    const next = answer.headers.location === undefined ? location : this.locationOf(answer, location);
    // A range of 0-0 is how an upload without a byte is told too: sending the first byte again would spoil it.
    if (end === "0") return null;
    return { location: next, at: end === undefined ? 0 : Number(end) + 1, leastBytes };
  }

  private async finish(location: URL, digest: string, rest: Buffer): Promise<void> {
    const url = new URL(location);
    url.searchParams.set("digest", digest);
    const headers = { "Content-Type": "application/octet-stream", "Content-Length": String(rest.length) };
    const answer = await this.transport.send({ method: "PUT", url, headers, body: rest, once: true }, "pull,push");
    this.transport.expect(answer, 201, await bodyOf(answer, url));
  }
}

/** Large enough that a write costs little, small enough to be held twice. */
const WRITE_BYTES = 1024 * 1024;

/** Writes what was received while more is received. What fails is thrown by a later call, at the latest by flush. */
class Behind {
  private readonly file: FileHandle;
  private readonly path: string;
  private parts: Buffer[] = [];
  private bytes = 0;
  private start = 0;
  private writing: Promise<void> = Promise.resolve();

  constructor(file: FileHandle, path: string) {
    this.file = file;
    this.path = path;
  }

  async write(part: Buffer, at: number): Promise<void> {
    if (this.parts.length === 0) this.start = at;
    this.parts.push(part);
    this.bytes += part.length;
    if (this.bytes >= WRITE_BYTES) await this.send();
  }

  async flush(): Promise<void> {
    await this.send();
    await this.writing;
  }

  private async send(): Promise<void> {
    await this.writing;
    const { parts, start } = this;
    this.parts = [];
    this.bytes = 0;
    if (parts.length > 0) this.writing = writeAll(this.file, this.path, parts, start);
    this.writing.catch(() => {});
  }
}

/** What the disk refuses is not the registry's fault, and asking again helps nobody. */
async function writeAll(file: FileHandle, path: string, parts: readonly Buffer[], start: number): Promise<void> {
  try {
    const { bytesWritten } = await file.writev(parts, start);
    const rest = bytesWritten < sizeOf(parts) ? Buffer.concat(parts).subarray(bytesWritten) : null;
    for (let done = 0; rest !== null && done < rest.length; ) {
      done += (await file.write(rest, done, rest.length - done, start + bytesWritten + done)).bytesWritten;
    }
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

const sizeOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0);

/** SHA-256 of the first bytes of a file; of a large one on a thread of its own, so that it can be sent meanwhile. */
export async function hashFile(path: string, size: number, signal?: AbortSignal): Promise<string> {
  if (size >= EAGER_BYTES) return hashApart(path, size, signal);
  const hash = createHash("sha256");
  for await (const piece of pieces({ path, start: 0, end: size })) hash.update(piece);
  return `sha256:${hash.digest("hex")}`;
}
