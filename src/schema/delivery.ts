// delivery/result.json: what came back, and how each claim is backed.
import { z } from "zod";
import { BundleId, Sha256, Timestamp } from "./shared.js";

/** Where it is in a delivery. */
export const RESULT_FILE = "delivery/result.json";

export const DELIVERY_STATUSES = ["completed", "partial", "blocked", "failed"] as const;
export const DeliveryStatus = z.enum(DELIVERY_STATUSES);

export const Deliverer = z.looseObject({
  name: z.string().describe("agent or human name"),
  model: z.string().optional(),
  version: z.string().optional(),
  sessions_used: z.int().nonnegative().optional(),
  total_tokens: z.int().nonnegative().optional(),
});

export const Artifacts = z.looseObject({
  files_created: z.array(z.looseObject({ path: z.string(), lines: z.int().nonnegative().optional() })).optional(),
  files_modified: z.array(z.looseObject({ path: z.string(), diff_lines: z.int().nonnegative().optional() })).optional(),
  files_deleted: z.array(z.looseObject({ path: z.string() })).optional(),
  links: z
    .array(z.looseObject({ path: z.string(), target: z.string() }))
    .optional()
    .describe("symbolic links inside the result, which no bundle holds"),
  folders: z
    .array(z.looseObject({ path: z.string() }))
    .optional()
    .describe("empty folders of the result, which no bundle holds"),
});

/**
 * proven: the harness ran it; judged: a reviewer or person said so with evidence; recorded: it was run, but not in a way
 * that proves it; said: only the agent claims it.
 */
export const EVIDENCE = ["proven", "judged", "recorded", "said"] as const;
export type Evidence = (typeof EVIDENCE)[number];

const JUDGED = {
  judged_by: z.string().optional().describe("who judged it: a name anyone can write"),
  judged_at: Timestamp.optional(),
};

export const ChecklistResult = z.looseObject({
  item: z.string(),
  status: z.enum(["passed", "failed", "skipped", "unknown"]),
  evidence: z.enum(EVIDENCE).optional(),
  note: z.string().optional(),
  ...JUDGED,
});

export const CriterionResult = z.looseObject({
  id: z.string(),
  description: z.string().optional(),
  status: z.enum(["passed", "failed", "skipped", "unknown"]),
  evidence: z.enum(EVIDENCE).optional(),
  reason: z.string().optional(),
  ...JUDGED,
  duration_ms: z.number().nonnegative().optional(),
  log: z.string().optional().describe("path of the captured log inside the bundle"),
  proves_nothing: z.boolean().optional().describe("the test also passes on the untouched request"),
});

export const AcceptanceResults = z.looseObject({
  tests_passed: z.int().nonnegative().optional(),
  tests_failed: z.int().nonnegative().optional(),
  tests_skipped: z.int().nonnegative().optional(),
  tests_for_person: z.int().nonnegative().optional().describe("criteria that a person judges"),
  tests_hidden: z.int().nonnegative().optional().describe("hidden checks of the request, which were not run"),
  checklist: z.array(ChecklistResult).optional(),
  criteria: z.array(CriterionResult).optional(),
});

export const ExecutionLog = z.looseObject({
  strategy_used: z.string().optional(),
  checkpoints: z.array(z.looseObject({ at: Timestamp, description: z.string() })).optional(),
  decisions: z.array(z.looseObject({ decision: z.string(), reason: z.string().optional() })).optional(),
  issues_encountered: z.array(z.union([z.string(), z.looseObject({})])).optional(),
  credentials_used: z
    .array(
      z.union([
        z.string(),
        z.looseObject({ name: z.string(), at: Timestamp.optional(), purpose: z.string().optional() }),
      ]),
    )
    .optional()
    .describe("names of credentials handed out; never values"),
  full_log: z.string().optional(),
});

/** Where work in a repository began. */
export const RepositoryBase = z.looseObject({
  remote: z.string().optional().describe("address of the repository, without credentials"),
  branch: z.string().optional(),
  commit: z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/, "must be the full name of a commit"),
  digest: Sha256.optional().describe("digest of the commit's tree, counted as digests.result is"),
});
export type RepositoryBase = z.infer<typeof RepositoryBase>;

export const Delivery = z
  .looseObject({
    nutshell_version: z.string().optional(),
    bundle_type: z.literal("delivery").optional(),
    request_id: BundleId.optional(),
    id: BundleId.optional(),
    parent_id: BundleId.optional(),
    completed_at: Timestamp.optional(),
    deliverer: Deliverer.optional(),
    status: DeliveryStatus,
    completion_percentage: z.number().min(0).max(100).optional(),
    summary: z.string().optional(),
    artifacts: Artifacts.optional(),
    acceptance_results: AcceptanceResults.optional(),
    execution_log: ExecutionLog.optional(),
    tags: z.looseObject({}).optional(),
    base: RepositoryBase.optional().describe("what work in a repository began with"),
    patch: z.string().optional().describe("path of the same work as a mail for git am, inside the bundle"),
    digests: z
      .looseObject({ request: Sha256.optional(), result: Sha256.optional(), tests: Sha256.optional() })
      .optional()
      .describe("content digests of the request, of the result tree and of the tests that were run"),
  })
  .describe("Nutshell v0.2.0 completion manifest, delivery/result.json");

export type Delivery = z.infer<typeof Delivery>;
export type AcceptanceResults = z.infer<typeof AcceptanceResults>;
export type CriterionResult = z.infer<typeof CriterionResult>;
export type ChecklistResult = z.infer<typeof ChecklistResult>;
