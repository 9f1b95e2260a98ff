// An X25519 identity of age by Node's own cryptography: the library asks for the public key as well, each by several turns of a
// thread pool. Post-quantum ones stay the library's. https://c2sp.org/age#the-x25519-recipient-type
import { createDecipheriv, createPrivateKey, createPublicKey, diffieHellman, hkdfSync } from "node:crypto";
import type { Identity, Stanza } from "age-encryption";
import { bech32Decode } from "./bech32.js";

const PKCS8 = Buffer.from("302e020100300506032b656e04220420", "hex");
const SPKI = Buffer.from("302a300506032b656e032100", "hex");
export const KEY_BYTES = 32;
export const TAG_BYTES = 16;
const LABEL = "age-encryption.org/v1/X25519";

/** null when the text is not an X25519 identity, or misspelt. */
export function x25519Identity(text: string): Identity | null {
  const scalar = bech32Decode(text, "AGE-SECRET-KEY-");
  if (scalar?.length !== KEY_BYTES) return null;
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, scalar]), format: "der", type: "pkcs8" });
  const recipient = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-KEY_BYTES);
  return {
    unwrapFileKey(stanzas) {
      for (const stanza of stanzas) {
        const share = shareOf(stanza);
        if (share === null) continue;
        const publicKey = createPublicKey({ key: Buffer.concat([SPKI, share]), format: "der", type: "spki" });
        // Throws for a point of low order, whose secret anybody knows.
        const secret = diffieHellman({ privateKey, publicKey });
        const key = hkdfSync("sha256", secret, Buffer.concat([share, recipient]), LABEL, KEY_BYTES);
        const fileKey = openFileKey(stanza.body, Buffer.from(key));
        if (fileKey !== null) return fileKey;
      }
      return null;
    },
  };
}

/** null for another kind of stanza. */
function shareOf({ args: [type, text, ...more] }: Stanza): Buffer | null {
  if (type !== "X25519") return null;
  const share = Buffer.from(text ?? "", "base64");
  const isCanonical = share.toString("base64").replace(/=+$/, "") === text;
  if (more.length > 0 || share.length !== KEY_BYTES || !isCanonical) throw new Error("not an X25519 stanza");
  return share;
}

/** null when it was wrapped for another key. */
export function openFileKey(body: Uint8Array, key: Buffer): Buffer | null {
  if (body.length !== 2 * TAG_BYTES) throw new Error("not a wrapped file key");
  const decipher = createDecipheriv("chacha20-poly1305", key, Buffer.alloc(12), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(body.subarray(-TAG_BYTES));
  const fileKey = decipher.update(body.subarray(0, -TAG_BYTES));
  try {
    decipher.final();
    return fileKey;
  } catch {
    return null;
  }
}
