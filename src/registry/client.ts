// The parts of the OCI distribution protocol we use: blobs, manifests, tags, referrers. Every byte is compared with its digest.
import { createHash } from "node:crypto";
import { closeSync, createReadStream, fsyncSync, openSync, statSync, writeSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { NutError } from "../errors.js";
import { answerChallenge, type Login } from "./auth.js";
import { type Ask, ask, bodyOf, broken } from "./http.js";
import { baseUrl, isLoopback } from "./reference.js";

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
export const INDEX_TYPE = "application/vnd.oci.image.index.v1+json";
const ACCEPT = `${MANIFEST_TYPE}, ${INDEX_TYPE}`;

/** Large enough that a registry's work per piece does not count, small enough to be sent again. */
const CHUNK_BYTES = 32 * 1024 * 1024;
const TRIES = 5;
const LONGEST_WAIT_MS = 30_000;
const MAX_TAGS = 100_000;

export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

export interface RegistryOptions {
  readonly host: string;
  readonly repository: string;
  /** Asked for only when the registry wants to know. */
  readonly login: () => Promise<Login | null>;
  readonly signal?: AbortSignal | undefined;
}

export class Registry {
  readonly host: string;
  readonly repository: string;
  private readonly options: RegistryOptions;
  private readonly base: URL;
  private readonly tokens = new Map<string, string>();

  constructor(options: RegistryOptions) {
    this.options = options;
    this.host = options.host;
    this.repository = options.repository;
    this.base = baseUrl(options.host);
  }

  /** A manifest's bytes and digest; null when there is none by that name. */
  async manifest(name: string): Promise<{ readonly bytes: Buffer; readonly digest: string } | null> {
    const url = this.url(`manifests/${name}`);
    const answer = await this.send({ method: "GET", url, headers: { Accept: ACCEPT } });
    const bytes = await bodyOf(answer, url);
    if (answer.statusCode === 404) return null;
    this.expect(answer, 200, bytes);
    const digest = digestOf(bytes);
    if (name.startsWith("sha256:") && digest !== name) throw this.lie(`the manifest is not ${name}`);
    return { bytes, digest };
  }

  /** Returns whether the registry took note of the manifest's subject. */
  async putManifest(name: string, bytes: Buffer, mediaType = MANIFEST_TYPE): Promise<boolean> {
    const url = this.url(`manifests/${name}`);
    const headers = { "Content-Type": mediaType, "Content-Length": String(bytes.length) };
    const answer = await this.send({ method: "PUT", url, headers, body: () => bytes }, "pull,push");
    this.expect(answer, 201, await bodyOf(answer, url));
    return answer.headers["oci-subject"] !== undefined;
  }

  async hasBlob(digest: string): Promise<boolean> {
    const answer = await this.send({ method: "HEAD", url: this.url(`blobs/${digest}`) });
    answer.resume();
    return answer.statusCode === 200;
  }

  async putBytes(bytes: Buffer): Promise<void> {
    const digest = digestOf(bytes);
    if (await this.hasBlob(digest)) return;
    const { location } = await this.startUpload({});
    if (location !== null) await this.finishUpload(location, digest, bytes);
  }

  /** Uploads the first `size` bytes of a file in pieces, going on where a broken connection left off; false when it was there. */
  async putFile(path: string, digest: string, size: number, from?: string): Promise<boolean> {
    if (await this.hasBlob(digest)) return false;
    const { location: start } = await this.startUpload(from === undefined ? {} : { mount: digest, from });
    if (start === null) return false;
    let location = start;
    let failures = 0;
    for (let at = 0; at < size; ) {
      const end = Math.min(size, at + CHUNK_BYTES);
      try {
        location = await this.putChunk(location, path, at, end);
        at = end;
      } catch (error) {
        failures += 1;
        if (!(error instanceof NutError) || error.code !== "REGISTRY_UNREACHABLE" || failures >= TRIES) throw error;
        await sleep(200 * failures, undefined, this.signalOption());
        ({ location, at } = await this.uploaded(location));
      }
    }
    await this.finishUpload(location, digest, Buffer.alloc(0));
    return true;
  }

  /** Mounts a blob of another repository of the same registry; false when that is not possible. */
  async mount(digest: string, from: string): Promise<boolean> {
    if (await this.hasBlob(digest)) return true;
    return (await this.startUpload({ mount: digest, from })).location === null;
  }

  /** Writes a blob to a new file. What does not have its digest is left there for the caller to remove. */
  async getBlob({ digest, size }: Descriptor, path: string): Promise<void> {
    const file = openSync(path, "wx", 0o644);
    const hash = createHash("sha256");
    let at = 0;
    try {
      for (let failures = 0; at < size; ) {
        try {
          for await (const part of await this.blobFrom(digest, at)) {
            if (at + part.length > size) throw this.lie(`${digest} is longer than ${size} bytes`);
            for (let done = 0; done < part.length; ) done += writeSync(file, part, done);
            hash.update(part);
            at += part.length;
          }
          if (at < size) throw broken(this.base, new Error("the answer was cut off"));
        } catch (error) {
          const cut = error instanceof NutError ? error : broken(this.base, error);
          failures += 1;
          if (cut.code !== "REGISTRY_UNREACHABLE" || failures >= TRIES || this.options.signal?.aborted) throw cut;
          await sleep(200 * failures, undefined, this.signalOption());
        }
      }
      if (`sha256:${hash.digest("hex")}` !== digest) throw this.lie(`what was sent is not ${digest}`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  /** A small blob as a whole. */
  async getBytes({ digest, size }: Descriptor): Promise<Buffer> {
    const bytes = await bodyOf(await this.blobFrom(digest, 0), this.base);
    if (bytes.length !== size || digestOf(bytes) !== digest) throw this.lie(`what was sent is not ${digest}`);
    return bytes;
  }

  async tags(): Promise<string[]> {
    const found: string[] = [];
    let next: URL | null = this.url("tags/list?n=1000");
    while (next !== null) {
      const url: URL = next;
      const answer = await this.send({ method: "GET", url });
      const bytes = await bodyOf(answer, url);
      if (answer.statusCode === 404) return [];
      this.expect(answer, 200, bytes);
      const tags = (this.json(bytes) as { tags?: unknown }).tags;
      const page = Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === "string") : [];
      const known = new Set(found);
      found.push(...page.filter((tag) => !known.has(tag)));
      const link = /<([^>]+)>;\s*rel="?next"?/.exec(String(answer.headers.link ?? ""))?.[1];
      next = link === undefined || page.length === 0 || found.length === known.size ? null : this.within(link, url);
      if (found.length > MAX_TAGS) throw this.lie(`it lists more than ${MAX_TAGS} tags`);
    }
    return found.sort();
  }

  /** Manifests that name this one as their subject: by the referrers API, or by the tag that stands in for it. */
  async referrers(digest: string): Promise<Descriptor[]> {
    const url = this.url(`referrers/${digest}`);
    const answer = await this.send({ method: "GET", url, headers: { Accept: INDEX_TYPE } });
    const bytes = await bodyOf(answer, url);
    if (answer.statusCode === 200) return this.indexRows(bytes);
    if (answer.statusCode !== 404) this.expect(answer, 200, bytes);
    const index = await this.manifest(fallbackTag(digest));
    return index === null ? [] : this.indexRows(index.bytes);
  }

  indexRows(bytes: Buffer): Descriptor[] {
    const rows = (this.json(bytes) as { manifests?: unknown }).manifests;
    if (!Array.isArray(rows)) throw this.lie("the index of referrers lists nothing");
    return rows.filter(isDescriptor);
  }

  json(bytes: Buffer): unknown {
    try {
      const value: unknown = JSON.parse(bytes.toString("utf8"));
      if (typeof value === "object" && value !== null) return value;
    } catch {
      // Said below.
    }
    throw this.lie("what it sent is not JSON");
  }

  lie(why: string): NutError {
    return new NutError("REGISTRY_BAD_ANSWER", `the registry at ${this.host}: ${why}`, { data: { host: this.host } });
  }

  private url(path: string): URL {
    return new URL(`/v2/${this.repository}/${path}`, this.base);
  }

  private signalOption() {
    return this.options.signal === undefined ? {} : { signal: this.options.signal };
  }

  private async blobFrom(digest: string, at: number): Promise<IncomingMessage> {
    const headers: Record<string, string> = at === 0 ? {} : { Range: `bytes=${at}-` };
    let url = this.url(`blobs/${digest}`);
    for (let hops = 0; hops < 5; hops += 1) {
      const isOwn = url.origin === this.base.origin;
      // Storage elsewhere is asked without our name: the address itself is the permission.
      const answer = isOwn
        ? await this.send({ method: "GET", url, headers })
        : await ask({ method: "GET", url, headers, signal: this.options.signal });
      const { statusCode: status = 0 } = answer;
      if (status >= 300 && status < 400 && answer.headers.location !== undefined) {
        answer.resume();
        url = this.elsewhere(answer.headers.location, url);
        continue;
      }
      if (status === (at === 0 ? 200 : 206)) return answer;
      this.expect(answer, at === 0 ? 200 : 206, await bodyOf(answer, url));
    }
    throw this.lie("it leads from one address to the next");
  }

  private elsewhere(location: string, from: URL): URL {
    const url = new URL(location, from);
    if (
      url.protocol === "https:" ||
      (url.protocol === "http:" && isLoopback(url.hostname) && isLoopback(from.hostname))
    ) {
      return url;
    }
    throw this.lie(`it leads to ${url.origin}, which is not safe`);
  }

  /** An address the registry gives must be its own. */
  private within(location: string, from: URL): URL {
    const url = new URL(location, from);
    if (url.host !== this.base.host) throw this.lie(`it leads to ${url.host}`);
    return new URL(url.pathname + url.search, this.base);
  }

  private async startUpload(query: Record<string, string>): Promise<{ location: URL | null }> {
    const url = this.url(`blobs/uploads/?${new URLSearchParams(query)}`);
    const scope = query.from === undefined ? "pull,push" : `pull,push from ${query.from}`;
    const answer = await this.send({ method: "POST", url, headers: { "Content-Length": "0" } }, scope);
    const body = await bodyOf(answer, url);
    if (query.mount !== undefined && answer.statusCode === 201) return { location: null };
    this.expect(answer, 202, body);
    return { location: this.locationOf(answer, url) };
  }

  private locationOf(answer: IncomingMessage, url: URL): URL {
    const { location } = answer.headers;
    if (location === undefined) throw this.lie("it does not say where to upload");
    return this.within(location, url);
  }

  private async putChunk(location: URL, path: string, at: number, end: number): Promise<URL> {
    const headers = {
      "Content-Type": "application/octet-stream",
      "Content-Length": String(end - at),
      "Content-Range": `${at}-${end - 1}`,
    };
    const body = () => createReadStream(path, { start: at, end: end - 1, highWaterMark: 1024 * 1024 });
    const answer = await this.send({ method: "PATCH", url: location, headers, body }, "pull,push");
    const bytes = await bodyOf(answer, location);
    if ((answer.statusCode ?? 0) >= 500) throw broken(location, new Error(`it answered ${answer.statusCode}`));
    this.expect(answer, 202, bytes);
    return this.locationOf(answer, location);
  }

  /** How far an upload got. */
  private async uploaded(location: URL): Promise<{ location: URL; at: number }> {
    const answer = await this.send({ method: "GET", url: location }, "pull,push");
    this.expect(answer, 204, await bodyOf(answer, location));
    const end = /^(?:bytes=)?0-(\d+)$/.exec(String(answer.headers.range ?? ""))?.[1];
    const next = answer.headers.location === undefined ? location : this.locationOf(answer, location);
    // A range of 0-0 is how an upload without a byte is told too: sending the first byte again would spoil it.
    return { location: next, at: end === undefined || end === "0" ? 0 : Number(end) + 1 };
  }

  private async finishUpload(location: URL, digest: string, rest: Buffer): Promise<void> {
    const url = new URL(location);
    url.searchParams.set("digest", digest);
    const headers = { "Content-Type": "application/octet-stream", "Content-Length": String(rest.length) };
    const answer = await this.send({ method: "PUT", url, headers, body: () => rest }, "pull,push");
    this.expect(answer, 201, await bodyOf(answer, url));
  }

  /** Sends with what the registry asked for before; answers its challenge once, and waits when it says so. */
  private async send(request: Ask, actions = "pull"): Promise<IncomingMessage> {
    const scope = this.scopeOf(actions);
    let challenged = false;
    for (let tries = 0; ; tries += 1) {
      const token = this.tokens.get(scope) ?? this.tokens.get("*");
      const headers = { ...request.headers, ...(token === undefined ? {} : { Authorization: token }) };
      const answer = await ask({ ...request, headers, signal: this.options.signal });
      if (answer.statusCode === 429 && tries < TRIES) {
        answer.resume();
        const seconds = Number(answer.headers["retry-after"] ?? 1);
        const ms = Math.min(LONGEST_WAIT_MS, Number.isFinite(seconds) ? seconds * 1_000 : 1_000);
        await sleep(ms, undefined, this.signalOption());
        continue;
      }
      const challenge = answer.headers["www-authenticate"];
      if (answer.statusCode !== 401 || challenge === undefined || challenged) return answer;
      answer.resume();
      challenged = true;
      const header = await answerChallenge(challenge, await this.options.login(), scope);
      if (header === null) throw this.denied();
      this.tokens.set(header.startsWith("Basic ") ? "*" : scope, header);
    }
  }

  private scopeOf(actions: string): string {
    const [own, from] = actions.split(" from ");
    const other = from === undefined ? "" : ` repository:${from}:pull`;
    return `repository:${this.repository}:${own}${other}`;
  }

  private denied(): NutError {
    return new NutError("REGISTRY_DENIED", `the registry at ${this.host} does not let you do this`, {
      hint: `docker login ${this.host} (or skopeo login --authfile ~/.docker/config.json ${this.host})`,
      data: { host: this.host },
    });
  }

  private expect(answer: IncomingMessage, status: number, body: Buffer): void {
    if (answer.statusCode === status) return;
    if (answer.statusCode === 401 || answer.statusCode === 403) throw this.denied();
    const said = body.toString("utf8").replace(/\s+/g, " ").slice(0, 200);
    throw new NutError("REGISTRY_REFUSED", `the registry at ${this.host} answered ${answer.statusCode}: ${said}`, {
      hint: `nutshell tags oci://${this.host}/${this.repository}`,
      data: { host: this.host, status: answer.statusCode },
    });
  }
}

export const fallbackTag = (digest: string): string => digest.replace(":", "-");

const isDescriptor = (row: unknown): row is Descriptor => {
  const { digest, size, mediaType } = (row ?? {}) as Record<string, unknown>;
  return (
    typeof digest === "string" &&
    /^sha256:[0-9a-f]{64}$/.test(digest) &&
    typeof mediaType === "string" &&
    Number.isSafeInteger(size) &&
    (size as number) >= 0
  );
};

/** SHA-256 of the first bytes of a file. */
export async function hashFile(path: string, size: number): Promise<string> {
  const hash = createHash("sha256");
  if (statSync(path).size < size) throw new NutError("SOURCE_CHANGED", `${path} became shorter`, {});
  if (size === 0) return `sha256:${hash.digest("hex")}`;
  for await (const part of createReadStream(path, { end: size - 1, highWaterMark: 1024 * 1024 }))
    hash.update(part as Buffer);
  return `sha256:${hash.digest("hex")}`;
}
