// One request on its way: judged, given its secret, sent to the address that was looked at; the answer looked through for
// the secret before anybody sees it. Bodies are passed on as they come, so memory does not grow with them.

import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Scrubber } from "../../vault/index.js";
import { judgeGit, judgeHttp, limitsMethods, type Meter, MethodWatch, Refused } from "../judge.js";
import { type Pins, pinned } from "../pins.js";
import type { GitService, HttpService, Policy } from "../policy.js";
import { type BrokerUse, shortWhat } from "../use.js";
import { headersBack, headersOut, queryOut } from "./headers.js";
import { asLong, type LongBody, longBodyOf, readable } from "./long-answer.js";
import { stream } from "./stream.js";

/** One base of one credential, as a request is sent to it. */
export interface Target {
  readonly policy: Policy;
  readonly service: HttpService | GitService;
  /** Without a slash at its end. */
  readonly base: string;
  readonly meter: Meter;
}

interface Asked {
  readonly target: Target;
  /** Below the base, as it was written. */
  readonly path: string;
  readonly query: string;
  readonly by: string;
  readonly role: string | null;
  /** What stands for an address of the service in what comes back; null leaves it. */
  readonly home: string | null;
}

export interface Ground {
  readonly pins: Pins;
  readonly scrub: Scrubber;
  readonly now: () => Date;
  readonly onUse: (use: BrokerUse) => void;
  /** Roots that services' certificates are held against besides the usual ones. */
  readonly ca?: string | undefined;
  readonly agents: Agents;
}

/** Connections that are kept, by origin. */
export class Agents {
  readonly #agents = new Map<string, HttpAgent>();

  of(origin: string, ca: string | undefined): HttpAgent {
    const known = this.#agents.get(origin);
    if (known !== undefined) return known;
    const options = { keepAlive: true, maxSockets: MOST_CONNECTIONS, maxFreeSockets: 16, scheduling: "lifo" as const };
    const made = origin.startsWith("https:")
      ? readable(new HttpsAgent({ ...options, ...(ca === undefined ? {} : { ca }) }))
      : readable(new HttpAgent(options));
    this.#agents.set(origin, made);
    return made;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }
}

const MOST_CONNECTIONS = 64;
const IDLE_MS = 300_000;
/** Answers up to this length keep a length; longer ones are passed on in pieces. */
const SHORT_BYTES = 64 * 1024;

export async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  asked: Asked,
  ground: Ground,
): Promise<void> {
  const { target, path, query, by, role } = asked;
  const { policy, service, base, meter } = target;
  const method = request.method ?? "";
  const tally = { sent: 0, received: 0 };
  const told = (fields: Pick<BrokerUse, "allowed" | "why" | "status">): void => {
    const what = shortWhat(ground.scrub.text(`${method} ${base}${path}`));
    ground.onUse({ name: policy.name, at: ground.now().toISOString(), by, what, ...fields, ...tally });
  };
  let upstream: ClientRequest | null = null;
  try {
    const question = { method, path, query, headers: request.headers };
    if (service.kind === "git") judgeGit(policy, question);
    else judgeHttp(policy, question);
    const addresses = await ground.pins.addresses(base);
    meter.take(role);
    const url = new URL(base);
    const { auth } = service;
    const out = queryOut(query, auth);
    const ask = url.protocol === "https:" ? httpsRequest : httpRequest;
    upstream = ask({
      protocol: url.protocol,
      // Looked up by nobody but us; the name is what a certificate is compared with.
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port === "" ? undefined : url.port,
      lookup: pinned(addresses),
      // A server that does not expect a body here would take it for the next request: then there is none.
      ...(isUnusual(request)
        ? { agent: false as const, ...(ground.ca === undefined ? {} : { ca: ground.ca }) }
        : { agent: ground.agents.of(url.origin, ground.ca) }),
      method,
      path: `${url.pathname === "/" ? "" : url.pathname}${path}${out === "" ? "" : `?${out}`}`,
      headers: headersOut(request.headers, auth, url.host),
      timeout: IDLE_MS,
    });
    const asking = upstream;
    // Whoever asked is gone: nobody waits for an answer.
    response.once("close", () => {
      if (!response.writableFinished) asking.destroy();
    });
    const watch = service.kind === "http" && limitsMethods(policy.limits) ? new MethodWatch() : null;
    const came = await send(request, upstream, { tally, meter, watch });
    await giveBack(came, response, asked, ground, tally);
    told({ allowed: true, status: came.answer.statusCode ?? 0 });
  } catch (error) {
    upstream?.destroy();
    if (error instanceof Refused) {
      told({ allowed: false, why: error.message, status: error.status });
      refuse(request, response, error, policy.name);
      return;
    }
    const why = wordsOf(error);
    told({ allowed: true, why, status: 502 });
    const gone = new Refused(`${new URL(base).host} could not be asked: ${why}`, { status: 502 });
    refuse(request, response, gone, policy.name);
  }
}

