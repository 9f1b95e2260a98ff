import { createHash } from "node:crypto";
import { z } from "zod";
import { NutError } from "../errors.js";
import {
  Balance,
  Board,
  type DaemonStatus,
  DaemonStatus as DaemonStatusSchema,
  MarketBid,
  MarketSubmission,
  MarketTask,
} from "../schema/market.js";
import { mismatchLine } from "../schema/mismatch.js";
import { lineAt } from "./address.js";
import { type HttpAnswer, type HttpRequest, send } from "./http.js";
import { refused, successor } from "./refusal.js";

const SECOND = 1000;
const MIB = 1024 * 1024;
/** The daemon's own cap on a bundle. */
export const MAX_BUNDLE_BYTES = 50 * MIB;
/** 500 tasks with long descriptions stay far below. */
const MAX_JSON_BYTES = 16 * MIB;
/** Fetching from peers takes up to 30 s each. */
const BUNDLE_TIMEOUT_MS = 180 * SECOND;
const PAGE = 200;
/** Bounds a look-up on a daemon whose list never ends. */
const MAX_PAGES = 50;

export interface CreateTask {
  readonly title: string;
  readonly description: string;
  readonly reward: number;
  readonly deadline?: string;
  readonly tags: readonly string[];
  readonly nutshell_hash: string;
  readonly nutshell_id: string;
  readonly bundle_type: string;
  readonly target_peer?: string;
  readonly mode: "simple" | "auction";
}

export interface ClientOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** The daemon's address as it was typed, for hints to repeat. */
  readonly typed?: string | undefined;
}

/** Refuses ids that could mean something in a URL or a path. */
export function checkId(id: string, hint = "nutshell tasks"): string {
  if (/^[A-Za-z0-9._-]{1,128}$/.test(id) && id !== "." && id !== "..") return id;
  throw new NutError("MARKET_BAD_ID", `"${id}" is not a task id`, { hint });
}

/** A connected daemon. Every method is one request; a refusal by the daemon is a NutError with its words. */
export class Market {
  readonly base: URL;
  readonly status: DaemonStatus;
  readonly #options: ClientOptions;

  private constructor(base: URL, status: DaemonStatus, options: ClientOptions) {
    this.base = base;
    this.status = status;
    this.#options = options;
  }

  /** Asks who is there: a ClawNet daemon, its successor, or a stranger on the port. */
  static async connect(base: URL, options: ClientOptions = {}): Promise<Market> {
    const answer = await request(base, options, { method: "GET", path: "/api/status" });
    if (answer.status === 401) throw successor(base);
    const status = DaemonStatusSchema.safeParse(answer.status === 200 ? parseJson(answer) : null);
    if (!status.success) throw stranger(base, answer);
    return new Market(base, status.data, options);
  }

  get peerId(): string {
    return this.status.peer_id;
  }

  /** A command line for this very daemon, for hints and next steps. */
  line(words: string): string {
    return lineAt(this.#options.typed, words);
  }

  async agentName(): Promise<string> {
    const profile = await this.#json(
      "GET",
      "/api/profile",
      "show its profile",
      z.object({ agent_name: z.string().catch("") }),
    );
    return profile.agent_name;
  }

  balance(): Promise<Balance> {
    return this.#json("GET", "/api/credits/balance", "show the balance", Balance);
  }

