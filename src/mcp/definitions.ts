// How the eleven tools are listed to a model. Made from the operations when the product is built (tool-list.json), because
// a host waits for this list each time it starts, and building it costs more than everything else the start does.
import { z } from "zod";
import type { Tool } from "../tools/tool.js";
import { tools } from "../tools/tools.js";
import { PREFIX } from "./prefix.js";

export interface ToolListing {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  readonly annotations: Readonly<Record<string, boolean>>;
}

type Schema = { type: "object" } & Record<string, unknown>;

export function toolList(): ToolListing[] {
  return tools.map(listing);
}

function listing({ name, summary, guidance, input, output, readOnly, destructive, idempotent }: Tool): ToolListing {
  return {
    name: `${PREFIX}${name}`,
    description: guidance === "" ? summary : `${summary}. ${guidance}`,
    inputSchema: compact(z.toJSONSchema(input, { io: "input" })) as Schema,
    outputSchema: shallow(compact(z.toJSONSchema(output, { io: "output" })) as Schema),
    annotations: {
      readOnlyHint: readOnly,
      ...(readOnly ? {} : { destructiveHint: destructive, idempotentHint: idempotent }),
      openWorldHint: false,
    },
  };
}

/** Every listed word is paid for in every session: what a model does not need to fill in a call is left out. */
const LEFT_OUT = new Set(["$schema", "propertyNames", "pattern", "format", "minLength"]);

function compact(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(compact);
  if (typeof schema !== "object" || schema === null) return schema;
  const node = schema as Record<string, unknown>;
  const { anyOf, ...rest } = node;
  if (Array.isArray(anyOf)) return { ...(compact(rest) as object), ...oneType(anyOf) };
  const kept = Object.entries(node).filter(
    ([key, value]) =>
      !LEFT_OUT.has(key) && !isSafeIntegerBound(value) && !(key === "additionalProperties" && !hasType(value)),
  );
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === "properties" ? mapValues(value as object, compact) : compact(value)]),
  );
}

/** `3` or `"3"` is listed as a whole number; something or null as both types at once. */
function oneType(branches: readonly { type?: unknown }[]): object {
  if (branches.some(({ type }) => type === "integer")) return { type: "integer" };
  const [first, ...others] = branches.map((branch) => compact(branch) as Record<string, unknown>);
  if (others.some(({ type }) => type === "null")) {
    const values = Array.isArray(first!.enum) ? { enum: [...first!.enum, null] } : {};
    return { ...first, ...values, type: [first!.type, "null"] };
  }
  return { anyOf: [first, ...others] };
}

/** Results explain themselves: a task or an issue inside one is listed by its type alone. */
function shallow(schema: Schema): Schema {
  const flatten = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(flatten);
    if (typeof node !== "object" || node === null) return node;
    const { description: _, ...rest } = node as Record<string, unknown>;
    if (rest.properties !== undefined && "title" in (rest.properties as object)) return { type: "object" };
    return mapValues(rest, flatten);
  };
  return { ...schema, properties: mapValues(schema.properties as object, flatten) } as Schema;
}

function mapValues(object: object, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** `additionalProperties` says something only when it names a type. */
function hasType(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value;
}

function isSafeIntegerBound(value: unknown): boolean {
  return value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER;
}
