import { generateX25519Identity } from "age-encryption";
import { describe, expect, it } from "vitest";
import { bech32Decode } from "./bech32.js";

const PREFIX = "AGE-SECRET-KEY-";

describe("bech32", () => {
  it("refuses every key with one letter changed, left out or added", async () => {
    const key = await generateX25519Identity();
    expect(bech32Decode(key, PREFIX)).toHaveLength(32);
    for (let at = 0; at < key.length; at += 1) {
      const other = key[at] === "Q" ? "P" : "Q";
      for (const text of [
        key.slice(0, at) + other + key.slice(at + 1),
        key.slice(0, at) + key.slice(at + 1),
        `${key.slice(0, at)}L${key.slice(at)}`,
      ])
        expect(bech32Decode(text, PREFIX), text).toBeNull();
    }
    expect(bech32Decode(key.toLowerCase(), PREFIX)).toBeNull();
    expect(bech32Decode(PREFIX, PREFIX)).toBeNull();
  });
});
