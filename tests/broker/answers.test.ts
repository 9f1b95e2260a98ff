// Services that answer in odd, broken or hostile ways: nothing of the secret comes back, an answer that is not whole is not
// given as whole, and what one answer brings too much is not the answer to the next question.
import { get as httpGet, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { brotliCompressSync, deflateRawSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { at, raw } from "./attempt.js";
import { type Lender, lend, SECRET } from "./service.js";

type Script = (socket: Socket) => void | Promise<void>;
const scripts = new Map<string, Script>();
/** Everything that came, as it came. */
let heard = "";
const connections = new Set<Socket>();
let server: Server;
const open: Lender[] = [];

beforeAll(async () => {
  server = createServer((socket) => {
    connections.add(socket);
    socket.on("close", () => connections.delete(socket)).on("error", () => {});
    let text = "";
    socket.on("data", (bytes) => {
      heard += bytes.toString("latin1");
      text += bytes.toString("latin1");
      const [head = ""] = text.split("\r\n\r\n", 1);
      if (head.length === text.length) return;
      text = text.slice(head.length + 4);
      const [, name = ""] = /^[A-Z]+ \/v1\/([^ ?]*)/.exec(head) ?? [];
      (scripts.get(name) ?? ((to) => to.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")))(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ broker }) => broker.close()));
});
afterAll(() => {
  for (const socket of connections) socket.destroy();
  server.close();
});

const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function ask(url: string, method = "GET"): Promise<{ text: string; isWhole: boolean }> {
  return new Promise((resolve) => {
    let [text, answer]: [string, IncomingMessage | null] = ["", null];
    const over = () => resolve({ text, isWhole: answer?.complete === true && answer.statusCode! < 400 });
    const request = httpGet(url, { method, agent: false }, (came) => {
      answer = came;
      text = `${came.statusCode} ${came.statusMessage} ${JSON.stringify(came.rawHeaders)} `;
      came.on("data", (piece: Buffer) => {
        text += piece.toString("latin1");
      });
      came.on("end", () => {
        text += JSON.stringify(came.rawTrailers);
      });
      came.on("close", over).on("error", () => {});
    });
    request.on("information", ({ rawHeaders }) => {
      text += JSON.stringify(rawHeaders);
    });
    request.on("error", over);
  });
}

const OK = "HTTP/1.1 200 OK\r\n";
const PIECES = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const piece = (text: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${text.length.toString(16)}\r\n`), Buffer.from(text), Buffer.from("\r\n")]);
const pieces = (...all: readonly (string | Buffer)[]) =>
  Buffer.concat([...all.map(piece), Buffer.from("0\r\n\r\n")]).toString("latin1");
const says =
  (...bytes: readonly string[]): Script =>
  (socket) => {
    for (const text of bytes) socket.write(text, "latin1");
  };
const saysAndEnds =
  (...bytes: readonly string[]): Script =>
  (socket) => {
    says(...bytes)(socket);
    socket.end();
  };
/** With a pause before every part. */
const slowly =
  (...bytes: readonly string[]): Script =>
  async (socket) => {
    for (const text of bytes) {
      await new Promise((resolve) => setTimeout(resolve, 15));
      socket.write(text, "latin1");
    }
  };
const encoded = (name: string, body: Buffer, more = "") =>
  `${OK}Content-Encoding: ${name}\r\nContent-Length: ${body.length}\r\n${more}\r\n${body.toString("latin1")}`;
const zeros = (text: string) => "0".repeat(5_000) + text + "0".repeat(5_000);
const SECOND = `${OK}Content-Length: 6\r\n\r\nstolen`;

/** What the answer must be: whole, with these words in it; or not whole. */
const ANSWERS: readonly (readonly [name: string, wanted: string | null, script: Script])[] = [
  ["an extension of a piece", "hello", says(PIECES, `5;x=${SECRET}\r\nhello\r\n0\r\n\r\n`)],
  ["a trailer", "hello", says(PIECES, `5\r\nhello\r\n0\r\nX-Echo: ${SECRET}\r\n\r\n`)],
  ["a head before the head", "hello", says(`HTTP/1.1 103 Early\r\nLink: ${SECRET}\r\n\r\n`, PIECES, pieces("hello"))],
  ["three heads before it", "hello", says("HTTP/1.1 100 C\r\n\r\n".repeat(3) + PIECES + pieces("hello"))],
  ["words behind the status", "hello", says(`HTTP/1.1 200 ${SECRET}\r\nContent-Length: 5\r\n\r\nhello`)],
  ["a header's name", "hello", says(`${OK}X-${SECRET}: 1\r\nContent-Length: 5\r\n\r\nhello`)],
  ["a header on two lines", null, says(`${OK}X-A: a\r\n ${SECRET}\r\nContent-Length: 5\r\n\r\nhello`)],
  ["a head in single letters", "hello", slowly(...`${OK}Content-Length: 5\r\n\r\n`, "hello")],
  ["an end in single letters", "hello", slowly(PIECES, ..."5\r\nhello\r\n0\r\n\r\n")],
  ["pieces of one letter", "[redacted:api]", says(PIECES, pieces(...SECRET))],
  [
    "long pieces",
    "[redacted:api]",
    says(PIECES, pieces(zeros(SECRET.slice(0, 9)).slice(0, 5_009), zeros("").replace(/^/, SECRET.slice(9)))),
  ],
  ["no length", "[redacted:api]", saysAndEnds(OK, "\r\n", SECRET.slice(0, 7), SECRET.slice(7))],
  [
    "no length and pauses",
    "[redacted:api]",
    async (socket) => {
      const [first, rest] = [SECRET.slice(0, 3), SECRET.slice(3)];
      await slowly(`${OK}Connection: close\r\n\r\n`, "0".repeat(5_000) + first, rest)(socket);
      socket.end();
    },
  ],
  ["a body where none is, 204", "204", says(`HTTP/1.1 204 No\r\n\r\n${SECRET}`)],
  ["a body where none is, 304", "304", says(`HTTP/1.1 304 No\r\nContent-Length: ${SECRET.length}\r\n\r\n${SECRET}`)],
  ["two answers at once", "hello", says(`${OK}Content-Length: 5\r\n\r\nhello${SECOND}`)],
  ["two answers at once, in pieces", "hello", says(PIECES + pieces("hello") + SECOND)],
  ["a second answer later", "hello", slowly(PIECES, pieces("hello"), SECOND)],
  ["half a head later", "hello", slowly(PIECES, pieces("hello"), `${OK}X-Stolen: `)],
  [
    "a second answer behind a long one",
    "xx",
    says(`${OK}Content-Length: 2000000\r\n\r\n${"x".repeat(2_000_000)}${SECOND}`),
  ],
  ["gzip", "[redacted:api]", says(encoded("gzip", gzipSync(zeros(SECRET))))],
  [
    "gzip of two members",
    "[redacted:api]",
    says(encoded("x-gzip", Buffer.concat([gzipSync(zeros("a")), gzipSync(SECRET)]))),
  ],
  [
    "brotli in pieces",
    "[redacted:api]",
    says(`${OK}Content-Encoding: BR\r\nTransfer-Encoding: chunked\r\n\r\n`, pieces(brotliCompressSync(zeros(SECRET)))),
  ],
  ["gzip in gzip", null, says(encoded("gzip, gzip", gzipSync(gzipSync(SECRET))))],
  ["an encoding nobody knows", null, says(encoded("zstd", Buffer.from(SECRET)))],
  ["deflate without its head", null, says(encoded("deflate", deflateRawSync(SECRET)))],
  ["gzip that is none", null, says(encoded("gzip", Buffer.from(zeros(SECRET))))],
  ["lines that end in a line feed", null, says(`HTTP/1.1 200 OK\nContent-Length: ${SECRET.length}\n\n${SECRET}`)],
  ["one line that does", null, says(`${OK}X-A: b\nContent-Length: 5\r\n\r\nhello`)],
  ["a head that ends early", null, says(`${OK}Content-Length: 5\r\n\n\r\n\r\n${SECRET}`)],
  ["a carriage return alone", null, says(`${OK}X-A: b\rX-B: ${SECRET}\r\nContent-Length: 5\r\n\r\nhello`)],
  ["a length and pieces", null, says(`${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, pieces(SECRET))],
  ["two lengths", null, says(`${OK}Content-Length: 5\r\nContent-Length: ${SECRET.length}\r\n\r\n${SECRET}`)],
  ["a length with a sign", null, says(`${OK}Content-Length: +5\r\n\r\nhello`)],
  ["no head at all", null, saysAndEnds(SECRET)],
  ["a head without end", null, says(OK, `X-A: ${"b".repeat(70_000)}`)],
  ["a switch nobody asked for", null, says(`HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n${SECRET}`)],
  ["a size that is none", null, says(PIECES, `${piece("hello")}0x5\r\n${SECRET}\r\n0\r\n\r\n`)],
  ["a gap that is none", null, says(PIECES, `5\r\nhello${SECRET}\r\n0\r\n\r\n`)],
  ["an end before the end", null, saysAndEnds(PIECES, piece(zeros(SECRET)).toString("latin1"))],
  ["an end before the end of a long one", null, saysAndEnds(`${OK}Content-Length: 2000000\r\n\r\n`, zeros(SECRET))],
  ["an end in a secret", null, saysAndEnds(PIECES, piece(zeros("")).toString("latin1"), "17\r\n", SECRET.slice(0, 9))],
];

describe("an answer with", () => {
  it.each(ANSWERS.map(([name, wanted, script]) => ({ name, wanted, script })))(
    "$name gives nothing away and takes no other's place",
    async ({ name, wanted, script }) => {
      const one = await lend({ origin: origin() });
      open.push(one);
      const word = name.replace(/\W+/g, "-");
      scripts.set(word, script);
      const { text, isWhole } = await ask(`${one.url}/${word}`);
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(SECRET.slice(0, 12));
      if (wanted === null) expect([text, isWhole]).toEqual([text, false]);
      else expect([text.includes(wanted), isWhole]).toEqual([true, true]);
      await new Promise((resolve) => setTimeout(resolve, name.includes("later") ? 60 : 0));
      for (let i = 0; i < 2; i += 1)
        expect(await ask(`${one.url}/good`)).toMatchObject({
          text: expect.stringMatching(/^(?!.*stolen).*next\[\]$/i),
          isWhole: true,
        });
    },
  );

  it("a body to HEAD is nobody's answer", async () => {
    const one = await lend({ origin: origin() });
    open.push(one);
    scripts.set("head", says(`${OK}Content-Length: 5\r\n\r\nhello${SECOND}`));
    expect(await ask(`${one.url}/head`, "HEAD")).toMatchObject({ isWhole: true });
    for (let i = 0; i < 2; i += 1) expect((await ask(`${one.url}/good`)).text).toMatch(/next\[\]$/);
  });

  it("no end is passed on at once, and ends when nobody listens any more", async () => {
    const one = await lend({ origin: origin() });
    open.push(one);
    scripts.set("endless", says(PIECES, piece(`${"e".repeat(5_000)}\n\n`).toString("latin1")));
    const got = await new Promise<number>((resolve) => {
      const request = httpGet(`${one.url}/endless`, { agent: false }, (came) => {
        let bytes = 0;
        came.on("data", (part: Buffer) => {
          bytes += part.length;
          if (bytes < 5_002) return;
          request.destroy();
          resolve(bytes);
        });
        came.on("error", () => {});
      });
      request.on("error", () => {});
    });
    expect(got).toBe(5_002);
    await expect.poll(() => one.uses.length).toBe(1);
    expect(one.uses[0]).toMatchObject({ allowed: true, why: "whoever asked did not wait for the end" });
  });
});

describe("a body where usually is none", () => {
  const SMUGGLED = "DELETE /v1/admin HTTP/1.1\r\nHost: x\r\n\r\n";
  const size = SMUGGLED.length.toString(16);
  it.each(
    ["GET", "DELETE", "OPTIONS", "POST"].flatMap((method) => [
      { method, headers: "Transfer-Encoding: chunked", body: `${size}\r\n${SMUGGLED}\r\n0\r\n\r\n` },
      { method, headers: `Connection: content-length\r\nContent-Length: ${SMUGGLED.length}`, body: SMUGGLED },
      {
        method,
        headers: `Connection: close, transfer-encoding\r\nTransfer-Encoding: chunked`,
        body: `${size}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
      },
    ]),
  )("has an end of its own: $method, $headers", async ({ method, headers, body }) => {
    const one = await lend({ origin: origin() });
    open.push(one);
    heard = "";
    void raw(one, `${method} ${at(one, "/x")} HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`, 5_000);
    await expect.poll(() => heard, { timeout: 10_000 }).toContain(SMUGGLED);
    const [head = "", ...rest] = heard.split("\r\n\r\n");
    expect(head).toMatch(/^content-length: \d+$|^transfer-encoding: chunked$/im);
    if (/^transfer-encoding/im.test(head)) expect(rest[0]).toMatch(new RegExp(`^${size}\r\n`));
  });
});
