// Signatures both ways with the ssh-keygen of this machine, and every way to spoil one.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NAMESPACE } from "../../src/schema/statement.js";
import { decodeSignature, fingerprint, parseKeyLine } from "../../src/statements/index.js";
import { armor, verifySignature } from "../../src/statements/sshsig.js";
import { temporaryFolder } from "../bundle/temp.js";
import { hasSshKeygen, ownKey, publicLine, sshKey, sshSign, sshVerify, token } from "./keys.js";

const folder = temporaryFolder();
const message = Buffer.from("DSSEv1 4 text 5 hello");
const holds = (blob: Uint8Array, bytes: Uint8Array = message, namespace: string = NAMESPACE) => {
  const signature = decodeSignature(blob);
  return signature !== null && verifySignature(signature, bytes, namespace);
};

const KINDS: readonly (readonly string[])[] = [
  ["ed25519"],
  ["ecdsa", "256"],
  ["ecdsa", "384"],
  ["ecdsa", "521"],
  ["rsa", "2048"],
];

describe.skipIf(!hasSshKeygen)("what ssh-keygen signs", () => {
  it.each(KINDS)("with %s %s is verified here, and nothing else is", (...kind) => {
    const path = sshKey(folder, kind.join("-"), kind);
    const blob = sshSign(path, message);
    expect(holds(blob)).toBe(true);
    expect(holds(blob, Buffer.from("another message"))).toBe(false);
    expect(holds(sshSign(path, message, "git"))).toBe(false);
    expect(holds(sshSign(path, message, "git"), message, "git")).toBe(true);
    expect(fingerprint(parseKeyLine(publicLine(path))!)).toBe(fingerprint(decodeSignature(blob)!.key));
    for (let at = 0; at < blob.length; at += kind[0] === "ed25519" ? 1 : 5) {
      const bad = Buffer.from(blob);
      bad[at]! ^= 1 << (at % 8);
      expect(holds(bad), `byte ${at}`).toBe(false);
    }
  });

  it("with a short rsa key is not believed", () => {
    const path = sshKey(folder, "short", ["rsa", "1024"]);
    expect(parseKeyLine(publicLine(path))).toBeNull();
    expect(holds(sshSign(path, message))).toBe(false);
  });
});

describe("what is signed here", () => {
  it.skipIf(!hasSshKeygen).each([
    ["our own identity", ownKey()],
    ["a token, ed25519", token("ed25519")],
    ["a token, ecdsa", token("ecdsa")],
  ])("with %s is verified by ssh-keygen too", async (_name, key) => {
    const blob = await key.sign(message);
    expect(holds(blob)).toBe(true);
    const allowed = `alice@example.org namespaces="nutshell" ${key.line}\n`;
    const armored = armor(blob);
    expect(sshVerify({ folder, allowed, armored, message })).toBe(true);
    expect(sshVerify({ folder, allowed, armored, message: Buffer.from("another") })).toBe(false);
    expect(sshVerify({ folder, allowed, armored, message, namespace: "git" })).toBe(false);
  });

  it("with a token that nobody touched is not believed", async () => {
    expect(holds(await token("ed25519", 0).sign(message))).toBe(false);
    expect(holds(await token("ecdsa", 4).sign(message))).toBe(false);
  });
});

describe("bytes of a stranger", () => {
  it("are no signature, whatever they are", async () => {
    const good = Buffer.from(await ownKey().sign(message));
    const spoilt = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.tuple(fc.nat(good.length - 1), fc.uint8Array({ maxLength: 8 })).map(([at, bytes]) => {
        return Buffer.concat([good.subarray(0, at), bytes, good.subarray(at)]);
      }),
      fc.nat(good.length - 1).map((length) => good.subarray(0, length)),
    );
    fc.assert(
      fc.property(spoilt, (bytes) => Buffer.compare(bytes, good) === 0 || !holds(Buffer.from(bytes))),
      { numRuns: 500 },
    );
  });
});
