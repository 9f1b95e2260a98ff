// Attempts that live on how servers differ: what one reads as a letter, an end or a name, and another does not.
import { gunzipSync, gzipSync } from "node:zlib";
import { ADDS, type Attempt, asked, at, get, line, NARROW, raw, send, WIDE } from "./attempt.js";
import type { Lender, Terms } from "./service.js";

const FORM = "Content-Type: application/x-www-form-urlencoded";
const JSON_BODY = "Content-Type: application/json";
const CHUNKED = "Transfer-Encoding: chunked";

/** A request that must not be obeyed, behind one that may. */
const SMUGGLED = "DELETE /v1/admin HTTP/1.1\r\nHost: x\r\n\r\n";
const pieces = (...all: readonly string[]) =>
  `${all.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("")}0\r\n`;

/** With a first line of its own. */
const first =
  (words: (lent: Lender) => string, headers: readonly string[] = [], body = ""): Attempt =>
  (lent) =>
    raw(lent, `${words(lent)}\r\nHost: x\r\n${headers.map((header) => `${header}\r\n`).join("")}\r\n${body}`);
const chunked =
  (headers: readonly string[], body: string): Attempt =>
  (lent) =>
    raw(lent, line(lent, "POST", "/users", [CHUNKED, ...headers], body));
const proxied = ({ token }: Lender) => `Proxy-Authorization: Basic ${Buffer.from(`run:${token}`).toString("base64")}`;
const latin = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

