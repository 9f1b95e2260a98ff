// One field of a manifest, set from words a person typed. The schema says what they mean, so "0.35" is a number where a
// number belongs and a title where a title does.

import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { NutError } from "../../errors.js";
import { JsonError, parseJson } from "../../files/index.js";
import { Manifest } from "../../schema/manifest.js";
import { mismatchWords } from "../../schema/mismatch.js";
import { FORMAT_VERSION, isNewer } from "./manifest.js";

export interface SetOptions {
  /** Adds one item to a list. */
  readonly append?: boolean;
  /** Removes the field. */
  readonly unset?: boolean;
  readonly newId?: () => string;
}

type Json = Record<string, unknown>;

/** Changes `manifest` in place, so that everything else keeps its order and spelling. Returns the fields it changed. */
export function setField(
  manifest: Manifest,
  field: string,
  words: readonly string[],
  options: SetOptions = {},
): string[] {
  const segments = field.split(".");
  if (segments.some((segment) => segment === "" || segment === "__proto__")) {
    throw new NutError("USAGE", `"${field}" is not a field`, { hint: 'nutshell set task.title "what to do"' });
  }
  const schema = schemaAt(Manifest, segments, field);
  if (options.unset === true) return unset(manifest, segments, field);
  if (words.length === 0) throw new NutError("USAGE", `${field} needs a value`, { hint: "nutshell set --help" });
  const old = valueAt(manifest, segments);
  const value = options.append === true ? appended(old, words, schema, field) : read(words, schema, field);
  assertFits(value, schema, field);
  if (field === "nutshell_version" && isNewer({ nutshell_version: value })) {
    throw new NutError("USAGE", `${field}: this tool writes ${FORMAT_VERSION} and could not open a newer one again`, {
      hint: `nutshell set ${field} ${FORMAT_VERSION}`,
      data: { field },
    });
  }
  if (field === "bundle_type" && value === "delivery" && manifest.bundle_type !== "delivery") {
    return becomeDelivery(manifest, options.newId ?? newBundleId);
  }
  put(manifest, segments, value, field);
  return [field];
}

export const newBundleId = (): string => `nut-${randomUUID()}`;

/** A delivery is a bundle of its own that answers another: the old id becomes what it points to. */
function becomeDelivery(manifest: Manifest, newId: () => string): string[] {
  const request = manifest.id;
  manifest.bundle_type = "delivery";
  manifest.id = newId();
  manifest.request_id = request;
  manifest.parent_id = request;
  return ["bundle_type", "id", "request_id", "parent_id"];
}

function unset(manifest: Manifest, segments: readonly string[], field: string): string[] {
  if (["nutshell_version", "bundle_type", "id"].includes(field)) {
    throw new NutError("USAGE", `every bundle needs ${field}`, { hint: `nutshell set ${field} "<value>"` });
  }
  const holder = valueAt(manifest, segments.slice(0, -1));
  const last = segments.at(-1)!;
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else if (isObject(holder)) delete holder[last];
  return [field];
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function valueAt(root: unknown, segments: readonly string[]): unknown {
  let value = root;
  for (const segment of segments) {
    if (Array.isArray(value)) value = value[Number(segment)];
    else if (isObject(value) && Object.hasOwn(value, segment)) value = value[segment];
    else return undefined;
  }
  return value;
}

function put(root: Json, segments: readonly string[], value: unknown, field: string): void {
  let holder: unknown = root;
  for (const segment of segments.slice(0, -1)) {
    const next: unknown = valueAt(holder, [segment]);
    if (isObject(next) || Array.isArray(next)) holder = next;
    else if (next === undefined && isObject(holder)) holder = holder[segment] = {};
    else throw new NutError("USAGE", `${field}: ${segment} is not a section`, { hint: "nutshell set --help" });
  }
  const last = segments.at(-1)!;
  if (!Array.isArray(holder)) (holder as Json)[last] = value;
  else if (/^\d+$/.test(last) && Number(last) <= holder.length) holder[Number(last)] = value;
  else throw new NutError("USAGE", `${field}: the list has ${holder.length} items`, { hint: "nutshell set --help" });
}

// What follows reads zod's own description of a schema; null stands for "anything goes here".
type Schema = z.ZodType | null;

interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly entries?: Readonly<Record<string, string>>;
}

function definition(schema: z.ZodType): Definition {
  const described = (schema as unknown as { def: Definition }).def;
  return described.innerType === undefined ? described : definition(described.innerType);
}

