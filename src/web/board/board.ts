// `nexus board`: every project's state, sent as it changes. Reads without a lock; writes only when it was started to.
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename } from "node:path";
import { z } from "zod";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { historySearch } from "../../tools/history-search.js";
import { openEvents, send, sendError, sendJson } from "../server/respond.js";
import { type Serving, serve } from "../server/server.js";
import { imageType } from "../view/image-types.js";
import { htmlPage, type PageFile } from "../view/page.js";
import { asset } from "../view/viewer.js";
import { type Acting, act, BoardAction } from "./act.js";
import { watchFolders } from "./board-watch.js";
import { findRequests } from "./find-requests.js";
import type { FleetView, Hello, SectionChange, WaitingNow } from "./model.js";
import { ProjectReader } from "./project-reader.js";
import { readArtifact } from "./read-artifact.js";
import { readSession } from "./read-session.js";
import { RunChanges } from "./run-changes.js";
import { searchContents } from "./search-contents.js";
import { waitingCount, waitingWords } from "./waiting.js";

export interface BoardOptions {
  readonly projects: readonly string[];
  readonly port: number;
  readonly write: boolean;
  readonly env: Context["env"];
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly command: string;
  /** The whole command line, for a page whose board was ended. */
  readonly startAgain: string;
  readonly onLink: (link: string) => void;
  readonly onError: (error: unknown) => void;
  readonly judge: Acting["judge"];
  /** A fleet to show as well. */
  readonly fleet: FleetFeed | null;
}

/** Where the board hears of a fleet. */
export interface FleetFeed {
  view(now: Date): FleetView;
  /** `heard`: something changed. Whoever asks last is told. */
  tell(heard: () => void): void;
}

const ASSETS: ReadonlySet<string> = new Set(["/board.js", "/layout.js", "/formatter.js", "/style.css"]);
const MAX_BODY = 512 * 1024;
/** Proxies and laptops drop silent connections; a comment keeps this one alive. */
const HEARTBEAT_MS = 15_000;
/** A page that reads nothing while this much waits for it is gone. */
const MAX_BEHIND = 8 * 1024 ** 2;
/** A fleet may change a hundred times in a moment; a page is told this long after the first of them. */
const FLEET_SETTLE_MS = 250;
/** Silence shows in no change: it is looked for. */
const FLEET_LOOK_MS = 3_000;

export async function serveBoard(options: BoardOptions): Promise<Serving> {
  const readers = options.projects.map((folder, id) => new ProjectReader(id, folder, () => board.look()));
  for (const [id, name] of ownNames(readers.map(({ root }) => root)).entries()) readers[id]!.name = name;
  const board = new Board(readers, options);
  const serving = await serve({
    ...options,
    assets: ASSETS,
    methods: options.write ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"],
    route: (request, response, url) => board.route(request, response, url),
  });
  board.start();
  return { ...serving, closed: serving.closed.then(() => board.stop()) };
}

/** Folders by their last part; those that share it by their whole path. A page finds a project by its name. */
export function ownNames(roots: readonly string[]): string[] {
  const lasts = roots.map((root) => basename(root));
  return roots.map((root, at) => (lasts.filter((last) => last === lasts[at]).length > 1 ? root : lasts[at]!));
}

class Board {
  readonly #readers: readonly ProjectReader[];
  readonly #options: BoardOptions;
  readonly #pages = new Set<ServerResponse>();
  #stop: (() => void) | null = null;
  #fleetSoon: NodeJS.Timeout | null = null;
  #fleetTold = "";

  constructor(readers: readonly ProjectReader[], options: BoardOptions) {
    this.#readers = readers;
    this.#options = options;
  }

