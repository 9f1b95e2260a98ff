// One's own Ed25519 key, with which a sealed bundle is opened and a rotation signed. All of it is Node's own cryptography, so that
// a command that finds such a key loads no other (decision 0491).
import { createPrivateKey, createPublicKey, type KeyObject, sign as signWith } from "node:crypto";
import { NutError } from "../errors.js";
import { readSecretFile, writeSecretFile } from "./secret-file.js";

export interface PeerIdentity {
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
}

const KEY_BYTES = 32;
/** What stands before the seed in a PKCS #8 file. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

export function peerIdentity(seed: Uint8Array): PeerIdentity {
  const { x } = createPublicKey(keyOf(seed)).export({ format: "jwk" });
  return { seed, publicKey: Uint8Array.from(Buffer.from(x!, "base64url")) };
}

function keyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
}

/** Three forms are in use: 64 raw bytes (seed and public key), 32 raw bytes (seed), a libp2p protobuf around the 64. */
export function parseIdentity(bytes: Uint8Array): PeerIdentity | null {
  if (bytes.length === KEY_BYTES) return peerIdentity(Uint8Array.from(bytes));
  for (let at = 0; at + 2 * KEY_BYTES <= bytes.length && at <= 16; at += 1) {
    const identity = peerIdentity(Uint8Array.from(bytes.subarray(at, at + KEY_BYTES)));
    const stated = bytes.subarray(at + KEY_BYTES, at + 2 * KEY_BYTES);
    if (Buffer.compare(identity.publicKey, stated) === 0) return identity;
  }
  return null;
}

export function readIdentityFile(path: string): PeerIdentity {
  const identity = parseIdentity(readSecretFile(path));
  if (identity === null) {
    throw new NutError("IDENTITY_INVALID", `${path}: not an Ed25519 identity (64 bytes, 32 bytes or libp2p form)`, {
      hint: "nutshell keygen --peer",
      data: { path },
    });
  }
  return identity;
}

export function writeIdentityFile(path: string, { seed, publicKey }: PeerIdentity): void {
  writeSecretFile(path, Buffer.concat([seed, publicKey]));
}

export function sign(message: Uint8Array, { seed }: PeerIdentity): Uint8Array {
  return Uint8Array.from(signWith(null, message, keyOf(seed)));
}
