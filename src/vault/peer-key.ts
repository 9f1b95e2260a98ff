// Whose key it is: who a sealed bundle is for, and who signed a rotation, by their Ed25519 public key, written as 64 hex digits or
// as a libp2p peer id.
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { NutError } from "../errors.js";
import { base58Decode, base58Encode } from "./base58.js";

/** Multihash "identity", 36 bytes long, of a protobuf {type: Ed25519, data: 32 bytes}. */
const PEER_ID_PREFIX = Uint8Array.of(0x00, 0x24, 0x08, 0x01, 0x12, 0x20);
const KEY_BYTES = 32;

export function peerIdOf(publicKey: Uint8Array): string {
  return base58Encode(Buffer.concat([PEER_ID_PREFIX, publicKey]));
}

/** Reads `<64 hex digits>` or `12D3KooW…`; no network is needed, since such a peer id contains the key. */
export function parsePeer(text: string): Uint8Array {
  const key = /^[0-9a-fA-F]{64}$/.test(text) ? Uint8Array.from(Buffer.from(text, "hex")) : fromPeerId(text);
  if (key === null || !isPoint(key)) {
    throw new NutError("PEER_INVALID", `"${text.slice(0, 80)}" is not a peer: 64 hex digits or a 12D3KooW… peer id`, {
      hint: "nutshell keygen --peer",
    });
  }
  return key;
}

function fromPeerId(text: string): Uint8Array | null {
  // 38 bytes never need more than 52 digits; the bound keeps a long argument from costing time.
  const bytes = text.length <= 64 ? base58Decode(text) : null;
  if (bytes === null || bytes.length !== PEER_ID_PREFIX.length + KEY_BYTES) return null;
  return PEER_ID_PREFIX.every((byte, i) => bytes[i] === byte) ? bytes.slice(PEER_ID_PREFIX.length) : null;
}

/** A key of small order would let anybody open what is sealed for it. */
function isPoint(key: Uint8Array): boolean {
  try {
    return !ed25519.Point.fromBytes(key).isSmallOrder();
  } catch {
    return false;
  }
}

export function verifySignature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** Where the Ed25519 key becomes the X25519 key that a box is made with. */
export const toX25519 = {
  publicKey: (key: Uint8Array): Uint8Array => ed25519.utils.toMontgomery(key),
  secretKey: (seed: Uint8Array): Uint8Array => {
    const half = createHash("sha512").update(seed).digest().subarray(0, KEY_BYTES);
    half[0]! &= 248;
    half[31]! &= 127;
    half[31]! |= 64;
    return Uint8Array.from(half);
  },
};
