import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scrubber } from "./scrub.js";
import { secretsOf } from "./secrets.js";

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
});
