// The ways out of a room whose script needs a network: to the addresses that were agreed to, and nowhere else. The room has a
// network of its own. In it the agreed names mean its loopback, where a small program of ours listens and passes on through a
// socket; out here the name is looked up, what it means is looked at, and a connection is made. TCP alone is passed on.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, isIP, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Addressed, addressOf, sameAddress } from "../schema/address.js";
import { agreedAddresses, NotReached } from "./reach.js";

export interface Way extends Addressed {
  /** Whether the person named it: it may then be on this machine or its network. */
  readonly named: boolean;
  /** Addresses of a name; the system's by default. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
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

/** More connections at a time than any check needs. */
const MOST_CONNECTIONS = 256;

export async function openWaysOut(ways: readonly Way[]): Promise<WaysOut> {
  // Short, because a socket's path may not be long.
  const place = mkdtempSync(join(existsSync("/tmp") ? "/tmp" : tmpdir(), "nut-ways-"));
  const [folder, hosts] = [join(place, "s"), join(place, "hosts")];
  mkdirSync(folder);
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

function track(socket: Socket, open: Set<Socket>): void {
  open.add(socket);
  socket.on("error", () => {});
  socket.once("close", () => open.delete(socket));
}