/** Whether it brings a body where there usually is none. */
const isUnusual = ({ method = "", headers }: IncomingMessage): boolean =>
  ["GET", "HEAD", "OPTIONS", "DELETE"].includes(method) &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);

interface Tally {
  sent: number;
  received: number;
}

interface Sending {
  readonly tally: Tally;
  readonly meter: Meter;
  /** Set where a method in the body would be another than the one that was judged. */
  readonly watch: MethodWatch | null;
}

interface Came {
  readonly answer: IncomingMessage;
  /** Where the body of a long answer comes; else it is the answer's own. */
  readonly long: LongBody | null;
}

function send(request: IncomingMessage, upstream: ClientRequest, { tally, meter, watch }: Sending): Promise<Came> {
  return new Promise((resolve, reject) => {
    upstream.once("response", (answer: IncomingMessage) => {
      const isPlain = hasBody(request.method, answer) && encodingsOf(answer).length === 0;
      resolve({ answer, long: isPlain ? longBodyOf(answer) : null });
    });
    // More than one may come, when it is ended from here.
    upstream.on("error", reject);
    upstream.once("timeout", () => upstream.destroy(new Error("no answer in time")));
    upstream.once("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(new Refused("the service wants an upgraded connection, which cannot be watched"));
    });
    let isRefused = false;
    /** A request that is not whole is not obeyed. */
    const refuseIt = (error: unknown) => {
      isRefused = true;
      upstream.destroy();
      reject(error as Error);
    };
    request.on("data", (piece: Buffer) => {
      tally.sent += piece.length;
      tidyAfter(piece.length);
      if (isRefused) return;
      try {
        watch?.push(piece);
        meter.add(piece.length);
      } catch (error) {
        refuseIt(error);
        return;
      }
      if (!upstream.write(piece)) request.pause();
    });
    upstream.on("drain", () => request.resume());
    upstream.once("close", () => request.resume());
    request.once("end", () => {
      if (isRefused) return;
      try {
        watch?.end();
      } catch (error) {
        refuseIt(error);
        return;
      }
      upstream.end();
    });
  });
}

const TIDY_BYTES = 4 * 1024 * 1024;
let untidied = 0;

/** What came of requests lies outside the heap, and Node alone lets tens of megabytes of it lie before it looks. */
function tidyAfter(bytes: number): void {
  untidied += bytes;
  if (untidied < TIDY_BYTES) return;
  untidied = 0;
  globalThis.gc?.({ type: "minor" });
}

const hasBody = (method: string | undefined, { statusCode }: IncomingMessage): boolean =>
  method !== "HEAD" && statusCode !== 204 && statusCode !== 304;

