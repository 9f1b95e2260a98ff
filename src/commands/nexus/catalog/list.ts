import { z } from "zod";
import { effectiveCapabilities, modelFor } from "../../../catalog/index.js";
import { command } from "../../../cli/command.js";
import { bold, dim, table } from "../../../cli/text.js";
import { FindingShape } from "../../../schema/finding.js";
import { findingLines } from "./finding-lines.js";
import { CORE, openCatalog } from "./open-catalog.js";

export default command({
  name: "catalog list",
  summary: "list the roles, skills and tags there are",
  input: z.object(CORE),
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
    findings: z.array(FindingShape),
  }),
  about: [
    "Roles are shown with what they are denied in this project: the canonical capabilities and those that " +
      ".nexus/config.yml adds. Skills marked manual are started by a person only.",
  ],
  examples: [
    ["nexus catalog list", "roles, skills and tags"],
    ["nexus catalog list --json | jq '.agents[].id'", "only the names"],
  ],
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
  text: ({ agents, skills, tags, findings, version }) => [
    bold(`Roles (nexus-core ${version})`),
    ...table(
      agents.map((a) => [
        `  ${a.id}`,
        a.category,
        a.resume_tier,
        a.model ?? a.model_tier,
        dim(a.capabilities.join(" ")),
      ]),
    ),
    "",
    bold("Skills"),
    ...table(skills.map((s) => [`  ${s.id}`, s.manual_only ? "manual" : "", dim(clause(s.description))])),
    "",
    bold("Tags"),
    ...table(tags.map((t) => [`  ${t.trigger}`, t.variants.map((v) => `:${v}`).join(" "), dim(t.description)])),
    ...findingLines(findings),
  ],
});

/** Up to the first dash: enough for a row. */
function clause(description: string): string {
  return description.split(" - ")[0]!;
}
