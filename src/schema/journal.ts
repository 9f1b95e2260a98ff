// `journal.jsonl` of a run: what happened in it, one record per line. The first line names the version of both files.
import { z } from "zod";
import { CriterionResult, DeliveryStatus, RepositoryBase } from "./delivery.js";
import { RUN_VERSION, RunPlan, RunTask } from "./run.js";
import { type DeepReadonly, Sha256, Timestamp } from "./shared.js";

const TaskId = z.int().positive();
/** Older versions wrote what the wall clock said, which may be negative. */
const ms = z.number();
/** The name of a folder in the run's own folder, so it must not lead anywhere else. */
const AgentId = z.string().regex(/^[^/\\\0]+-\d+$/, "must be a name and a number, such as engineer-1");

/** Below the tree it belongs to, whatever a damaged line says. */
const TreePath = z
  .string()
  .refine((path) => !path.includes("\0") && path.split("/").every((part) => !["", ".", ".."].includes(part)));

const TreeEntry = z.object({
  type: z.enum(["file", "link", "folder", "other"]),
  executable: z.boolean(),
  size: z.int().nonnegative(),
  hash: z.string().regex(/^([0-9a-f]{64})?$/, "must be 64 hex digits"),
});

const TreeChange = z.object({
  path: TreePath,
  kind: z.enum(["created", "modified", "deleted"]),
  before: TreeEntry.nullable(),
  after: TreeEntry.nullable(),
});

export const AgentUsage = z.object({ tokens: z.number(), costUsd: z.number() });
export type AgentUsage = DeepReadonly<z.infer<typeof AgentUsage>>;

export const AgentStart = z.object({
  agent: AgentId,
  task: z.int().nonnegative().describe("0 while it plans"),
  role: z.string(),
  purpose: z.enum(["work", "diagnose", "plan"]),
  mode: z.enum(["fresh", "resume"]),
  reason: z.string().describe("why this session is new or an old one continued"),
  session: z.string().optional().describe("the session that is continued"),
  base: z.int().nonnegative().describe("version of the main tree it started from"),
  slot: z.string(),
  home: AgentId.optional().describe("whose home it lives in, when it continues a session"),
});
export type AgentStart = DeepReadonly<z.infer<typeof AgentStart>>;

/** A checklist item as a reviewer judged it. */
export const ItemJudgement = z.object({
  item: z.string(),
  status: z.enum(["passed", "failed", "unknown"]),
  note: z.string().optional(),
});
export type ItemJudgement = DeepReadonly<z.infer<typeof ItemJudgement>>;

const Decision = z.object({ decision: z.string(), reason: z.string().optional() });

/** What whoever checks says of the whole. */
export const ReviewVerdict = z.enum(["pass", "fail"]);
export type ReviewVerdict = z.infer<typeof ReviewVerdict>;

/** What kept a session from its work, when the work is not to blame. */
export const TroubleKind = z.enum(["login", "limit", "overload", "transport", "session", "model"]);

export const AgentTrouble = z.object({
  kind: TroubleKind,
  message: z.string(),
  retryAfterMs: z.number().nonnegative().optional().describe("how long the vendor asks to be left alone"),
});
export type AgentTrouble = DeepReadonly<z.infer<typeof AgentTrouble>>;

export const AgentEnd = z.object({
  agent: AgentId,
  task: z.int().nonnegative(),
  outcome: z.enum(["done", "failed", "stopped"]),
  text: z.string(),
  ms,
  usage: AgentUsage,
  changes: z.array(TreeChange).describe("what it left behind, kept in the run's objects"),
  problems: z.array(z.string()).describe("what is wrong with it, before any test is run"),
  tools: z.array(z.string()),
  reported: z.boolean(),
  structured: z.literal(true).optional().describe("what it says came in fields, not in words"),
  decisions: z.array(Decision),
  issues: z.array(z.string()),
  judgements: z.array(ItemJudgement),
  verdict: ReviewVerdict.optional().describe("absent when nothing could be read as one"),
  withoutTools: z.literal(true).optional().describe("its program never asked which tools of ours there are"),
  trouble: AgentTrouble.optional().describe("it was stopped by this, which costs no try"),
});
export type AgentEnd = DeepReadonly<z.infer<typeof AgentEnd>>;

