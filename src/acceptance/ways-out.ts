// The ways out of a room whose script needs a network: to the addresses that were agreed to, and nowhere else. The room has a
// network of its own. In it the agreed names mean its loopback, where a small program of ours listens and passes on through a
// socket; out here the name is looked up, what it means is looked at, and a connection is made. TCP alone is passed on.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, isIP, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { type Addressed, addressOf, sameAddress } from "../schema/address.js";
import type { AcceptanceCredential } from "./credential.js";
import { agreedAddresses, NotReached } from "./reach.js";

export interface Way extends Addressed {
  /** Whether the person named it: it may then be on this machine or its network. */
  readonly named: boolean;
  /** Addresses of a name; the system's by default. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** A proxy of ours that is asked for it instead: `http://run:<word>@127.0.0.1:…`. */
  readonly proxy?: string;
}

export interface WaysOut {
  /** Holds the sockets; shared with the room, which cannot write there. */
  readonly folder: string;
  /** What stands in the room's /etc/hosts. */
  readonly hosts: string;
  /** What the program in the room listens on, and the socket each leads to. */
  readonly listens: readonly { readonly address: string; readonly port: number; readonly socket: string }[];
  /** Why something was not reached; null while everything was. */
  refused(): string | null;
  close(): void;
}

/** Each address once. Who is named by the person may lie anywhere. */
export function waysTo(urls: readonly string[], named: readonly string[]): Way[] {
  const agreed = named.flatMap((url) => addressOf(url) ?? []);
  const all = [...urls.flatMap((url) => addressOf(url) ?? []), ...agreed];
  const distinct = all.filter((one, index) => all.findIndex((other) => sameAddress(one, other)) === index);
  return distinct.map((one) => ({ ...one, named: agreed.some((other) => sameAddress(one, other)) }));
}

/** Files beside the sockets: the authority alone, and with the usual roots. */
const AUTHORITY = "authority.pem";
const ROOTS = "roots.pem";

/** What makes usual programs believe the authority; `folder` is where the room has the sockets. */
export function trustVariables(folder: string): Record<string, string> {
  const names = "SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT".split(" ");
  return {
    ...Object.fromEntries(names.map((name) => [name, `${folder}/${ROOTS}`])),
    NODE_EXTRA_CA_CERTS: `${folder}/${AUTHORITY}`,
  };
}

/** Addresses of a lent service that a room can have: one given by its number is reached by the gateway's address alone. */
export const servedUrls = (proxy: AcceptanceCredential["proxy"]): string[] =>
  (proxy?.serves ?? []).filter((url) => {
    const host = addressOf(url)?.host ?? "";
    return isIP(host) === 0 || isLoopback(host);
  });

/** The same ways, those of a lent service through the proxy that lends it. */
export function throughProxy(ways: readonly Way[], proxy: AcceptanceCredential["proxy"]): Way[] {
  const served = (proxy?.serves ?? []).flatMap((url) => addressOf(url) ?? []);
  return ways.map((way) =>
    served.some((address) => sameAddress(address, way)) ? { ...way, named: true, proxy: proxy!.url } : way,
  );
}

/** More connections at a time than any check needs. */
const MOST_CONNECTIONS = 256;

