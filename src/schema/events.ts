// What passes between hosts, events and the harness. Plain types without zod: the gate process is started for every tool
// call and must not pay for a schema library. tests/hosts hold these shapes against real payloads.

import type { NexusTool } from "./tools.js";

/** What an operation does, in the words of the capability vocabulary. Reading has no class: it is never blocked. */
export const SEMANTIC_CLASSES = [
  "file_creation",
  "file_modification",
  "file_deletion",
  "partial_file_edit",
  "structured_document_edit",
  "nexus_task_creation",
  "nexus_task_state_transition",
  "nexus_task_metadata_modification",
  "shell_command_exec",
  "subprocess_spawn",
  "interactive_shell_session",
] as const;
export type SemanticClass = (typeof SEMANTIC_CLASSES)[number];

export const EVENT_TYPES = [
  "session_start",
  "user_message",
  "subagent_spawn",
  "subagent_complete",
  "pre_tool_use",
  "post_tool_use",
  "session_end",
  "context_compact",
  "turn_end",
  "settings_change",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Who acts. Without an id and a name it is Lead. */
export interface Caller {
  readonly agentId?: string;
  /** As the host names it; may be a catalog role, a host's own agent, or a lie. */
  readonly agentName?: string;
  /** Set where the host does not say who calls: whoever else is at work, and may be the caller as well. */
  readonly beside?: readonly string[];
}

/** What kind of door a tool is. `other` = a tool the host map does not know. */
export type ToolAccess = "read" | "edit" | "shell" | "nexus" | "spawn" | "other";

/** One call of a tool, translated from a host's words. */
export interface ToolUse {
  /** The host's own name; for messages and the harness's own log, never for common state files. */
  readonly name: string;
  readonly access: ToolAccess;
  readonly classes: readonly SemanticClass[];
  /** Abstract name of a Nexus tool (`task_add`), when it is one. */
  readonly nexusTool?: NexusTool;
  /** Files it means to write, as given (relative to cwd, absolute, `~`). Empty for an edit = unknown target. */
  readonly paths: readonly string[];
  readonly command?: string;
  /** An agent is started that nobody waits for. */
  readonly inBackground?: boolean;
  /** What is typed into the command later is shown to no gate. */
  readonly staysOpen?: boolean;
  /** How a whole-file or replace edit would change a text; absent when that cannot be told. */
  readonly change?: TextChange;
}

export type TextChange =
  | { readonly kind: "write"; readonly content: string }
  | { readonly kind: "replace"; readonly steps: readonly ReplaceStep[] };
export interface ReplaceStep {
  readonly from: string;
  readonly to: string;
  readonly all: boolean;
}

interface Common {
  readonly sessionId: string;
  readonly cwd: string;
}

export interface SessionStart extends Common {
  readonly type: "session_start";
  readonly source: "startup" | "resume" | "compact" | "clear";
}
export interface UserMessage extends Common {
  readonly type: "user_message";
  readonly text: string;
  readonly caller: Caller;
  /** A skill the host itself loads for this message (slash command); its body need not be injected again. */
  readonly loadedSkill?: string;
}
export interface SubagentSpawn extends Common {
  readonly type: "subagent_spawn";
  readonly agentId: string;
  readonly agentName: string;
  readonly taskId?: number;
  /** The hand-over text, when the host shows it; a task is recognised by its `TASK:` line. */
  readonly prompt?: string;
}
export interface SubagentComplete extends Common {
  readonly type: "subagent_complete";
  readonly agentId: string;
  readonly agentName: string;
  readonly lastMessage?: string;
  /** When the host or a driver knows; otherwise computed from the edit tracker. */
  readonly filesTouched?: readonly string[];
  /** The harness verifies the work itself afterwards (`nexus run`): completion then never completes a task. */
  readonly verifiedByHarness?: boolean;
  /** Nobody told its end: a person stopped it, and what it was to do is not done. */
  readonly interrupted?: true;
}
export interface PreToolUse extends Common {
  readonly type: "pre_tool_use";
  readonly caller: Caller;
  readonly tool: ToolUse;
}
export interface PostToolUse extends Common {
  readonly type: "post_tool_use";
  readonly caller: Caller;
  readonly tool: ToolUse;
  readonly ok: boolean;
  readonly error?: string;
}
export interface SessionEnd extends Common {
  readonly type: "session_end";
  readonly reason: string;
}
export interface ContextCompact extends Common {
  readonly type: "context_compact";
  /** Only `after` can inject on hosts with commands; OpenCode injects while it compacts. */
  readonly phase: "before" | "after";
}

/** Lead has said its last word for now. */
export interface TurnEnd extends Common {
  readonly type: "turn_end";
  /** It was made to go on already: it may end now, whatever is open. */
  readonly wentOn: boolean;
  /** Ids of what it started that is still at work and will wake it, agents among them; null where the host does not say. */
  readonly background: readonly string[] | null;
  readonly lastMessage?: string;
}
/** The host is about to obey settings other than those the session began with. */
export interface SettingsChange extends Common {
  readonly type: "settings_change";
}

export type LifecycleEvent =
  | SessionStart
  | UserMessage
  | SubagentSpawn
  | SubagentComplete
  | PreToolUse
  | PostToolUse
  | SessionEnd
  | ContextCompact
  | TurnEnd
  | SettingsChange;

/** What a decision means to a host. */
export interface Verdict {
  readonly outcome: "allow" | "deny";
  /** Why not, for the model and the person; null when allowed. */
  readonly reason: string | null;
  /** A command to run in place of the one asked for. */
  readonly rewrite: string | null;
  /** Text for the model. */
  readonly context: readonly string[];
  /** Text for the person. */
  readonly warnings: readonly string[];
}
