// The nexus-core 0.7 data: agents, skills, vocabulary, manifest.json; and the project's .nexus/config.yml.
// Objects are loose: a newer minor version may add fields, and they are kept.
import { z } from "zod";
import { Sha256 } from "./shared.js";

/** Also the name of a folder, so nothing that could climb out of one. */
export const CatalogId = z.string().regex(/^[a-z][a-z0-9-]*$/, "must be lower-case letters, digits and dashes");
const VocabularyId = z.string().regex(/^[a-z][a-z0-9_:-]*$/, "must be lower-case letters, digits, _ : or -");
const Line = z.string().min(1);

export const MODEL_TIERS = ["high", "standard"] as const;
export const ModelTier = z.enum(MODEL_TIERS);

export const AgentMeta = z
  .looseObject({
    name: Line,
    description: Line.describe("one line: when to choose this role"),
    task: Line.describe("the kinds of work it takes"),
    alias_ko: Line.optional(),
    category: VocabularyId.describe("an id of categories.yml"),
    resume_tier: VocabularyId.describe("an id of resume-tiers.yml"),
    model_tier: ModelTier,
    capabilities: z.array(VocabularyId).describe("ids of capabilities.yml: what the role is denied"),
    id: CatalogId.optional().describe("the folder's name when absent"),
  })
  .describe("agents/<id>/meta.yml");

export const SkillMeta = z
  .looseObject({
    name: Line,
    description: Line,
    summary: Line.optional(),
    manual_only: z.boolean().optional().describe("only a person may start it; never offered to a model"),
    harness_docs_refs: z.array(Line).optional().describe("topics the harness explains when the skill is active"),
    id: CatalogId.optional().describe("the folder's name when absent"),
  })
  .describe("skills/<id>/meta.yml");

export const Capability = z.looseObject({
  id: VocabularyId,
  description: Line,
  intent: Line,
  blocks_semantic_classes: z.array(Line).min(1),
  prose_guidance: Line,
});

export const Category = z.looseObject({ id: VocabularyId, description: Line });
export const ResumeTier = z.looseObject({ id: VocabularyId, description: Line });

export const Tag = z
  .looseObject({
    id: VocabularyId,
    trigger: z.string().regex(/^\[[^[\]]+\]$/, "must be a word in brackets"),
    type: z.enum(["skill", "inline_action"]),
    skill: CatalogId.optional().describe("for type skill"),
    handler: Line.optional().describe("for type inline_action"),
    description: Line,
    variants: z.array(Line).optional().describe("suffixes after a colon; * means any"),
  })
  .refine((tag) => (tag.type === "skill" ? tag.skill : tag.handler) !== undefined, {
    message: "a skill tag needs skill, an inline action needs handler",
  });

export const VOCABULARY_FILES = {
  capabilities: "capabilities.yml",
  categories: "categories.yml",
  resume_tiers: "resume-tiers.yml",
  tags: "tags.yml",
} as const;

export const Vocabulary = z.looseObject({
  capabilities: z.array(Capability),
  categories: z.array(Category),
  resume_tiers: z.array(ResumeTier),
  tags: z.array(Tag),
});

/** One vocabulary file holds one of the lists. */
export const VocabularyFile = z
  .union([
    z.looseObject({ capabilities: z.array(Capability) }),
    z.looseObject({ categories: z.array(Category) }),
    z.looseObject({ resume_tiers: z.array(ResumeTier) }),
    z.looseObject({ tags: z.array(Tag) }),
  ])
  .describe("a file of vocabulary/");

export const AgentEntry = AgentMeta.extend({ id: CatalogId, body_hash: Sha256 });
export const SkillEntry = SkillMeta.extend({ id: CatalogId, body_hash: Sha256 });

export const CoreManifest = z
  .looseObject({
    nexus_core_version: Line,
    nexus_core_commit: Line,
    schema_contract_version: Line,
    agents: z.array(AgentEntry),
    skills: z.array(SkillEntry),
    vocabulary: Vocabulary,
  })
  .describe("manifest.json of a nexus-core folder");

const ModelNames = z.strictObject({ high: Line.optional(), standard: Line.optional() });

const HERE = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** https, or plain http to this machine; nothing secret in it, since the file is in git. */
function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && HERE.test(hostname));
}

export const NOTICES = ["question", "pause", "end"] as const;
export type Notice = (typeof NOTICES)[number];

export const NotifyTarget = z.strictObject({
  url: Line.refine(isAddress, "must be https (or http to this machine), without a name or password in it"),
  format: z.enum(["json", "ntfy"]).default("json").describe("a document for a webhook, or text for an ntfy topic"),
  on: z
    .array(z.enum(NOTICES))
    .min(1)
    .default([...NOTICES]),
});
export type NotifyTarget = z.infer<typeof NotifyTarget>;

export const ProjectConfig = z
  .looseObject({
    capabilities: z
      .record(z.string(), z.array(Line))
      .optional()
      .describe("what a role is denied beyond its canonical capabilities"),
    models: z
      .looseObject({ high: Line.optional(), standard: Line.optional() })
      .catchall(ModelNames)
      .optional()
      .describe("a model's name per tier, or per agent program and tier"),
    program: Line.optional().describe("what runs agents, such as codex, claude or opencode"),
    limits: z
      .record(z.string(), z.union([z.number().positive(), Line]))
      .optional()
      .describe("ceilings of a run, in the words of --budget: time, tokens, cost…"),
    notify: z.array(NotifyTarget).max(8).optional().describe("who is told when a run asks, waits or has ended"),
  })
  .describe("the project's .nexus/config.yml");

export type AgentMeta = z.infer<typeof AgentMeta>;
export type SkillMeta = z.infer<typeof SkillMeta>;
export type AgentEntry = z.infer<typeof AgentEntry>;
export type SkillEntry = z.infer<typeof SkillEntry>;
export type Capability = z.infer<typeof Capability>;
export type Category = z.infer<typeof Category>;
export type ResumeTier = z.infer<typeof ResumeTier>;
export type Tag = z.infer<typeof Tag>;
export type Vocabulary = z.infer<typeof Vocabulary>;
export type CoreManifest = z.infer<typeof CoreManifest>;
export type ModelTier = z.infer<typeof ModelTier>;
export type ProjectConfig = z.infer<typeof ProjectConfig>;