/** `certificate` is whom programs must trust for ways that lead through a proxy; it lies beside the sockets. */
export async function openWaysOut(ways: readonly Way[], certificate: string | null = null): Promise<WaysOut> {
  // Short, because a socket's path may not be long.
  const place = mkdtempSync(join(existsSync("/tmp") ? "/tmp" : tmpdir(), "nut-ways-"));
  const [folder, hosts] = [join(place, "s"), join(place, "hosts")];
  mkdirSync(folder);
  if (certificate !== null) {
    writeFileSync(join(folder, AUTHORITY), certificate);
    writeFileSync(join(folder, ROOTS), [...rootCertificates, certificate].join("\n"));
  }
  const places = placesOf(ways);
  writeFileSync(hosts, hostsFile(places));
  const open = new Set<Socket>();
  let refused: string | null = null;
  const onRefused = (why: string) => {
    refused ??= why;
  };
  const servers = await Promise.all(
    ways.map((way, index) => listen(join(folder, String(index)), (from) => passOn(from, way, open, onRefused))),
  );
  return {
    folder,
    hosts,
    listens: ways.map(({ host, port }, index) => ({ address: places.get(host)!, port, socket: String(index) })),
    refused: () => refused,
    close: () => {
      for (const server of servers) server.close();
      for (const socket of open) socket.destroy();
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** Where in the room each host is: a loopback number means itself, whatever else gets a loopback address of its own. */
function placesOf(ways: readonly Way[]): Map<string, string> {
  const names = [...new Set(ways.map(({ host }) => host))];
  return new Map(
    names.map((host, index) => {
      if (isLoopback(host)) return [host, host];
      return [host, host === "localhost" ? "127.0.0.1" : `127.77.${index >> 8}.${(index & 255) + 1}`];
    }),
  );
}

export const isLoopback = (host: string): boolean => host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

function hostsFile(places: ReadonlyMap<string, string>): string {
  const rows = [...places].filter(([host]) => isIP(host) === 0 && host !== "localhost");
  return `${["127.0.0.1 localhost", "::1 localhost", ...rows.map(([host, at]) => `${at} ${host}`)].join("\n")}\n`;
}

function listen(path: string, onConnection: (from: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, onConnection);
  server.maxConnections = MOST_CONNECTIONS;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => resolve(server));
  });
}

async function passOn(from: Socket, way: Way, open: Set<Socket>, onRefused: (why: string) => void): Promise<void> {
  track(from, open);
  from.pause();
  try {
    if (way.proxy !== undefined) {
      askProxy(from, way, way.proxy, open);
      return;
    }
    const [address] = await agreedAddresses(way.host, way);
    const to = connect({ host: address!, port: way.port, allowHalfOpen: true });
    track(to, open);
    to.on("error", () => from.destroy());
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
    from.pipe(to).pipe(from);
  } catch (error) {
    onRefused(error instanceof NotReached ? `${way.host}: ${error.message}` : `${way.host} could not be looked up`);
    from.destroy();
  }
}

const ANSWERED = "\r\n\r\n";

/** The proxy looks at what is asked; where it says no, the connection ends. */
function askProxy(from: Socket, { host, port }: Way, proxy: string, open: Set<Socket>): void {
  const { hostname, port: at, username, password } = new URL(proxy);
  const to = connect({ host: hostname, port: Number(at), allowHalfOpen: true });
  track(to, open);
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const word = Buffer.from(`${username}:${password}`).toString("base64");
  to.write(
    `CONNECT ${name}:${port} HTTP/1.1\r\nHost: ${name}:${port}\r\nProxy-Authorization: Basic ${word}${ANSWERED}`,
  );
  to.on("error", () => from.destroy());
  to.on("close", () => from.destroy());
  from.on("error", () => to.destroy());
  from.on("close", () => to.destroy());
  let heard = Buffer.alloc(0);
  const listen = (chunk: Buffer) => {
    heard = Buffer.concat([heard, chunk]);
    const end = heard.indexOf(ANSWERED);
    if (end < 0 && heard.length < 4_096) return;
    to.off("data", listen);
    if (end < 0 || !heard.subarray(0, 12).toString("latin1").endsWith("200")) {
      from.destroy();
      return;
    }
    const rest = heard.subarray(end + ANSWERED.length);
    if (rest.length > 0) from.write(rest);
    from.pipe(to).pipe(from);
  };
  to.on("data", listen);
}

function track(socket: Socket, open: Set<Socket>): void {
  open.add(socket);
  socket.on("error", () => {});
  socket.once("close", () => open.delete(socket));
}
