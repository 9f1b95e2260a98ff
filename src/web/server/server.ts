// The one small server behind the viewer and the board: loopback only, few connections, short patience.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSystemError, NutError } from "../../errors.js";
import { Gate } from "./gate.js";
import { send, sendError, sendJson } from "./respond.js";

export interface ServeOptions {
  readonly port: number;
  readonly signal: AbortSignal;
  /** The command as typed, for the hint when the port is taken. */
  readonly command: string;
  /** The scripts and styles of the page. */
  readonly assets: ReadonlySet<string>;
  /** GET and HEAD, and POST where the page may change something. */
  readonly methods: readonly string[];
  /** A link was used: here is the next one. */
  readonly onLink: (link: string) => void;
  readonly route: (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>;
  /** Something failed that nobody foresaw; the server goes on. */
  readonly onError: (error: unknown) => void;
}

export interface Serving {
  readonly gate: Gate;
  readonly port: number;
  /** Resolves when the signal has stopped the server. */
  readonly closed: Promise<void>;
}

/** A browser opens six at a time; the rest is for a second window and for event streams. */
const MAX_CONNECTIONS = 64;
const HEADERS_MS = 5_000;
/** A client that reads or writes nothing for this long is gone. */
const IDLE_MS = 30_000;

export async function serve(options: ServeOptions): Promise<Serving> {
  let gate: Gate | null = null;
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: 10_000,
    maxHeaderSize: 16_384,
    // How often the two times above are looked at; by default only every half minute.
    connectionsCheckingInterval: 1_000,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.keepAliveTimeout = 5_000;
  server.setTimeout(IDLE_MS, (socket) => socket.destroy());
  server.on("request", (request, response) => {
    if (gate !== null) void answer(gate, options, request, response);
  });
  server.on("upgrade", (_, socket) => socket.destroy());
  server.on("connect", (_, socket) => socket.destroy());
  server.on("clientError", (_, socket) => socket.destroy());
  const port = await listen(server, options);
  gate = new Gate(port);
  return { gate, port, closed: closing(server, options.signal) };
}

function listen(server: Server, { port, command }: ServeOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(error, port, command)));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => resolve((server.address() as AddressInfo).port));
  });
}

function cannotListen(error: unknown, port: number, command: string): unknown {
  if (!isSystemError(error)) return error;
  const why = error.code === "EADDRINUSE" ? "is taken by another program" : "may not be used";
  return new NutError("WEB_PORT_TAKEN", `port ${port} ${why}`, {
    hint: `${command} --port ${port >= 65_000 ? 8_081 : Math.max(1_024, port + 1)}`,
    data: { port, errno: error.code },
    cause: error,
  });
}

function closing(server: Server, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      server.close(() => resolve());
      server.closeAllConnections();
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

async function answer(
  gate: Gate,
  { methods, assets, route, onLink, onError }: ServeOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.on("error", () => {}); // The client went away; there is nobody to tell.
  const before = gate.link;
  const isPublic = (pathname: string) => pathname === "/" || assets.has(pathname);
  const entry = gate.check(request, { methods, isPublic });
  if (entry.kind === "refused") {
    const headers: Record<string, string> = { connection: "close" };
    if (entry.status === 405) headers.allow = methods.join(", ");
    send(response, `${entry.reason}\n`, { type: "text/plain; charset=utf-8", status: entry.status, headers });
    return;
  }
  if (entry.kind === "welcome") {
    sendJson(response, { key: entry.key });
    if (gate.link !== before) onLink(gate.link);
    return;
  }
  try {
    if (entry.url.pathname === "/ticket")
      return sendJson(response, { ticket: gate.ticket(entry.url.searchParams.get("for") ?? "") });
    await route(request, response, entry.url);
  } catch (error) {
    if (response.destroyed) return; // Slow or gone: its own doing.
    if (error instanceof NutError) fail(response, statusOf(error), error.message);
    else {
      onError(error);
      fail(response, 500, "this is our mistake: the terminal says more");
    }
  }
}

function fail(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy();
  else sendError(response, status, message);
}

function statusOf({ code }: NutError): number {
  if (code === "ENTRY_NOT_FOUND" || code === "FILE_NOT_FOUND") return 404;
  if (code === "USAGE") return 400;
  return code === "TOOL_REFUSED" || code === "ROLE_DENIED" || code === "STATE_LOCKED" ? 409 : 422;
}
