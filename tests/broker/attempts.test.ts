// Attempts to get at a secret that is lent, or to use it for what it is not lent for. Each is made as an agent would make it,
// with everything an agent has; none may succeed. What counts is what came to the service and what came back.
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ADDS, type Attempt, asked, at, get, line, NARROW, raw, send, WIDE } from "./attempt.js";
import { ODD_ATTEMPTS } from "./odd-attempts.js";
import { type Lender, lend, SECRET, type Service, startService, type Terms } from "./service.js";

let service: Service;
let other: Service;
const open: Lender[] = [];
beforeAll(async () => {
  [service, other] = await Promise.all([startService(), startService()]);
});
afterAll(() => Promise.all([service.close(), other.close()]));
beforeEach(() => {
  service.seen.length = 0;
  other.seen.length = 0;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ broker }) => broker.close()));
});

async function lender(terms: Terms, more: Parameters<typeof lend>[2] = {}): Promise<Lender> {
  const one = await lend(service, terms, more);
  open.push(one);
  return one;
}

const FORM = "Content-Type: application/x-www-form-urlencoded";

const ATTEMPTS: readonly (readonly [name: string, terms: Terms, attempt: Attempt])[] = [
  ...ODD_ATTEMPTS,
  // Out of the paths.
  ["another path", NARROW, get("/admin")],
  ["a path that begins alike", NARROW, get("/users-all")],
  ["dots", NARROW, get("/users/../admin")],
  ["dots at the end", NARROW, get("/users/..")],
  ["dots out of the base", WIDE, get("/../admin")],
  ["encoded dots", NARROW, get("/users/%2e%2e/admin")],
  ["half encoded dots", NARROW, get("/users/.%2e/admin")],
  ["twice encoded dots", NARROW, get("/users/%252e%252e/admin")],
  ["three times encoded dots", NARROW, get("/users/%25252e%25252e/admin")],
  ["dots with a parameter", NARROW, get("/users/..;/admin")],
  ["dots with a named parameter", NARROW, get("/users/..;a=b/admin")],
  ["an encoded slash", NARROW, get("/users/..%2fadmin")],
  ["an encoded backslash", NARROW, get("/users/..%5cadmin")],
  ["a backslash", NARROW, get("/users/..\\admin")],
  ["two slashes", NARROW, get("//users/1")],
  ["two slashes to another host", NARROW, get("//evil.example/users")],
  ["two slashes inside", NARROW, get("/users//../admin")],
  ["a NUL", NARROW, get("/users/%00/../admin")],
  ["an encoded question mark", NARROW, get("/admin%3f/users/1")],
  ["a fragment", NARROW, get("/admin#/users/1")],
  ["overlong dots", NARROW, get("/users/%c0%ae%c0%ae/admin")],
  ["a tab in the path", NARROW, get("/users/\t../admin")],
  ["a path header", NARROW, get("/users", "X-Original-URL: /v1/admin")],
  ["another path header", NARROW, get("/users", "X-Rewrite-URL: /v1/admin")],
  ["a forwarded prefix", NARROW, get("/users", "X-Forwarded-Prefix: /admin")],
  [
    "an endpoint nobody declared",
    { endpoints: { auth: { credential_ref: "api" }, endpoints: [{ method: "GET", path: "/users/{id}" }] } },
    get("/admin/1"),
  ],
  // Other methods.
  ["DELETE with a read credential", NARROW, send("DELETE", "/users/1")],
  ["POST with a read credential", NARROW, send("POST", "/users", [], "x")],
  ["PUT that nobody declared", ADDS, send("PUT", "/users/1", [], "x")],
  [
    "a declared path with another method",
    { endpoints: { auth: { credential_ref: "api" }, endpoints: [{ method: "GET", path: "/users" }] } },
    send("POST", "/users", [], "x"),
  ],
  ["a method header", NARROW, get("/users", "X-HTTP-Method-Override: DELETE")],
  ["a method header of another name", ADDS, send("POST", "/users/1", ["X-Method-Override: DELETE"], "x")],
  ["a method in the query", ADDS, send("POST", "/users/1?_method=DELETE", [], "x")],
  ["an encoded method in the query", ADDS, send("POST", "/users/1?%5Fmethod=DELETE", [], "x")],
  ["a method in a form", ADDS, send("POST", "/users/1", [FORM], "a=1&_method=DELETE")],
  ["an encoded method in a form", ADDS, send("POST", "/users/1", [FORM], "a=1&%5f%6dethod=DELETE")],
  ["TRACE, which echoes headers", WIDE, send("TRACE", "/users")],
  ["a method nobody knows", WIDE, send("PROPFIND", "/users")],
  ["a method in small letters", NARROW, send("delete", "/users/1")],
  // Ways through the connection.
  [
    "CONNECT",
    WIDE,
    (lent) =>
      raw(lent, `CONNECT ${new URL(other.origin).host} HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n`),
  ],
  ["an absolute address", WIDE, (lent) => raw(lent, `GET ${other.origin}/v1/users HTTP/1.1\r\nHost: x\r\n\r\n`)],
  [
    "an absolute address with the word in it",
    WIDE,
    (lent) => raw(lent, `GET ${other.origin}${at(lent, "/users")} HTTP/1.1\r\nHost: x\r\n\r\n`),
  ],
  [
    "another Host",
    WIDE,
    (lent) =>
      raw(
        lent,
        `GET ${at(lent, "/users")} HTTP/1.1\r\nHost: ${new URL(other.origin).host}\r\nConnection: close\r\n\r\n`,
      ),
  ],
  [
    "a WebSocket",
    WIDE,
    get(
      "/users",
      "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Version: 13",
    ),
  ],
  [
    "HTTP/2 without encryption",
    WIDE,
    get("/users", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__", "Connection: Upgrade, HTTP2-Settings"),
  ],
  [
    "two lengths",
    NARROW,
    (lent) =>
      raw(
        lent,
        line(lent, "GET", "/users", ["Content-Length: 0", "Content-Length: 60"], line(lent, "DELETE", "/users/1")),
      ),
  ],
  [
    "a length and pieces",
    NARROW,
    (lent) =>
      raw(
        lent,
        line(
          lent,
          "GET",
          "/users",
          ["Content-Length: 4", "Transfer-Encoding: chunked"],
          `0\r\n\r\nDELETE /v1/users/1 HTTP/1.1\r\nHost: x\r\n\r\n`,
        ),
      ),
  ],
  [
    "pieces of an odd spelling",
    ADDS,
    (lent) =>
      raw(
        lent,
        line(
          lent,
          "POST",
          "/users",
          ["Transfer-Encoding: xchunked"],
          `0\r\n\r\nDELETE /v1/admin HTTP/1.1\r\nHost: x\r\n\r\n`,
        ),
      ),
  ],
  [
    "a request inside a body",
    ADDS,
    (lent) =>
      raw(
        lent,
        line(lent, "POST", "/users", ["Content-Length: 5"], `helloDELETE /v1/admin HTTP/1.1\r\nHost: x\r\n\r\n`),
      ),
  ],
  [
    "a second request behind a refused one",
    NARROW,
    (lent) =>
      raw(
        lent,
        `POST ${at(lent, "/users")} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nDELETE /v1/admin HTTP/1.1\r\nHost: x\r\n\r\n`,
      ),
  ],
  ["a line end in the query", WIDE, (lent) => raw(lent, line(lent, "GET", "/users?a=%0d%0aX-Api-Key:%201"))],
  ["a bare line feed in a header", WIDE, get("/users", "X-A: 1\nAuthorization: none")],
  [
    "dropping our header by Connection",
    WIDE,
    (lent) => raw(lent, `GET ${at(lent, "/users")} HTTP/1.1\r\nHost: x\r\nConnection: close, authorization\r\n\r\n`),
  ],
  // Somebody else's door.
  ["no word", WIDE, (lent) => raw(lent, "GET /api/users HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")],
  [
    "a guessed word",
    WIDE,
    (lent) => raw(lent, `GET /${"A".repeat(32)}/api/users HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
  ],
  [
    "another credential's name",
    WIDE,
    (lent) => raw(lent, `GET /${lent.token}/constructor/users HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
  ],
  [
    "the word with an encoding",
    WIDE,
    (lent) => raw(lent, `GET /${lent.token}%2f/api/users HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
  ],
  // The secret in what comes back.
  ["an echo", WIDE, ({ url }) => asked(`${url}/users`)],
  [
    "an echo with an authorization of one's own",
    WIDE,
    ({ url }) => asked(`${url}/users`, { headers: { authorization: "mine" } }),
  ],
  ["an error page", WIDE, ({ url }) => asked(`${url}/error`)],
  ["a header of the answer", WIDE, ({ url }) => asked(`${url}/header`)],
  ["a compressed echo", WIDE, ({ url }) => asked(`${url}/gzip`, { headers: { "accept-encoding": "gzip" } })],
  ["an echo in base64", WIDE, ({ url }) => asked(`${url}/base64`)],
  ["an echo in hex", WIDE, ({ url }) => asked(`${url}/hex`)],
  ["an echo in percent signs", WIDE, ({ url }) => asked(`${url}/percent`)],
  ["an echo cut in two", WIDE, ({ url }) => asked(`${url}/split`)],
  ["an echo in a long answer", WIDE, ({ url }) => asked(`${url}/big`)],
  ["a few bytes of an echo", WIDE, ({ url }) => asked(`${url}/users`, { headers: { range: "bytes=0-3" } })],
  [
    "an echo of basic",
    { type: "basic", value: { username: "u", password: SECRET } },
    ({ url }) => asked(`${url}/users`),
  ],
  ["an echo of a query", { restrictions: { query: "key" } }, ({ url }) => asked(`${url}/header`)],
  ["a redirect that tells", WIDE, ({ url }) => asked(`${url}/moved`)],
  ["a redirect elsewhere", WIDE, ({ url }) => asked(`${url}/elsewhere`)],
  ["a session in a cookie", WIDE, ({ url }) => asked(`${url}/cookie`)],
  [
    "a cookie of one's own",
    WIDE,
    ({ url }) => asked(`${url}/users`, { headers: { cookie: "session=as-good-as-the-key" } }),
  ],
];

const SHAPES = [
  SECRET,
  SECRET.slice(0, 12),
  Buffer.from(SECRET).toString("hex"),
  ...[0, 1, 2].map((skip) =>
    Buffer.from(`${"x".repeat(skip)}${SECRET}`)
      .toString("base64")
      .slice(skip === 0 ? 0 : 4, 16),
  ),
  [...SECRET].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join(""),
  "as-good-as-the-key",
];

/** What the service was made to do that nobody lent the credential for. */
function misused({ scopes, restrictions, endpoints }: Terms): string[] {
  const methods = scopes?.includes("read") ? ["GET", "HEAD", "OPTIONS"] : ["GET", "POST", "HEAD"];
  const narrow = restrictions?.paths !== undefined || endpoints !== undefined;
  const below = narrow ? /^\/v1\/users(?:\/|$)/ : /^\/v1\//;
  return service.seen
    .filter(({ method, url, headers, body }) => {
      const steered = Object.keys(headers).some((name) =>
        /^x[-_](?:http[-_]method|method-over|original|rewrite|forwarded)/.test(name),
      );
      // As a careless server would read it.
      const read = decodeURIComponent(decodeURIComponent(url.split("?")[0]!))
        .normalize("NFKC")
        .replace(/[\p{Cf} ]/gu, "");
      const path = new URL(read.replaceAll("\\", "/"), "http://x").pathname;
      const swapped =
        (headers.authorization ?? headers["x-api-key"] ?? url).includes("mine") || headers.x_api_key !== undefined;
      const lost = !`${headers.authorization}${headers["x-api-key"]}${url}`.match(/canary|Basic/);
      return (
        !methods.includes(method) ||
        !below.test(path) ||
        steered ||
        swapped ||
        lost ||
        /[_.]method/i.test(url + body.replaceAll("\\u005f", "_")) ||
        headers.cookie !== undefined ||
        // Nobody could look into it.
        !/^identity$/i.test(headers["content-encoding"] ?? "identity")
      );
    })
    .map(({ method, url }) => `${method} ${url}`);
}

describe("attempts on what is lent", () => {
  it("are at least 100", () => {
    expect(ATTEMPTS.length).toBeGreaterThanOrEqual(100);
    expect(new Set(ATTEMPTS.map(([name]) => name)).size).toBe(ATTEMPTS.length);
  });

  it.each(ATTEMPTS)("%s", async (_name, terms, attempt) => {
    const lent = await lender(terms);
    const seen = await attempt(lent);
    expect(SHAPES.filter((shape) => seen.includes(shape))).toEqual([]);
    expect(misused(terms)).toEqual([]);
    expect(other.seen).toEqual([]);
    expect(JSON.stringify([lent.env, lent.uses])).not.toContain(SECRET);
  });
});

describe("an agent that watches how it is answered", () => {
  it("is not answered while it asks: what is held back would tell how a secret begins", async () => {
    const lent = await lender(WIDE);
    let heard = "";
    const socket = connect(Number(new URL(lent.broker.origin).port), "127.0.0.1");
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
    });
    socket.write(line(lent, "POST", "/stream", ["Transfer-Encoding: chunked"], `2\r\nxy\r\n1\r\n${SECRET[0]}\r\n`));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(heard).toBe("");
    socket.write("2\r\n!!\r\n0\r\n\r\n");
    await expect.poll(() => heard).toContain(`${SECRET[0]}!!`);
  });

  it("does not end the broker by asking for nonsense", async () => {
    const lent = await lender(WIDE);
    const word = `Proxy-Authorization: Basic ${Buffer.from(`run:${lent.token}`).toString("base64")}`;
    for (const place of ["%:80", "a b:80", "[::1:80", "x:99999", "\u00ff:1", "%00:80", "..:80", "<>:443"])
      await raw(lent, `CONNECT ${place} HTTP/1.1\r\nHost: x\r\n${word}\r\n\r\n`, 50);
    for (const url of ["http://%/", "http://[/", "http:////", "http://x:y/", "http://a@b/"])
      await raw(lent, `GET ${url} HTTP/1.1\r\nHost: x\r\n${word}\r\n\r\n`, 50);
    expect((await fetch(`${lent.url}/users`)).status).toBe(200);
  });
});

describe("names that mean something else later", () => {
  it("are looked up once", async () => {
    const answers = [["127.0.0.1"], ["198.51.100.7"]];
    let looks = 0;
    const origin = `http://service.example:${service.port}`;
    const lent = await lend({ origin }, WIDE, {
      allowOrigins: [origin],
      resolve: async () => answers[Math.min(looks++, 1)]!,
    });
    open.push(lent);
    expect((await fetch(`${lent.url}/users`)).status).toBe(200);
    expect((await fetch(`${lent.url}/users`)).status).toBe(200);
    expect(looks).toBe(1);
    expect(service.seen[0]!.headers.host).toBe(`service.example:${service.port}`);
  });

  it.each(["127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00:ec2::254", "0.0.0.0"])(
    "are not followed to %s unless a person named the origin",
    async (address) => {
      const origin = `http://service.example:${service.port}`;
      const lent = await lend({ origin }, WIDE, { allowOrigins: [], resolve: async () => ["198.51.100.7", address] });
      open.push(lent);
      const answer = await fetch(`${lent.url}/users`);
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining(`--allow-origin ${origin}`)]);
      expect(service.seen).toEqual([]);
    },
  );
});
