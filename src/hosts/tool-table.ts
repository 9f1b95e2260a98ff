// One row per built-in tool of a host: what it is, what it does to files, where its arguments say so.
import type { ReplaceStep, SemanticClass, TextChange, ToolAccess, ToolUse } from "../schema/events.js";
import { nexusToolUse } from "../schema/roles.js";
import { isNexusTool, type NexusTool } from "../schema/tools.js";
import { type Fields, field } from "./fields.js";
import { foreignUse } from "./foreign-tools.js";

export interface ToolRow {
  readonly access: ToolAccess;
  readonly classes?: readonly SemanticClass[];
  /** Argument that holds a path. */
  readonly path?: string;
  /** Argument that holds patch text, which names its files. */
  readonly patch?: string;
  readonly command?: string;
  /** What is typed into it later is shown to no gate. */
  readonly staysOpen?: boolean;
  readonly change?: (input: Fields) => TextChange | undefined;
}

export type ToolTable = Readonly<Record<string, ToolRow>>;

export const READ: ToolRow = { access: "read" };
export const SHELL: ToolRow = {
  access: "shell",
  classes: ["shell_command_exec", "subprocess_spawn"],
  command: "command",
};

/** A shell that may stay open. */
export const OPEN_SHELL: ToolRow = {
  ...SHELL,
  classes: ["shell_command_exec", "subprocess_spawn", "interactive_shell_session"],
};

/** Writes a whole file; `path` is the argument that names it. */
export const writeRow = (path: string): ToolRow => ({
  access: "edit",
  classes: ["file_creation", "file_modification"],
  path,
  change: (input) => writeChange(input, "content"),
});

/** Replaces text in a file, which can empty it too; `names` are its arguments. */
export const replaceRow = (path: string, names: ReplaceNames): ToolRow => ({
  access: "edit",
  classes: ["file_modification", "partial_file_edit", "file_deletion", "structured_document_edit"],
  path,
  change: (input) => replaceChange(input, names),
});

/** Translates a call. `abstract` is our own tool's name when `name` is one of them. */
export function translate(name: string, args: unknown, table: ToolTable, abstract: NexusTool | null): ToolUse {
  if (abstract !== null) return nexusToolUse(name, abstract);
  const row = Object.hasOwn(table, name) ? table[name] : undefined;
  const input = typeof args === "object" && args !== null && !Array.isArray(args) ? (args as Fields) : {};
  if (row === undefined) return foreignUse(name, input);
  const command = row.command === undefined ? undefined : commandOf(field(input, row.command));
  const change = row.change?.(input);
  return {
    name,
    access: row.access,
    classes: row.classes ?? [],
    paths: pathsOf(row, input),
    ...(command === undefined ? {} : { command }),
    ...(row.staysOpen === true ? { staysOpen: true } : {}),
    ...(change === undefined ? {} : { change }),
  };
}

function pathsOf({ path, patch }: ToolRow, input: Fields): string[] {
  const single = path === undefined ? undefined : field(input, path);
  if (typeof single === "string" && single !== "") return [single];
  const text = patch === undefined ? undefined : field(input, patch);
  return typeof text === "string" ? patchedFiles(text) : [];
}

/** Hosts send a command as text or as a list of words. */
function commandOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return undefined;
  const [shell, flag, script] = value as string[];
  if (value.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(shell!) && /^-[a-z]*c$/.test(flag!)) return script;
  return value.map((word) => `'${String(word).replaceAll("'", "'\\''")}'`).join(" ");
}

/** Files named in an apply_patch text or in a unified diff. */
export function patchedFiles(patch: string): string[] {
  const files = new Set<string>();
  for (const [, inPatch, inDiff] of patch.matchAll(
    /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$|^(?:---|\+\+\+) (?:[ab]\/)?([^\t\n]+)/gm,
  )) {
    const name = (inPatch ?? inDiff)!.trim();
    if (name !== "/dev/null") files.add(name);
  }
  return [...files];
}

/** The arguments that say what is replaced, by what, and whether everywhere. */
export interface ReplaceNames {
  readonly from: string;
  readonly to: string;
  readonly all: string;
}

export function replaceChange(input: Fields, names: ReplaceNames): TextChange | undefined {
  const step = stepOf(input, names);
  return step === null ? undefined : { kind: "replace", steps: [step] };
}

export function stepOf(
  input: Fields,
  { from, to, all }: { from: string; to: string; all: string },
): ReplaceStep | null {
  const before = field(input, from);
  const after = field(input, to);
  if (typeof before !== "string" || typeof after !== "string") return null;
  return { from: before, to: after, all: field(input, all) === true };
}

export function writeChange(input: Fields, content: string): TextChange | undefined {
  const value = field(input, content);
  return typeof value === "string" ? { kind: "write", content: value } : undefined;
}

/** Class → the built-in tools that do it. */
export function byClass(table: ToolTable): Partial<Record<SemanticClass, string[]>> {
  const tools: Partial<Record<SemanticClass, string[]>> = {};
  for (const [name, { classes = [] }] of Object.entries(table)) {
    for (const one of classes) {
      tools[one] ??= [];
      tools[one].push(name);
    }
  }
  return tools;
}

/** The abstract name behind a registered one, however the host prefixed it; null when it is not ours. */
export function abstractName(name: string, prefix: RegExp): NexusTool | null {
  const match = prefix.exec(name);
  const rest = match === null ? "" : name.slice(match[0].length);
  return isNexusTool(rest) ? rest : null;
}
