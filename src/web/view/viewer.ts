// `nutshell serve`: what the viewer's page asks for. Files leave the bundle one at a time, as they are asked for.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { isText } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import { turns } from "../../process/turns.js";
import type { GitWorld } from "../../trees/git/git.js";
import { type AnswerHead, send, sendError, sendJson, sendStream } from "../server/respond.js";
import { type Serving, serve } from "../server/server.js";
import { type BaseFiles, baseFiles } from "./base-files.js";
import { compare, IN_BASE } from "./compare.js";
import { countChanges } from "./count-changes.js";
import { findRequest } from "./find-request.js";
import { headOf } from "./head.js";
import { imageType } from "./image-types.js";
import { linesWith } from "./lines-with.js";
import type { Comparison, FileDiff, LineFound } from "./model.js";
import { htmlPage, type PageFile, pageFile, pageType } from "./page.js";
import { sideBySide } from "./side-by-side.js";
import { openSource, type SourceOptions, type ViewSource } from "./source.js";
import { claimedFiles, type Survey, survey } from "./survey.js";
import { withheldRule } from "./withheld.js";

export interface ViewerOptions {
  readonly sources: readonly string[];
  readonly cwd: string;
  /** Opens a sealed bundle. */
  readonly unseal?: (path: string) => Promise<string | Readable>;
  readonly port: number;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly command: string;
  readonly onLink: (link: string) => void;
  readonly onError: (error: unknown) => void;
  readonly env: GitWorld["env"];
}

/** What a page shows of one file; the rest can be downloaded. */
const PREVIEW_BYTES = 1024 ** 2;
/** Logs are read from one end to the other. */
const LOG_BYTES = 16 * 1024 ** 2;
const SEARCHED_BYTES = 256 * 1024;
const MOST_FOUND = 100;
/** Each reads the archive from its start: more at once only makes all of them slower. */
const STREAMS = 3;
const ASSETS: ReadonlySet<string> = new Set(["/viewer.js", "/formatter.js", "/style.css"]);

export async function serveViewer(options: ViewerOptions): Promise<Serving> {
  const sides: Viewed[] = [];
  for (const path of options.sources) sides.push(await Viewed.open(path, options));
  const [only] = sides;
  if (only !== undefined && sides.length === 1) {
    const request = await findRequest(only.source.manifest, options.sources[0]!, options.cwd);
    if (request !== null) sides.unshift(await Viewed.open(request, options));
  }
  const viewer = new Viewer(sides, options);
  const serving = await serve({
    ...options,
    assets: ASSETS,
    methods: ["GET", "HEAD"],
    route: (request, response, url) => viewer.route(request, response, url),
  });
  const closed = serving.closed.then(async () => {
    for (const side of sides) await side.close();
  });
  return { ...serving, closed };
}

const sourceOptions = ({ signal, unseal }: ViewerOptions): SourceOptions => ({
  signal,
  ...(unseal === undefined ? {} : { unseal }),
});

/** One bundle or folder, with what is known of it so far. */
class Viewed {
  #source: ViewSource;
  #survey: Promise<Survey> | null = null;
  readonly #path: string;
  readonly #options: ViewerOptions;

  private constructor(path: string, source: ViewSource, options: ViewerOptions) {
    this.#path = path;
    this.#source = source;
    this.#options = options;
  }

  static async open(path: string, options: ViewerOptions): Promise<Viewed> {
    return new Viewed(path, await openSource(path, options.cwd, sourceOptions(options)), options);
  }

  get source(): ViewSource {
    return this.#source;
  }

  survey(): Promise<Survey> {
    this.#survey ??= survey(this.#source, this.#options.now());
    return this.#survey;
  }

