// The only place where a result becomes output and an exit code.
// stdout carries the result and nothing else; progress, prompts, warnings and errors go to stderr.

import { exitCodeFor, fromSystemError, NutError, shellWord } from "../errors.js";
import type { Context } from "../operation.js";
import { type Mismatch, mismatchWords } from "../schema/mismatch.js";
import { JSON_VERSION, VERSION } from "../version.js";
import { type Parsed, parse } from "./args.js";
import type { AnswerCommand, Command, CommandEntry, Program, Values } from "./command.js";
import { contextOf, type Io } from "./io.js";
import { progressLine } from "./progress.js";
import { Stopped } from "./stopped.js";
import { stoppedBy } from "./stopped-by.js";
import { suggest } from "./suggest.js";
import { jsonText, red, render } from "./text.js";

/** Runs one command line and returns its exit status. Never throws, never exits the process. */
export async function main(program: Program, argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(program, argv, io);
  } catch (error) {
    return report(program, error, io, wantsJson(argv));
  }
}

/** Behind `--` stand another program's flags. */
export function wantsJson(argv: readonly string[]): boolean {
  return argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined).includes("--json");
}

const VERSION_WORDS: ReadonlySet<string> = new Set(["version", "--version", "-v", "-V"]);
const HELP_WORDS: ReadonlySet<string> = new Set(["help", "--help", "-h", "--json"]);

async function dispatch(program: Program, argv: readonly string[], io: Io): Promise<number> {
  const first = argv[0];
  if (first !== undefined && VERSION_WORDS.has(first)) {
    return argv.some((word) => word === "--help" || word === "-h") ? help(program, [], io) : version(program, argv, io);
  }
  if (first === undefined || HELP_WORDS.has(first)) {
    return help(program, first === "--json" ? argv : argv.slice(1), io);
  }
  const { entry, rest } = findEntry(program, argv);
  const command = await entry.load();
  const parsed = parse(program.name, entry.name, rest, command);
  const { values, json, quiet, help: wantsHelp } = parsed;
  if (wantsHelp) return help(program, [...entry.name.split(" "), ...rest, ...(json ? ["--json"] : [])], io);
  const input = command.input.safeParse(values);
  if (!input.success) throw invalidInput(program, entry, { command, values, issues: input.error.issues });
  if (command.kind === "answer") {
    const typed = [program.name, ...argv].map(shellWord).join(" ");
    return answer(program, command, input.data, { ...parsed, io, typed });
  }
  return command.run(input.data as never, io, { json, quiet, program });
}

async function answer(
  program: Program,
  command: AnswerCommand,
  input: Values,
  { json, quiet, color: wantsColor, io, typed }: Parsed & { readonly io: Io; readonly typed: string },
): Promise<number> {
  const color = wantsColor && hasColor(io);
  const line = progressLine(io, { program: program.name, quiet, color: color && io.stderr.isTTY === true });
  const progress: Context["progress"] = (event) => {
    if (!(json && command.stream)) line.show(event);
    // A heartbeat moves a line on a terminal; in a log it says nothing new.
    else if (event.live !== true) io.stdout.write(`${jsonText(event)}\n`);
  };
  const context = contextOf(io, json, progress, typed);
  try {
    const result = await command.run(input, context);
    line.clear();
    if (json) io.stdout.write(`${jsonText(result, command.stream ? undefined : 2)}\n`);
    else {
      print(command.text(result as never, { columns: io.stdout.columns ?? 80, quiet }), color, io);
    }
    return command.exit?.(result as never) ?? 0;
  } finally {
    line.clear();
  }
}

/** Many lines at a time, and never all: a listing may be longer than everything that was read for it. */
function print(lines: Iterable<string>, color: boolean, io: Io): void {
  let text = "";
  for (const line of lines) {
    text += `${render(line, color)}\n`;
    if (text.length < PRINTED_AT_ONCE) continue;
    io.stdout.write(text);
    text = "";
  }
  if (text !== "") io.stdout.write(text);
}

const PRINTED_AT_ONCE = 64 * 1024;

/** `catalog list` wins over `catalog`; a mistyped name suggests the nearest one. */
function findEntry(program: Program, argv: readonly string[]): { entry: CommandEntry; rest: readonly string[] } {
  const two = argv.slice(0, 2).join(" ");
  const entry =
    program.entries.find(({ name }) => name === two) ?? program.entries.find(({ name }) => name === argv[0]);
  if (entry !== undefined) return { entry, rest: argv.slice(entry.name.split(" ").length) };

  const group = program.entries.filter(({ name, hidden }) => !hidden && name.startsWith(`${argv[0]} `));
  if (group.length > 0) {
    const choices = group.map(({ name }) => name.split(" ")[1]).join(", ");
    throw new NutError("USAGE", `${program.name} ${argv[0]} needs one of: ${choices}`, {
      hint: `${program.name} ${group[0]!.name} --help`,
    });
  }
  const known = program.entries.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const near = suggest(argv[0]!, known);
  throw new NutError("USAGE", `unknown command "${argv[0]}"${near === null ? "" : `, did you mean "${near}"?`}`, {
    hint: `${program.name} help`,
  });
}

