import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scrubber } from "./scrub.js";

const SECRET = "sk-live-4f9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c";
/** Almost every letter of it is escaped by somebody. */
const ODD = `pä'ss "w"+/<&>\\ rd$!-and-some-more`;

const inJson = (value: string) => JSON.stringify(value).slice(1, -1);
const lower = (text: string) => text.replace(/%../g, (one) => one.toLowerCase());
const wrap = (text: string, width: number, end: string) => text.replace(new RegExp(`.{${width}}`, "g"), `$&${end}`);

/** A secret as programs write it. */
function writings(value: string): Record<string, string> {
  const bytes = [...Buffer.from(value)];
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0"));
  const base64 = Buffer.from(`user:${value}:x`).toString("base64");
  const html = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  return {
    plain: value,
    hex: hex.join(""),
    "spaced hex": hex.join(" "),
    "colon hex": hex.join(":").toUpperCase(),
    "0x hex": hex.map((pair) => `0x${pair}`).join(", "),
    base64,
    base64url: base64.replaceAll("+", "-").replaceAll("/", "_"),
    "wrapped base64": wrap(base64, Math.ceil(base64.length / 2), "\r\n"),
    "base64 in base64": Buffer.from(Buffer.from(value).toString("base64")).toString("base64"),
    percent: encodeURIComponent(value),
    "percent, lower case": lower(encodeURIComponent(value)),
    "percent twice": encodeURIComponent(encodeURIComponent(value)),
    "percent all over": hex.map((pair) => `%${pair}`).join(""),
    form: encodeURIComponent(value).replaceAll("%20", "+").replaceAll("'", "%27"),
    JSON: inJson(value),
    "JSON with escaped slashes": inJson(value).replaceAll("/", "\\/"),
    "JSON for HTML": inJson(value).replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
    "ASCII JSON": inJson(value).replaceAll("ä", "\\u00e4"),
    "JSON in JSON": inJson(inJson(value)),
    backslash: hex.map((pair) => `\\x${pair}`).join(""),
    unicode: [...value].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
    HTML: html.replaceAll("'", "&#39;"),
    entities: [...value].map((one) => `&#${one.codePointAt(0)};`).join(""),
    "a shell's quotes": value.replaceAll("'", "'\\''"),
    "Python's shell quotes": value.replaceAll("'", `'"'"'`),
  };
}

const scrubberOf = (value = SECRET) => scrubber([{ name: "key", value }]);

/** With a pause after every piece, or with none. */
function through(pieces: readonly Buffer[], its = scrubberOf(), pauses = false): Buffer {
  const pass = its.bulk();
  const parts = pieces.flatMap((piece) => [...pass.take(piece), ...(pauses ? pass.settle() : [])]);
  return Buffer.concat([...parts, ...pass.end()]);
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((to, index) => bytes.subarray(places[index], to));
}

describe("much at a time", () => {
  it.each(
    [SECRET, ODD].flatMap((value) => Object.entries(writings(value)).map(([name, text]) => ({ name, value, text }))),
  )("a secret as $name is found wherever it lies and wherever it is cut: $value", ({ value, text }) => {
    const noise = randomBytes(30_000).toString("base64");
    const long = Buffer.byteLength(text);
    // Made once, as for everything a program prints: making it takes far longer than using it.
    const its = scrubberOf(value);
    fc.assert(
      fc.property(
        fc.nat(20),
        fc.array(fc.oneof(fc.integer({ min: -9, max: long + 9 }), fc.integer({ min: -9_000, max: 9_000 })), {
          maxLength: 3,
        }),
        fc.boolean(),
        (skip, near, pauses) => {
          const before = noise.slice(skip, 12_000);
          const whole = Buffer.from(`${before} ${text} ${noise.slice(12_000, 32_000)}`);
          const clean = through(
            cutAt(
              whole,
              near.map((at) => before.length + 1 + at),
            ),
            its,
            pauses,
          );
          expect(clean.includes(text)).toBe(false);
          expect(clean.includes("[redacted:key]")).toBe(true);
          // What lies around it is what it was.
          expect(clean.subarray(0, before.length - 40).equals(whole.subarray(0, before.length - 40))).toBe(true);
          expect(clean.subarray(-19_000).equals(whole.subarray(-19_000))).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(["hunter2", "fifteen-letters", "nineteen-letters-in"])("a short secret is found too: %s", (value) => {
    const [noise, its] = [Buffer.alloc(20_000, "x"), scrubberOf(value)];
    for (const text of [value, Buffer.from(value).toString("hex")])
      expect(through([Buffer.concat([noise, Buffer.from(text), noise])], its).includes(text)).toBe(false);
  });

  it("what holds no secret is what it was, and no copy of it", () => {
    const noise = Buffer.alloc(200_000, "Z");
    expect(through([noise.subarray(0, 70_001), noise.subarray(70_001)]).equals(noise)).toBe(true);
    const [first] = scrubber([{ name: "key", value: SECRET }])
      .bulk()
      .take(noise);
    expect([first!.buffer === noise.buffer, first!.length]).toEqual([true, noise.length - 256]);
  });

  it("what is spread out without end is passed on, and a secret in it is not", () => {
    const [first, space] = [Buffer.from(SECRET).toString("base64").slice(0, 8), Buffer.alloc(64_000, " ")];
    const pass = scrubber([{ name: "key", value: SECRET }]).bulk();
    let passed = 0;
    for (const piece of [Buffer.from(first), ...Array<Buffer>(10).fill(space)])
      for (const part of pass.take(piece)) passed += part.length;
    expect(passed).toBeGreaterThan(600_000);
    const rest = through([Buffer.from(first), space, Buffer.from(SECRET.slice(0, 9)), Buffer.from(SECRET.slice(9))]);
    expect([rest.includes(SECRET.slice(0, 9)), rest.includes("[redacted:key]")]).toEqual([false, true]);
  });
});
