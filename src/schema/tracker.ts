// `.nexus/state/<harness-id>/agent-tracker.json` and the other files the harness keeps while a session lives.
import { z } from "zod";
import { Timestamp } from "./shared.js";

const DASHED = /^[a-z][a-z0-9-]*$/;
const DASHED_WORDS = "must be lower-case letters, digits and dashes, starting with a letter";

export const HarnessId = z.string().regex(DASHED, DASHED_WORDS);

export const TrackedAgent = z.looseObject({
  harness_id: HarnessId,
  agent_name: z.string().regex(DASHED, DASHED_WORDS).optional().describe("the role"),
  agent_id: z.string().min(1).optional().describe("opaque: compared and shown, never parsed"),
  started_at: Timestamp,
  last_resumed_at: Timestamp.optional(),
  resume_count: z.number().min(0).optional(),
  status: z.enum(["running", "completed"]).optional(),
  stopped_at: Timestamp.optional(),
  last_message: z.string().optional(),
  files_touched: z.array(z.string()).optional(),
});
export type TrackedAgent = z.infer<typeof TrackedAgent>;

export const AgentTracker = z.array(TrackedAgent);
export type AgentTracker = z.infer<typeof AgentTracker>;

const Edit = z.looseObject({ agent_id: z.string(), agent_name: z.string().optional(), at: Timestamp });

export const EditTracker = z.looseObject({ files: z.record(z.string(), z.array(Edit)) });
export type EditTracker = z.infer<typeof EditTracker>;

const Reopening = z.looseObject({ at: Timestamp });

export const ReopenTracker = z.looseObject({
  tasks: z.record(z.string(), z.array(Reopening)),
  issues: z.record(z.string(), z.array(Reopening)),
});
export type ReopenTracker = z.infer<typeof ReopenTracker>;

/** A line of `tool-log.jsonl`. `tool` is an abstract name or a semantic class, never a host's own name. */
export const ToolLogLine = z.looseObject({
  at: Timestamp,
  agent_id: z.string().optional(),
  agent_name: z.string().optional(),
  tool: z.string(),
  path: z.string().optional(),
  ok: z.boolean(),
  error: z.string().optional(),
});
export type ToolLogLine = z.infer<typeof ToolLogLine>;

export const LiveSession = z.looseObject({
  session_id: z.string().min(1),
  started_at: Timestamp,
  /** The process that owns the session, when the host has one we can watch. */
  pid: z.int().optional(),
});
export type LiveSession = z.infer<typeof LiveSession>;
