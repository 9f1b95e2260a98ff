// nutshell.json: the entry point of every bundle. Only four fields are required; unknown ones are kept everywhere.
import { z } from "zod";
import { AcceptanceResults, Artifacts, Deliverer, DeliveryStatus, ExecutionLog } from "./delivery.js";
import { HiddenSummary } from "./hidden.js";
import { ROOM_PLACES } from "./places.js";
import { BundleId, Sha256, Timestamp } from "./shared.js";

export const BUNDLE_TYPES = ["request", "delivery", "template", "checkpoint", "partial"] as const;
export const PRIORITIES = ["critical", "high", "medium", "low"] as const;
export const AGENT_TYPES = ["research", "planning", "execution", "review"] as const;
export const STRATEGIES = ["one-shot", "incremental", "parallel"] as const;
export const COMPLETENESS = ["draft", "incomplete", "ready"] as const;
export const COMPRESSIONS = ["gzip", "zstd", "none"] as const;
export const ENCRYPTIONS = ["age", "sops", "vault", "none"] as const;

const path = () => z.string().min(1);

export const TreeRow = z.looseObject({
  path: path().describe("path inside the bundle"),
  size: z.int().nonnegative().describe("size in bytes"),
  hash: Sha256.optional(),
  executable: z.boolean().optional().describe("whether it may be run; for systems whose disks do not say"),
  role: z.string().optional().describe("what the file is for: scaffold, reference, specification…"),
});

export const CredentialScope = z.looseObject({
  name: z.string().min(1).describe("the credential's name in the vault"),
  type: z.string().min(1).describe("postgresql, bearer_token, ssh_key…"),
  access_level: z.string().optional().describe("read, read-write, invoke…"),
  rate_limit: z.string().optional().describe("such as 100/min"),
  expires_at: Timestamp.optional(),
});

export const InstallStep = z.looseObject({
  path: path().describe("a lock file of the tree, or a script of the request"),
  reads: z.array(path()).optional().describe("paths, folders (vendor/) and patterns it needs besides"),
  network: z.boolean().optional().describe("false: it needs none, and gets none"),
});

