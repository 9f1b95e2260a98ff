// Strict JSON of a vault. JSON.parse alone would replace broken UTF-8 and let `__proto__` through.
import { isUtf8 } from "node:buffer";
import { NutError } from "../errors.js";

const MAX_DEPTH = 64;

/** Throws VAULT_DAMAGED; its words never quote the content, which is secret. */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new NutError("VAULT_DAMAGED", "the vault's content is not UTF-8");
  const text = textOf(bytes);
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
    const value: unknown = JSON.parse(textOf(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}

function depth(value: unknown, level: number): number {
  if (typeof value !== "object" || value === null || level > MAX_DEPTH) return level;
  let deepest = level + 1;
  // Going through an array by its keys makes a string of each place.
  if (Array.isArray(value)) for (const item of value) deepest = Math.max(deepest, depth(item, level + 1));
  else for (const key in value) deepest = Math.max(deepest, depth((value as Record<string, unknown>)[key], level + 1));
  return deepest;
}
