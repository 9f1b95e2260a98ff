// Reading fields of payloads nobody has checked. Unknown fields are tolerated; wrong types are not.
import { PayloadError } from "./host.js";

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new PayloadError(`${what} is not an object`);
  return value as Fields;
}

export function text(fields: Fields, name: string): string {
  const value = field(fields, name);
  if (typeof value !== "string" || value === "") throw new PayloadError(`${name} is missing or not text`);
  return value;
}

export function optionalText(fields: Fields, name: string): string | undefined {
  const value = field(fields, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new PayloadError(`${name} is not text`);
  return value === "" ? undefined : value;
}

export function field(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
