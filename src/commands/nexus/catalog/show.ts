import { z } from "zod";
import {
  blockedClasses,
  bodyOf,
  effectiveCapabilities,
  findAgent,
  findSkill,
  modelFor,
} from "../../../catalog/index.js";
import { NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { CoreInput, openCatalog } from "./open-catalog.js";

export const show = operation({
  name: "catalog_show",
  summary: "show one role or skill: its limits and its full text",
  input: CoreInput.extend({ id: z.string() }),
  output: z.object({
    kind: z.enum(["agent", "skill"]),
    id: z.string(),
    meta: z.record(z.string(), z.unknown()).describe("as manifest.json has it"),
    capabilities: z.array(z.string()).describe("canonical and added by the project"),
    blocked_classes: z.array(z.string()).describe("classes of tool it may not call"),
    model: z.string().nullable(),
    body: z.string(),
  }),
  async run({ core, id }, context) {
    const catalog = await openCatalog(core, context);
    const agent = findAgent(catalog, id);
    if (agent !== null) {
      const { additions: _, ...meta } = agent;
      const capabilities = effectiveCapabilities(agent);
      return {
        kind: "agent" as const,
        id,
        meta,
        capabilities,
        blocked_classes: [...blockedClasses(capabilities, catalog)],
        model: modelFor(agent.model_tier, catalog.config, catalog.config.program),
        body: bodyOf(catalog.coreDir, "agents", agent),
      };
    }
    const skill = findSkill(catalog, id);
    if (skill === null) {
      const known = [...catalog.agents, ...catalog.skills].map((entry) => entry.id);
      throw new NutError("CATALOG_UNKNOWN", `there is no role or skill "${id}"`, {
        hint: "nexus catalog list",
        data: { id, known },
      });
    }
    const body = bodyOf(catalog.coreDir, "skills", skill);
    return { kind: "skill" as const, id, meta: skill, capabilities: [], blocked_classes: [], model: null, body };
  },
});
