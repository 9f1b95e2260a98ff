// Shell completion, generated from the command tables: a static script, so that a key press never starts Node.
import { z } from "zod";
import { type Flag, GLOBAL_FLAGS, rawCommand } from "../../cli/command.js";
import { positional } from "../../cli/fields.js";
import { NutError } from "../../errors.js";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

interface Word {
  readonly name: string;
  readonly about: string;
}

interface FlagWord extends Word {
  readonly short: string | undefined;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** One row per command: its words, its flags. */
interface CompletionRow extends Word {
  readonly flags: readonly FlagWord[];
}

export default rawCommand({
  name: "completion",
  summary: "teach bash, zsh or fish the commands",
  input: z.object({ shell: positional(z.string(), { about: `one of ${SHELLS.join(", ")}` }) }),
  about: ["Prints a script that teaches a shell to complete commands and flags."],
  examples: [
    ['eval "$(nutshell completion bash)"', "in ~/.bashrc; zsh the same in ~/.zshrc"],
    ["nutshell completion fish > ~/.config/fish/completions/nutshell.fish", "fish"],
  ],
  async run({ shell }, io, { program }) {
    if (!isShell(shell)) {
      throw new NutError("USAGE", `completion is for ${SHELLS.join(", ")}, not "${shell}"`, {
        hint: "nutshell completion bash",
      });
    }
    const rows: CompletionRow[] = [];
    for (const entry of program.entries) {
      if (entry.hidden === true) continue;
      const { flags } = await entry.load();
      rows.push({ name: entry.name, about: entry.summary, flags: flagWords(flags) });
    }
    io.stdout.write(`${SCRIPTS[shell](program.name, [...rows, ...BUILT_IN]).join("\n")}\n`);
    return 0;
  },
});

const isShell = (word: string): word is Shell => (SHELLS as readonly string[]).includes(word);

const BUILT_IN: readonly CompletionRow[] = [
  { name: "help", about: "what it can do", flags: [] },
  { name: "version", about: "which version this is", flags: [] },
];

function flagWords(flags: Readonly<Record<string, Flag>>): FlagWord[] {
  return Object.entries({ ...flags, ...GLOBAL_FLAGS }).map(([name, flag]) => ({
    name,
    about: flag.about,
    short: flag.short,
    takesValue: flag.value !== undefined,
    choices: flag.choices ?? [],
  }));
}

const SCRIPTS: Readonly<Record<Shell, (program: string, rows: readonly CompletionRow[]) => string[]>> = {
  bash,
  zsh,
  fish,
};

/** Inside single quotes of any of the three shells. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const firstWords = (rows: readonly CompletionRow[]) => [...new Set(rows.map(({ name }) => name.split(" ")[0]!))];

/** `catalog` → list, show: what may stand as the second word. */
function secondWords(rows: readonly CompletionRow[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name } of rows) {
    const [first, second] = name.split(" ") as [string, string?];
    if (second !== undefined) found.set(first, [...(found.get(first) ?? []), second]);
  }
  return found;
}

