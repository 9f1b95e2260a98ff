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
/** Shorter strings occur by accident everywhere. */
export const MIN_SECRET_LENGTH = 4;

export function secretsOf(credential: Pick<Credential, "name" | "value">): Secret[] {
  const secrets: Secret[] = [];
  const visit = (value: unknown, depth: number) => {
    if (depth > 16) return;
    if (typeof value === "string" && value.length >= MIN_SECRET_LENGTH) secrets.push({ name: credential.name, value });
    else if (typeof value === "number" && String(value).length >= 6) {
      secrets.push({ name: credential.name, value: String(value) });
    } else if (Array.isArray(value)) for (const item of value) visit(item, depth + 1);
    else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) if (!PUBLIC_FIELDS.test(key)) visit(item, depth + 1);
    }
  };
  visit(credential.value, 0);
  return secrets;
}

/** The ways one secret may be written: as it is, line by line, in JSON, in a URL, in hex and in base64 at any alignment. */
export function shapesOf(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const shapes = new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(bytes.toString("utf8")),
    value.replaceAll("\n", "\r\n"),
  ]);
  for (const line of value.split(/\r?\n/)) if (line.length >= 16) shapes.add(line);
  if (bytes.length >= 6) {
    shapes.add(bytes.toString("hex"));
    shapes.add(bytes.toString("hex").toUpperCase());
    for (let skip = 0; skip < 3; skip += 1) addBase64(shapes, bytes, skip);
  }
  return [...shapes].filter((shape) => Buffer.byteLength(shape) >= MIN_SECRET_LENGTH);
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
