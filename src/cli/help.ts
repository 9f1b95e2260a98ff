import { type Command, type CommandEntry, type Flag, globalFlags, type Program } from "./command.js";
import { bold, cyan, dim, table, wrap } from "./text.js";

const COLUMNS = 80;

/** True for every command; docs/ci.md has the same table, and a test compares them. */
export const EXIT_STATUS: readonly (readonly [status: string, meaning: string])[] = [
  ["0", "done, or the answer is yes"],
  ["1", "the answer is no: not ready, not valid, not verified, refused by a rule"],
  ["2", "it could not be done or found out; the hint says what to do"],
  ["70", "our mistake; please report it"],
  ["130", "stopped by Ctrl-C, also at a question"],
  ["129", "stopped because its terminal was closed (SIGHUP)"],
  ["143", "stopped by SIGTERM"],
  ["141", "stopped at work because nobody read its output any more (SIGPIPE)"],
];

/** `nutshell help`: what it is, what to try first, every command by group. */
export function programHelp(program: Program): string[] {
  const lines = [`${bold(program.name)}: ${program.summary}`, "", bold("Start here")];
  lines.push(...table(program.start.map(([line, about]) => [`  ${cyan(line)}`, dim(about)])));
  for (const [group, entries] of byGroup(program.entries)) {
    lines.push("", bold(group));
    lines.push(...table(entries.map((entry) => [`  ${entry.name}`, entry.summary])));
  }
  lines.push(
    "",
    `${program.name} <command> --help shows flags and examples; every command takes --json`,
    `${program.name} <command> --help --json shows the schema of what it prints then`,
    "",
    bold("Exit status"),
    ...table(EXIT_STATUS.map(([status, meaning]) => [`  ${status}`, meaning])),
  );
  return lines;
}

/** `nutshell pack --help`. */
export function commandHelp(
  program: Program,
  entry: CommandEntry,
  command: Command,
  words: readonly string[] = [],
): string[] {
  const lines = [
    `${bold(`${program.name} ${entry.name}`)}: ${entry.summary}`,
    "",
    `  ${usage(program, entry, command)}`,
  ];
  for (const paragraph of command.about ?? []) lines.push("", ...wrap(paragraph, COLUMNS));
  if (command.examples !== undefined && command.examples.length > 0) {
    lines.push("", bold("Examples"));
    for (const [line, about] of command.examples) lines.push(`  ${cyan(line)}`, `      ${dim(about)}`);
  }
  const { positionals } = command;
  if (positionals.length > 0) {
    lines.push("", bold("Arguments"), ...rows(positionals.map(({ name, about }) => [`  <${name}>`, about] as const)));
  }
  const details = command.details?.(words) ?? null;
  if (details !== null) {
    lines.push("", bold(details.title), ...rows(details.rows.map(([label, about]) => [`  ${label}`, about] as const)));
  }
  const flags = Object.entries({ ...command.flags, ...globalFlags(command) });
  lines.push(
    "",
    bold("Flags"),
    ...rows(flags.map(([name, flag]) => [flagLabel(name, flag), flagAbout(flag)] as const)),
  );
  return lines;
}

export function usage(program: Program, entry: CommandEntry, { positionals, flags, rest }: Command): string {
  const words = positionals.map(({ name, optional, many }) => {
    const word = `<${name}>${many ? "…" : ""}`;
    return optional ? `[${word}]` : word;
  });
  const tail = rest === undefined ? [] : ["--", "<command>…"];
  return [program.name, entry.name, ...words, ...(Object.keys(flags).length === 0 ? [] : ["[flags]"]), ...tail].join(
    " ",
  );
}

function flagLabel(name: string, { short, value, many }: Flag): string {
  const letter = short === undefined ? "    " : `-${short}, `;
  return `  ${letter}--${name}${value === undefined ? "" : ` ${value}`}${many ? "…" : ""}`;
}

function flagAbout({ about, choices, many }: Flag): string {
  const again = many ? "; may be given again" : "";
  return `${choices === undefined ? about : `${about} (${choices.join(", ")})`}${again}`;
}

/** Two columns within 80; a label too long for its column stands on a line of its own. */
function rows(pairs: readonly (readonly [string, string])[]): string[] {
  const column = Math.min(30, Math.max(...pairs.map(([label]) => label.length)) + 2);
  return pairs.flatMap(([label, about]) => {
    const body = wrap(about, COLUMNS, " ".repeat(column));
    if (label.length + 2 > column) return [label, ...body];
    return [label + (body[0] ?? "").slice(label.length), ...body.slice(1)];
  });
}

function byGroup(entries: readonly CommandEntry[]): Map<string, CommandEntry[]> {
  const groups = new Map<string, CommandEntry[]>();
  for (const entry of entries) {
    if (entry.hidden) continue;
    const group = groups.get(entry.group);
    if (group === undefined) groups.set(entry.group, [entry]);
    else group.push(entry);
  }
  return groups;
}