function schemaAt(root: z.ZodType, segments: readonly string[], field: string): Schema {
  let schema: z.ZodType = root;
  for (const [index, segment] of segments.entries()) {
    const { shape, element, valueType } = definition(schema);
    const fieldNames = shape === undefined ? [] : Object.keys(shape);
    // tags.custom and extensions have no fields of ours: whatever stands below them is the author's.
    if (shape !== undefined && fieldNames.length === 0) return null;
    const next =
      shape === undefined ? (element ?? valueType) : Object.hasOwn(shape, segment) ? shape[segment] : undefined;
    if (next === undefined) throw unknownField(field, segments.slice(0, index).join("."), fieldNames);
    schema = next;
  }
  const { shape } = definition(schema);
  return shape !== undefined && Object.keys(shape).length === 0 ? null : schema;
}

function unknownField(field: string, parent: string, fieldNames: readonly string[]): NutError {
  const where = parent === "" ? "a manifest" : parent;
  const choices = fieldNames.length === 0 ? `${where} holds a plain value` : `${where} has ${fieldNames.join(", ")}`;
  return new NutError("USAGE", `unknown field ${field}: ${choices}`, {
    hint: "fields of your own live under extensions: nutshell set extensions.'<tool>'.'<field>' '<value>'",
    data: { field, known: fieldNames },
  });
}

function appended(old: unknown, words: readonly string[], schema: Schema, field: string): unknown[] {
  const element = schema === null ? null : definition(schema).element;
  if (element === undefined || (old !== undefined && !Array.isArray(old))) {
    throw new NutError("USAGE", `${field} is not a list, so nothing can be appended`, {
      hint: `nutshell set ${field} "<value>"`,
    });
  }
  return [...((old as unknown[] | undefined) ?? []), ...words.map((word) => readOne(word, element, field))];
}

function read(words: readonly string[], schema: Schema, field: string): unknown {
  const element = schema === null ? undefined : definition(schema).element;
  if (element === undefined) {
    if (words.length > 1)
      throw new NutError("USAGE", `${field} takes one value; quote it`, { hint: "nutshell set --help" });
    return readOne(words[0]!, schema, field);
  }
  const [word] = words as [string];
  if (words.length === 1 && word.trim().startsWith("[")) return parseJsonText(word, field);
  const items = words.length > 1 ? words : word.split(",").map((item) => item.trim());
  return items.filter((item) => item !== "").map((item) => readOne(item, element, field));
}

function readOne(word: string, schema: Schema, field: string): unknown {
  if (schema === null) return detect(word, field);
  const { type, entries } = definition(schema);
  if (type === "number" || type === "int") {
    const value = word.trim() === "" ? Number.NaN : Number(word);
    if (!Number.isFinite(value)) throw mistyped(field, `a number, not "${word}"`);
    return value;
  }
  if (type === "boolean") {
    if (word !== "true" && word !== "false") throw mistyped(field, `true or false, not "${word}"`);
    return word === "true";
  }
  if (type === "enum") {
    const choices = Object.values(entries ?? {});
    if (choices.includes(word)) return word;
    const meant = choices.find((choice) => choice === word.trim().toLowerCase());
    throw mistyped(field, `one of ${choices.join(", ")}, not "${word}"`, meant);
  }
  if (type !== "object" && type !== "record") return word;
  if (word.trim().startsWith("{")) return parseJsonText(word, field);
  const names = Object.keys(definition(schema).shape ?? {});
  const example = names.length > 0 ? `${field}.${names[0]}` : `${field}.<name>`;
  throw new NutError("USAGE", `${field} is a section with ${names.join(", ") || "names of its own"}`, {
    hint: `nutshell set ${example} "<value>"`,
  });
}

/** Where no schema tells: numbers and booleans that look like it, JSON, else text. */
function detect(word: string, field: string): unknown {
  if (word === "true" || word === "false") return word === "true";
  if (/^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(word)) return Number(word);
  return /^\s*[[{]/.test(word) ? parseJsonText(word, field) : word;
}

function parseJsonText(word: string, field: string): unknown {
  try {
    return parseJson(word);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw mistyped(field, `JSON when it starts with a bracket; ${error.message}`);
  }
}

function mistyped(field: string, expected: string, meant?: string): NutError {
  const hint = meant === undefined ? "nutshell set --help" : `nutshell set ${field} ${meant}`;
  return new NutError("USAGE", `${field} is ${expected}`, { hint, data: { field } });
}

function assertFits(value: unknown, schema: Schema, field: string): void {
  const parsed = schema?.safeParse(value);
  if (parsed === undefined || parsed.success) return;
  const words = mismatchWords(parsed.error.issues[0]!);
  throw new NutError("USAGE", `${field}: ${words}`, { hint: "nutshell schema manifest", data: { field } });
}
