// A web service that a broker lends: it answers with everything it was asked, as an echo service does, and in other ways when
// its path says so.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { type Broker, type BrokerInput, type BrokerUse, openBroker } from "../../src/broker/index.js";
import type { Endpoints } from "../../src/schema/endpoints.js";

export const SECRET = "canary-7d1f9a4be23c5860";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Service {
  readonly origin: string;
  readonly port: number;
  readonly seen: Seen[];
  close(): Promise<void>;
}

/** Echoes as JSON; `/gzip`, `/moved`, `/elsewhere`, `/cookie`, `/error`, `/big`, `/stream`… do what they say. */
export async function startService(): Promise<Service> {
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    if (request.url!.endsWith("/stream")) {
      request.pipe(response);
      return;
    }
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const body = Buffer.concat(parts).toString("utf8");
      seen.push({ method, url, headers, body });
      const auth = String(headers.authorization ?? headers["x-api-key"] ?? url);
      const echo = JSON.stringify({ method, url, headers, body });
      const path = url.split("?")[0]!;
      if (path.endsWith("/gzip")) response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(echo));
      else if (path.endsWith("/moved"))
        response.writeHead(302, { location: `/v1/users?was=${encodeURIComponent(auth)}` }).end();
      else if (path.endsWith("/elsewhere")) response.writeHead(302, { location: `http://198.51.100.7/steal` }).end();
      else if (path.endsWith("/cookie"))
        response.writeHead(200, { "set-cookie": "session=as-good-as-the-key" }).end("ok");
      else if (path.endsWith("/header")) response.writeHead(200, { "x-you-sent": auth }).end("ok");
      else if (path.endsWith("/error"))
        response.writeHead(401, { "www-authenticate": auth }).end(`<p>bad token: ${auth}</p>`);
      else if (path.endsWith("/base64")) response.end(Buffer.from(`user:${auth}`).toString("base64"));
      else if (path.endsWith("/hex")) response.end(Buffer.from(auth).toString("hex"));
      else if (path.endsWith("/percent"))
        response.end([...auth].map((c) => `%${c.charCodeAt(0).toString(16)}`).join(""));
      else if (path.endsWith("/split")) {
        response.write(auth.slice(0, -8));
        setTimeout(() => response.end(auth.slice(-8)), 20);
      } else if (path.endsWith("/utf16")) response.end(Buffer.from(auth, "utf16le"));
      else if (path.endsWith("/hints")) {
        response.writeEarlyHints({ link: `</x?${auth.replaceAll(" ", "+")}>; rel=preload` });
        response.writeHead(200, auth, { trailer: "x-you-sent" });
        response.write("ok");
        response.addTrailers({ "x-you-sent": auth });
        response.end();
      } else if (path.endsWith("/transfer")) {
        const body = gzipSync(echo);
        const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n";
        const pieces = [`${head}${body.length.toString(16)}\r\n`, body, "\r\n0\r\n\r\n"];
        request.socket.end(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
      } else if (path.endsWith("/big")) response.end(`${"x".repeat(300_000)}${auth}${"y".repeat(300_000)}`);
      else response.writeHead(200, { "content-type": "application/json" }).end(echo);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export interface Terms {
  readonly type?: string;
  readonly value?: string | Record<string, unknown>;
  readonly scopes?: readonly string[];
  readonly restrictions?: Readonly<Record<string, unknown>>;
  readonly endpoints?: Endpoints;
  readonly expiresAt?: string;
}

export interface Lender {
  readonly broker: Broker;
  readonly uses: BrokerUse[];
  /** `<NAME>_URL` of the one credential, "api". */
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  /** The service's own. */
  readonly origin: string;
}

/** A broker with one credential, "api", for everything below `/v1` of the service. */
export async function lend(
  { origin }: Pick<Service, "origin">,
  { type = "bearer_token", value = SECRET, scopes = [], restrictions = {}, endpoints, expiresAt }: Terms = {},
  more: BrokerInput & { role?: string } = {},
): Promise<Lender> {
  const uses: BrokerUse[] = [];
  const { role = null, ...input } = more;
  const broker = await openBroker({ allowOrigins: [origin], onUse: (use) => uses.push(use), ...input });
  const credential = {
    name: "api",
    type,
    value,
    scopes: [...scopes],
    restrictions: { base_url: `${origin}/v1`, ...restrictions },
  };
  await broker.lend({
    credential,
    scope: undefined,
    expiresAt: expiresAt ?? "2999-01-01T00:00:00Z",
    manifest: {},
    endpoints: endpoints ?? null,
  });
  const { env } = await broker.admit({ by: "engineer-1", role });
  const url = env.API_URL!;
  return { broker, uses, url, env, token: url.split("/")[3]!, origin };
}
