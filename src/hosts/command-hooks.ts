// Claude Code and Codex start a command per event and speak the same JSON: payload on stdin, answer on stdout.
// Context counts only inside hookSpecificOutput; Codex refuses any key it does not know, so none is invented.
import type { Caller, LifecycleEvent, ToolUse, UserMessage, Verdict } from "../schema/events.js";
import { type Fields, field, fieldsOf, optionalText, text } from "./fields.js";
import { type HookAnswer, type Host, NO_ANSWER } from "./host.js";

const GATE_EVENT = "PreToolUse";

/** The events we are sent. Names that are absent are none of our business; each host is asked for those it was seen to send. */
export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "SubagentStart",
  "SubagentStop",
  GATE_EVENT,
  "PostToolUse",
  "PostToolUseFailure",
  "PreCompact",
  "SessionEnd",
  "Stop",
  "ConfigChange",
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

export const hookEventsWithout = (...names: readonly HookEvent[]): readonly HookEvent[] =>
  HOOK_EVENTS.filter((event) => !names.includes(event));

export interface Translation {
  /** A host may prefix a role with its plugin's name. */
  readonly role: (name: string) => string;
  readonly toolUse: (name: string, input: unknown) => ToolUse;
  /** What a person typed, where a host puts the text of a skill that was started in its place. */
  readonly typed?: (prompt: string) => Pick<UserMessage, "text" | "loadedSkill">;
}

/** What is the same for every host that starts commands. */
export function commandHost(
  translation: Translation,
): Pick<Host, "toolUse" | "gateEvent" | "otherEvents" | "eventOf" | "decode" | "answer" | "complain"> {
  return {
    toolUse: translation.toolUse,
    gateEvent: GATE_EVENT,
    otherEvents: HOOK_EVENTS.filter((event) => event !== GATE_EVENT),
    eventOf,
    decode: (payload) => decodeHook(payload, translation),
    answer: answerHook,
    complain: (line) => ({ ...NO_ANSWER, stdout: JSON.stringify({ systemMessage: line }) }),
  };
}

function eventOf(payload: unknown): string | undefined {
  const name =
    typeof payload === "object" && payload !== null ? field(payload as Fields, "hook_event_name") : undefined;
  return typeof name === "string" ? name : undefined;
}

function decodeHook(payload: unknown, translation: Translation): LifecycleEvent[] {
  const fields = fieldsOf(payload, "the payload");
  const name = text(fields, "hook_event_name");
  if (!(HOOK_EVENTS as readonly string[]).includes(name)) return [];
  const common = { sessionId: text(fields, "session_id"), cwd: text(fields, "cwd") };
  const event = oneEvent(name, fields, common, translation);
  return event === null ? [] : [event];
}

type Common = { readonly sessionId: string; readonly cwd: string };

function oneEvent(name: string, fields: Fields, common: Common, translation: Translation): LifecycleEvent | null {
  switch (name) {
    case "SessionStart": {
      const source = optionalText(fields, "source") ?? "startup";
      if (source === "compact") return { type: "context_compact", phase: "after", ...common };
      return {
        type: "session_start",
        source: source === "resume" ? "resume" : source === "clear" ? "clear" : "startup",
        ...common,
      };
    }
    case "UserPromptSubmit":
      // Qwen Code asks with every answer of a tool, too: nobody wrote anything then.
      if (field(fields, "prompt") === "") return null;
      return {
        type: "user_message",
        ...typed(optionalText(fields, "prompt") ?? "", translation),
        caller: callerOf(fields, translation),
        ...common,
      };
    case "SubagentStart":
      return {
        type: "subagent_spawn",
        agentId: text(fields, "agent_id"),
        agentName: translation.role(text(fields, "agent_type")),
        ...common,
      };
    case "SubagentStop":
      return subagentStop(fields, common, translation);
    case "PreToolUse":
      return {
        type: "pre_tool_use",
        caller: callerOf(fields, translation),
        tool: toolOf(fields, translation),
        ...common,
      };
    case "PostToolUse":
    case "PostToolUseFailure":
      return postToolUse(name, fields, common, translation);
    case "PreCompact":
      return { type: "context_compact", phase: "before", ...common };
    case "Stop":
      return turnEnd(fields, common);
    case "ConfigChange":
      return { type: "settings_change", ...common };
    default:
      return { type: "session_end", reason: optionalText(fields, "reason") ?? "other", ...common };
  }
}

const typed = (prompt: string, { typed: read }: Translation) => read?.(prompt) ?? { text: prompt };

