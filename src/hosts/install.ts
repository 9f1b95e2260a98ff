// What living in a host takes, as files: some wholly ours, some a person's with our part in them.
import { readFileSync, statSync } from "node:fs";
import { isSystemError } from "../errors.js";
import type { SemanticClass } from "../schema/events.js";
import { deniedNexusTools } from "../schema/roles.js";
import type { TextEdit } from "./edit/edit.js";
import type { JsonFile, Reader } from "./edit/jsonc.js";
import { finding } from "./here.js";
import { shellQuoted, throughShell } from "./hook-command.js";
import type { Host } from "./host.js";

export type Scope = "user" | "project";

export interface AgentFile {
  readonly id: string;
  readonly description: string;
  /** The prompt, tool names and notes included. */
  readonly prompt: string;
  readonly blocked: readonly SemanticClass[];
  readonly model: string | null;
}

export interface SkillFile {
  readonly id: string;
  readonly description: string;
  readonly prompt: string;
  /** Started by a person only; must not be offered to a model. */
  readonly manual: boolean;
}

export interface InstallInput {
  readonly scope: Scope;
  /** The project, for project scope. */
  readonly root: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agents: readonly AgentFile[];
  readonly skills: readonly SkillFile[];
  /** The words that start the hook, by absolute paths: node and its file, or a single-file nexus and "hook". */
  readonly node: string;
  readonly hook: string;
  /** OpenCode's plugin: where its file is, or its code (which reads __PLACE__) where there is no file. */
  readonly plugin: { readonly path: string } | { readonly code: string };
  /** The words that start the MCP server. */
  readonly server: readonly string[];
  readonly version: string;
  readonly platform: string;
  /** Whether comments may go from a settings file its host would not read otherwise. */
  readonly convert?: boolean;
}

export type InstallFile =
  /** Wholly ours. `isOurs` where nothing holds without it: then a file of the person's of that name is in the way. */
  | { readonly path: string; readonly content: string; readonly isOurs?: (text: string) => boolean }
  /** A person's, with our part. */
  | { readonly path: string; readonly edit: TextEdit };

/** Built-in and Nexus tools a role must not have, by the names they are registered under. */
export function deniedTools(
  host: Host,
  blocked: readonly SemanticClass[],
  toolName: (abstract: string) => string = host.toolName,
): string[] {
  const builtin = blocked.flatMap((one) => host.toolsByClass[one] ?? []);
  const ours = deniedNexusTools({ kind: "role", roles: [], blocked: new Set(blocked) });
  return [...new Set([...builtin, ...ours.map(toolName)])].sort();
}

export function hookCommand(
  { scope, node, hook, platform }: Pick<InstallInput, "scope" | "node" | "hook" | "platform">,
  { name, harnessId }: Pick<Host, "name" | "harnessId">,
  event: string,
): string {
  const rest = { harnessId, event, platform };
  // A person's settings stay on this machine, and may be read by a host with another PATH than theirs.
  if (scope === "user") return throughShell({ words: [node, hook, name, event].map(shellQuoted), ...rest });
  if (platform === "win32") return throughShell({ words: ["nexus", "hook", name, event], ...rest });
  return throughShell({ words: ["hook", name, event], find: finding, ...rest });
}

/** An entry of a hooks list that some version of us wrote. */
export function isOurHook(element: unknown): boolean {
  return (
    typeof element === "object" &&
    element !== null &&
    /(?:hook\/hook\.js|\/nexus[^/' ]*'? hook|\bnutcracker-\w+ hook|"nexus hook)'? (?:claude|codex|qwen|gemini) /.test(
      JSON.stringify(element),
    )
  );
}

/** An entry of a list of servers that some version of us wrote, not a person's own of the same name. */
export function isOurServer(value: unknown): boolean {
  return typeof value === "object" && value !== null && JSON.stringify(value).includes('"NEXUS_HARNESS_ID"');
}

/** How a host reads the settings we write into. */
export function strictFor(reader: Reader, { scope, convert = false }: InstallInput): NonNullable<JsonFile["strict"]> {
  return { reader, convert, consent: `nexus setup ${reader}${scope === "user" ? " --scope user" : ""} --convert` };
}

/** Whether a settings file is new, or has this already: what the host itself adds to one that has not. */
export function isNewOrHas(path: string, text: string): boolean {
  try {
    // What is no file is refused later, and not waited for here.
    return statSync(path).isFile() && readFileSync(path, "utf8").includes(text);
  } catch (error) {
    return isSystemError(error) && error.code === "ENOENT";
  }
}

/** The list of events a command host is asked to send; PreToolUse waits longest, a gate answers within 2 s anyway. */
export function hookLists(
  input: InstallInput,
  host: Pick<Host, "name" | "harnessId">,
  events: readonly string[],
  /** What a second is to the host. */
  second = 1,
): Record<string, unknown> {
  return Object.fromEntries(
    events.map((event) => [
      event,
      {
        ...(event.includes("ToolUse") ? { matcher: "*" } : {}),
        hooks: [
          {
            type: "command",
            command: hookCommand(input, host, event),
            timeout: (event === "SessionEnd" ? 3 : 20) * second,
          },
        ],
      },
    ]),
  );
}

export const MEMORY_TEXT = `## Nexus

This project is worked on with Nexus. Files are edited only while a task list exists.
A person steers with tags in a message: \`[plan]\` to plan, \`[run]\` to carry tasks out, \`[sync]\` to refresh context,
\`[d] text\` to decide an issue, \`[m] text\` to keep a lesson, \`[rule] text\` to keep a rule.
Plans, tasks and history are read and changed only through the Nexus tools, never by editing \`.nexus/state\`.
Project knowledge is in \`.nexus/rules\`, \`.nexus/context\` and \`.nexus/memory\`.`;
