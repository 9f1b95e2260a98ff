import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { scrubber } from "./scrub.js";

const SECRET = "sk-live-4f9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c";
const bytes = [...Buffer.from(SECRET)];
const hex = bytes.map((byte) => byte.toString(16));
const WRITINGS: Readonly<Record<string, string>> = {
  plain: SECRET,
  hex: hex.join(""),
  "spaced hex": hex.join(" "),
  base64: Buffer.from(SECRET).toString("base64").slice(0, -4),
  percent: hex.map((pair) => `%${pair}`).join(""),
  backslash: hex.map((pair) => `\\x${pair}`).join(""),
  entities: bytes.map((byte) => `&#${byte};`).join(""),
};

async function through(pieces: readonly Buffer[], value = SECRET): Promise<Buffer> {
  const stream = scrubber([{ name: "key", value }]).bulkStream();
  const parts: Buffer[] = [];
  stream.on("data", (part: Buffer) => parts.push(part));
  for (const piece of pieces) stream.write(piece);
  stream.end();
  await new Promise((resolve) => stream.once("end", resolve));
  return Buffer.concat(parts);
}

describe("much at a time", () => {
  it.each(Object.entries(WRITINGS))(
    "a secret as %s is found wherever it lies and wherever it is cut",
    async (_name, text) => {
      for (let skip = 0; skip < 8; skip += 1) {
        const [before, after] = [randomBytes(9_000 + skip), randomBytes(9_000)].map((noise) =>
          noise.toString("base64"),
        );
        const whole = Buffer.from(`${before}${text}${after}`);
        for (const cut of [0, 1, 3, 8, 12, text.length - 1]) {
          const at = before!.length + cut;
          const clean = await through([whole.subarray(0, at), whole.subarray(at)]);
          expect(clean.includes(text), `${skip} ${cut}`).toBe(false);
          expect(clean.includes("[redacted:key]")).toBe(true);
          expect(clean.subarray(0, 8_000).equals(whole.subarray(0, 8_000))).toBe(true);
        }
      }
    },
  );

  it("a short secret is found too", async () => {
    const noise = Buffer.alloc(20_000, "x");
    expect(
      (await through([Buffer.concat([noise, Buffer.from("hunter2"), noise])], "hunter2")).includes("hunter2"),
    ).toBe(false);
  });

  it("what holds no secret is what it was", async () => {
    const noise = randomBytes(200_000);
    expect((await through([noise.subarray(0, 70_001), noise.subarray(70_001)])).equals(noise)).toBe(true);
  });
});
