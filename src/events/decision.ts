// What an event leads to. Deciding is separate from doing: `decide` returns effects, the harness applies them.
import type { Verdict } from "../schema/events.js";

export type Effect =
  /** Folders, .gitignore, this harness's empty tracker. `reset` starts the tracker anew. */
  | { readonly type: "open_session"; readonly sessionId: string; readonly reset: boolean }
  /** `last` also deletes what belongs to the session only. */
  | { readonly type: "close_session"; readonly sessionId: string; readonly last: boolean }
  | { readonly type: "set_skill"; readonly skill: string; readonly mode: string | null }
  | {
      readonly type: "start_agent";
      readonly agentId: string;
      readonly agentName: string;
      readonly taskId: number | null;
    }
  | { readonly type: "resume_agent"; readonly agentId: string }
  | {
      readonly type: "complete_agent";
      readonly agentId: string;
      readonly lastMessage: string | null;
      readonly filesTouched: readonly string[];
    }
  | { readonly type: "link_task"; readonly agentId: string; readonly taskId: number }
  | { readonly type: "set_task"; readonly taskId: number; readonly status: "in_progress" | "completed" }
  | { readonly type: "log_tool"; readonly entry: ToolLogEntry; readonly hostTool: string }
  | {
      readonly type: "record_edits";
      readonly paths: readonly string[];
      readonly agentId: string | null;
      readonly agentName: string | null;
    }
  /** Remembers which open tasks Lead was told of. */
  | { readonly type: "tell_open"; readonly open: string }
  /** Records an agent's start, and how settings are, where no agent works. `held`: it may not edit. */
  | { readonly type: "watch_agent"; readonly agentId: string; readonly agentName: string; readonly held: boolean }
  /** Puts back what of the settings was changed since, and forgets the record. */
  | { readonly type: "check_settings"; readonly agentId: string; readonly agentName: string }
  /** Keeps the tree as it is before an agent that may not change it. */
  | { readonly type: "take_snapshot"; readonly agentId: string }
  /** Compares with the snapshot; `revert` puts back what this agent changed. */
  | { readonly type: "compare_tree"; readonly agentId: string; readonly agentName: string; readonly revert: boolean }
  | { readonly type: "decide_issue"; readonly issueId: number | null; readonly text: string }
  | { readonly type: "store_memory"; readonly text: string }
  | { readonly type: "collect_memory" }
  | { readonly type: "store_rule"; readonly tag: string; readonly text: string };

/** One line of tool-log.jsonl. `tool` is an abstract name or a semantic class, never a host's name. */
export interface ToolLogEntry {
  readonly agent_id?: string;
  readonly agent_name?: string;
  readonly tool: string;
  readonly path?: string;
  readonly ok: boolean;
  readonly error?: string;
}

export interface Decision extends Verdict {
  readonly effects: readonly Effect[];
}

export function allow(parts: Partial<Omit<Decision, "outcome" | "reason">> = {}): Decision {
  return { outcome: "allow", reason: null, rewrite: null, context: [], warnings: [], effects: [], ...parts };
}

export function deny(reason: string): Decision {
  return { ...allow(), outcome: "deny", reason };
}