export const Manifest = z
  .looseObject({
    nutshell_version: z
      .string()
      .regex(/^\d+\.\d+\.\d+/, "must be a version such as 0.2.0")
      .describe("version of the Nutshell format, such as 0.2.0"),
    bundle_type: z.enum(BUNDLE_TYPES).describe("request: work to do; delivery: work done"),
    id: BundleId,
    parent_id: BundleId.optional().describe("the bundle this one follows from"),
    created_at: Timestamp.optional(),
    expires_at: Timestamp.optional().describe("deadline"),
    task: z
      .looseObject({
        title: z.string().optional().describe("what to do, in one line"),
        summary: z.string().optional().describe("what to do, in a paragraph"),
        priority: z.enum(PRIORITIES).optional(),
        estimated_effort: z.string().optional().describe("ISO 8601 duration (PT8H) or free text (8h)"),
      })
      .optional(),
    tags: z
      .looseObject({
        skills_required: z.array(z.string()).optional(),
        domains: z.array(z.string()).optional(),
        data_sources: z.array(z.string()).optional(),
        custom: z.looseObject({}).optional().describe("anything of your own"),
        skills_used: z.array(z.string()).optional(),
        tools_used: z.array(z.string()).optional(),
        complexity_actual: z.string().optional(),
      })
      .optional(),
    publisher: z
      .looseObject({
        name: z.string().optional().describe("person or agent"),
        contact: z.string().optional(),
        tool: z.string().optional().describe("the tool that made this bundle"),
        public_key: z.string().optional().describe("Ed25519 public key (hex) that signs credential rotations"),
      })
      .optional(),
    context: z
      .looseObject({
        requirements: path().optional().describe("path of the requirements document"),
        architecture: path().optional(),
        references: path().optional(),
        additional: z.array(path()).optional(),
      })
      .optional(),
    files: z
      .looseObject({
        total_count: z.int().nonnegative().optional(),
        total_size_bytes: z.int().nonnegative().optional(),
        tree: z.array(TreeRow).optional().describe("every file; filled in by pack"),
      })
      .optional(),
    apis: z
      .looseObject({
        endpoints_spec: path().optional(),
        base_urls: z.record(z.string(), z.string()).optional(),
        auth_method: z.string().optional(),
        credential_ref: path().optional().describe("path of the vault that holds the credential"),
      })
      .optional(),
    credentials: z
      .looseObject({
        vault: path().optional(),
        encryption: z.enum(ENCRYPTIONS).optional(),
        scopes: z.array(CredentialScope).optional().describe("what the vault gives access to; never the values"),
        binding: z.string().optional().describe("digest of the checks the vault serves; the vault holds the same"),
      })
      .optional(),
    acceptance: z
      .looseObject({
        criteria_file: path().optional(),
        test_scripts: z.array(path()).optional(),
        auto_verifiable: z.boolean().optional(),
        checklist: z.array(z.string()).optional().describe("what done looks like"),
        subject: z
          .array(path())
          .optional()
          .describe("paths, folders (src/) and patterns that are the work; by default all but tests and settings"),
        controls: z
          .array(z.looseObject({ name: z.string().min(1), files: z.record(path(), path()) }))
          .optional()
          .describe("wrong tests, which right work must fail: path in the tree to path in the request"),
        hidden: HiddenSummary.optional(),
        places: z
          .partialRecord(z.enum(ROOM_PLACES), path().nullable())
          .optional()
          .describe(
            "absolute names of the tree in rooms and for agents, such as /app: path in the tree, or null for an empty folder",
          ),
        install: z
          .array(z.union([path(), InstallStep]))
          .optional()
          .describe("what the checks need installed: lock files (package-lock.json…) and scripts, in order"),
      })
      .optional(),
    harness: z
      .looseObject({
        agent_type_hint: z.enum(AGENT_TYPES).optional(),
        context_budget_hint: z
          .number()
          .min(0)
          .max(1)
          .optional()
          .describe("share of the context window to fill, 0 to 1"),
        execution_strategy: z.enum(STRATEGIES).optional(),
        checkpoints: z.boolean().optional(),
        constraints: z.array(z.string()).optional().describe("what the agent must not do"),
      })
      .optional(),
    resources: z
      .looseObject({
        repos: z
          .array(z.looseObject({ url: z.string(), branch: z.string().optional(), relevance: z.string().optional() }))
          .optional(),
        docs: z.array(z.looseObject({ url: z.string(), title: z.string().optional() })).optional(),
        images: z.array(z.looseObject({ path: path(), description: z.string().optional() })).optional(),
        links: z.array(z.looseObject({ url: z.string(), title: z.string().optional() })).optional(),
      })
      .optional(),
    completeness: z
      .looseObject({
        status: z.enum(COMPLETENESS),
        missing: z.array(z.string()).optional(),
        warnings: z.array(z.string()).optional(),
      })
      .optional(),
    compression: z
      .looseObject({
        algorithm: z.enum(COMPRESSIONS).optional(),
        original_size_bytes: z.int().nonnegative().optional(),
        compressed_size_bytes: z.int().nonnegative().optional(),
        context_tokens_estimate: z.int().nonnegative().optional(),
      })
      .optional(),
    extensions: z.looseObject({}).optional().describe("platform integrations, one key each"),
    // A delivery may carry its result here as well as in delivery/result.json.
    request_id: BundleId.optional().describe("the request a delivery answers"),
    completed_at: Timestamp.optional(),
    deliverer: Deliverer.optional(),
    status: DeliveryStatus.optional(),
    completion_percentage: z.number().min(0).max(100).optional(),
    summary: z.string().optional(),
    artifacts: Artifacts.optional(),
    acceptance_results: AcceptanceResults.optional(),
    execution_log: ExecutionLog.optional(),
  })
  .describe("Nutshell v0.2.0 manifest");

export type Manifest = z.infer<typeof Manifest>;
export type TreeRow = z.infer<typeof TreeRow>;
export type CredentialScope = z.infer<typeof CredentialScope>;
