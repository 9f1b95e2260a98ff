// For programs that insist on a service's own https address: a proxy that ends their encryption with a certificate of the
// door's own authority, looks at the request as at any other, and sends it on with its secret.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import type { Door, Doors } from "./doors.js";
import { exchange, type Ground, refuse, type Target } from "./http/exchange.js";
import { Refused } from "./judge.js";

interface ProxyHall {
  readonly doors: Doors;
  readonly places: ReadonlyMap<string, Target>;
  readonly ground: Ground;
}

interface Proxy {
  onConnect(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** A request that names a whole address in its first line. */
  onAbsolute(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): void;
}

interface Caller {
  readonly door: Door;
  readonly origin: string;
}

export function openProxy(hall: ProxyHall): Proxy {
  const callers = new WeakMap<Socket, Caller>();
  const inner: Server = createServer({ requestTimeout: 0 }, (request, response) => {
    const caller = callers.get(request.socket)!;
    void pass(request, response, caller, request.url ?? "", hall);
  });
  inner.on("clientError", (_error, socket) => socket.destroy());
  inner.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n"));
  inner.on("connect", (_request, socket) => socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n"));
  return {
    onConnect: (request, socket, head) => {
      const door = doorOf(request, hall.doors);
      const [, host = "", port = ""] = /^\[?([^\s\]/@]+)\]?:(\d{1,5})$/.exec(request.url ?? "") ?? [];
      socket.on("error", () => socket.destroy());
      if (door === null || host === "" || !URL.canParse(`http://${host.includes(":") ? `[${host}]` : host}:${port}`)) {
        socket.end(said(door === null ? 407 : 400));
        return;
      }
      door.open.add(socket);
      socket.once("close", () => door.open.delete(socket));
      const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
      const plain = new URL(`http://${address}`).origin;
      if (placesAt(plain, door, hall).length > 0) {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        if (head.length > 0) socket.unshift(head);
        callers.set(socket, { door, origin: plain });
        inner.emit("connection", socket);
        return;
      }
      const origin = new URL(`https://${address}`).origin;
      if (placesAt(origin, door, hall).length === 0) {
        if (door.tunnels) tunnel(host, Number(port), socket, head, door);
        else socket.end(said(403));
        return;
      }
      const context = door.authority?.contextFor(host.toLowerCase());
      if (context === undefined) {
        socket.end(said(403));
        return;
      }
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) socket.unshift(head);
      secure(socket, context, (open) => {
        callers.set(open, { door, origin });
        inner.emit("connection", open);
      });
    },
    onAbsolute: async (request, response) => {
      const door = doorOf(request, hall.doors);
      const url = request.url ?? "";
      const [, origin = "", rest = ""] = /^(http:\/\/[^/?#@\s]+)(\/.*)?$/i.exec(url) ?? [];
      if (door === null || origin === "" || !URL.canParse(origin)) {
        refuse(
          request,
          response,
          new Refused("nobody is let in here without the address that was given", { status: 407 }),
          null,
        );
        return;
      }
      await pass(request, response, { door, origin: new URL(origin).origin }, rest === "" ? "/" : rest, hall);
    },
    close: () => inner.closeAllConnections(),
  };
}

function secure(socket: Socket, context: SecureContext, onOpen: (open: TLSSocket) => void): void {
  const open = new TLSSocket(socket, { isServer: true, secureContext: context, ALPNProtocols: ["http/1.1"] });
  open.on("error", () => socket.destroy());
  onOpen(open);
}

/** Whose address the proxy's is: `http://run:<word>@127.0.0.1:…`. */
function doorOf({ headers }: IncomingMessage, doors: Doors): Door | null {
  const [, words = ""] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
  const [user, word = ""] = Buffer.from(words, "base64").toString("utf8").split(":");
  return user === "run" ? doors.find(word) : null;
}

/** git asks without a word first, and wants to be told which kind is wanted. */
const said = (status: number): string =>
  [
    `HTTP/1.1 ${status} ${status === 407 ? "Proxy Authentication Required" : "Forbidden"}`,
    ...(status === 407 ? ['proxy-authenticate: Basic realm="broker"'] : []),
    ...["x-nutshell-broker: refused", "connection: close", "content-length: 0", "", ""],
  ].join("\r\n");

const placesAt = (origin: string, { names }: Door, { places }: ProxyHall): Target[] =>
  [...places.values()].filter(({ base, policy }) => names.has(policy.name) && new URL(base).origin === origin);

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { door, origin }: Caller,
  url: string,
  hall: ProxyHall,
): Promise<void> {
  const [, path = "", query = ""] = /^(\/[^?]*)(?:\?(.*))?$/s.exec(url) ?? [];
  const fitting = placesAt(origin, door, hall)
    .map((target) => ({ target, below: new URL(target.base).pathname.replace(/\/$/, "") }))
    .filter(({ below }) => path === below || path.startsWith(`${below}/`))
    .sort((a, b) => b.below.length - a.below.length);
  const [found] = fitting;
  if (found === undefined) {
    refuse(request, response, new Refused(`no credential is lent for ${origin}${path}`), null);
    return;
  }
  const { target, below } = found;
  door.open.add(response);
  response.once("close", () => door.open.delete(response));
  const rest = path.slice(below.length);
  await exchange(
    request,
    response,
    { target, path: rest === "" ? "/" : rest, query, by: door.by, role: door.role, home: null },
    hall.ground,
  );
}

/** A host nothing is lent for: the program has the same network itself. */
function tunnel(host: string, port: number, from: Socket, head: Buffer, door: Door): void {
  const to = connect({ host, port });
  door.open.add(to);
  to.once("close", () => {
    door.open.delete(to);
    from.destroy();
  });
  to.on("error", () => from.end(said(502)));
  from.once("close", () => to.destroy());
  to.once("connect", () => {
    from.write("HTTP/1.1 200 Connection established\r\n\r\n");
    to.write(head);
    from.pipe(to).pipe(from);
  });
}