  /** Never more than were asked for, whatever is sent. */
  async list(options: { status?: string; limit?: number; offset?: number } = {}): Promise<MarketTask[]> {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(options)) if (value !== undefined) query.set(key, String(value));
    const tasks = await this.#json("GET", `/api/tasks?${query}`, "list tasks", z.array(MarketTask));
    return tasks.slice(0, options.limit ?? tasks.length);
  }

  /** Every task this node knows that satisfies `keep`, read page by page. Refuses a list that has no end. */
  async find(keep: (task: MarketTask) => boolean): Promise<MarketTask[]> {
    const seen = new Map<string, MarketTask>();
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const tasks = await this.list({ limit: PAGE, offset: page * PAGE });
      const before = seen.size;
      for (const task of tasks) seen.set(task.id, task);
      if (tasks.length < PAGE) return [...seen.values()].filter(keep);
      // The same page again: it does not count from where it was told to.
      if (seen.size === before) break;
    }
    throw new NutError("MARKET_BAD_ANSWER", `the daemon's list of tasks does not end (${seen.size} so far)`, {
      hint: this.line("tasks --limit 500"),
    });
  }

  /** Own live tasks made from this bundle: what makes `publish` safe to repeat. */
  ownTasksFor(nutshellId: string): Promise<MarketTask[]> {
    return this.find(
      (task) =>
        task.nutshell_id === nutshellId &&
        task.author_id === this.peerId &&
        ["open", "assigned", "submitted"].includes(task.status),
    );
  }

  task(id: string): Promise<MarketTask> {
    return this.#json("GET", this.#path(id), `show task ${id}`, MarketTask);
  }

  board(): Promise<z.infer<typeof Board>> {
    return this.#json("GET", "/api/tasks/board", "show the board", Board);
  }

  /** The daemon stores what it is given unread: what it says it announced is compared. */
  async create(task: CreateTask): Promise<MarketTask> {
    const made = await this.#json("POST", "/api/tasks", "publish the task", MarketTask, task);
    checkId(made.id, this.line("tasks"));
    if (bareHash(made.nutshell_hash) === bareHash(task.nutshell_hash) && isAgreed(made.reward, task.reward))
      return made;
    throw new NutError("MARKET_HASH_MISMATCH", `the daemon announced task ${made.id} with another hash or reward`, {
      hint: this.line(`cancel ${made.id}`),
      data: { sent: task.nutshell_hash, announced: made.nutshell_hash, reward: made.reward },
    });
  }

  bids(id: string): Promise<MarketBid[]> {
    return this.#json("GET", this.#path(id, "bids"), "list bids", z.array(MarketBid));
  }

  bid(id: string, amount: number, message: string): Promise<MarketBid> {
    return this.#json("POST", this.#path(id, "bid"), "take the bid", MarketBid, { amount, message });
  }

  submissions(id: string): Promise<MarketSubmission[]> {
    return this.#json("GET", this.#path(id, "submissions"), "list submissions", z.array(MarketSubmission));
  }

  async assign(id: string, peerId: string): Promise<void> {
    await this.#json("POST", this.#path(id, "assign"), "assign the task", z.unknown(), { assign_to: peerId });
  }

  /** Simple mode: claims and submits in one step. */
  async claim(id: string, result: string, score: number): Promise<void> {
    const body = { result, self_eval_score: score };
    await this.#json("POST", this.#path(id, "claim"), "take the claim", z.unknown(), body);
  }

  work(id: string, result: string): Promise<MarketSubmission> {
    return this.#json("POST", this.#path(id, "work"), "take the work", MarketSubmission, { result });
  }

  async deliver(id: string, bytes: Uint8Array): Promise<void> {
    const answer = await this.#upload(this.#path(id, "deliver"), "take the delivery", bytes);
    expectSameHash(answer.hash, bytes);
  }

  async pick(id: string, submissionId: string): Promise<void> {
    const body = { submission_id: submissionId };
    await this.#json("POST", this.#path(id, "pick"), "pick the submission", z.unknown(), body);
  }

  /** approve, reject or cancel. */
  async settle(id: string, verb: "approve" | "reject" | "cancel"): Promise<void> {
    await this.#json("POST", this.#path(id, verb), `${verb} task ${id}`, z.unknown(), {});
  }

  async attach(id: string, bytes: Uint8Array): Promise<void> {
    const answer = await this.#upload(this.#path(id, "bundle"), "store the bundle", bytes);
    expectSameHash(answer.hash, bytes);
  }

  /** The bundle's bytes, or null when neither this node nor its peers have one. Not checked: see `checkHash`. */
  async download(id: string): Promise<Buffer | null> {
    const answer = await request(this.base, this.#options, {
      method: "GET",
      path: this.#path(id, "bundle"),
      timeoutMs: BUNDLE_TIMEOUT_MS,
      maxBytes: MAX_BUNDLE_BYTES,
    });
    if (answer.status === 404) return null;
    if (answer.status !== 200)
      throw refused(answer, this.base, { what: "hand out the bundle", look: this.line("tasks") });
    return answer.body;
  }

  async pushResume(resume: { skills: string[]; data_sources: string[]; description: string }): Promise<void> {
    await this.#json("PUT", "/api/resume", "store the resume", z.unknown(), resume);
  }

  #path(id: string, verb?: string): string {
    const path = `/api/tasks/${encodeURIComponent(checkId(id, this.line("tasks")))}`;
    return verb === undefined ? path : `${path}/${verb}`;
  }

  #upload(path: string, what: string, bytes: Uint8Array): Promise<{ hash: string }> {
    const options = { body: bytes, contentType: "application/x-nutshell+gzip", timeoutMs: BUNDLE_TIMEOUT_MS };
    return this.#read({ method: "POST", path, ...options }, what, z.object({ hash: z.string().catch("") }));
  }

  #json<S extends z.ZodType>(
    method: HttpRequest["method"],
    path: string,
    what: string,
    schema: S,
    body?: unknown,
  ): Promise<z.output<S>> {
    const bytes = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
    return this.#read({ method, path, ...bytes }, what, schema);
  }

  async #read<S extends z.ZodType>(
    options: Omit<HttpRequest, "look" | "timeoutMs" | "maxBytes"> & { timeoutMs?: number },
    what: string,
    schema: S,
  ): Promise<z.output<S>> {
    const answer = await request(this.base, this.#options, options);
    if (answer.status !== 200 && answer.status !== 201)
      throw refused(answer, this.base, { what, look: this.line("tasks") });
    const value = schema.safeParse(parseJson(answer));
    if (value.success) return value.data;
    throw new NutError(
      "MARKET_BAD_ANSWER",
      `the daemon's answer makes no sense: asked to ${what}, it sent something else`,
      {
        data: { issues: value.error.issues.slice(0, 3).map((issue) => mismatchLine(issue)) },
      },
    );
  }
}

