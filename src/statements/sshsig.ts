// SSHSIG, the signatures of `ssh-keygen -Y` (OpenSSH's PROTOCOL.sshsig): over a namespace and the hash of a message, so
// that a signature made for git, a file or a login never fits here.
import { constants, createHash, verify } from "node:crypto";
import { readKey, type SshKey } from "./ssh-key.js";
import { WireReader, wireNumber, wireString } from "./ssh-wire.js";

const MAGIC = "SSHSIG";
const VERSION = 1;
const HASHES = ["sha256", "sha512"] as const;
type HashName = (typeof HASHES)[number];

export interface SshSignature {
  readonly key: SshKey;
  readonly namespace: string;
  readonly hash: HashName;
  /** Algorithm of the inner signature, such as `rsa-sha2-512`. */
  readonly algorithm: string;
  readonly inner: Buffer;
}

/** What a key signs for a message. */
export function bytesToSign(message: Uint8Array, namespace: string, hash: HashName = "sha512"): Buffer {
  const digest = createHash(hash).update(message).digest();
  return Buffer.concat([
    Buffer.from(MAGIC),
    ...[Buffer.from(namespace, "utf8"), "", hash, digest].map((part) => wireString(part)),
  ]);
}

/** A whole signature from its parts: `inner` is the wire form `string algorithm, string signature`. */
export function encodeSignature(key: Uint8Array, namespace: string, inner: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(MAGIC),
    wireNumber(VERSION),
    ...[key, namespace, "", "sha512", inner].map((part) => wireString(part)),
  ]);
}

/** null for anything that is not exactly one signature we know how to read. */
export function decodeSignature(blob: Uint8Array): SshSignature | null {
  const reader = new WireReader(blob);
  if (reader.take(MAGIC.length)?.toString("latin1") !== MAGIC || reader.number() !== VERSION) return null;
  const keyBlob = reader.string();
  const namespace = reader.string();
  const reserved = reader.string();
  const hash = reader.text();
  const signature = reader.string();
  if (keyBlob === null || namespace === null || reserved === null || signature === null || !reader.atEnd) return null;
  const known = HASHES.find((name) => name === hash);
  const key = readKey(keyBlob);
  if (known === undefined || key === null || reserved.length > 0) return null;
  const inside = new WireReader(signature);
  const algorithm = inside.text();
  const inner = inside.take(signature.length - 4 - (algorithm?.length ?? 0));
  if (algorithm === null || inner === null) return null;
  return { key, namespace: namespace.toString("utf8"), hash: known, algorithm, inner };
}

/** Whether the key in the signature signed this message for this namespace. Says nothing about whose key it is. */
export function verifySignature(signature: SshSignature, message: Uint8Array, namespace: string): boolean {
  if (signature.namespace !== namespace) return false;
  const signed = bytesToSign(message, namespace, signature.hash);
  const reader = new WireReader(signature.inner);
  const raw = reader.string();
  if (raw === null) return false;
  try {
    return signature.key.application === null
      ? reader.atEnd && verifyPlain(signature, raw, signed)
      : verifyToken(signature, raw, signed, reader);
  } catch {
    return false;
  }
}

/** A login key of kind `ssh-rsa` signs with SHA-2 or it is not believed: SHA-1 is no longer a signature. */
const RSA_HASHES: Readonly<Record<string, string>> = { "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" };
const CURVE_HASHES: Readonly<Record<string, string>> = { nistp256: "sha256", nistp384: "sha384", nistp521: "sha512" };

function verifyPlain({ key, algorithm }: SshSignature, raw: Buffer, signed: Buffer): boolean {
  if (key.type === "ssh-rsa") {
    const hash = RSA_HASHES[algorithm];
    if (hash === undefined) return false;
    return verify(hash, signed, { key: key.key, padding: constants.RSA_PKCS1_PADDING }, raw);
  }
  if (algorithm !== key.type) return false;
  if (key.curve === null) return raw.length === 64 && verify(null, signed, key.key, raw);
  const plain = ecdsaPlain(raw, key.curve);
  const hash = CURVE_HASHES[key.curve]!;
  return plain !== null && verify(hash, signed, { key: key.key, dsaEncoding: "ieee-p1363" }, plain);
}

/** A token signs hashes, its flags and its counter. Somebody must have touched it. */
const USER_PRESENT = 0x01;

function verifyToken({ key, algorithm }: SshSignature, raw: Buffer, signed: Buffer, reader: WireReader): boolean {
  const flags = reader.take(1);
  const counter = reader.take(4);
  if (algorithm !== key.type || flags === null || counter === null || !reader.atEnd) return false;
  if ((flags[0]! & USER_PRESENT) === 0) return false;
  const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
  const message = Buffer.concat([sha256(key.application!), flags, counter, sha256(signed)]);
  if (key.curve === null) return raw.length === 64 && verify(null, message, key.key, raw);
  const plain = ecdsaPlain(raw, key.curve);
  return plain !== null && verify("sha256", message, { key: key.key, dsaEncoding: "ieee-p1363" }, plain);
}

/** r and s side by side, as node:crypto reads them without guessing. */
function ecdsaPlain(raw: Buffer, curve: string): Buffer | null {
  const size = { nistp256: 32, nistp384: 48, nistp521: 66 }[curve]!;
  const reader = new WireReader(raw);
  const [r, s] = [reader.mpint(), reader.mpint()];
  if (r === null || s === null || !reader.atEnd || r.length > size || s.length > size) return null;
  const plain = Buffer.alloc(2 * size);
  r.copy(plain, size - r.length);
  s.copy(plain, 2 * size - s.length);
  return plain;
}

const BEGIN = "-----BEGIN SSH SIGNATURE-----";
const END = "-----END SSH SIGNATURE-----";

/** The text `ssh-keygen -Y sign` writes and `-Y verify -s` reads. */
export function armor(blob: Uint8Array): string {
  const lines =
    Buffer.from(blob)
      .toString("base64")
      .match(/.{1,70}/g) ?? [];
  return [BEGIN, ...lines, END, ""].join("\n");
}

export function dearmor(text: string): Buffer | null {
  const match = /-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END SSH SIGNATURE-----\s*$/.exec(text);
  return match === null ? null : Buffer.from(match[1]!.replace(/[\r\n]/g, ""), "base64");
}