  /** A folder is worked on while it is looked at: a reload shows it as it is now. */
  async refresh(): Promise<void> {
    if (!this.#source.side.isFolder) return;
    this.#source = await openSource(this.#path, this.#options.cwd, sourceOptions(this.#options));
    this.#survey = null;
  }

  /** Refuses what is not listed, and what nobody may see. */
  async file(path: string): Promise<Readable> {
    const claimed = claimedFiles(this.#source.manifest).rows.some((row) => row[0] === path);
    const rows = claimed ? null : (await this.survey()).files.rows;
    const listed = claimed || rows?.some((row) => row[0] === path && row[2] !== "missing");
    if (!listed)
      throw new NutError("ENTRY_NOT_FOUND", "there is no such file in the bundle", {
        hint: "load the page again: it may have been taken away",
      });
    if (withheldRule(this.#source.manifest)(path)) {
      throw new NutError("ENTRY_NOT_FOUND", "credentials are not shown", { hint: "nutshell credentials" });
    }
    return this.#source.stream(path);
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

class Viewer {
  readonly #sides: readonly Viewed[];
  readonly #options: ViewerOptions;
  readonly #turns = turns(STREAMS);
  #base: Promise<BaseFiles | null> | null = null;

  constructor(sides: readonly Viewed[], options: ViewerOptions) {
    this.#sides = sides;
    this.#options = options;
  }

  /** What the second bundle's work began with; looked for once. */
  #began(): Promise<BaseFiles | null> {
    const { cwd, env, signal } = this.#options;
    this.#base ??= baseFiles(this.#sides[1]?.source.manifest ?? {}, cwd, { env, signal });
    return this.#base;
  }

  async route(_: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { pathname } = url;
    if (pathname === "/") return this.#page(response);
    if (ASSETS.has(pathname)) return asset(response, pathname.slice(1) as PageFile);
    if (pathname === "/api/view") return this.#view(response);
    if (pathname === "/api/compare") return this.#compare(response);
    if (pathname === "/api/counts") return this.#counts(response);
    if (pathname === "/api/search") return this.#search(response, url.searchParams.get("words") ?? "");
    if (pathname === "/api/diff") return this.#diff(response, url);
    const [, kind, number, rest] = /^\/(file|preview|details|files)\/([01])(?:\/(.+))?$/.exec(pathname) ?? [];
    const side = number === undefined ? undefined : this.#sides[Number(number)];
    if (side === undefined) return sendError(response, 404, "there is nothing here");
    if (kind === "details") return sendJson(response, (await side.survey()).details);
    if (kind === "files") return this.#files(response, side, url.searchParams.has("now"));
    const path = decoded(rest ?? "");
    if (path === null) return sendError(response, 400, "the address cannot be read");
    return kind === "preview" ? this.#preview(response, side, path) : this.#file(response, side, path);
  }

  #page(response: ServerResponse): void {
    const head = '<link rel="stylesheet" href="/style.css">';
    const body = '<script type="module" src="/viewer.js"></script>';
    send(response, htmlPage({ title: "Nutshell", head, body }), { type: "text/html; charset=utf-8" });
  }

  async #view(response: ServerResponse): Promise<void> {
    for (const side of this.#sides) await side.refresh();
    sendJson(
      response,
      this.#sides.map(({ source }) => headOf(source, this.#options.now())),
    );
  }

  /** `?now`: what the manifest claims, without waiting for the archive. */
  async #files(response: ServerResponse, side: Viewed, now: boolean): Promise<void> {
    sendJson(response, now ? claimedFiles(side.source.manifest) : (await side.survey()).files);
  }

  async #preview(response: ServerResponse, side: Viewed, path: string): Promise<void> {
    const { bytes, cut } = await this.#turns(async () =>
      beginning(await side.file(path), isLog(path) ? LOG_BYTES : PREVIEW_BYTES),
    );
    const headers = { "x-nut-cut": cut ? "1" : "0", "x-nut-binary": isText(bytes) ? "0" : "1" };
    send(response, isText(bytes) ? bytes : "", { type: "text/plain; charset=utf-8", headers });
  }

