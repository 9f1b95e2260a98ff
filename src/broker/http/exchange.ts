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
import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Scrubber } from "../../vault/index.js";
import { judgeGit, judgeHttp, limitsMethods, type Meter, Refused } from "../judge.js";
import { type Pins, pinned } from "../pins.js";
import type { GitService, HttpService, Policy } from "../policy.js";
import { type BrokerUse, shortWhat } from "../use.js";
import { headersBack, headersOut, queryOut } from "./headers.js";

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
      ? new HttpsAgent({ ...options, ...(ca === undefined ? {} : { ca }) })
      : new HttpAgent(options);
    this.#agents.set(origin, made);
    return made;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }
}

const MOST_CONNECTIONS = 64;
const IDLE_MS = 300_000;
/** A form that could say `_method` is read whole before it is sent. */
const MOST_FORM_BYTES = 1024 * 1024;
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
    const form = await formOf(request, policy, service);
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
      agent: ground.agents.of(url.origin, ground.ca),
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
    const answer = await send(request, form, upstream, tally, meter);
    await giveBack(answer, response, asked, ground, tally);
    told({ allowed: true, status: answer.statusCode ?? 0 });
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

/** A form is looked into where a method in it would be another than the one that was judged. */
async function formOf(request: IncomingMessage, policy: Policy, { kind }: Target["service"]): Promise<Buffer | null> {
  const type = request.headers["content-type"] ?? "";
  if (kind === "git" || !limitsMethods(policy.limits) || !/x-www-form-urlencoded|multipart\/form-data/i.test(type))
    return null;
  const parts: Buffer[] = [];
  let size = 0;
  // A refusal is still to be told on this connection.
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    parts.push(part as Buffer);
    size += (part as Buffer).length;
    if (size > MOST_FORM_BYTES)
      throw new Refused(`a form of more than ${MOST_FORM_BYTES} bytes cannot be looked into: send it another way`);
  }
  const form = Buffer.concat(parts);
  if (
    /(?:^|&)(?:_|%5f)(?:m|%6d)(?:e|%65)(?:t|%74)(?:h|%68)(?:o|%6f)(?:d|%64)=|name="?_method/i.test(
      form.toString("latin1"),
    )
  )
    throw new Refused("_method could make the request another one: leave it out");
  return form;
}

interface Tally {
  sent: number;
  received: number;
}

function send(
  request: IncomingMessage,
  form: Buffer | null,
  upstream: ClientRequest,
  tally: Tally,
  meter: Meter,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    upstream.once("response", resolve);
    upstream.once("error", reject);
    upstream.once("timeout", () => upstream.destroy(new Error("no answer in time")));
    upstream.once("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(new Refused("the service wants an upgraded connection, which cannot be watched"));
    });
    const count = (chunk: Buffer) => {
      tally.sent += chunk.length;
      try {
        meter.add(chunk.length);
      } catch (error) {
        upstream.destroy();
        reject(error as Error);
      }
    };
    if (form !== null) {
      count(form);
      upstream.end(form);
      return;
    }
    request.on("data", count);
    request.pipe(upstream);
  });
}

/** Throws Refused only before anything was given back; afterwards the connection is cut. */
async function giveBack(
  answer: IncomingMessage,
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
  if (response.req.method === "HEAD" || status === 204 || status === 304) {
    answer.resume();
    response.writeHead(status, headers).end();
    return;
  }
  const length = Number(answer.headers["content-length"] ?? Number.NaN);
  const body = decoded(answer);
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
  await stream(body, scrub.bulkStream(), response, count);
}

/** An answer that is cut by the other side, or grows too long, ends as what it is: cut. */
function stream(body: Readable, clean: Transform, response: ServerResponse, count: (length: number) => void) {
  return new Promise<void>((resolve, reject) => {
    const cut = (error: Error) => {
      body.destroy();
      clean.destroy();
      response.destroy();
      // The status was given already: what follows is a connection that ends.
      reject(error instanceof Refused ? new Error(error.message) : error);
    };
    body.on("data", (chunk: Buffer) => {
      try {
        count(chunk.length);
      } catch (error) {
        cut(error as Error);
      }
    });
    body.once("error", cut);
    body.once("aborted", () => cut(new Error("the service ended the answer in the middle")));
    clean.once("error", cut);
    response.once("close", () => {
      body.destroy();
      if (response.writableFinished) resolve();
      else reject(new Error("whoever asked did not wait for the end"));
    });
    body.pipe(clean).pipe(response);
  });
}

/** Some services compress whatever they are asked for. */
function decoded(answer: IncomingMessage): Readable {
  const encodings = (answer.headers["content-encoding"] ?? "identity").toLowerCase().split(/\s*,\s*/);
  const named = encodings.filter((encoding) => encoding !== "identity" && encoding !== "");
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
