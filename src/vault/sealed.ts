// A bundle sealed for one peer: NUT\x02 ‖ ephemeral X25519 public key (32) ‖ nonce (24) ‖ NaCl box of a whole NUT\x01 file.
// The box has one tag, at its front, over everything: nothing may be released before all of it was read, and the tag is
// known only after the last byte. So both ways hold the bundle in memory, and SEALED_MAX_BYTES bounds it.
import { randomBytes } from "node:crypto";
import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { NutError } from "../errors.js";
import type { PeerIdentity } from "./peer.js";
import { toX25519 } from "./peer-key.js";
import { isSealed, SEALED_MAGIC, SEALED_MAX_BYTES } from "./sealed-format.js";

const PUBLIC_KEY_BYTES = 32;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;
const HEADER_BYTES = SEALED_MAGIC.length + PUBLIC_KEY_BYTES + NONCE_BYTES;

export interface SealOptions {
  /** For known-answer tests. Never set elsewhere: a repeated pair gives the content away. */
  readonly ephemeralSecret?: Uint8Array;
  readonly nonce?: Uint8Array;
}

/** Seals a whole bundle for the holder of an Ed25519 key. The sender stays unknown: the box is made with a fresh key. */
export function sealBundle(bundle: Uint8Array, peer: Uint8Array, options: SealOptions = {}): Uint8Array {
  if (bundle.length > SEALED_MAX_BYTES) throw tooLarge(bundle.length);
  const secret = options.ephemeralSecret ?? Uint8Array.from(randomBytes(PUBLIC_KEY_BYTES));
  const nonce = options.nonce ?? Uint8Array.from(randomBytes(NONCE_BYTES));
  // The cipher writes its 16 bytes of scratch where our header's end will stand, so the box is made in place.
  const file = new Uint8Array(HEADER_BYTES + TAG_BYTES + bundle.length);
  const room = file.subarray(HEADER_BYTES - TAG_BYTES);
  xsalsa20poly1305(boxKey(secret, toX25519.publicKey(peer)), nonce).encrypt(bundle, room);
  file.set(SEALED_MAGIC, 0);
  file.set(x25519.getPublicKey(secret), SEALED_MAGIC.length);
  file.set(nonce, SEALED_MAGIC.length + PUBLIC_KEY_BYTES);
  return file;
}

/** Opens a sealed bundle. Throws BUNDLE_SEALED when the identity does not fit or a byte was changed: a box cannot tell which. */
export function openSealed(file: Uint8Array, identity: PeerIdentity): Uint8Array {
  if (!isSealed(file))
    throw new NutError("BUNDLE_BAD_MAGIC", "not a sealed bundle", { hint: "nutshell inspect '<file>'" });
  if (file.length < HEADER_BYTES + TAG_BYTES) {
    throw new NutError("BUNDLE_CORRUPT", `sealed bundle is cut off after ${file.length} bytes`);
  }
  if (file.length - HEADER_BYTES - TAG_BYTES > SEALED_MAX_BYTES) throw tooLarge(file.length);
  const sender = file.slice(SEALED_MAGIC.length, SEALED_MAGIC.length + PUBLIC_KEY_BYTES);
  const nonce = file.slice(SEALED_MAGIC.length + PUBLIC_KEY_BYTES, HEADER_BYTES);
  try {
    return xsalsa20poly1305(boxKey(toX25519.secretKey(identity.seed), sender), nonce).decrypt(
      file.subarray(HEADER_BYTES),
    );
  } catch (cause) {
    throw new NutError("BUNDLE_SEALED", "sealed bundle does not open: it is for another peer, or was damaged", {
      hint: "nutshell unpack '<file>' --identity '<identity.key>'",
      cause,
    });
  }
}

/** crypto_box_beforenm: the shared secret, hashed with the cipher's own core. */
function boxKey(secret: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const shared = x25519.getSharedSecret(secret, publicKey);
  const words = (bytes: Uint8Array) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const sigma = words(Uint8Array.from(Buffer.from("expand 32-byte k", "ascii")));
  const out = new Uint32Array(8);
  hsalsa(sigma, words(Uint8Array.from(shared)), new Uint32Array(4), out);
  return new Uint8Array(out.buffer);
}

function tooLarge(bytes: number): NutError {
  return new NutError(
    "BUNDLE_LIMIT",
    `a sealed bundle is held in memory, so it may not exceed 256 MB (${bytes} bytes)`,
    {
      hint: "nutshell split --help",
      data: { bytes, limit: SEALED_MAX_BYTES },
    },
  );
}
