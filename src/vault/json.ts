// Strict JSON of a vault. JSON.parse alone would replace broken UTF-8 and let `__proto__` through.
import { isAscii, isUtf8 } from "node:buffer";
import { NutError } from "../errors.js";

const MAX_DEPTH = 64;

/** Throws VAULT_DAMAGED; its words never quote the content, which is secret. */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new NutError("VAULT_DAMAGED", "the vault's content is not UTF-8");
  let value: unknown;
  try {
    value = JSON.parse(textOf(bytes));
  } catch {
    // The parser's own words repeat a piece of the text.
    throw new NutError("VAULT_DAMAGED", "the vault's content is not JSON");
  }
  checkShape(value, MAX_DEPTH);
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
  // Of ASCII both are the same text, and one is several times as fast.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(isAscii(bytes) ? "latin1" : "utf8");
}

/** Seen once per opening by every value: only what holds others is walked into. */
function checkShape(value: unknown, left: number): void {
  if (typeof value !== "object" || value === null) return;
  if (left === 0) throw new NutError("VAULT_DAMAGED", "the vault's content is nested too deeply");
  // Going through an array by its keys makes a string of each place.
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") checkShape(item, left - 1);
    return;
  }
  for (const key in value) {
    if (key === "__proto__") throw new NutError("VAULT_DAMAGED", 'the vault has a field named "__proto__"');
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === "object") checkShape(item, left - 1);
  }
}
