// The shapes Claude Code and Codex send and accept, one input and one output per event. The hook process itself reads
// payloads by hand, because it must start fast; tests hold it, and recorded payloads, against these.
import { z } from "zod";

const common = { session_id: z.string().min(1), cwd: z.string().min(1), transcript_path: z.string().nullish() };
const caller = { agent_id: z.string().optional(), agent_type: z.string().optional() };
const tool = { ...caller, tool_name: z.string().min(1), tool_input: z.unknown(), tool_use_id: z.string().optional() };
const input = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.looseObject({ ...common, hook_event_name: z.literal(name), ...shape });

/** What a host sends. Fields we do not know are tolerated. */
export const HookInput = z.discriminatedUnion("hook_event_name", [
  input("SessionStart", { source: z.enum(["startup", "resume", "compact", "clear"]) }),
  input("UserPromptSubmit", { ...caller, prompt: z.string() }),
  input("SubagentStart", { agent_id: z.string(), agent_type: z.string() }),
  input("SubagentStop", {
    agent_id: z.string().optional(),
    agent_type: z.string().optional(),
    stop_hook_active: z.boolean().optional(),
    last_assistant_message: z.string().nullish(),
  }),
  input("PreToolUse", tool),
  input("PostToolUse", { ...tool, tool_response: z.unknown() }),
  input("PostToolUseFailure", { ...tool, error: z.string() }),
  input("PreCompact", { trigger: z.enum(["auto", "manual"]) }),
  input("SessionEnd", { reason: z.string() }),
  input("Stop", {
    stop_hook_active: z.boolean(),
    last_assistant_message: z.string().nullish(),
    background_tasks: z.array(z.unknown()).optional(),
  }),
  input("ConfigChange", { source: z.string(), file_path: z.string().optional() }),
]);
export type HookInput = z.infer<typeof HookInput>;

const message = { systemMessage: z.string().min(1).optional() };
const undone = z.strictObject({
  ...message,
  decision: z.literal("block").optional(),
  reason: z.string().min(1).optional(),
});
const context = <Name extends string>(name: Name) =>
  z.strictObject({
    ...message,
    hookSpecificOutput: z
      .strictObject({ hookEventName: z.literal(name), additionalContext: z.string().min(1) })
      .optional(),
  });

/** What we answer, closed: Codex refuses an answer with any other key. */
export const HookOutput = {
  SessionStart: context("SessionStart"),
  UserPromptSubmit: context("UserPromptSubmit"),
  SubagentStart: context("SubagentStart"),
  PostToolUse: context("PostToolUse"),
  PreToolUse: z.strictObject({
    ...message,
    hookSpecificOutput: z.union([
      z.strictObject({
        hookEventName: z.literal("PreToolUse"),
        permissionDecision: z.literal("deny"),
        permissionDecisionReason: z.string().min(1),
      }),
      z.strictObject({
        hookEventName: z.literal("PreToolUse"),
        permissionDecision: z.literal("allow"),
        updatedInput: z.record(z.string(), z.unknown()),
      }),
    ]),
  }),
  PostToolUseFailure: z.strictObject(message),
  SubagentStop: z.strictObject(message),
  PreCompact: z.strictObject(message),
  SessionEnd: z.strictObject(message),
  Stop: undone,
  ConfigChange: undone,
} as const;
