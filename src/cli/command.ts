import type { z } from "zod";
import type { Context, Operation } from "../operation.js";
import { type TypedFields, typedFields } from "./fields.js";
import type { Io } from "./io.js";

/** A flag as a person types it. Without `value` it is a switch. */
export interface Flag {
  readonly about: string;
  readonly short?: string;
  /** Placeholder shown in help, such as `<dir>`; its presence makes the flag take a value. */
  readonly value?: string;
  readonly many?: boolean;
  /** The field it fills. */
  readonly field: string;
  readonly choices?: readonly string[];
}

export interface Positional {
  readonly name: string;
  readonly about: string;
  readonly field: string;
  readonly optional?: boolean;
  readonly many?: boolean;
}

/** What was typed, by field. */
export type Values = Record<string, unknown>;

export interface View {
  readonly columns: number;
  readonly quiet: boolean;
}

export interface Details {
  readonly title: string;
  readonly rows: readonly (readonly [label: string, about: string])[];
}

interface Page {
  /** As it is typed after the program's name; may have two words (`plan start`). */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs under the summary in `--help`. */
  readonly about?: readonly string[];
  /** `[command line, what it does]`. */
  readonly examples?: readonly (readonly [string, string])[];
  /** More about what these arguments name, when they name something. */
  readonly details?: (words: readonly string[]) => Details | null;
  /** The events are the result: with `--json` they go to stdout as JSON Lines, the result last. */
  readonly stream?: boolean;
  /** Works, but help does not list it. */
  readonly hidden?: boolean;
}

/** One thing the product can do and how a person asks for it. Flags are read from `input`: see fields.ts. */
export interface CommandDefinition<Input extends z.ZodObject, Output extends z.ZodType> extends Page {
  readonly input: Input;
  readonly output: Output;
  run(input: z.output<Input>, context: Context): Promise<z.output<Output>>;
  /** What a person reads. Lines are escaped and coloured by the caller, which prints them as they come. */
  readonly text: (result: z.output<Output>, view: View) => Iterable<string>;
  readonly exit?: (result: z.output<Output>) => number;
}

/** For the few commands that are not one question and one answer: a server, a host's hook, shell completion. */
export interface RawDefinition<Input extends z.ZodObject> extends Page {
  readonly input: Input;
  /** What it prints with `--json`, when that is a document. */
  readonly output?: z.ZodType;
  run(input: z.output<Input>, io: Io, asked: Invocation): Promise<number>;
}

/** How a command was asked for, besides its own input. */
export interface Invocation {
  readonly program: Program;
  readonly json: boolean;
  readonly quiet: boolean;
}

export interface AnswerCommand extends Page, TypedFields, Operation {
  readonly kind: "answer";
  readonly input: z.ZodObject;
  // A table holds commands of every kind; each is only ever called with its own result.
  readonly text: (result: never, view: View) => Iterable<string>;
  readonly exit?: (result: never) => number;
}

export interface RawCommand extends Page, TypedFields {
  readonly kind: "raw";
  readonly input: z.ZodObject;
  readonly output?: z.ZodType;
  run(input: never, io: Io, asked: Invocation): Promise<number>;
}

export type Command = AnswerCommand | RawCommand;

/** A command is also an operation: the library offers some of them as functions of an input and a context. */
export function command<Input extends z.ZodObject, Output extends z.ZodType>(
  definition: CommandDefinition<Input, Output>,
): Omit<AnswerCommand, keyof Operation> & Operation<Input, Output> {
  return { kind: "answer", ...typedFields(definition.input), ...definition };
}

export function rawCommand<Input extends z.ZodObject>(definition: RawDefinition<Input>): RawCommand {
  return { kind: "raw", ...typedFields(definition.input), ...definition };
}

/** A row of a command table. The name may have two words (`catalog list`); `load` keeps start-up small. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<Command>;
  readonly hidden?: boolean;
}

export interface Program {
  readonly name: "nutshell" | "nexus";
  readonly summary: string;
  /** The first commands to try, shown by bare help. */
  readonly start: readonly (readonly [string, string])[];
  readonly entries: readonly CommandEntry[];
}

/** What every command takes. A command whose output is not a document still answers a refusal in JSON. */
export function globalFlags(command: Command): Readonly<Record<string, Flag>> {
  if (command.output !== undefined) return GLOBAL_FLAGS;
  return { ...GLOBAL_FLAGS, json: { field: "json", about: "print a refusal as JSON" } };
}

export const GLOBAL_FLAGS: Readonly<Record<string, Flag>> = {
  json: { field: "json", about: "print the result as JSON" },
  quiet: { field: "quiet", short: "q", about: "no progress, only the result" },
  "no-color": { field: "noColor", about: "plain text (also: NO_COLOR=1)" },
  help: { field: "help", short: "h", about: "this page" },
};