  /** Pixels are shown as such; everything else is a download, so that no browser takes it for a page. */
  async #file(response: ServerResponse, side: Viewed, path: string): Promise<void> {
    const image = imageType(path);
    const answer: AnswerHead =
      image === undefined
        ? { type: "application/octet-stream", headers: { "content-disposition": "attachment" } }
        : { type: image, headers: { "content-security-policy": "default-src 'none'; sandbox" } };
    await this.#turns(async () => sendStream(response, await side.file(path), answer));
  }

  async #compare(response: ServerResponse): Promise<void> {
    const compared = await this.#compared();
    if (compared === null) return sendError(response, 404, "there is one bundle only");
    sendJson(response, compared);
  }

  async #compared(): Promise<Comparison | null> {
    const [before, after] = this.#sides;
    if (before === undefined || after === undefined) return null;
    const rows = async (side: Viewed) => (await side.survey()).files.rows;
    return compare(
      { manifest: before.source.manifest, rows: await rows(before) },
      { manifest: after.source.manifest, rows: await rows(after) },
      (await this.#began())?.sizes,
    );
  }

  async #counts(response: ServerResponse): Promise<void> {
    const [before, after] = this.#sides;
    const compared = await this.#compared();
    if (compared === null) return sendError(response, 404, "there is one bundle only");
    const isShown = (side: Viewed, path: string) => !withheldRule(side.source.manifest)(path);
    const files = compared.files.filter((row) => isShown(before!, row.before) && isShown(after!, row.after));
    const base = await this.#began();
    sendJson(response, await this.#turns(() => countChanges(files, [before!.source, after!.source], base)));
  }

  /** One pass over each bundle; of every file the beginning. What is withheld is not looked into. */
  async #search(response: ServerResponse, words: string): Promise<void> {
    const found: LineFound[] = [];
    if (words.length < 2 || words.length > 200) return sendJson(response, found);
    for (const [at, { source }] of this.#sides.entries()) {
      const isWithheld = withheldRule(source.manifest);
      await this.#turns(() =>
        source.each((path, size) => {
          if (isWithheld(path) || found.length >= MOST_FOUND) return null;
          const parts: Buffer[] = [];
          let length = 0;
          return {
            chunk: (bytes) => {
              if (length < SEARCHED_BYTES) parts.push(Buffer.from(bytes.subarray(0, SEARCHED_BYTES - length)));
              length += bytes.length;
            },
            end: () => {
              const bytes = Buffer.concat(parts);
              if (size > 0 && isText(bytes)) found.push(...linesWith(bytes.toString("utf8"), words, at, path));
            },
          };
        }),
      );
    }
    sendJson(response, found.slice(0, MOST_FOUND));
  }

  /** A file as it was in the repository, or why it is not shown. */
  async #old(path: string): Promise<{ text: string } | FileDiff> {
    const base = await this.#began();
    const size = base?.sizes.get(path);
    if (base === null || size === undefined) return nothing("the repository does not have it any more");
    if (size > PREVIEW_BYTES) return nothing("too long to compare line by line");
    const text = await base.text(path);
    return text === null ? nothing("not text: compare by size and hash") : { text };
  }

  async #diff(response: ServerResponse, { searchParams }: URL): Promise<void> {
    const texts = [];
    for (const [index, name] of ["before", "after"].entries()) {
      const side = this.#sides[index];
      const path = searchParams.get(name) ?? "";
      if (side === undefined) return sendError(response, 404, "there is one bundle only");
      if (index === 0 && path.startsWith(IN_BASE)) {
        const old = await this.#old(path.slice(IN_BASE.length));
        if ("note" in old) return sendJson(response, old);
        texts.push(old.text);
        continue;
      }
      const file = path === "" ? null : await this.#turns(async () => beginning(await side.file(path), PREVIEW_BYTES));
      if (file !== null && !isText(file.bytes))
        return sendJson(response, nothing("not text: compare by size and hash"));
      if (file?.cut === true) return sendJson(response, nothing("too long to compare line by line"));
      texts.push(file?.bytes.toString("utf8") ?? "");
    }
    const lines = sideBySide(texts[0]!, texts[1]!);
    sendJson(response, { lines, note: "" } satisfies FileDiff);
  }
}

const isLog = (path: string) => /\.(?:log|out|err)$/i.test(path);
const nothing = (note: string): FileDiff => ({ lines: [], note });

export function asset(response: ServerResponse, name: PageFile): void {
  send(response, pageFile(name), { type: pageType(name) });
}

/** One decoding and no more; the result is only ever looked up in a list of names. */
function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

async function beginning(stream: Readable, most: number): Promise<{ bytes: Buffer; cut: boolean }> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream) {
    parts.push(part as Buffer);
    length += (part as Buffer).length;
    if (length > most) break;
  }
  return { bytes: Buffer.concat(parts).subarray(0, most), cut: length > most };
}
