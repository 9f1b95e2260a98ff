// A run of `nexus run` on disk: `run.json`, what it was started with, and the plan it follows.
import { z } from "zod";
import { type DeepReadonly, Timestamp } from "./shared.js";
import { ReusePolicy } from "./tasks.js";

/** The form in which `run.json` and `journal.jsonl` are written. Older ones are read through src/schema/old/run.ts. */
export const RUN_VERSION = 3;

const amount = z.number().positive();
const absolutePath = z.string().regex(/^(\/|[A-Za-z]:[\\/])/, "must be an absolute path");

export const Budget = z.object({
  timeMs: amount.optional().describe("the whole run, pauses aside"),
  tokens: amount.optional(),
  costUsd: amount.optional(),
  agentMs: amount.describe("one agent session"),
  stallMs: amount.describe("an agent that reports nothing for this long makes no progress"),
  loop: amount.describe("the same tool call this many times in a row is a loop"),
  waitMs: amount.optional().describe("how long a program that is limited or cannot be reached is waited for"),
});
export type Budget = DeepReadonly<z.infer<typeof Budget>>;

/** Written once, so that going on needs no flags. */
export const RunOptions = z
  .object({
    version: z.literal(RUN_VERSION),
    id: z.string().min(1),
    created_at: Timestamp,
    title: z.string(),
    request_id: z.string(),
    request: absolutePath.describe("the bundle or folder it came from"),
    driver: z.string().min(1),
    command: z.string().optional(),
    model: z.string().optional(),
    oracle: absolutePath.optional().describe("for the driver oracle: the known solution"),
    fallback: z
      .array(z.string().min(1))
      .optional()
      .describe("drivers that take over, in this order, when one is limited"),
    reviewer: z.string().min(1).optional().describe("the driver of reviews, when it is another"),
    reviewer_command: z.string().optional(),
    repo: absolutePath.optional(),
    apply_to_branch: z.string().min(1).optional().describe("completed work becomes this branch of the repository"),
    plan: z.string().optional(),
    answer: z.string().min(1).optional().describe("what a person said of an earlier try, told to whoever works"),
    jobs: z.int().min(1).optional(),
    budget: Budget,
    review_plan: z.boolean(),
    yes: z.boolean(),
    force: z.boolean().describe("work on a request that its own check calls incomplete"),
    output: absolutePath,
    identity: z.array(absolutePath).optional(),
    trials: z.int().min(1).optional().describe("how often the acceptance runs base and result"),
    quick: z.boolean().optional().describe("one run each: recorded, not proven"),
    no_sandbox: z.boolean().optional().describe("agents and checks run without bubblewrap"),
    sign: z.boolean().optional().describe("the delivery is signed"),
    sign_key: absolutePath.optional().describe("with this key; else with the person's own"),
    allow_origins: z.array(z.string()).optional().describe("where api_test may ask, by the person's word"),
    allow_install: z.boolean().optional().describe("what the checks need may be installed with the network"),
  })
  .describe("run.json: what a run was started with");
/** What a run is started with, before it is written down. */
export type RunOptions = DeepReadonly<Omit<z.infer<typeof RunOptions>, "version">>;

export const TASK_KINDS = ["work", "verify", "review", "merge", "repair"] as const;
export const TaskKind = z.enum(TASK_KINDS);
export type TaskKind = z.infer<typeof TaskKind>;

const criteria = z.union([z.literal("all"), z.array(z.string())]);

const PlannedTask = z.looseObject({
  id: z.int().positive().optional(),
  title: z.string().min(1),
  context: z.string().min(1).optional(),
  approach: z.string().optional(),
  acceptance: z.string().optional(),
  risk: z.string().optional(),
  deps: z.array(z.int().positive()).default([]),
  owner: z.string().min(1).default("engineer"),
  owner_reuse_policy: ReusePolicy.optional(),
  plan_issue: z.int().positive().optional(),
  kind: z.enum(["work", "verify", "review"]).optional().describe("merges and repairs are added by the run itself"),
  files: z.array(z.string().min(1)).optional().describe("the only paths this task may change"),
  criteria: criteria.optional().describe("criteria that must hold after this task"),
});

/** A plan written by a person (`--plan`) or carried by a request (`extensions.nexus.plan`). */
export const PlanFile = z.looseObject({
  goal: z.string().optional(),
  decisions: z.array(z.string()).default([]),
  issues: z.array(z.looseObject({ title: z.string().min(1), decision: z.string().optional() })).default([]),
  tasks: z.array(PlannedTask).min(1),
});

/** A task as the run works on it: everything a plan may leave out is filled in. */
export const RunTask = z.object({
  id: z.int().positive(),
  title: z.string(),
  context: z.string(),
  approach: z.string().optional(),
  acceptance: z.string().optional(),
  risk: z.string().optional(),
  deps: z.array(z.int().positive()),
  owner: z.string(),
  owner_reuse_policy: ReusePolicy.optional(),
  plan_issue: z.int().optional(),
  kind: TaskKind,
  files: z
    .array(z.string())
    .optional()
    .describe("the only paths the task may change; absent means not known, so it never runs beside another writer"),
  criteria: criteria.optional().describe("criteria the harness runs before the task counts as done"),
});
export type RunTask = DeepReadonly<z.infer<typeof RunTask>>;

export const PLAN_SOURCES = ["file", "request", "default", "lead"] as const;
export type PlanSource = (typeof PLAN_SOURCES)[number];

export const RunPlan = z.object({
  source: z.enum(PLAN_SOURCES),
  goal: z.string(),
  decisions: z.array(z.string()),
  issues: z.array(z.object({ title: z.string(), decision: z.string().optional() })),
  tasks: z.array(RunTask),
});
export type RunPlan = DeepReadonly<z.infer<typeof RunPlan>>;
