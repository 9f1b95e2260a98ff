// A passphrase of age by Node's own cryptography: the library's takes twice as long, and lets nobody else have a turn meanwhile.
// https://c2sp.org/age#the-scrypt-recipient-type
import { createCipheriv, randomBytes, type ScryptOptions, scrypt } from "node:crypto";
import type { Identity, Recipient, Stanza } from "age-encryption";
import { KEY_BYTES, openFileKey, TAG_BYTES } from "./age-identity.js";

const LABEL = "age-encryption.org/v1/scrypt";
const SALT_BYTES = 16;
const BLOCK_SIZE = 8;

export function passphraseRecipient(passphrase: string, logN: number): Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(SALT_BYTES);
      const key = await keyOf(passphrase, salt, logN);
      return [{ args: ["scrypt", withoutPadding(salt), String(logN)], body: wrapped(fileKey, key) }];
    },
  };
}

/** A work factor above `maxLogN` is an error: it takes time and memory at a stranger's wish. */
export function passphraseIdentity(passphrase: string, maxLogN: number): Identity {
  return {
    async unwrapFileKey(stanzas) {
      const stanza = stanzas.find(({ args }) => args[0] === "scrypt");
      if (stanza === undefined) return null;
      if (stanzas.length > 1) throw new Error("a passphrase is not the only way to open it");
      const { salt, logN } = partsOf(stanza);
      if (logN > maxLogN) throw new Error("the work factor of the passphrase is too high");
      return openFileKey(stanza.body, await keyOf(passphrase, salt, logN));
    },
  };
}

function partsOf({ args: [, text = "", factor = "", ...more] }: Stanza): { salt: Buffer; logN: number } {
  const salt = Buffer.from(text, "base64");
  const isSound = salt.length === SALT_BYTES && withoutPadding(salt) === text && /^[1-9][0-9]*$/.test(factor);
  if (!isSound || more.length > 0) throw new Error("not a scrypt stanza");
  return { salt, logN: Number(factor) };
}

const withoutPadding = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");

function keyOf(passphrase: string, salt: Buffer, logN: number): Promise<Buffer> {
  const N = 2 ** logN;
  // What it needs is half of this, and a little more.
  const options: ScryptOptions = { N, r: BLOCK_SIZE, p: 1, maxmem: 256 * N * BLOCK_SIZE };
  const salted = Buffer.concat([Buffer.from(LABEL), salt]);
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salted, KEY_BYTES, options, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

function wrapped(fileKey: Uint8Array, key: Buffer): Buffer {
  const cipher = createCipheriv("chacha20-poly1305", key, Buffer.alloc(12), { authTagLength: TAG_BYTES });
  return Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
}