function bash(program: string, rows: readonly CompletionRow[]): string[] {
  const flagList = ({ flags }: CompletionRow) =>
    flags.flatMap(({ name, short }) => [`--${name}`, ...(short ? [`-${short}`] : [])]);
  const choices = rows.flatMap(({ flags }) => flags.filter((flag) => flag.choices.length > 0));
  return [
    `_${program}() {`,
    `  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} first=\${COMP_WORDS[1]} second=\${COMP_WORDS[2]}`,
    "  COMPREPLY=()",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W ${quoted(firstWords(rows).join(" "))} -- "$word")); return`,
    "  fi",
    '  if [ "$COMP_CWORD" -eq 2 ]; then case "$first" in',
    ...[...secondWords(rows)].map(
      ([first, seconds]) =>
        `    ${first}) COMPREPLY=($(compgen -W ${quoted(seconds.join(" "))} -- "$word")); [ -n "$COMPREPLY" ] && return ;;`,
    ),
    "    *) ;;",
    "  esac; fi",
    '  case "$before" in',
    ...choices.map(
      (flag) => `    --${flag.name}) COMPREPLY=($(compgen -W ${quoted(flag.choices.join(" "))} -- "$word")); return ;;`,
    ),
    "    *) ;;",
    "  esac",
    `  if [ "\${word#-}" != "$word" ]; then`,
    '    case "$first $second" in',
    // Two-word commands first, so that `catalog list` is not taken for `catalog`.
    ...[...rows]
      .sort((a, b) => b.name.split(" ").length - a.name.split(" ").length)
      .map((row) => {
        const pattern = row.name.includes(" ") ? `${quoted(row.name)}` : `${row.name}" "*`;
        return `      ${pattern}) COMPREPLY=($(compgen -W ${quoted(flagList(row).join(" "))} -- "$word")) ;;`;
      }),
    "    esac",
    "    return",
    "  fi",
    '  COMPREPLY=($(compgen -f -- "$word"))',
    "}",
    `complete -o filenames -F _${program} ${program}`,
  ];
}

function zsh(program: string, rows: readonly CompletionRow[]): string[] {
  const item = (name: string, about: string) => quoted(`${name.replaceAll(":", "\\:")}:${about}`);
  const seconds = secondWords(rows);
  const about = new Map(rows.map((row) => [row.name, row.about]));
  return [
    `#compdef ${program}`,
    `_${program}() {`,
    "  local -a words_here",
    "  if (( CURRENT == 2 )); then",
    `    words_here=(${firstWords(rows)
      .map((name) => item(name, about.get(name) ?? ""))
      .join(" ")})`,
    "    _describe command words_here; return",
    "  fi",
    "  if (( CURRENT == 3 )); then case $words[2] in",
    ...[...seconds].map(
      ([first, names]) =>
        `    ${first}) words_here=(${names.map((name) => item(name, about.get(`${first} ${name}`) ?? "")).join(" ")}); _describe command words_here ;;`,
    ),
    "    *) ;;",
    "  esac; fi",
    "  if [[ $words[CURRENT] == -* ]]; then",
    '    case "$words[2] $words[3]" in',
    ...[...rows]
      .sort((a, b) => b.name.split(" ").length - a.name.split(" ").length)
      .map((row) => {
        const pattern = row.name.includes(" ") ? quoted(row.name) : `${row.name}" "*`;
        const flags = row.flags.map((flag) => item(`--${flag.name}`, flag.about)).join(" ");
        return `      ${pattern}) words_here=(${flags}); _describe flag words_here ;;`;
      }),
    "    esac",
    "    return",
    "  fi",
    "  _files",
    "}",
    // Sourced by eval, or loaded from fpath: both must work.
    `if [ "$funcstack[1]" = "_${program}" ]; then _${program} "$@"; elif (( $+functions[compdef] )); then compdef _${program} ${program}; fi`,
  ];
}

function fish(program: string, rows: readonly CompletionRow[]): string[] {
  const seconds = secondWords(rows);
  const about = new Map(rows.map((row) => [row.name, row.about]));
  // fish keeps a backslash before a quote; everything else in single quotes is literal.
  const text = (words: string) => `'${words.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const seen = (name: string) =>
    name
      .split(" ")
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and ");
  return [
    ...firstWords(rows).map(
      (name) => `complete -c ${program} -n __fish_use_subcommand -a ${name} -d ${text(about.get(name) ?? "")}`,
    ),
    ...[...seconds].flatMap(([first, names]) =>
      names.map(
        (name) =>
          `complete -c ${program} -n ${text(seen(first))} -a ${name} -d ${text(about.get(`${first} ${name}`) ?? "")}`,
      ),
    ),
    ...rows.flatMap(({ name, flags }) =>
      flags.map((flag) => {
        const short = flag.short === undefined ? "" : ` -s ${flag.short}`;
        const value = flag.takesValue
          ? flag.choices.length > 0
            ? ` -x -a ${text(flag.choices.join(" "))}`
            : " -r"
          : "";
        return `complete -c ${program} -n ${text(seen(name))} -l ${flag.name}${short}${value} -d ${text(flag.about)}`;
      }),
    ),
  ];
}
