import type { z } from "zod";
import type { Operation } from "../operation.js";
import type { Io } from "./io.js";

/** A flag as a person types it. Without `value` it is a switch. */
export interface Flag {
  readonly about: string;
  readonly short?: string;
  /** Placeholder shown in help, such as `<dir>`; its presence makes the flag take a value. */
  readonly value?: string;
  readonly many?: boolean;
  /** Input field it fills; by default the flag's name in camelCase. */
  readonly field?: string;
  readonly choices?: readonly string[];
}

export interface Positional {
  readonly name: string;
  readonly about: string;
  readonly field?: string;
  readonly optional?: boolean;
  readonly many?: boolean;
}

export type Values = Record<string, unknown>;

export interface CommandSpec<Output> {
  readonly positionals?: readonly Positional[];
  readonly flags?: Readonly<Record<string, Flag>>;
  /** Input field that takes everything after `--`. */
  readonly rest?: string;
  /** Paragraphs under the summary in `--help`. */
  readonly about?: readonly string[];
  /** `[command line, what it does]`. */
  readonly examples?: readonly (readonly [string, string])[];
  /** Reshapes typed values into the operation's input, when they are not the same thing. */
  readonly input?: (values: Values) => Values;
  /** What a person reads. Lines are escaped and coloured by the caller. */
  readonly text: (result: Output, view: View) => readonly string[];
  readonly exit?: (result: Output) => number;
  /** The events are the result: with `--json` they go to stdout as JSON Lines, the result last. */
  readonly stream?: boolean;
}

export interface View {
  readonly columns: number;
  readonly quiet: boolean;
}

export interface OperationCommand extends CommandSpec<never> {
  readonly operation: Operation;
}

/** For the few doors that are not one question and one answer: the MCP server, a host's hook, shell completion. */
export interface RawCommand extends Omit<CommandSpec<never>, "text" | "input" | "exit"> {
  /** What it prints with `--json`, when that is a document. */
  readonly output?: z.ZodType;
  run(values: Values, io: Io): Promise<number>;
}

export type Command = OperationCommand | RawCommand;

export function command<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  spec: CommandSpec<z.output<Output>>,
): Command {
  // The table holds commands of every output type; each is only ever called with its own operation's result.
  return { ...spec, operation } as unknown as Command;
}

export function rawCommand(spec: RawCommand): Command {
  return spec;
}

/** A row of a command table. The name may have two words (`catalog list`); `load` keeps start-up small. */
export interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<{ readonly default: Command }>;
  readonly hidden?: boolean;
}

export interface Program {
  readonly name: "nutshell" | "nexus";
  readonly summary: string;
  /** The first commands to try, shown by bare help. */
  readonly start: readonly (readonly [string, string])[];
  readonly entries: readonly Entry[];
}

/** What every command takes. A command whose output is not a document still answers a refusal in JSON. */
export function globalFlags(command: Command): Readonly<Record<string, Flag>> {
  if ("operation" in command || command.output !== undefined) return GLOBAL_FLAGS;
  return { ...GLOBAL_FLAGS, json: { about: "print a refusal as JSON" } };
}

export const GLOBAL_FLAGS: Readonly<Record<string, Flag>> = {
  json: { about: "print the result as JSON" },
  quiet: { short: "q", about: "no progress, only the result" },
  "no-color": { about: "plain text (also: NO_COLOR=1)" },
  help: { short: "h", about: "this page" },
};