/** What to do with a task that failed for good: try again, or deliver without it. */
export const TaskAnswer = z.enum(["retry", "deliver"]);
export type TaskAnswer = z.infer<typeof TaskAnswer>;

const count = z.int().nonnegative();

/** What the harness's own acceptance came to, without the output, which is kept in log files. */
export const AcceptedReport = z.object({
  verdict: z.enum(["passed", "failed", "incomplete"]),
  counts: z.object({ passed: count, failed: count, skipped: count, unknown: count, proven: count }),
  results: z.array(CriterionResult.extend({ type: z.string() })),
  changes: z.array(
    z.object({
      path: TreePath,
      kind: z.enum(["created", "modified", "deleted"]),
      lines: count,
      diffLines: count,
      link: z.literal(true).optional(),
      target: z.string().optional().describe("where a link inside the tree leads"),
      folder: z.literal(true).optional().describe("an empty folder"),
    }),
  ),
  digests: z.object({ result: Sha256, tests: Sha256 }),
  compared: z.boolean(),
  guardsOnly: z.boolean().optional().describe("nothing is proven and nothing broke"),
  forPerson: z.array(z.string()).optional().describe("criteria a person judges"),
  awaitsJudgement: z.boolean().optional().describe("all that can be run is backed; the rest is for somebody to judge"),
  sandboxed: z.boolean(),
  trials: count.optional().describe("how often each check ran on base and result"),
  warnings: z.array(z.string()),
});
export type AcceptedReport = DeepReadonly<z.infer<typeof AcceptedReport>>;

function recordOf<Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return z.object({ at: Timestamp, type: z.literal(type), ...shape });
}

export const JournalRecord = z
  .discriminatedUnion("type", [
    recordOf("created", { version: z.literal(RUN_VERSION), run: z.string() }),
    recordOf("opened", { digest: Sha256, base: Sha256, repository: RepositoryBase.optional() }),
    recordOf("planned", { plan: RunPlan }),
    recordOf("reviewed", {}),
    recordOf("agent_started", AgentStart.shape),
    recordOf("agent_session", { agent: AgentId, session: z.string(), model: z.string().optional() }),
    recordOf("agent_ended", AgentEnd.shape),
    recordOf("task_added", { task: RunTask, for: TaskId.optional() }),
    recordOf("merging", { task: TaskId, agent: AgentId, changes: z.array(TreeChange) }),
    recordOf("merged", { task: TaskId, agent: AgentId }),
    recordOf("task_completed", { task: TaskId, evidence: z.string() }),
    recordOf("task_failed", { task: TaskId, problems: z.array(z.string()) }),
    recordOf("diagnosed", { task: TaskId, role: z.string(), text: z.string() }),
    recordOf("asked", { task: TaskId, question: z.string() }),
    recordOf("answered", { task: TaskId, answer: TaskAnswer, text: z.string().optional() }),
    recordOf("issue", { message: z.string(), task: z.int().nonnegative().optional() }),
    recordOf("checkpoint", { task: TaskId, path: TreePath, description: z.string() }),
    recordOf("credential_used", { name: z.string(), purpose: z.string(), agent: AgentId }),
    recordOf("waiting", {
      program: z.string(),
      trouble: TroubleKind,
      message: z.string(),
      ms: z.number().nonnegative().describe("how long it is waited before the next session"),
    }),
    recordOf("switched", {
      from: z.string(),
      to: z.string(),
      command: z.string().optional(),
      model: z.string().optional(),
      reason: z.string(),
    }),
    recordOf("paused", { reason: z.string(), message: z.string(), hint: z.string(), ms }),
    recordOf("continued", {}),
    recordOf("accepted", { attempt: z.int().positive(), versions: count, report: AcceptedReport }),
    recordOf("delivered", { path: z.string(), hash: Sha256, status: DeliveryStatus, ms }),
    recordOf("closed", {}),
  ])
  .describe("one line of journal.jsonl");
export type JournalRecord = DeepReadonly<z.infer<typeof JournalRecord>>;
