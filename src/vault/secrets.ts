// Which strings of a credential are secret, and the shapes a program may print them in.
import type { Credential } from "../schema/vault.js";

/** A secret string and the credential it belongs to. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Fields that say where to connect, not how to get in. Hiding "localhost" or "5432" would make output unreadable. */
const PUBLIC_FIELDS =
  /^(host|hostname|port|database|db|dbname|schema|user|username|user_name|region|account|account_id|project|project_id|endpoint|base_url|scheme|protocol|driver|type|sslmode|ssl|role|client_id|email|header|created_at|expires_at)$/i;
/** Whether a field of this name says where to connect and is shown to everybody. */
export const isPublicField = (name: string): boolean => PUBLIC_FIELDS.test(name);
/** Shorter strings occur by accident everywhere. */
export const MIN_SECRET_LENGTH = 4;

/** Every leaf of a value that must not be seen, however deep. A name makes a leaf public, never what lies below it. */
export function secretsOf(credential: Pick<Credential, "name" | "value">): Secret[] {
  const found = new Set<string>();
  const waiting: [unknown, boolean][] = [[credential.value, false]];
  while (waiting.length > 0) {
    const [value, isPublic] = waiting.pop()!;
    if (typeof value === "string") for (const secret of leafSecrets(value, isPublic)) found.add(secret);
    else if (typeof value === "number" || typeof value === "bigint") {
      if (!isPublic && String(value).length >= 6) found.add(String(value));
    } else if (Array.isArray(value))
      waiting.push(...[...value].reverse().map((item): [unknown, boolean] => [item, isPublic]));
    else if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value).reverse();
      waiting.push(...entries.map(([key, item]): [unknown, boolean] => [item, PUBLIC_FIELDS.test(key)]));
    }
  }
  return [...found]
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .map((value) => ({ name: credential.name, value }));
}

/** `https://user:password@host` is a secret under any name, and so is its password alone. */
const USER_INFORMATION = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@:]*:)?([^/?#@]+)@/i;
/** And so is `https://host?token=…`. */
const SECRET_PARAMETER =
  /[?&;](?:password|passwd|pwd|token|access_token|auth|secret|api_?key|key|sig|signature)=([^&;#\s]{6,})/gi;

function leafSecrets(value: string, isPublic: boolean): string[] {
  const passwords = [
    ...(USER_INFORMATION.exec(value)?.slice(1, 2) ?? []),
    ...(value.includes("://") ? [...value.matchAll(SECRET_PARAMETER)].map(([, one]) => one!) : []),
  ];
  if (passwords.length === 0) return isPublic ? [] : [value];
  return [value, ...passwords, ...passwords.map(percentDecoded)];
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The ways one secret may be written: as it is, line by line, in JSON, in a URL, in hex and in base64 at any alignment. */
export function shapesOf(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const shapes = new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(bytes.toString("utf8")),
    value.replaceAll("\n", "\r\n"),
    // As CSV and SQL write a quotation mark.
    value.replaceAll('"', '""'),
    value.replaceAll("'", "''"),
    // In UTF-16, either way round.
    ...(/^[\0-\x7f]+$/.test(value) ? [[...value].join("\0")] : []),
  ]);
  for (const line of longLines(value)) shapes.add(line);
  for (const hex of hexShapes(value)) shapes.add(hex).add(hex.toUpperCase());
  for (const base64 of base64Shapes(value)) shapes.add(base64);
  return [...shapes].filter((shape) => Buffer.byteLength(shape) >= MIN_SECRET_LENGTH);
}

const longLines = (value: string): string[] => value.split(/\r?\n/).filter(({ length }) => length >= 16);

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1);

/** What a decoded text may show: the secret, or what is encoded once more. A `+` in it may have been one, or a space. */
export function decodedShapes(value: string): string[] {
  const again = [inJson(value), inJson(inJson(value)), encodeURIComponent(Buffer.from(value).toString("utf8"))];
  const shapes = [value, ...again, ...longLines(value), ...base64Of(value)].flatMap((shape) => [
    shape,
    shape.replaceAll("+", " "),
  ]);
  return [...new Set(shapes)].filter((shape) => Buffer.byteLength(shape) >= MIN_SECRET_LENGTH);
}

/** Too short a secret would be found in every hash. */
const MIN_ENCODED_BYTES = 6;

export function hexShapes(value: string): string[] {
  return encodable(value).map((bytes) => bytes.toString("hex"));
}

export const base64Shapes = (value: string): string[] => encodable(value).flatMap(inBase64);

/** The secret itself in base64, and nothing that is encoded once more. */
const base64Of = (value: string): string[] => encodable(value).slice(0, 1).flatMap(inBase64);

function inBase64(bytes: Buffer): string[] {
  const shapes = new Set<string>();
  for (let skip = 0; skip < 3; skip += 1) addBase64(shapes, bytes, skip);
  return [...shapes];
}

/** What may be encoded as a whole: the secret, the secret in JSON, in base64 and in UTF-16. */
function encodable(value: string): Buffer[] {
  const bytes = Buffer.from(value, "utf8");
  if (bytes.length < MIN_ENCODED_BYTES) return [];
  const base64 = bytes.toString("base64").replace(/.{0,3}=+$/, "");
  const texts = [...new Set([value, inJson(value), base64])].map((text) => Buffer.from(text, "utf8"));
  return [...texts, Buffer.from(value, "utf16le")];
}

/** Shorter words stand beside each other by accident. */
const MIN_SPREAD_BYTES = 8;

/** What is found when white space is left out: base64 and base32 that were wrapped, a list of bytes, and the secret over two lines. */
export function compactShapes(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const base32 = bytes.length < MIN_ENCODED_BYTES ? [] : base32Shapes(bytes);
  const list = bytes.length < MIN_ENCODED_BYTES ? [] : [bytes.join(",")];
  const spread = value.replace(/\s+/g, "");
  return [
    ...base64Shapes(value),
    ...base32.flatMap((shape) => [shape, shape.toLowerCase()]),
    ...list,
    ...(Buffer.byteLength(spread) < MIN_SPREAD_BYTES ? [] : [spread]),
  ];
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The characters that stay the same whatever stands before and after, for each place among five bytes. */
function base32Shapes(bytes: Buffer): string[] {
  return [0, 1, 2, 3, 4].map((skip) => {
    const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
    const from = Math.ceil((skip * 8) / 5) * 5 - skip * 8;
    return (bits.slice(from).match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]!).join("");
  });
}

/** The characters that stay the same whatever stands before and after the secret. */
function addBase64(shapes: Set<string>, bytes: Buffer, skip: number): void {
  const shifted = Buffer.concat([Buffer.alloc(skip), bytes]);
  const whole = shifted.length - (shifted.length % 3);
  const text = shifted.subarray(0, whole).toString("base64");
  const sure = text.slice(skip === 0 ? 0 : 4);
  if (sure.length < 8) return;
  shapes.add(sure);
  shapes.add(sure.replaceAll("+", "-").replaceAll("/", "_"));
}
