// docs/json.md is written from the commands' output schemas: `npx vitest run tests/docs/json.test.ts -u` after a change.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Command, CommandEntry, Program } from "../../src/cli/command.js";
import { outputSchema } from "../../src/cli/describe.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";
import { JSON_VERSION } from "../../src/version.js";
import { here } from "../run/here.js";
import { call } from "../run/program.js";
import { root } from "./console.js";

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

Version ${JSON_VERSION}. Every command on this page prints one JSON document on standard output; \`nexus run\`, \`nexus resume\`
and \`nexus fleet work\` print one event a line, each with its \`type\`, and the result last; \`nexus fleet logs\` events alone. Within a version fields are added, never renamed, retyped
or taken away. A refusal is \`{"error": {"code", "message", "hint", "data"}}\` on standard error; codes are listed in
\`src/errors.ts\`. Commands that are not here print what they are for: \`exec\` a program's output, \`reveal\` a value,
\`completion\` a script; \`mcp\` and \`hook\` speak to hosts.

The schema of each is in the program itself, its version in the \`$id\`:

\`\`\`console
$ nutshell version --json
{"name":"nutshell","version":"…","json_version":${JSON_VERSION}}
$ nutshell set --help --json
…
  "output": {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:nutcracker:json:${JSON_VERSION}:nutshell:set",
    "title": "nutshell set --json",
…
\`\`\`

Names are in snake case, save where the eleven tools' contract says otherwise. This page is made from the schemas. \`?\` marks a
field that may be absent, \`[]\` a list.
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

interface Answer {
  readonly program: Program;
  readonly entry: CommandEntry;
  readonly command: Command;
  readonly schema: Shape;
}

async function answers(): Promise<Answer[]> {
  const all: Answer[] = [];
  for (const program of [nutshell, nexus]) {
    for (const entry of program.entries) {
      const command = await entry.load();
      const schema = outputSchema(program, entry, command) as Shape | null;
      if (schema !== null) all.push({ program, entry, command, schema });
    }
  }
  return all;
}

function section({ program, entry, schema }: Answer): string[] {
  const defs = schema.$defs ?? {};
  const lines = ["", `## ${program.name} ${entry.name}`, ""];
  if (schema.properties === undefined) lines.push(typeOf(schema, defs, 1));
  for (const [field, one] of Object.entries(schema.properties ?? {})) {
    lines.push(`- \`${field}${schema.required?.includes(field) ? "" : "?"}\`: ${typeOf(one, defs, 1)}`);
  }
  return lines;
}

it("docs/json.md lists the answer of every command", async () => {
  const lines = (await answers()).flatMap(section);
  await expect(`${HEAD}${lines.join("\n")}\n`).toMatchFileSnapshot("../../docs/json.md");
});

/** Names of the shared contract: other harnesses' tools answer with the same ones. */
const CONTRACT: Readonly<Record<string, readonly string[]>> = {
  "nexus plan start": ["issueCount", "previousArchived"],
  "nexus plan decide": ["allComplete"],
  "nexus task close": ["memoryHint", "taskCount", "decisionCount", "hadLoopDetection", "cycleTopics"],
  "nexus context": ["activeMode", "tasksSummary"],
};

function fieldsOf(shape: unknown, found = new Set<string>()): Set<string> {
  if (typeof shape !== "object" || shape === null) return found;
  for (const [key, value] of Object.entries(shape)) {
    if (key === "properties") for (const name of Object.keys(value as object)) found.add(name);
    fieldsOf(value, found);
  }
  return found;
}

it("names every field in snake case, or as the contract does", async () => {
  const others = (await answers()).flatMap(({ program, entry, schema }) => {
    const name = `${program.name} ${entry.name}`;
    const odd = [...fieldsOf(schema)].filter((field) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(field));
    return odd.length === 0 ? [] : [[name, odd]];
  });
  expect(Object.fromEntries(others)).toEqual(CONTRACT);
});

it("gives every schema an id of its own that carries the version", async () => {
  const ids = (await answers()).map(({ schema }) => (schema as { $id?: string }).$id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids)
    expect(id).toMatch(new RegExp(`^urn:nutcracker:json:${JSON_VERSION}:(nutshell|nexus):[a-z-]+$`));
});

describe("what is printed", () => {
  const place = mkdtempSync(join(tmpdir(), "nut-json-"));
  afterAll(() => rmSync(place, { recursive: true, force: true }));
  cpSync(join(root, "examples/1-bug-fix"), join(place, "task"), { recursive: true });
  const start = (line: string) => {
    const [program, ...words] = line.split(" ") as ["nutshell" | "nexus", ...string[]];
    const env = { PATH: process.env.PATH ?? "", HOME: place, TMPDIR: place };
    return (words[0] === "run" ? call : here)(program, place, [...words, "--json"], env);
  };

  it.each([
    "nutshell init other",
    "nutshell check task",
    "nutshell set task.priority high --dir task",
    "nutshell pack --dir task --list",
    "nutshell pack --dir task -o task.nut",
    "nutshell compress --dir task -o small.nut",
    "nutshell unpack task.nut -o work",
    "nutshell inspect task.nut",
    "nutshell validate task.nut",
    "nutshell diff task work",
    "nutshell split --dir task -n 2 -o parts",
    "nutshell accept work --request task.nut",
    "nutshell credentials --dir task",
    "nutshell export task.nut -o page.html",
    "nutshell skill",
    "nexus run task.nut --driver demo --dry-run --budget time=90s,cost=2.5",
    "nexus run task.nut --driver demo -o done.nut",
    "nutshell verify done.nut --request task.nut",
    "nexus runs",
    "nexus drivers",
    "nexus status",
    "nexus plan start topic --issue one --research none",
    "nexus task add one two",
    "nexus task",
    "nexus context",
    "nexus doctor",
    "nexus catalog list",
    "nexus catalog show engineer",
  ])("%s: what its schema says, and nothing else", async (line) => {
    const { stdout, stderr, status } = await start(line);
    expect(status, stderr).toBeLessThan(2);
    const words = line.split(" ");
    const all = await answers();
    const own = (length: number) =>
      all.find(({ program, entry }) => program.name === words[0] && entry.name === words.slice(1, length).join(" "));
    const { command } = (own(3) ?? own(2))!;
    const lines = stdout.trim().split("\n");
    const printed: unknown = JSON.parse(command.stream ? lines.at(-1)! : stdout);
    expect(command.output!.parse(printed)).toEqual(printed);
    if (command.stream) {
      for (const event of lines.slice(0, -1)) {
        expect(event.match(/"[a-z]+[A-Z]\w*":/g)).toBeNull();
        expect(JSON.parse(event)).toMatchObject({ type: expect.stringMatching(/^[a-z_]+$/) });
      }
    }
  });
});
