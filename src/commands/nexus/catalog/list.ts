import { z } from "zod";
import { effectiveCapabilities, modelFor } from "../../../catalog/index.js";
import { operation } from "../../../operation.js";
import { FindingSchema } from "./finding.js";
import { CoreInput, openCatalog } from "./open-catalog.js";

export const list = operation({
  name: "catalog_list",
  summary: "list the roles, skills and tags there are",
  input: CoreInput,
  output: z.object({
    core: z.string(),
    version: z.string(),
    agents: z.array(
      z.object({
        id: z.string(),
        category: z.string(),
        description: z.string(),
        resume_tier: z.string(),
        model_tier: z.string(),
        model: z.string().nullable().describe("null: the agent program's own choice"),
        capabilities: z.array(z.string()).describe("what the role is denied in this project"),
      }),
    ),
    skills: z.array(z.object({ id: z.string(), description: z.string(), manual_only: z.boolean() })),
    tags: z.array(z.object({ trigger: z.string(), description: z.string(), variants: z.array(z.string()) })),
    findings: z.array(FindingSchema),
  }),
  async run({ core }, context) {
    const catalog = await openCatalog(core, context);
    return {
      core: catalog.coreDir,
      version: catalog.version,
      agents: catalog.agents.map((agent) => ({
        id: agent.id,
        category: agent.category,
        description: agent.description,
        resume_tier: agent.resume_tier,
        model_tier: agent.model_tier,
        model: modelFor(agent.model_tier, catalog.config, catalog.config.program),
        capabilities: effectiveCapabilities(agent),
      })),
      skills: catalog.skills.map(({ id, description, manual_only }) => ({
        id,
        description,
        manual_only: manual_only === true,
      })),
      tags: catalog.tags.map(({ trigger, description, variants = [] }) => ({ trigger, description, variants })),
      findings: [...catalog.findings],
    };
  },
});
