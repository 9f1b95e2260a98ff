// `--help` for programs: what a command takes, and the JSON Schema of what it prints with `--json`.
import { z } from "zod";
import { JSON_VERSION } from "../version.js";
import { type Command, type CommandEntry, type Flag, globalFlags, type Program } from "./command.js";
import { usage } from "./help.js";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** `nutshell pack --help --json`. */
export function describeCommand(program: Program, entry: CommandEntry, command: Command) {
  return {
    json_version: JSON_VERSION,
    program: program.name,
    command: entry.name,
    summary: entry.summary,
    usage: usage(program, entry, command),
    arguments: command.positionals.map(({ name, about, optional = false, many = false }) => ({
      name,
      about,
      optional,
      many,
    })),
    flags: Object.entries({ ...command.flags, ...globalFlags(command) }).map(([name, flag]) =>
      describeFlag(name, flag),
    ),
    examples: (command.examples ?? []).map(([line, about]) => ({ line, about })),
    /** true: one event a line, each with a `type`, and the answer last. */
    stream: command.stream ?? false,
    /** null: it prints what it is for, not a document. */
    output: outputSchema(program, entry, command),
  };
}

/** `nutshell help --json`. */
export function describeProgram({ name, summary, entries }: Program) {
  return {
    json_version: JSON_VERSION,
    program: name,
    summary,
    commands: entries
      .filter(({ hidden }) => !hidden)
      .map((entry) => ({ name: entry.name, group: entry.group, summary: entry.summary })),
  };
}

/** The schema of a command's `--json`. Its `$id` carries the version: a field may be added to it, never changed. */
export function outputSchema(program: Program, entry: CommandEntry, command: Command): JsonSchema | null {
  const { output } = command;
  if (output === undefined) return null;
  const { $schema, ...shape } = z.toJSONSchema(output, { io: "output", unrepresentable: "any" });
  const words = entry.name.replaceAll(" ", "-");
  return {
    $schema,
    $id: `urn:nutcracker:json:${JSON_VERSION}:${program.name}:${words}`,
    title: `${program.name} ${entry.name} --json`,
    ...shape,
  };
}

function describeFlag(name: string, { about, short, value, many, choices }: Flag) {
  return {
    name: `--${name}`,
    short: short === undefined ? null : `-${short}`,
    value: value ?? null,
    about,
    many: many ?? false,
    choices: choices ?? null,
  };
}