export const ODD_ATTEMPTS: readonly (readonly [name: string, terms: Terms, attempt: Attempt])[] = [
  // Older and odder first lines.
  [
    "HTTP/1.0 that stays open",
    NARROW,
    (lent) =>
      raw(
        lent,
        `GET ${at(lent, "/users")} HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\nDELETE ${at(lent, "/users/1")} HTTP/1.0\r\n\r\n`,
      ),
  ],
  [
    "pieces in HTTP/1.0",
    ADDS,
    first((lent) => `POST ${at(lent, "/users")} HTTP/1.0`, [CHUNKED], `0\r\n\r\n${SMUGGLED}`),
  ],
  ["no version", NARROW, (lent) => raw(lent, `DELETE ${at(lent, "/users/1")}\r\n\r\n`)],
  ["a version nobody knows", NARROW, first((lent) => `DELETE ${at(lent, "/users/1")} HTTP/3.7`)],
  ["the beginning of HTTP/2", NARROW, (lent) => raw(lent, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")],
  ["two spaces in the first line", NARROW, first((lent) => `GET  ${at(lent, "/users")}  DELETE HTTP/1.1`)],
  ["a star", NARROW, first(() => "OPTIONS * HTTP/1.1")],
  [
    "an absolute address of another host with the word",
    WIDE,
    (lent) => raw(lent, `GET http://198.51.100.7/v1/users HTTP/1.1\r\nHost: x\r\n${proxied(lent)}\r\n\r\n`),
  ],
  [
    "an absolute address of ours",
    NARROW,
    (lent) => raw(lent, `DELETE ${lent.url}/users/1 HTTP/1.1\r\nHost: x\r\n${proxied(lent)}\r\n\r\n`),
  ],
  [
    "an absolute https address",
    NARROW,
    (lent) => raw(lent, `GET https://x${at(lent, "/admin")} HTTP/1.1\r\nHost: x\r\n\r\n`),
  ],
  [
    "the service's own address and another method",
    NARROW,
    (lent) => raw(lent, `DELETE ${lent.origin}/v1/users HTTP/1.1\r\nHost: x\r\n${proxied(lent)}\r\n\r\n`),
  ],
  [
    "a tunnel to the service and dots in it",
    NARROW,
    (lent) =>
      raw(
        lent,
        `CONNECT ${new URL(lent.origin).host} HTTP/1.1\r\nHost: x\r\n${proxied(lent)}\r\n\r\nGET /v1/users/../../admin HTTP/1.1\r\nHost: x\r\n\r\n`,
      ),
  ],
  // Where a body ends.
  ["a trailer", ADDS, chunked([], `${pieces("x")}X-HTTP-Method-Override: DELETE\r\n\r\n`)],
  [
    "a trailer that was announced",
    ADDS,
    chunked(["Trailer: X-Original-URL"], `${pieces("x")}X-Original-URL: /v1/admin\r\n\r\n`),
  ],
  ["a piece with an extension", ADDS, chunked([], `1;a="\r\n0\r\n\r\n${SMUGGLED}"\r\nx\r\n0\r\n\r\n`)],
  ["a piece with a sign", ADDS, chunked([], `+1\r\nx\r\n0\r\n\r\n${SMUGGLED}`)],
  ["a piece in another base", ADDS, chunked([], `0x1\r\nx\r\n0\r\n\r\n${SMUGGLED}`)],
  ["a piece ended by a line feed", ADDS, chunked([], `1\nx\r\n0\r\n\r\n${SMUGGLED}`)],
  ["a piece longer than it says", ADDS, chunked([], `1\r\nx${SMUGGLED}\r\n0\r\n\r\n`)],
  ["a piece of a length beyond counting", ADDS, chunked([], `ffffffffffffffff1\r\nx\r\n0\r\n\r\n${SMUGGLED}`)],
  ["pieces twice", ADDS, chunked([CHUNKED], `0\r\n\r\n${SMUGGLED}`)],
  ["pieces and something else", ADDS, chunked(["Transfer-Encoding: identity"], `0\r\n\r\n${SMUGGLED}`)],
  [
    "a space before the colon",
    ADDS,
    send("POST", "/users", ["Transfer-Encoding : chunked", "Content-Length: 3"], `0\r\n\r\n${SMUGGLED}`),
  ],
  ["a length with a sign", ADDS, send("POST", "/users", ["Content-Length: +3"], "")],
  ["two lengths in one", ADDS, send("POST", "/users", ["Content-Length: 3, 3"], "")],
  ["a body where none is", NARROW, send("GET", "/users", [], SMUGGLED)],
  ["a header over two lines", NARROW, get("/users", "X-A: 1\r\n X-HTTP-Method-Override: DELETE")],
  ["a header ended by a carriage return", NARROW, get("/users", "X-A: 1\rX-HTTP-Method-Override: DELETE")],
  ["Expect", NARROW, send("DELETE", "/users/1", ["Expect: 100-continue"], "x")],
  ["an Expect nobody knows", NARROW, send("DELETE", "/users/1", ["Expect: 200-ok"], "x")],
  [
    "a second request behind one that may",
    NARROW,
    (lent) =>
      raw(
        lent,
        `GET ${at(lent, "/users")} HTTP/1.1\r\nHost: x\r\n\r\nDELETE ${at(lent, "/users/1")} HTTP/1.1\r\nHost: x\r\n\r\n`,
      ),
  ],
  [
    "lines that end in a line feed",
    NARROW,
    (lent) => raw(lent, `DELETE ${at(lent, "/users/1")} HTTP/1.1\nHost: x\n\n`),
  ],
  [
    "pieces that Connection names",
    NARROW,
    (lent) =>
      raw(
        lent,
        `GET ${at(lent, "/users")} HTTP/1.1\r\nHost: x\r\n${CHUNKED}\r\nConnection: transfer-encoding\r\n\r\n${pieces(SMUGGLED)}\r\n`,
      ),
  ],
  [
    "a length that Connection names",
    NARROW,
    (lent) =>
      raw(
        lent,
        `GET ${at(lent, "/users")} HTTP/1.1\r\nHost: x\r\nContent-Length: ${SMUGGLED.length}\r\nConnection: content-length\r\n\r\n${SMUGGLED}`,
      ),
  ],
  ["pieces with an underscore", ADDS, send("POST", "/users", ["Transfer_Encoding: chunked"], `0\r\n\r\n${SMUGGLED}`)],
  ["a length with an underscore", ADDS, send("POST", "/users", ["Content_Length: 0"], SMUGGLED)],
  [
    "pieces behind a vertical tab",
    ADDS,
    send("POST", "/users", ["Transfer-Encoding: \x0bchunked", "Content-Length: 3"], ""),
  ],
  ["pieces and a comma", ADDS, chunked(["Transfer-Encoding: ,"], `0\r\n\r\n${SMUGGLED}`)],
  ["a length in another base", ADDS, send("POST", "/users", ["Content-Length: 0x3"], "")],
  ["an empty length", ADDS, send("POST", "/users", ["Content-Length: "], "")],
  ["a NUL in a header", NARROW, get("/users", "X-A: 1\0X-HTTP-Method-Override: DELETE")],
  ["a header without a name", NARROW, get("/users", ": DELETE")],
  [
    "a header before the first line",
    NARROW,
    (lent) => raw(lent, `\r\n\r\nX-A: 1\r\nDELETE ${at(lent, "/users/1")} HTTP/1.1\r\nHost: x\r\n\r\n`),
  ],
  [
    "an address of another writing",
    NARROW,
    (lent) =>
      raw(
        lent,
        `DELETE http://2130706433:${new URL(lent.origin).port}/v1/users/1 HTTP/1.1\r\nHost: x\r\n${proxied(lent)}\r\n\r\n`,
      ),
  ],
  [
    "an address inside another",
    WIDE,
    (lent) =>
      raw(
        lent,
        `GET http://[::ffff:127.0.0.1]:${new URL(lent.origin).port}/v1/users HTTP/1.1\r\nHost: x\r\n${proxied(lent)}\r\n\r\n`,
      ),
  ],
  [
    "an address with somebody before it",
    NARROW,
    (lent) =>
      raw(
        lent,
        `DELETE http://x@${new URL(lent.origin).host}/v1/users/1 HTTP/1.1\r\nHost: x\r\n${proxied(lent)}\r\n\r\n`,
      ),
  ],
  [
    "a tunnel through a tunnel",
    NARROW,
    (lent) =>
      raw(
        lent,
        `CONNECT ${new URL(lent.origin).host} HTTP/1.1\r\nHost: x\r\n${proxied(lent)}\r\n\r\nCONNECT ${new URL(lent.origin).host} HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`,
      ),
  ],
  [
    "another host in a tunnel's request",
    NARROW,
    (lent) =>
      raw(
        lent,
        `CONNECT ${new URL(lent.origin).host} HTTP/1.1\r\nHost: x\r\n${proxied(lent)}\r\n\r\nGET http://198.51.100.7/v1/users HTTP/1.1\r\nHost: 198.51.100.7\r\n\r\n`,
      ),
  ],
  // Names that another server takes for others.
  ["a method header with underscores", NARROW, get("/users", "X_HTTP_Method_Override: DELETE")],
  ["a path header with an underscore", NARROW, get("/users", "X_Original_URL: /v1/admin")],
  ["a key of one's own with underscores", { type: "api_key" }, get("/users", "X_API_Key: mine")],
  ["a key of one's own beside ours", { type: "api_key" }, get("/users", "x-api-key: mine", "X-Api-Key: mine")],
  ["a method in JSON", ADDS, send("POST", "/users/1", [JSON_BODY], '{"a":1,"_method":"DELETE"}')],
  ["a method in JSON, escaped", ADDS, send("POST", "/users/1", [JSON_BODY], '{"\\u005fmethod":"DELETE"}')],
  ["a method in a form with a dot", ADDS, send("POST", "/users/1", [FORM], "a=1&.method=DELETE")],
  ["a method in the query with a dot", ADDS, send("POST", "/users/1?%2emethod=DELETE", [], "x")],
  ["a method behind a space", ADDS, send("POST", "/users/1", [FORM], "a=1&+_method=DELETE")],
  [
    "a method in parts",
    ADDS,
    send(
      "POST",
      "/users/1",
      ["Content-Type: multipart/form-data; boundary=b"],
      '--b\r\nContent-Disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--b--\r\n',
    ),
  ],
  ["a method cut in two", ADDS, chunked([FORM], `${pieces("a=1&_met", "hod=DELETE")}\r\n`)],
  ["a method at the very end", ADDS, send("POST", "/users/1", [FORM], "a=1&_method")],
  [
    "a method in a compressed form",
    ADDS,
    send("POST", "/users/1", [FORM, "Content-Encoding: gzip"], latin(gzipSync("_method=DELETE"))),
  ],
  [
    "a method in another alphabet",
    ADDS,
    send("POST", "/users/1", [`${FORM}; charset=utf-16le`], latin(Buffer.from("_method=DELETE", "utf16le"))),
  ],
  // Paths that only look like others.
  ...(
    [
      ["dots of full width", "%ef%bc%8e%ef%bc%8e"],
      ["dots of full width, encoded twice", "%25ef%25bc%258e%25ef%25bc%258e"],
      ["dots and a space", "..%20"],
      ["dots apart", ".%20."],
      ["dots with something soft between them", ".%c2%ad."],
      ["a percent sign of full width", "%ef%bc%852e%ef%bc%852e"],
      ["dots as some browsers write them", "%u002e%u002e"],
      ["dots and an encoded semicolon", "%2e%2e%3b"],
      ["dots and a NUL", "..%00"],
      ["a slash of full width", "..%ef%bc%8f"],
      ["a backslash encoded twice", "..%255c"],
    ] as const
  ).map(([name, segment]) => [name, NARROW, get(`/users/${segment}/admin`)] as const),
  ["a parameter of a segment", NARROW, get("/users;/../admin")],
  ["small letters", NARROW, get("/USERS/1")],
  // More ways for the secret to come back.
  ["an echo in UTF-16", WIDE, async ({ url }) => (await asked(`${url}/utf16`)).replaceAll("\0", "")],
  ["an echo in hints and trailers", WIDE, get("/hints")],
  [
    "an echo that is compressed on its way",
    WIDE,
    async (lent) => {
      const text = await raw(lent, line(lent, "GET", "/transfer"));
      const start = text.indexOf("\x1f\x8b");
      return start < 0 ? text : text + gunzipSync(Buffer.from(text.slice(start), "latin1")).toString("latin1");
    },
  ],
];