function request(
  base: URL,
  { signal, timeoutMs = 15 * SECOND, typed }: ClientOptions,
  options: Omit<HttpRequest, "look" | "timeoutMs" | "maxBytes"> & { timeoutMs?: number; maxBytes?: number },
): Promise<HttpAnswer> {
  const look = lineAt(typed, "tasks");
  const limits = { timeoutMs, maxBytes: MAX_JSON_BYTES };
  return send(base, { look, ...limits, ...(signal === undefined ? {} : { signal }), ...options });
}

function parseJson({ body }: HttpAnswer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

function stranger(base: URL, answer: HttpAnswer): NutError {
  const saw = answer.status === 200 ? "something else" : `status ${answer.status}`;
  return new NutError("MARKET_STRANGER", `what answers at ${base.origin} is not a ClawNet daemon (it sent ${saw})`, {
    hint: "name the daemon: --clawnet host:port",
  });
}

/** `sha256:<hex>` of bytes as they travel. */
export function hashOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Whether a published hash, prefixed or bare, is that of these bytes. */
export function sameHash(published: string, bytes: Uint8Array): boolean {
  return bareHash(published) === bareHash(hashOf(bytes));
}

/** A task for nothing is turned into one for 1. */
const isAgreed = (announced: number, asked: number): boolean => announced === asked || (asked === 0 && announced === 1);

const bareHash = (hash: string): string => hash.toLowerCase().replace(/^sha256:/, "");

function expectSameHash(reported: string, bytes: Uint8Array): void {
  if (sameHash(reported, bytes)) return;
  const what =
    reported === "" ? "the daemon does not say what it stored" : "the daemon stored other bytes than were sent";
  throw new NutError("MARKET_HASH_MISMATCH", what, {
    hint: "run the command again: what is there already is not sent twice",
    data: { sent: hashOf(bytes), stored: reported },
  });
}
