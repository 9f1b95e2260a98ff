import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { parseIdentity, peerIdentity, readIdentityFile } from "./peer.js";
import { parsePeer, peerIdOf, toX25519 } from "./peer-key.js";
import { openSealed, sealBundle } from "./sealed.js";

const seed = Uint8Array.from({ length: 32 }, (_, i) => i);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const folder = mkdtempSync(join(tmpdir(), "nut-sealed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("peer", () => {
  it("derives the known keys and peer id", () => {
    const identity = peerIdentity(seed);
    expect(hex(identity.publicKey)).toBe("03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8");
    expect(peerIdOf(identity.publicKey)).toBe("12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB");
    expect(hex(toX25519.secretKey(seed))).toBe("3894eea49c580aef816935762be049559d6d1440dede12e6a125f1841fff8e6f");
    expect(hex(toX25519.publicKey(identity.publicKey))).toBe(
      "4701d08488451f545a409fb58ae3e58581ca40ac3f7f114698cd71deac73ca01",
    );
  });

  it("reads a peer as hex or as peer id, and nothing else", () => {
    const key = "97a98377b04bba8d7f5f76eeae9608f90bfe36e70d6e942dcde3f68d2c0e5376";
    expect(hex(parsePeer("12D3KooWL2PeeDZChvnoERrfNkZa6JENyDiNWnbPwaNxNjETpmYh"))).toBe(key);
    expect(hex(parsePeer(key.toUpperCase()))).toBe(key);
    const wrong = [
      "",
      "12D3KooW",
      key.slice(1),
      `${key}0`,
      "0".repeat(64),
      `01${"0".repeat(62)}`,
      "l".repeat(52),
      "é".repeat(52),
    ];
    for (const text of wrong) expect(() => parsePeer(text), text).toThrow(/is not a peer/);
  });

  it("reads the three forms of an identity file", () => {
    const { publicKey } = peerIdentity(seed);
    const both = Buffer.concat([seed, publicKey]);
    const protobuf = Buffer.concat([Uint8Array.of(8, 1, 0x12, 0x40), both]);
    for (const form of [seed, both, protobuf]) expect(parseIdentity(form)).toEqual({ seed, publicKey });
    expect(parseIdentity(Buffer.concat([seed, seed]))).toBeNull();
    expect(parseIdentity(new Uint8Array(0))).toBeNull();
  });

  it("refuses an identity that others may read", () => {
    const path = join(folder, "open.key");
    writeFileSync(path, seed, { mode: 0o644 });
    expect(() => readIdentityFile(path)).toThrow(
      expect.objectContaining({ code: "IDENTITY_EXPOSED", hint: `chmod 600 ${path}` }),
    );
  });
});

describe("sealed bundle", () => {
  it("makes the known file byte for byte, and opens it", () => {
    const { publicKey } = peerIdentity(seed);
    const plain = Buffer.from("4e55540168656c6c6f", "hex");
    const file = sealBundle(plain, publicKey, {
      ephemeralSecret: new Uint8Array(32).fill(0x42),
      nonce: new Uint8Array(24).fill(0x24),
    });
    expect(hex(file)).toBe(
      "4e555402132c442be010fbd57e72603328aa76e71fccc1503aae219327d14d9c9993f47224242424242424242424242424242424242424242424242423298be4a35a888171106e3acb6eb8c78d7d2298a766f0ca14",
    );
    expect(createHash("sha256").update(file).digest("hex")).toBe(
      "395f3999f110b19aa79593ced4677a2a29987587775747d6e8e7bdfe68801de7",
    );
    expect(hex(openSealed(file, peerIdentity(seed)))).toBe(hex(plain));
  });

  it("opens what it sealed, for any content and any key", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array({ maxLength: 5000 }), (key, plain) => {
        const identity = peerIdentity(key);
        expect(hex(openSealed(sealBundle(plain, identity.publicKey), identity))).toBe(hex(plain));
      }),
      { numRuns: 40 },
    );
  });

  it("takes a fresh key and a fresh nonce each time: a repeated pair would give the content away", () => {
    const { publicKey } = peerIdentity(seed);
    const files = Array.from({ length: 3 }, () => sealBundle(Buffer.from("content"), publicKey));
    for (const [start, end] of [
      [4, 36],
      [36, 60],
    ]) {
      expect(new Set(files.map((file) => hex(file.subarray(start, end)))).size).toBe(3);
    }
  });

  it("refuses every changed byte, every cut, and another's key", () => {
    const identity = peerIdentity(seed);
    const file = sealBundle(Buffer.from("NUT\x01 content"), identity.publicKey);
    for (let at = 0; at < file.length; at += 1) {
      const changed = Uint8Array.from(file);
      changed[at]! ^= 0x01;
      expect(() => openSealed(changed, identity), `byte ${at}`).toThrow();
      expect(() => openSealed(file.subarray(0, at), identity), `cut ${at}`).toThrow();
    }
    expect(() => openSealed(file, peerIdentity(new Uint8Array(32)))).toThrow(
      expect.objectContaining({ code: "BUNDLE_SEALED" }),
    );
  });
});
