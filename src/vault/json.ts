// Strict JSON of a vault. JSON.parse alone would replace broken UTF-8 and let `__proto__` through.
import { NutError } from "../errors.js";

const MAX_DEPTH = 64;

/** Throws VAULT_DAMAGED; its words never quote the content, which is secret. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new NutError("VAULT_DAMAGED", "the vault's content is not UTF-8");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own words repeat a piece of the text.
    throw new NutError("VAULT_DAMAGED", "the vault's content is not JSON");
  }
  if (text.includes('"__proto__"')) throw new NutError("VAULT_DAMAGED", 'the vault has a field named "__proto__"');
  if (depth(value, 0) > MAX_DEPTH) throw new NutError("VAULT_DAMAGED", "the vault's content is nested too deeply");
  return value;
}

/** The object that unencrypted bytes hold, or null: only for telling file kinds apart. */
export function jsonShape(bytes: Uint8Array): Record<string, unknown> | null {
  if (bytes[0] !== 0x7b && bytes[0] !== 0x20 && bytes[0] !== 0x0a) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

function depth(value: unknown, level: number): number {
  if (typeof value !== "object" || value === null || level > MAX_DEPTH) return level;
  let deepest = level + 1;
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === "object" && item !== null) deepest = Math.max(deepest, depth(item, level + 1));
  }
  return deepest;
}