async function help(program: Program, words: readonly string[], io: Io): Promise<number> {
  // `help version` and `help help` are this very page.
  const names = words.filter((word) => !word.startsWith("-") && word !== "version" && word !== "help");
  if (words.includes("--json")) return describe(program, names, io);
  const { commandHelp, programHelp } = await import("./help.js");
  let lines: string[];
  if (names.length === 0) lines = programHelp(program);
  else {
    const { entry, rest } = findEntry(program, names);
    lines = commandHelp(program, entry, await entry.load(), rest);
  }
  io.stdout.write(`${lines.map((text) => render(text, hasColor(io))).join("\n")}\n`);
  return 0;
}

/** The same page for programs: flags, and the schema of what `--json` prints. */
async function describe(program: Program, names: readonly string[], io: Io): Promise<number> {
  const { describeCommand, describeProgram } = await import("./describe.js");
  const { entry } = names.length === 0 ? { entry: null } : findEntry(program, names);
  const page = entry === null ? describeProgram(program) : describeCommand(program, entry, await entry.load());
  io.stdout.write(`${JSON.stringify(page, null, 2)}\n`);
  return 0;
}

function version(program: Program, argv: readonly string[], io: Io): number {
  const odd = argv.slice(1).find((word) => !["--json", "--quiet", "-q", "--no-color"].includes(word));
  if (odd !== undefined) {
    const what = odd.startsWith("-") ? `unknown flag ${odd}` : `${program.name} version does not take "${odd}"`;
    throw new NutError("USAGE", what, { hint: `${program.name} version` });
  }
  const text = argv.includes("--json")
    ? JSON.stringify({ name: program.name, version: VERSION, json_version: JSON_VERSION })
    : `${program.name} v${VERSION}`;
  io.stdout.write(`${text}\n`);
  return 0;
}

function hasColor(io: Io): boolean {
  if ((io.env.NO_COLOR ?? "") !== "" || io.env.TERM === "dumb") return false;
  return io.stdout.isTTY === true || (io.env.FORCE_COLOR ?? "") !== "";
}

interface Invalid {
  readonly command: Command;
  readonly values: Values;
  readonly issues: readonly Mismatch[];
}

/** Zod's sentences are not for people: name the argument as it is typed, then say what is wrong with it. */
function invalidInput(program: Program, entry: CommandEntry, { command, values, issues }: Invalid): NutError {
  const issue = issues[0]!;
  const field = String(issue.path[0] ?? "");
  const positional = command.positionals.find(({ field: own }) => own === field);
  const flag = Object.entries(command.flags).find(([, { field: own }]) => own === field);
  const label = positional !== undefined ? `<${positional.name}>` : flag !== undefined ? `--${flag[0]}` : field;
  return new NutError("USAGE", `${program.name} ${entry.name}: ${label}: ${inWords(issue, values[field])}`, {
    hint: `${program.name} ${entry.name} --help`,
    data: { issues: issues.map((each) => ({ path: each.path, message: mismatchWords(each) })) },
  });
}

function inWords(issue: Mismatch, given: unknown): string {
  const words = mismatchWords(issue);
  if (words === issue.message) return words;
  if (given === undefined) return "is needed";
  return `${words}${typeof given === "string" ? `, not "${given}"` : ""}`;
}

function report(program: Program, error: unknown, io: Io, json: boolean): number {
  const say = sayer(io);
  if (error instanceof Stopped) say(`${program.name}: stopped at a question`);
  if (io.signal.aborted) return stoppedBy(io.signal.reason);
  if (error instanceof Stopped) return 130;
  const refusal = error instanceof NutError ? error : fromSystemError(error);
  if (refusal !== null) return refuse(program, refusal, io, json);
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { platform, arch, version: node } = process;
  const hint = `this is our mistake; please report it with ${json ? "this line" : "the lines above"} and: ${program.name} ${VERSION}, Node ${node}, ${platform} ${arch}`;
  if (json) io.stderr.write(`${jsonText({ error: { code: "BUG", message: String(error), hint, data: { stack } } })}\n`);
  else {
    for (const text of `${program.name}: ${red("bug:")} ${stack}`.split("\n")) say(text);
    say(`${program.name}: hint: ${hint}`);
  }
  return 70;
}

/** Says why a command could not do what was asked, and gives its exit status. */
export function refuse(program: Program, refusal: NutError, io: Io, json: boolean): number {
  const { code, message, hint, data } = refusal;
  if (json) io.stderr.write(`${jsonText({ error: { code, message, hint, data } })}\n`);
  else {
    const say = sayer(io);
    say(`${program.name}: ${red("error:")} ${message}`);
    say(`${program.name}: hint: ${hint}`);
  }
  return exitCodeFor(refusal);
}

function sayer(io: Io): (text: string) => void {
  const color = hasColor(io) && io.stderr.isTTY === true;
  return (text) => void io.stderr.write(`${render(text, color)}\n`);
}