/** Throws Refused only before anything was given back; afterwards the connection is cut. */
async function giveBack(
  { answer, long }: Came,
  response: ServerResponse,
  { target, home }: Asked,
  { scrub }: Ground,
  tally: Tally,
): Promise<void> {
  const { meter } = target;
  const status = answer.statusCode ?? 502;
  const headers = scrubbedHeaders(headersBack(answer.headers), scrub);
  if (home !== null) moveLocation(headers, target.base, home);
  const count = (length: number) => {
    tally.received += length;
    meter.add(length);
  };
  if (!hasBody(response.req.method, answer)) {
    answer.resume();
    response.writeHead(status, headers).end();
    return;
  }
  const length = Number(answer.headers["content-length"] ?? Number.NaN);
  // Somebody who is still asking would learn from what is held back what a secret begins with.
  if (!(length <= SHORT_BYTES)) await wholeRequest(response.req, answer);
  const body = long === null ? decoded(answer) : null;
  if (length <= SHORT_BYTES && body === answer) {
    const parts: Buffer[] = [];
    for await (const part of answer) {
      parts.push(part as Buffer);
      count((part as Buffer).length);
    }
    const clean = scrub.bytes(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
    response.writeHead(status, { ...headers, "content-length": clean.length }).end(clean);
    return;
  }
  delete headers["content-length"];
  response.writeHead(status, headers);
  await stream(long ?? asLong(body!), scrub.bulk(), response, count);
}

/** Until everything was asked. Throws when the answer is cut before. */
async function wholeRequest(request: IncomingMessage, answer: IncomingMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    if (request.complete || request.destroyed) resolve();
    else request.once("end", resolve).once("close", resolve);
    answer.once("close", resolve);
  });
  if (answer.destroyed && !answer.complete) throw new Error("the service ended the answer in the middle");
}

/** What the body is written in besides pieces, which are put together already. */
function encodingsOf({ headers }: IncomingMessage): string[] {
  const { "content-encoding": content = "", "transfer-encoding": transfer = "" } = headers;
  const encodings = `${content},${transfer.replace(/\bchunked\b/i, "")}`.toLowerCase().split(/\s*,\s*/);
  return encodings.map((one) => one.trim()).filter((encoding) => encoding !== "identity" && encoding !== "");
}

/** Some services compress whatever they are asked for. */
function decoded(answer: IncomingMessage): Readable {
  const named = encodingsOf(answer);
  if (named.length === 0) return answer;
  const make = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    named[0]!
  ];
  if (named.length > 1 || make === undefined) {
    throw new Refused(`the answer is encoded as ${named.join(", ")}, which cannot be looked through`, { status: 502 });
  }
  const open = make();
  answer.once("aborted", () => open.destroy(new Error("the service ended the answer in the middle")));
  answer.once("error", (error) => open.destroy(error));
  return answer.pipe(open);
}

function scrubbedHeaders(
  headers: Record<string, string | string[]>,
  scrub: Scrubber,
): Record<string, string | string[]> {
  const all = JSON.stringify(headers);
  const clean = scrub.text(all);
  if (clean === all) return headers;
  const one = (value: string) => scrub.text(value);
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      one(name).replace(/[^\w-]/g, "_"),
      Array.isArray(value) ? value.map(one) : one(value),
    ]),
  );
}

/** A redirect inside the service leads back through here; one that leads elsewhere leads there with nothing of ours. */
function moveLocation(headers: Record<string, string | string[]>, base: string, home: string): void {
  const { location } = headers;
  if (typeof location !== "string") return;
  const { origin, pathname } = new URL(base);
  if (!URL.canParse(location, base)) return;
  const url = new URL(location, `${base}/`);
  const below = pathname === "/" ? "" : pathname;
  if (url.origin !== origin || !`${url.pathname}/`.startsWith(`${below}/`)) return;
  headers.location = `${home}${url.pathname.slice(below.length)}${url.search}${url.hash}`;
}

/** What an agent is told: a status, a sentence, and that it was us who said it. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { message, status, retryAfterMs }: Refused,
  name: string | null,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = JSON.stringify({
    error: { code: "BROKER_REFUSED", message, ...(name === null ? {} : { credential: name }) },
  });
  // What was not read would be taken for the next request.
  const unread = !request.complete;
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-nutshell-broker": "refused",
    ...(retryAfterMs === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
    ...(unread ? { connection: "close" } : {}),
  });
  response.end(body);
  if (unread) request.resume();
}

const wordsOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "it failed";
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
};