  start(): void {
    for (const reader of this.#readers) reader.changes();
    const folders = () => this.#readers.flatMap((reader) => reader.folders());
    const watch = watchFolders(folders, () => this.look());
    const beat = setInterval(() => this.#tell(": still here\n\n"), HEARTBEAT_MS);
    const { fleet } = this.#options;
    fleet?.tell(() => {
      this.#fleetSoon ??= setTimeout(() => {
        this.#fleetSoon = null;
        this.#lookAtFleet();
      }, FLEET_SETTLE_MS);
    });
    const fleetLook = fleet === null ? undefined : setInterval(() => this.#lookAtFleet(), FLEET_LOOK_MS);
    this.#stop = () => {
      watch.stop();
      clearInterval(beat);
      clearInterval(fleetLook);
      if (this.#fleetSoon !== null) clearTimeout(this.#fleetSoon);
      fleet?.tell(() => {});
    };
  }

  #lookAtFleet(): void {
    const { fleet, now } = this.#options;
    if (fleet === null || this.#pages.size === 0) return;
    const told = event("fleet", fleet.view(now()));
    if (told === this.#fleetTold) return;
    this.#fleetTold = told;
    this.#tell(told);
  }

  stop(): void {
    this.#stop?.();
  }

  async route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { pathname } = url;
    if (request.method === "POST") {
      return pathname === "/api/change"
        ? this.#change(request, response)
        : sendError(response, 404, "there is nothing here");
    }
    if (pathname === "/") return this.#page(response);
    if (ASSETS.has(pathname)) return asset(response, pathname.slice(1) as PageFile);
    if (pathname === "/events") return this.#events(response);
    if (pathname === "/api/waiting") return sendJson(response, this.#waiting());
    const reader = this.#readers[Number(url.searchParams.get("project") ?? Number.NaN)];
    if (reader === undefined) return sendError(response, 404, "there is nothing here");
    if (pathname === "/api/history") return this.#history(response, reader, url.searchParams.get("query") ?? "");
    if (pathname === "/api/search")
      return sendJson(response, searchContents(reader, url.searchParams.get("words") ?? ""));
    if (pathname === "/api/requests") return sendJson(response, await findRequests(reader.root));
    if (pathname === "/api/artifact") {
      const { text, cut } = readArtifact(reader.root, url.searchParams.get("name") ?? "");
      return send(response, text, { type: "text/plain; charset=utf-8", headers: { "x-nut-cut": cut ? "1" : "0" } });
    }
    if (pathname.startsWith("/api/changes/")) return this.#changes(response, reader, url);
    if (pathname === "/api/session") {
      const asked = (name: string) => url.searchParams.get(name) ?? "";
      const from = Number(asked("from") || 0);
      return sendJson(response, readSession(reader.root, asked("run"), asked("agent"), asked("part"), from));
    }
    sendError(response, 404, "there is nothing here");
  }

  async #changes(response: ServerResponse, reader: ProjectReader, { pathname, searchParams }: URL): Promise<void> {
    const asked = (name: string) => searchParams.get(name) ?? "";
    const changes = new RunChanges(reader.root, asked("run"), asked("agent"));
    if (pathname === "/api/changes/rows") return sendJson(response, changes.rows());
    if (pathname === "/api/changes/counts") return sendJson(response, changes.counts());
    if (pathname === "/api/changes/diff") return sendJson(response, changes.diff(asked("path")));
    const type = imageType(asked("path"));
    const side = asked("side") === "before" ? "before" : "after";
    const bytes = pathname === "/api/changes/picture" && type !== undefined ? changes.bytes(asked("path"), side) : null;
    if (bytes === null || type === undefined) return sendError(response, 404, "there is nothing here");
    send(response, bytes, { type, headers: { "content-security-policy": "default-src 'none'; sandbox" } });
  }

  #page(response: ServerResponse): void {
    const head = '<link rel="stylesheet" href="/style.css">';
    const body = '<script type="module" src="/board.js"></script>';
    send(response, htmlPage({ title: "Nexus", head, body }), { type: "text/html; charset=utf-8" });
  }

  /** Everything once, then what changes. A page that reconnects begins anew, so nothing it missed matters. */
  #events(response: ServerResponse): void {
    openEvents(response);
    if (response.req.method === "HEAD") {
      response.end();
      return;
    }
    response.socket?.setTimeout(0);
    const hello: Hello = {
      projects: this.#readers.map((reader) => reader.whole()),
      fleet: this.#options.fleet?.view(this.#options.now()) ?? null,
      mayWrite: this.#options.write,
      command: this.#options.startAgain,
    };
    response.write(`retry: 500\n${event("hello", hello)}`);
    this.#pages.add(response);
    response.on("close", () => this.#pages.delete(response));
  }

  #waiting(): WaitingNow {
    const projects = this.#readers.map((reader) => reader.asked());
    return {
      count: projects.reduce((sum, project) => sum + waitingCount(project), 0),
      words: projects.map(waitingWords).find((words) => words !== "") ?? "",
    };
  }

  look(): void {
    try {
      for (const reader of this.#readers) {
        for (const { section, value, problem } of reader.changes()) {
          const change: SectionChange = { project: reader.id, section, value, problem };
          if (this.#pages.size > 0) this.#tell(event("section", change));
        }
      }
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #tell(text: string): void {
    for (const page of this.#pages) {
      if (page.writableLength > MAX_BEHIND) page.destroy();
      else page.write(text);
    }
  }

  async #history(response: ServerResponse, reader: ProjectReader, query: string): Promise<void> {
    const input = historySearch.input.parse({
      last_n: 50,
      ...(query.trim() === "" ? {} : { query: query.slice(0, 500) }),
    });
    sendJson(response, await historySearch.run(input, this.#context(reader.root)));
  }

  async #change(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!/^application\/json\b/.test(request.headers["content-type"] ?? "")) {
      return sendError(response, 415, "a change is sent as JSON");
    }
    const { project, agreed: yes = null, ...change } = await body(request);
    const reader = this.#readers[Number(project)];
    const input = BoardAction.safeParse(change);
    const agreed = Yes.safeParse(yes);
    if (reader === undefined || !input.success || !agreed.success)
      return sendError(response, 400, "this is not a change the board knows");
    // Stopping a run takes as long as its agents need.
    response.socket?.setTimeout(0);
    const { env, judge } = this.#options;
    sendJson(response, await act(input.data, { context: this.#context(reader.root), env, agreed: agreed.data, judge }));
    this.look();
  }

  /** A person at the board acts as Lead, in the project itself. */
  #context(root: string): Context {
    const { signal, now } = this.#options;
    const none = () => {
      throw new Error("the board has no standard streams");
    };
    return { cwd: root, env: {}, now, signal, progress: () => {}, ask: null, stdin: none, stdout: none };
  }
}

/** Digests, as the question named them; never the word that agrees to everything. */
const Yes = z
  .object({
    agree: z.string().regex(/^(?:run:|sha256:)[0-9a-f]{64}(?:,(?:run:|sha256:)[0-9a-f]{64}){0,7}$/),
    install: z.boolean(),
  })
  .nullable();

function event(name: string, value: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}

async function body(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += (part as Buffer).length;
    if (length > MAX_BODY)
      throw new NutError("USAGE", "that is too long for the board", { hint: "write it into a file and name the file" });
    parts.push(part as Buffer);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString("utf8"));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new NutError("USAGE", "a change is sent as a JSON object", { hint: "load the page again" });
}
