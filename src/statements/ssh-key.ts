// Public keys as SSH writes them: ed25519, ecdsa, rsa, and the two kinds that live in a hardware token (sk-).
import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { WireReader, wireString } from "./ssh-wire.js";

export interface SshKey {
  /** Such as `ssh-ed25519`. */
  readonly type: string;
  /** The key as it stands in a signature and, in base64, on a line. */
  readonly blob: Buffer;
  readonly key: KeyObject;
  /** What a token's signature is bound to; null for a key without a token. */
  readonly application: Buffer | null;
  /** Name of the ecdsa curve. */
  readonly curve: string | null;
}

/** Shorter ones have been factored or soon will be. */
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 16_384;

const CURVES: Readonly<Record<string, { readonly jwk: string; readonly bytes: number }>> = {
  nistp256: { jwk: "P-256", bytes: 32 },
  nistp384: { jwk: "P-384", bytes: 48 },
  nistp521: { jwk: "P-521", bytes: 66 },
};

const ED25519 = "ssh-ed25519";
const SK_ED25519 = "sk-ssh-ed25519@openssh.com";
const SK_ECDSA = "sk-ecdsa-sha2-nistp256@openssh.com";

/** Reads a key; null for anything that is not exactly one key of a kind we believe. */
export function readKey(blob: Uint8Array): SshKey | null {
  const reader = new WireReader(blob);
  const type = reader.text();
  if (type === null) return null;
  try {
    const read = readMaterial(type, reader);
    return read === null || !reader.atEnd ? null : { type, blob: Buffer.from(blob), ...read };
  } catch {
    // Not a point on its curve, or numbers no key is made of.
    return null;
  }
}

type Material = Pick<SshKey, "key" | "application" | "curve">;

function readMaterial(type: string, reader: WireReader): Material | null {
  if (type === ED25519 || type === SK_ED25519) {
    const point = reader.string();
    const application = type === SK_ED25519 ? reader.string() : null;
    if (point?.length !== 32 || (type === SK_ED25519 && application === null)) return null;
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: point.toString("base64url") }, format: "jwk" });
    return { key, application, curve: null };
  }
  if (type === SK_ECDSA || /^ecdsa-sha2-nistp(?:256|384|521)$/.test(type)) return readEcdsa(type, reader);
  return type === "ssh-rsa" ? readRsa(reader) : null;
}

function readEcdsa(type: string, reader: WireReader): Material | null {
  const curve = reader.text();
  const point = reader.string();
  const application = type === SK_ECDSA ? reader.string() : null;
  const wanted = type === SK_ECDSA ? "nistp256" : type.slice("ecdsa-sha2-".length);
  const size = CURVES[wanted]!.bytes;
  if (curve !== wanted || point?.length !== 2 * size + 1 || point[0] !== 4) return null;
  if (type === SK_ECDSA && application === null) return null;
  const [x, y] = [point.subarray(1, size + 1), point.subarray(size + 1)].map((part) => part.toString("base64url"));
  const jwk = { kty: "EC", crv: CURVES[wanted]!.jwk, x: x!, y: y! };
  return { key: createPublicKey({ key: jwk, format: "jwk" }), application, curve };
}

function readRsa(reader: WireReader): Material | null {
  const [e, n] = [reader.mpint(), reader.mpint()];
  if (e === null || n === null) return null;
  const bits = n.length * 8 - Math.clz32(n[0]!) + 24;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS || e.length > 8) return null;
  const jwk = { kty: "RSA", n: n.toString("base64url"), e: e.toString("base64url") };
  return { key: createPublicKey({ key: jwk, format: "jwk" }), application: null, curve: null };
}

/** `ssh-ed25519 AAAA… comment`, as in a .pub file; null when it is not one. */
export function parseKeyLine(line: string): SshKey | null {
  const [type, base64 = ""] = line.replace(/^[ \t]+/, "").split(/[ \t\r\n]+/);
  const key = type === undefined ? null : readKey(Buffer.from(base64, "base64"));
  return key !== null && key.type === type && key.blob.toString("base64") === base64 ? key : null;
}

export const keyLine = ({ type, blob }: SshKey): string => `${type} ${blob.toString("base64")}`;

/** `SHA256:…`, as `ssh-keygen -l` prints it. */
export const fingerprint = ({ blob }: Pick<SshKey, "blob">): string =>
  `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;

/** An Ed25519 public key of ours as SSH writes it. */
export const ed25519Blob = (publicKey: Uint8Array): Buffer =>
  Buffer.concat([wireString(ED25519), wireString(publicKey)]);
