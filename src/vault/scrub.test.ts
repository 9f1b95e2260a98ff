import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scrubber } from "./scrub.js";
import { secretsOf } from "./secrets.js";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const base32 = (bytes: Uint8Array) => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
};

const secret = 'p4ss "word"/+é-longer';
const secrets = [
  { name: "db", value: secret },
  { name: "pem", value: "line one of the key\nline two of the key" },
  // Begins inside another, and before its end.
  { name: "tail", value: "é-longest" },
];

describe("scrubber", () => {
  it("removes a secret in every shape a program may print it in", () => {
    const clean = scrubber(secrets);
    const bytes = Buffer.from(secret);
    const shapes = [
      secret,
      JSON.stringify({ password: secret }),
      `postgres://u:${encodeURIComponent(secret)}@h`,
      bytes.toString("hex"),
      bytes.toString("base64"),
      Buffer.from(`user:${secret}`).toString("base64"),
      Buffer.from(`us:${secret}:x`).toString("base64"),
      Buffer.from(`u:${secret}`).toString("base64url"),
    ];
    for (const shape of shapes) {
      const out = clean.text(`before ${shape} after`);
      expect(out, shape).toContain("[redacted:db]");
      expect(out).toMatch(/^before .* after$/);
      expect(out).not.toContain(secret);
    }
    expect(clean.text("say: line two of the key")).toBe("say: [redacted:pem]");
    expect(clean.text("nothing here")).toBe("nothing here");
  });

  it("lets no name of a secret speak to the terminal", () => {
    const clean = scrubber([{ name: "\u001b[2Jdb\n", value: "hunter22" }]);
    expect(clean.text("hunter22")).toBe("[redacted:??2Jdb?]");
  });

  const nested = { name: "db", value: `pä'ss "w"+/<&>\\ rd$!` };
  const bytes = Buffer.from(nested.value);
  const hex = bytes.toString("hex").match(/../g)!;
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const wrap = (text: string, width: number, end: string) => text.replace(new RegExp(`.{${width}}`, "g"), `$&${end}`);
  const inJson = (value: string) => JSON.stringify(value).slice(1, -1);
  const ENCODINGS: [string, string][] = [
    ["wrapped base64", wrap(bytes.toString("base64"), 8, "\n")],
    [
      "wrapped base64 with CRLF, inside more",
      wrap(Buffer.from(`user:${nested.value}:x`).toString("base64"), 11, "\r\n"),
    ],
    ["wrapped base64url", wrap(bytes.toString("base64url"), 9, "\n")],
    ["wrapped base64 in JSON", JSON.stringify(wrap(bytes.toString("base64"), 10, "\n")).slice(1, -1)],
    ["\\u escapes", [...nested.value].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")],
    ["\\x escapes", hex.map((pair) => `\\x${pair}`).join("")],
    ["JSON", JSON.stringify(nested.value).slice(1, -1)],
    ["JSON with escaped slashes", JSON.stringify(nested.value).slice(1, -1).replaceAll("/", "\\/")],
    ["ASCII JSON", JSON.stringify(nested.value).slice(1, -1).replaceAll("ä", "\\u00e4")],
    ["spaced hex", hex.join(" ")],
    ["colon hex in capitals", hex.join(":").toUpperCase()],
    ["0x hex", hex.map((pair) => `0x${pair}`).join(", ")],
    ["percent, lower case", percent],
    ["percent, upper case", percent.toUpperCase()],
    ["percent, where needed", encodeURIComponent(nested.value).toLowerCase()],
    ["quote_plus", encodeURIComponent(nested.value).replaceAll("%20", "+").replaceAll("'", "%27")],
    [
      "HTML",
      nested.value
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;")
        .replaceAll('"', "&quot;")
        .replaceAll("'", "&#39;"),
    ],
    ["HTML in numbers", [...nested.value].map((c) => `&#x${c.codePointAt(0)!.toString(16)};`).join("")],
    ["a shell's quotes", `${nested.value.replaceAll("'", "'\\''")}`],
    ["Python's shell quotes", `${nested.value.replaceAll("'", `'"'"'`)}`],
    ["JSON in JSON", inJson(inJson(nested.value))],
    ["JSON in JSON in JSON", inJson(inJson(inJson(nested.value)))],
    ["percent twice", encodeURIComponent(encodeURIComponent(nested.value))],
    ["JSON in a URL", encodeURIComponent(inJson(nested.value))],
    ["JSON in base64", Buffer.from(inJson(nested.value)).toString("base64")],
    ["base64 in base64", Buffer.from(bytes.toString("base64")).toString("base64")],
    ["base64 in hex", Buffer.from(bytes.toString("base64")).toString("hex")],
    ["base32", base32(bytes)],
    ["base32 in small letters, unpadded, inside more", base32(Buffer.from(`us:${nested.value}:x`)).toLowerCase()],
    ["wrapped base32", wrap(base32(bytes), 8, "\n")],
    ["\\u{} escapes", [...nested.value].map((c) => `\\u{${c.codePointAt(0)!.toString(16)}}`).join("")],
    ["\\U escapes", [...nested.value].map((c) => `\\U${c.codePointAt(0)!.toString(16).padStart(8, "0")}`).join("")],
    ["a list of bytes", JSON.stringify([...bytes])],
    ["a list of bytes, one a line", JSON.stringify([...bytes], null, 2)],
    ["UTF-16 in base64", Buffer.from(nested.value, "utf16le").toString("base64")],
    ["base64 in a URL", encodeURIComponent(bytes.toString("base64"))],
    ["base64 with escaped slashes", bytes.toString("base64").replaceAll("/", "\\/").replaceAll("+", "\\u002b")],
    ["a word over two lines", `${nested.value.slice(0, 9)}\n    ${nested.value.slice(9)}`],
    ["a word over two lines of a shell", `${nested.value.slice(0, 9)}\\\n${nested.value.slice(9)}`],
    ["CSV", nested.value.replaceAll('"', '""')],
    ["SQL", nested.value.replaceAll("'", "''")],
    ["coloured text", `${nested.value.slice(0, 5)}\u001b[01;31m\u001b[K${nested.value.slice(5)}`],
    ["percent twice, every byte", percent.replaceAll("%", "%25")],
    ["ASCII JSON in JSON", inJson(inJson(nested.value).replaceAll("ä", "\\u00e4"))],
    ["HTML twice", nested.value.replaceAll("&", "&amp;amp;").replaceAll("<", "&amp;lt;").replaceAll(">", "&amp;gt;")],
    ["a shell's backslashes", nested.value.replace(/[^A-Za-z0-9ä]/g, "\\$&")],
  ];

  it.each(ENCODINGS)("removes a secret written as %s, wherever the stream is cut", async (_name, shape) => {
    const clean = scrubber([nested]);
    const text_ = `before ${shape} after`;
    const whole = clean.text(text_);
    expect(whole).toMatch(/^before .{0,8}\[redacted:db\].{0,10} after$/s);
    const raw = Buffer.from(text_);
    for (let cut = 1; cut < raw.length; cut += 1) {
      const parts = [raw.subarray(0, cut), raw.subarray(cut)];
      expect(await text(Readable.from(parts).pipe(clean.stream())), `cut at ${cut}`).toBe(whole);
    }
    const single = Array.from(raw, (byte) => Buffer.of(byte));
    expect(await text(Readable.from(single).pipe(clean.stream()))).toBe(whole);
  });

  it("takes what an address carries for a secret, under any name", () => {
    const value = {
      endpoint: "https://api.internal/v1?region=eu&token=Zx81kdPPq1",
      base_url: "https://api.internal/v1",
    };
    expect(secretsOf({ name: "api", value }).map((secret) => secret.value)).toEqual([value.endpoint, "Zx81kdPPq1"]);
    expect(scrubber(secretsOf({ name: "api", value })).text("sent Zx81kdPPq1 to https://api.internal/v1")).toBe(
      "sent [redacted:api] to https://api.internal/v1",
    );
  });

  it("leaves text alone that only looks escaped", () => {
    const plain = "100% of \\d+ & 'x' \\u12 &amp 0x 68:65 + %zz &#99999999; \\";
    expect(scrubber([nested]).text(plain)).toBe(plain);
  });

  it("takes the first secret, and of two that begin together the longer", () => {
    const clean = scrubber([
      { name: "short", value: "abcd" },
      { name: "long", value: "abcdefgh" },
      { name: "inside", value: "cdefghij" },
    ]);
    expect(clean.text("abcdefghij abcdxx cdefghij")).toBe("[redacted:long]ij [redacted:short]xx [redacted:inside]");
  });

  it("gives the same answer however the stream is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(secret, "abc", "p4ss", " ", "line two of the key", "é", "é-longest"), {
          maxLength: 12,
        }),
        fc.integer({ min: 1, max: 9 }),
        async (parts, step) => {
          const bytes = Buffer.from(parts.join(""));
          const chunks = Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) =>
            bytes.subarray(i * step, (i + 1) * step),
          );
          const clean = scrubber(secrets);
          expect(await text(Readable.from(chunks).pipe(clean.stream()))).toBe(clean.text(bytes.toString()));
        },
      ),
      { numRuns: 100 },
    );
  });

  it("passes on at once what cannot be the start of a secret", async () => {
    const stream = scrubber(secrets).stream();
    stream.write("ready> ");
    expect(String(stream.read())).toBe("ready> ");
  });
});

describe("secretsOf", () => {
  it("takes every leaf but the fields that say where to connect", () => {
    const value = {
      host: "db.internal",
      port: 5432,
      username: "agent",
      password: "hunter22",
      tls: { key: "deep-key" },
      pin: 12345678,
    };
    expect(secretsOf({ name: "db", value }).map((one) => one.value)).toEqual(["hunter22", "deep-key", "12345678"]);
    expect(secretsOf({ name: "t", value: "token" })).toEqual([{ name: "t", value: "token" }]);
  });

  it("takes what lies below a public name, at any depth, and URLs that hold a password", () => {
    const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [{ more: inner }], "bottom-secret");
    const value = {
      user: { name: "agent", token: "below-user" },
      account: [{ password: "below-account" }],
      endpoint: "https://me:s%40cret-pw@api.internal/v1",
      base_url: "https://api.internal/v1",
      deep,
    };
    expect(secretsOf({ name: "db", value }).map((one) => one.value)).toEqual([
      ...["agent", "below-user", "below-account"],
      ...["https://me:s%40cret-pw@api.internal/v1", "s%40cret-pw", "s@cret-pw", "bottom-secret"],
    ]);
  });
});
