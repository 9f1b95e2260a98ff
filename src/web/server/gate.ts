// Who may speak to the server. It listens on 127.0.0.1 only, but every page in every browser of this machine can send
// requests there too: so the Host must be exactly ours (no name that was pointed at us), the Origin ours or absent, and
// whoever asks must send the key that the one-time link was exchanged for. The key is a header, never a cookie: a browser
// gives the cookies of 127.0.0.1 to every other server on this machine, whatever its port.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export type Admission =
  | { readonly kind: "refused"; readonly status: 400 | 403 | 405; readonly reason: string }
  /** The one-time link: the page gets the key. */
  | { readonly kind: "welcome"; readonly key: string }
  | { readonly kind: "allowed"; readonly url: URL };

export interface Rules {
  readonly methods: readonly string[];
  /** What anyone may load: the page itself and its scripts, which know nothing. */
  readonly isPublic: (pathname: string) => boolean;
}

/** How long a download may wait to begin. */
const TICKET_MS = 30_000;

export class Gate {
  readonly #port: number;
  /** Of this start alone: what a page keeps of it is worth nothing to whoever has the port next. */
  readonly #key = fresh();
  readonly #now: () => number;
  #token = fresh();

  constructor(port: number, now: () => number = Date.now) {
    this.#port = port;
    this.#now = now;
  }

  /** The link a person opens; good once. What stands after # is seen by the page alone. */
  get link(): string {
    return `http://127.0.0.1:${this.#port}/#link=${this.#token}`;
  }

  check(request: IncomingMessage, { methods, isPublic }: Rules): Admission {
    if (!methods.includes(request.method ?? "")) return refused(405, "this server answers GET only");
    if (!this.#isOwnHost(request)) return refused(403, "the Host is not this server's");
    if (!this.#isOwnOrigin(request)) return refused(403, "the Origin is not this server's");
    const url = ownUrl(request.url ?? "", this.#port);
    if (url === null) return refused(400, "the address cannot be read");
    if (url.pathname === "/enter" && request.method === "GET") return this.#exchange(request);
    if (isPublic(url.pathname) || this.#isHolder(request) || this.#isTicket(url)) return { kind: "allowed", url };
    return refused(403, "open the link that was printed in the terminal");
  }

  /** Lets one address be asked for without the key, soon: a download is a link, and links carry no headers. */
  ticket(address: string): string {
    const until = String(this.#now() + TICKET_MS);
    return `${until}.${this.#signed(until, ownUrl(address, this.#port)?.pathname ?? "")}`;
  }

  #isTicket({ pathname, searchParams }: URL): boolean {
    const [until = "", sum = ""] = (searchParams.get("ticket") ?? "").split(".");
    const isFile = pathname.startsWith("/file/");
    return isFile && same(sum, this.#signed(until, pathname)) && Number(until) > this.#now();
  }

  #signed(until: string, pathname: string): string {
    return createHmac("sha256", this.#key).update(`${until}\n${pathname}`).digest("base64url");
  }

  #exchange({ headers }: IncomingMessage): Admission {
    if (!same(String(headers["x-nutcracker-link"] ?? ""), this.#token))
      return refused(403, "this link was used already: the terminal shows the next one");
    this.#token = fresh();
    return { kind: "welcome", key: this.#key };
  }

  /** Exactly once, exactly ours: "localhost", other names, and other spellings of the address are not. */
  #isOwnHost({ rawHeaders }: IncomingMessage): boolean {
    const hosts = headerValues(rawHeaders, "host");
    return hosts.length === 1 && hosts[0] === `127.0.0.1:${this.#port}`;
  }

  #isOwnOrigin({ rawHeaders, headers }: IncomingMessage): boolean {
    const origins = headerValues(rawHeaders, "origin");
    if (origins.some((origin) => origin !== `http://127.0.0.1:${this.#port}`)) return false;
    // Browsers say where a request comes from; a person following the link comes from nowhere.
    const site = headers["sec-fetch-site"];
    const isNavigation = headers["sec-fetch-mode"] === "navigate";
    return site === undefined || site === "same-origin" || site === "none" || isNavigation;
  }

  #isHolder({ headers }: IncomingMessage): boolean {
    return same(String(headers["x-nutcracker-key"] ?? ""), this.#key);
  }
}

function fresh(): string {
  return randomBytes(24).toString("base64url");
}

function refused(status: 400 | 403 | 405, reason: string): Admission {
  return { kind: "refused", status, reason };
}

function headerValues(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);
}

/** Only a path of this server: a whole address in the request line belongs to a proxy, which this is not. */
function ownUrl(target: string, port: number): URL | null {
  if (!target.startsWith("/") || target.startsWith("//") || target.length > 8_192) return null;
  try {
    const url = new URL(`http://127.0.0.1:${port}${target}`);
    return url.host === `127.0.0.1:${port}` ? url : null;
  } catch {
    return null;
  }
}

function same(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
