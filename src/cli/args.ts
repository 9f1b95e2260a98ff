import type { ParseArgsConfig } from "node:util";
import { NutError, shellWord } from "../errors.js";
import { type Command, type Flag, GLOBAL_FLAGS, type Positional, type Values } from "./command.js";
import { suggest } from "./suggest.js";

export interface Parsed {
  readonly values: Values;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly help: boolean;
  readonly color: boolean;
}

/** Reads a command's arguments. Flags and positionals may stand in any order; anything unknown is refused. */
export function parse(program: string, name: string, argv: readonly string[], command: Command): Parsed {
  const flags: Record<string, Flag> = { ...command.flags, ...GLOBAL_FLAGS };
  const split = command.rest === undefined ? -1 : argv.indexOf("--");
  const own = split < 0 ? argv : argv.slice(0, split);
  // Imported, this module would make all its parts, few of which are ever used, at every start.
  const { tokens } = process.getBuiltinModule("node:util").parseArgs({
    args: [...own],
    options: toOptions(flags),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });

  const values: Values = {};
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind === "option") readFlag(token, { flags, values, program, name });
  }
  if (values.help !== true) {
    const typed = `${program} ${name}`;
    const instead = (word: string) => insteadOf(word, typed, command);
    fillPositionals(words, { positionals: command.positionals, values, command: typed, instead });
  }
  if (command.rest !== undefined && split >= 0) values[command.rest] = argv.slice(split + 1);

  const { json, quiet, help, noColor, ...rest } = values;
  return { values: rest, json: json === true, quiet: quiet === true, help: help === true, color: noColor !== true };
}

type Options = NonNullable<ParseArgsConfig["options"]>;

function toOptions(flags: Readonly<Record<string, Flag>>): Options {
  const options: Options = {};
  for (const [flag, { short, value }] of Object.entries(flags)) {
    options[flag] = { type: value === undefined ? "boolean" : "string", ...(short === undefined ? {} : { short }) };
  }
  return options;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

interface FlagTarget {
  readonly flags: Readonly<Record<string, Flag>>;
  readonly values: Values;
  readonly program: string;
  readonly name: string;
}

function readFlag(token: OptionToken, { flags, values, program, name }: FlagTarget): void {
  const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
  const help = `${program} ${name} --help`;
  if (flag === undefined) {
    const near = suggest(token.name, Object.keys(flags));
    const meant = near === null ? "" : `, did you mean --${near}?`;
    throw new NutError("USAGE", `unknown flag ${token.rawName}${meant}`, { hint: help, data: { flag: token.rawName } });
  }
  if (flag.value === undefined && token.inlineValue === true) {
    throw new NutError("USAGE", `${token.rawName} takes no value`, { hint: help });
  }
  if (flag.value !== undefined && token.value === undefined) {
    throw new NutError("USAGE", `${token.rawName} needs a value: ${token.rawName} ${flag.value}`, { hint: help });
  }
  if (flag.choices !== undefined && token.value !== undefined && !flag.choices.includes(token.value)) {
    throw new NutError("USAGE", `${token.rawName} is one of ${flag.choices.join(", ")}, not "${token.value}"`, {
      hint: help,
    });
  }
  const { field } = flag;
  const value = flag.value === undefined ? true : token.value;
  if (flag.many) values[field] = [...((values[field] as unknown[]) ?? []), value];
  else if (Object.hasOwn(values, field) && flag.value !== undefined) {
    throw new NutError("USAGE", `${token.rawName} is given twice`, { hint: help });
  } else values[field] = value;
}

interface Filling {
  readonly positionals: readonly Positional[];
  readonly values: Values;
  readonly command: string;
  /** What to type instead of a word that has no place. */
  readonly instead: (word: string) => string;
}

function fillPositionals(words: readonly string[], { positionals, values, command, instead }: Filling): void {
  const left = [...words];
  for (const { name, field, optional, many } of positionals) {
    if (many) {
      const rest = left.splice(0);
      if (rest.length === 0 && !optional) throw missing(command, name);
      if (rest.length > 0) values[field] = rest;
    } else {
      const word = left.shift();
      if (word === undefined && !optional) throw missing(command, name);
      if (word !== undefined) values[field] = word;
    }
  }
  if (left.length > 0) {
    throw new NutError("USAGE", `${command} does not take "${left[0]}"`, { hint: instead(shellWord(left[0]!)) });
  }
}

/** A folder where only --dir is taken, and a program where only what follows `--` is, are what people type first. */
function insteadOf(word: string, typed: string, { flags, positionals, rest }: Command): string {
  if (rest !== undefined) return `${typed} [flags] -- ${word}`;
  if (flags.dir !== undefined && positionals.length === 0) return `${typed} --dir ${word}`;
  return `${typed} --help`;
}

function missing(command: string, name: string): NutError {
  return new NutError("USAGE", `${command} needs <${name}>`, { hint: `${command} --help` });
}
