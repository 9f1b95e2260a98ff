import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { shortDigest } from "./short-digest.js";

describe("the digest of a short text", () => {
  it("is SHA-256, at every length around its blocks and in every script", () => {
    const texts = [
      ...Array.from({ length: 200 }, (_, i) => "x".repeat(i)),
      "/home/übung/проект",
      "/日本/\u{1F600}",
      "\0",
    ];
    for (const text of texts) expect(shortDigest(text)).toBe(createHash("sha256").update(text).digest("hex"));
  });
});
