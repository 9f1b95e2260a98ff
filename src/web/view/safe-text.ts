// A manifest that was not checked may hold anything anywhere. These turn a value into what a page can show, or nothing.

/** Longer text is cut: a page is for reading. */
const MAX_TEXT = 20_000;
const MAX_ITEMS = 2_000;

export type Loose = Readonly<Record<string, unknown>>;

export function text(value: unknown, max = MAX_TEXT): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return "";
  return value.length > max ? `${value.slice(0, max)}…` : value;
}

export function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function object(value: unknown): Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Loose) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [];
}

export function texts(value: unknown): string[] {
  return list(value)
    .map((item) => text(item))
    .filter((item) => item !== "");
}

/** A value as one line: text as it is, anything else as JSON. */
export function line(value: unknown, max = 400): string {
  if (typeof value === "string") return text(value, max);
  return value === undefined ? "" : text(JSON.stringify(value), max);
}

export function facts(pairs: readonly (readonly [string, unknown])[]): { name: string; value: string }[] {
  return pairs.map(([name, value]) => ({ name, value: line(value) })).filter(({ value }) => value !== "");
}
