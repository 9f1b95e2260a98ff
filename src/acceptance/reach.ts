// A request our own process sends for a check. It goes to the address that was looked at, not to what a name means a moment
// later; addresses of this machine, of private networks and of clouds' metadata only where the person named the origin.
import { lookup } from "node:dns/promises";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { isInner } from "../process/index.js";

const BODY_LIMIT = 1024 * 1024;

export interface ServiceAnswer {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ServiceQuestion {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

export interface Reach extends ServiceQuestion {
  /** Whether the person named this origin: it may then be anywhere. */
  readonly named: boolean;
  /** Addresses of a name; the system's by default. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** Why an address is not asked. */
export class NotReached extends Error {}

/** Asks once; redirects are not followed and a body is read up to a limit. Throws NotReached before anything is sent. */
export async function reach(url: URL, options: Reach): Promise<ServiceAnswer> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const [address] = await agreedAddresses(host, { ...options, origin: url.origin });
  return answerOf(send(url, address!, options), options);
}

export interface OriginQuestion extends Pick<Reach, "named" | "resolve"> {
  /** What the person would name to allow it. */
  readonly origin: string;
}

/** What a host means, looked up once; at least one address. Throws NotReached for what nobody agreed to. */
export async function agreedAddresses(
  host: string,
  { named, origin, resolve }: OriginQuestion,
): Promise<readonly string[]> {
  const addresses = isIP(host) === 0 ? await (resolve ?? addressesOf)(host) : [host];
  if (addresses.length === 0) throw new NotReached(`${host} has no address`);
  const inner = named ? undefined : addresses.find(isInner);
  if (inner === undefined) return addresses;
  throw new NotReached(`${inner} is on this machine or its network; to allow it: --allow-origin ${origin}`);
}

/** The same through the socket of a service in a room. */
export function askSocket(
  socketPath: string,
  question: ServiceQuestion & { readonly path: string },
): Promise<ServiceAnswer> {
  const { method, path, headers, signal } = question;
  return answerOf(
    httpRequest({ socketPath, method, path, headers: { host: "127.0.0.1", ...headers }, signal }),
    question,
  );
}

async function addressesOf(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function send(url: URL, address: string, { method, headers, signal }: Reach): ClientRequest {
  const ask = url.protocol === "https:" ? httpsRequest : httpRequest;
  return ask(url, {
    method,
    headers,
    signal,
    agent: false,
    // The name was looked up above; a second look could give another address.
    lookup: (_host, options, done) => {
      const family = isIP(address);
      if (options.all === true) done(null, [{ address, family }]);
      else done(null, address, family);
    },
  });
}

async function answerOf(request: ClientRequest, { body, signal }: ServiceQuestion): Promise<ServiceAnswer> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on("response", resolve);
      request.on("error", reject);
      request.end(body);
    });
    return { status: response.statusCode ?? null, headers: headersOf(response), body: await readBody(response) };
  } catch (error) {
    // A body that is cut off by the end of the time is reported as a lost connection.
    throw signal.aborted ? signal.reason : error;
  } finally {
    request.destroy();
  }
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const rows = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]);
  return Object.fromEntries(rows.filter(([, value]) => value !== undefined)) as Record<string, string>;
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Uint8Array);
    size += (chunk as Uint8Array).length;
    if (size > BODY_LIMIT) break;
  }
  return Buffer.concat(chunks).subarray(0, BODY_LIMIT).toString("utf8");
}
