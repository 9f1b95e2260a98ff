// The parts of the OCI distribution protocol we use: blobs, manifests, tags, referrers.
import { Blobs, type Descriptor, digestOf } from "./blobs.js";
import { bodyOf } from "./http.js";
import { type RegistryOptions, Transport } from "./transport.js";

export const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
export const INDEX_TYPE = "application/vnd.oci.image.index.v1+json";
const ACCEPT = `${MANIFEST_TYPE}, ${INDEX_TYPE}`;

/** Far above what a repository people name things in holds. */
const MAX_ROWS = 100_000;
const MAX_REFERRERS = 1_000;

export class Registry {
  readonly host: string;
  readonly repository: string;
  readonly blobs: Blobs;
  private readonly transport: Transport;

  constructor(options: RegistryOptions) {
    this.transport = new Transport(options);
    this.blobs = new Blobs(this.transport);
    this.host = options.host;
    this.repository = options.repository;
  }

  /** A manifest's bytes and digest; null when there is none by that name. */
  async manifest(name: string): Promise<{ readonly bytes: Buffer; readonly digest: string } | null> {
    const url = this.transport.url(`manifests/${name}`);
    const answer = await this.transport.send({ method: "GET", url, headers: { Accept: ACCEPT } });
    const bytes = await bodyOf(answer, url);
    if (answer.statusCode === 404) return null;
    this.transport.expect(answer, 200, bytes);
    const digest = digestOf(bytes);
    if (name.startsWith("sha256:") && digest !== name) throw this.lie(`the manifest is not ${name}`);
    return { bytes, digest };
  }

  /** Returns whether the registry took note of the manifest's subject. */
  async putManifest(name: string, bytes: Buffer, mediaType = MANIFEST_TYPE): Promise<boolean> {
    const url = this.transport.url(`manifests/${name}`);
    const headers = { "Content-Type": mediaType, "Content-Length": String(bytes.length) };
    const answer = await this.transport.send({ method: "PUT", url, headers, body: bytes }, "pull,push");
    this.transport.expect(answer, 201, await bodyOf(answer, url));
    return answer.headers["oci-subject"] !== undefined;
  }

  async tags(): Promise<string[]> {
    const found = new Set<string>();
    await this.pages(this.transport.url("tags/list?n=1000"), (value) => {
      const tags = (value as { tags?: unknown }).tags;
      const page = Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === "string") : [];
      return addAll(found, page, MAX_ROWS);
    });
    if (found.size >= MAX_ROWS) throw this.lie(`it lists more than ${MAX_ROWS} tags`);
    return [...found].sort();
  }

  /** Manifests that name this one as their subject: by the referrers API, or by the tag that stands in for it. */
  async referrers(digest: string): Promise<Descriptor[]> {
    const rows = new Map<string, Descriptor>();
    const isThere = await this.pages(this.transport.url(`referrers/${digest}`), (value) => {
      const page = indexRows(value) ?? this.noIndex();
      const before = rows.size;
      for (const row of page.slice(0, MAX_REFERRERS)) rows.set(row.digest, row);
      return rows.size > before && rows.size < MAX_REFERRERS;
    });
    if (isThere) return [...rows.values()];
    const index = await this.manifest(fallbackTag(digest));
    // A tag of that name that is no index lists nothing.
    return index === null ? [] : (indexRows(parse(index.bytes)) ?? []);
  }

  /** The rows of the tag that stands in for the referrers API, to be added to; throws when it is something else. */
  async fallbackRows(digest: string): Promise<Descriptor[]> {
    const index = await this.manifest(fallbackTag(digest));
    return index === null ? [] : (indexRows(parse(index.bytes)) ?? this.noIndex());
  }

  private noIndex(): never {
    throw this.lie("the index of referrers is none");
  }

  /** Follows a list from page to page while `take` wants more; false when there is no such list. */
  private async pages(first: URL, take: (value: unknown) => boolean): Promise<boolean> {
    for (let next: URL | null = first; next !== null; ) {
      const url: URL = next;
      const answer = await this.transport.send({ method: "GET", url, headers: { Accept: `${INDEX_TYPE}, */*` } });
      const bytes = await bodyOf(answer, url);
      if (answer.statusCode === 404 && url === first) return false;
      this.transport.expect(answer, 200, bytes);
      const isMore = take(this.json(bytes));
      const link = /<([^>]+)>;\s*rel="?next"?/.exec(String(answer.headers.link ?? ""))?.[1];
      next = link === undefined || !isMore ? null : this.transport.within(link, url);
    }
    return true;
  }

  json(bytes: Buffer): unknown {
    return this.transport.json(bytes);
  }

  lie(why: string) {
    return this.transport.lie(why);
  }
}

export const fallbackTag = (digest: string): string => digest.replace(":", "-");

/** Adds a page; whether it brought something and there is room for more. */
function addAll(found: Set<string>, page: readonly string[], most: number): boolean {
  const before = found.size;
  for (const one of page) if (found.size < most) found.add(one);
  return found.size > before && found.size < most;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
}

/** null for what is no index. */
function indexRows(value: unknown): Descriptor[] | null {
  const rows = (value as { manifests?: unknown } | null)?.manifests;
  return Array.isArray(rows) ? rows.filter(isDescriptor) : null;
}

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
