// Who may speak to the server. It listens on 127.0.0.1 only, but every page in every browser of this machine can send
// requests there too: so the Host must be exactly ours (no name that was pointed at us), the Origin ours or absent,
// and the caller must hold the cookie that the one-time link was exchanged for.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export interface GateOptions {
  readonly port: number;
  /** Keeps cookies valid over a restart; random by default. */
  readonly key?: Buffer;
  /** Names this server among others on the machine, whose cookies share the address. */
  readonly name: string;
}

export type Entry =
  | { readonly kind: "refused"; readonly status: 400 | 403 | 405; readonly reason: string }
  /** The one-time link: give the cookie and send the browser to the page. */
  | { readonly kind: "welcome"; readonly cookie: string }
  | { readonly kind: "allowed"; readonly url: URL };

export class Gate {
  readonly #port: number;
  readonly #cookieName: string;
  readonly #cookie: string;
  readonly #writeToken: string;
  #token = fresh();

  constructor({ port, name, key = randomBytes(32) }: GateOptions) {
    this.#port = port;
    this.#cookieName = `nutcracker_${port}`;
    const derived = (use: string) => createHmac("sha256", key).update(`${use}\n${name}\n${port}`).digest("base64url");
    this.#cookie = derived("cookie");
    this.#writeToken = derived("write");
  }

  /** The link a person opens; good once. */
  get link(): string {
    return `http://127.0.0.1:${this.#port}/?token=${this.#token}`;
  }

  /** Known only to a page that was let in; sent with whatever changes something. */
  get writeToken(): string {
    return this.#writeToken;
  }

  check(request: IncomingMessage, { methods }: { readonly methods: readonly string[] }): Entry {
    if (!methods.includes(request.method ?? "")) return refused(405, "this server answers GET only");
    if (!this.#isOwnHost(request)) return refused(403, "the Host is not this server's");
    if (!this.#isOwnOrigin(request)) return refused(403, "the Origin is not this server's");
    const url = ownUrl(request.url ?? "", this.#port);
    if (url === null) return refused(400, "the address cannot be read");
    const token = url.searchParams.get("token");
    if (token !== null && url.pathname === "/") return this.#exchange(token, request);
    if (!this.#hasCookie(request)) return refused(403, "open the link that was printed in the terminal");
    return { kind: "allowed", url };
  }

  isWriteToken(given: string | undefined): boolean {
    return given !== undefined && same(given, this.#writeToken);
  }

  /** A link that was used again still works for whoever it already let in. */
  #exchange(token: string, request: IncomingMessage): Entry {
    const cookie = `${this.#cookieName}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age=604800`;
    if (same(token, this.#token)) {
      this.#token = fresh();
      return { kind: "welcome", cookie };
    }
    if (this.#hasCookie(request)) return { kind: "welcome", cookie };
    return refused(403, "this link was used already: the terminal shows the next one");
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

  #hasCookie({ headers }: IncomingMessage): boolean {
    const cookies = (headers.cookie ?? "").split(";").map((part) => part.trim());
    return cookies.some((cookie) => {
      const at = cookie.indexOf("=");
      return cookie.slice(0, at) === this.#cookieName && same(cookie.slice(at + 1), this.#cookie);
    });
  }
}

function fresh(): string {
  return randomBytes(24).toString("base64url");
}

function refused(status: 400 | 403 | 405, reason: string): Entry {
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