/** Claude Code's own compaction ends as an agent without a type; that is no agent of ours. */
function subagentStop(fields: Fields, common: Common, { role }: Translation): LifecycleEvent | null {
  const agentId = optionalText(fields, "agent_id");
  const type = optionalText(fields, "agent_type");
  if (agentId === undefined || type === undefined) return null;
  const lastMessage = optionalText(fields, "last_assistant_message");
  return {
    type: "subagent_complete",
    agentId,
    agentName: role(type),
    ...(lastMessage === undefined ? {} : { lastMessage }),
    ...common,
  };
}

/** An agent's turn is none of Lead's. */
function turnEnd(fields: Fields, common: Common): LifecycleEvent | null {
  if (optionalText(fields, "agent_id") !== undefined) return null;
  const background = field(fields, "background_tasks");
  const lastMessage = optionalText(fields, "last_assistant_message");
  return {
    type: "turn_end",
    wentOn: field(fields, "stop_hook_active") === true,
    background: Array.isArray(background) ? background.map((one) => String((one as Fields | null)?.id ?? "")) : null,
    ...(lastMessage === undefined ? {} : { lastMessage }),
    ...common,
  };
}

function postToolUse(name: string, fields: Fields, common: Common, translation: Translation): LifecycleEvent {
  const error =
    name === "PostToolUseFailure" ? errorText(field(fields, "error")) : failure(field(fields, "tool_response"));
  return {
    type: "post_tool_use",
    caller: callerOf(fields, translation),
    tool: toolOf(fields, translation),
    ok: error === null,
    ...(error === null ? {} : { error }),
    ...common,
  };
}

function errorText(error: unknown): string {
  return typeof error === "string" && error !== "" ? error : "failed";
}

function failure(response: unknown): string | null {
  if (typeof response !== "object" || response === null) return null;
  const { isError, is_error, error } = response as { isError?: unknown; is_error?: unknown; error?: unknown };
  if (isError === true || is_error === true) return errorText(error);
  if (typeof error === "object" && error !== null) return errorText((error as { message?: unknown }).message);
  return typeof error === "string" && error !== "" ? error : null;
}

function callerOf(fields: Fields, { role }: Translation): Caller {
  const agentId = optionalText(fields, "agent_id");
  const type = optionalText(fields, "agent_type");
  return { ...(agentId === undefined ? {} : { agentId }), ...(type === undefined ? {} : { agentName: role(type) }) };
}

function toolOf(fields: Fields, { toolUse }: Translation): ToolUse {
  return toolUse(text(fields, "tool_name"), field(fields, "tool_input"));
}

/** Which events take text for the model; elsewhere it would be dropped, or make an agent go on. */
const SPEAKS: ReadonlySet<string> = new Set([
  "SessionStart",
  "UserPromptSubmit",
  "SubagentStart",
  "PreToolUse",
  "PostToolUse",
]);

/** Which events are undone by a no of ours, other than the gate's: the turn goes on, the settings stay. */
const UNDONE: ReadonlySet<string> = new Set(["Stop", "ConfigChange"]);

function answerHook(payload: unknown, verdicts: readonly Verdict[]): HookAnswer {
  const [verdict] = verdicts;
  if (verdict === undefined) return NO_ANSWER;
  const fields = fieldsOf(payload, "the payload");
  const event = text(fields, "hook_event_name");
  const specific = event === GATE_EVENT ? gateOutput(verdict, fields) : contextOutput(event, verdict);
  const message = verdict.warnings.map((line) => `nexus: ${line}`).join("\n");
  const isUndone = verdict.outcome === "deny" && UNDONE.has(event);
  const output = {
    ...(isUndone ? { decision: "block", reason: `nexus: ${verdict.reason ?? "denied"}` } : {}),
    ...(message === "" ? {} : { systemMessage: message }),
    ...(specific === null ? {} : { hookSpecificOutput: { hookEventName: event, ...specific } }),
  };
  return Object.keys(output).length === 0 ? NO_ANSWER : { stdout: JSON.stringify(output), stderr: "", exit: 0 };
}

function gateOutput({ outcome, reason, rewrite, context }: Verdict, fields: Fields): Record<string, unknown> | null {
  if (outcome === "deny")
    return { permissionDecision: "deny", permissionDecisionReason: `nexus: ${reason ?? "denied"}` };
  const input = rewrite === null ? null : { ...fieldsOf(field(fields, "tool_input"), "tool_input"), command: rewrite };
  const parts = {
    ...(input === null ? {} : { permissionDecision: "allow", updatedInput: input }),
    ...(context.length === 0 ? {} : { additionalContext: context.join("\n\n") }),
  };
  return Object.keys(parts).length === 0 ? null : parts;
}

function contextOutput(event: string, { context }: Verdict): Record<string, unknown> | null {
  return SPEAKS.has(event) && context.length > 0 ? { additionalContext: context.join("\n\n") } : null;
}
