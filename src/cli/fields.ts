// How the fields of a command's input are typed. The schema is the only place where a flag is written down: its name,
// its words for `--help`, its choices and whether it may be repeated are all read from there.
// This file is parsed at every start, so it reads schemas without loading the library that makes them.
import type { z } from "zod";
import { shellWord } from "../errors.js";
import type { Flag, Positional } from "./command.js";

interface FlagWords {
  /** What it does, in a few words. */
  readonly about: string;
  /** Placeholder shown in help, such as `<dir>`. Everything but a switch has one. */
  readonly value?: string;
  readonly short?: string;
  /** As it is typed, when that is not the field's own name: `after` for `deps`. */
  readonly name?: string;
}

interface PositionalWords {
  readonly about: string;
  /** As help shows it, when that is not the field's own name. */
  readonly name?: string;
}

type Typed =
  | ({ readonly kind: "flag" } & FlagWords)
  | ({ readonly kind: "positional" } & PositionalWords)
  | { readonly kind: "rest" };

const typed = new WeakMap<z.ZodType, Typed>();

/** A field that is given as `--name`. Wraps the whole schema, `.optional()` and `.default()` included. */
export function flag<Schema extends z.ZodType>(schema: Schema, words: FlagWords): Schema {
  return mark(schema, { kind: "flag", ...words });
}

/** A field that is given by its place. Positionals stand in the order of the schema's fields. */
export function positional<Schema extends z.ZodType>(schema: Schema, words: PositionalWords): Schema {
  return mark(schema, { kind: "positional", ...words });
}

/** The field that takes every word after `--`. */
export function rest<Schema extends z.ZodType>(schema: Schema): Schema {
  return mark(schema, { kind: "rest" });
}

/** A copy, since one schema may be typed differently in two commands. */
function mark<Schema extends z.ZodType>(schema: Schema, words: Typed): Schema {
  const copy = schema.clone() as Schema;
  typed.set(copy, words);
  return copy;
}

export interface TypedFields {
  readonly positionals: readonly Positional[];
  readonly flags: Readonly<Record<string, Flag>>;
  readonly rest?: string;
}

/** What a person can type to fill this schema. Fields that are not marked cannot be typed. */
export function typedFields(input: z.ZodObject): TypedFields {
  const positionals: Positional[] = [];
  const flags: Record<string, Flag> = {};
  let restField: string | undefined;
  for (const [field, schema] of Object.entries(input.shape)) {
    const words = typed.get(schema as z.ZodType);
    const { optional, many, choices, isSwitch } = shapeOf(schema as z.ZodType);
    if (words?.kind === "rest") restField = field;
    if (words?.kind === "positional") {
      positionals.push({
        name: words.name ?? field,
        field,
        about: words.about,
        ...(optional ? { optional } : {}),
        ...(many ? { many } : {}),
      });
    }
    if (words?.kind === "flag") {
      const { about, value, short } = words;
      if (isSwitch === (value !== undefined))
        throw new TypeError(`${field}: a switch has no placeholder, a value has one`);
      flags[words.name ?? kebab(field)] = {
        about,
        field,
        ...(value === undefined ? {} : { value }),
        ...(short === undefined ? {} : { short }),
        ...(many ? { many } : {}),
        ...(choices === undefined ? {} : { choices }),
      };
    }
  }
  return { positionals, flags, ...(restField === undefined ? {} : { rest: restField }) };
}

/** The flags of an input as they would be typed again, each with a space before it. What is off or empty is left out. */
export function flagWords(schema: z.ZodObject, input: object, without: readonly string[] = []): string {
  return Object.entries(typedFields(schema).flags)
    .filter(([, { field }]) => !without.includes(field))
    .flatMap(([name, { field }]) => {
      const value: unknown = (input as Readonly<Record<string, unknown>>)[field];
      if (value === undefined || value === false) return [];
      return value === true ? [` --${name}`] : [value].flat().map((one) => ` --${name} ${shellWord(String(one))}`);
    })
    .join("");
}

interface Shape {
  readonly optional: boolean;
  readonly many: boolean;
  readonly isSwitch: boolean;
  readonly choices?: readonly string[];
}

/** What is inside `.optional()`, `.default()`, `.transform()` and lists. */
function shapeOf(schema: z.ZodType): Shape {
  let optional = false;
  let many = false;
  let def = inside(schema);
  for (;;) {
    if (def.type === "optional" || def.type === "default" || def.type === "prefault") {
      optional = true;
      def = inside(def.innerType);
    } else if (def.type === "pipe") def = inside(def.in);
    else if (def.type === "array") {
      many = true;
      def = inside(def.element);
    } else break;
  }
  const choices = def.type === "enum" ? Object.values(def.entries).map(String) : undefined;
  return { optional, many, isSwitch: def.type === "boolean", ...(choices === undefined ? {} : { choices }) };
}

const inside = (schema: z.core.$ZodType) => (schema as z.core.$ZodTypes)._zod.def;

/** `dryRun` → `dry-run`. */
function kebab(field: string): string {
  return field.replace(/_/g, "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
