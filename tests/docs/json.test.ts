// docs/json.md is written from the operations' output schemas: `npx vitest run tests/docs/json.test.ts -u` after a change.
import { expect, it } from "vitest";
import { z } from "zod";
import type { Program } from "../../src/cli/command.js";
import { program as nexus } from "../../src/cli/nexus/program.js";
import { program as nutshell } from "../../src/cli/nutshell/program.js";

interface Shape {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Shape>>;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
}

const HEAD = `# What \`--json\` prints

Version 1. Every command on this page prints one JSON document on standard output; \`nexus run\` and \`nexus resume\`
print one event a line and the result last. Within a version fields are added, never renamed, retyped or taken away. A refusal is
\`{"error": {"code", "message", "hint", "data"}}\` on standard error; codes are listed in \`src/errors.ts\`.

This page is made from the output schemas of the operations. \`?\` marks a field that may be absent, \`[]\` a list.
`;

function typeOf(shape: Shape, defs: Readonly<Record<string, Shape>>, depth: number): string {
  if (shape.$ref !== undefined) {
    const target = defs[shape.$ref.replace("#/$defs/", "")];
    return target === undefined ? "object" : typeOf(target, defs, depth);
  }
  const choices = shape.anyOf ?? shape.oneOf;
  if (choices !== undefined) return [...new Set(choices.map((one) => typeOf(one, defs, depth)))].join(" or ");
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum !== undefined) return shape.enum.map((one) => JSON.stringify(one)).join(" or ");
  if (shape.items !== undefined) return `${typeOf(shape.items, defs, depth)}[]`;
  if (shape.properties !== undefined && depth > 0) {
    const fields = Object.entries(shape.properties).map(
      ([name]) => `${name}${shape.required?.includes(name) ? "" : "?"}`,
    );
    return `{${fields.join(", ")}}`;
  }
  return shape.type === undefined ? "any" : [shape.type].flat().join(" or ");
}

async function section({ name, entries }: Program): Promise<string[]> {
  const lines: string[] = [];
  for (const entry of entries) {
    const { default: command } = await entry.load();
    if (!("operation" in command)) continue;
    const shape = z.toJSONSchema(command.operation.output, { io: "output", unrepresentable: "any" }) as Shape;
    const defs = shape.$defs ?? {};
    lines.push("", `## ${name} ${entry.name}`, "");
    if (shape.properties === undefined) lines.push(typeOf(shape, defs, 1));
    for (const [field, one] of Object.entries(shape.properties ?? {})) {
      lines.push(`- \`${field}${shape.required?.includes(field) ? "" : "?"}\`: ${typeOf(one, defs, 1)}`);
    }
  }
  return lines;
}

it("docs/json.md lists the answer of every command", async () => {
  const lines = [...(await section(nutshell)), ...(await section(nexus))];
  await expect(`${HEAD}${lines.join("\n")}\n`).toMatchFileSnapshot("../../docs/json.md");
});
