import { z } from "zod";
import {
  blockedClasses,
  bodyOf,
  effectiveCapabilities,
  findAgent,
  findSkill,
  modelFor,
} from "../../../catalog/index.js";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { bold, dim, table, wrap } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { CORE, openCatalog } from "./open-catalog.js";

export default command({
  name: "catalog show",
  summary: "show one role or skill: its limits and its full text",
  input: z.object({
    id: positional(z.string(), { about: "a role such as engineer, or a skill such as nx-plan" }),
    ...CORE,
  }),
  output: z.object({
    kind: z.enum(["agent", "skill"]),
    id: z.string(),
    meta: z.record(z.string(), z.unknown()).describe("as manifest.json has it"),
    capabilities: z.array(z.string()).describe("canonical and added by the project"),
    blocked_classes: z.array(z.string()).describe("classes of tool it may not call"),
    model: z.string().nullable(),
    body: z.string(),
  }),
  examples: [
    ["nexus catalog show engineer", "what an engineer may do and is told"],
    ["nexus catalog show nx-plan --json | jq -r .body", "only the text"],
  ],
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
  text: ({ kind, id, meta, capabilities, blocked_classes, model, body }, { columns }) => [
    `${bold(id)}  ${dim(kind)}`,
    ...wrap(String(meta.description ?? ""), Math.min(columns, 100)),
    "",
    ...table(
      [
        ["category", meta.category],
        ["resume tier", meta.resume_tier],
        ["model", kind === "agent" ? (model ?? `${meta.model_tier} (the program's own choice)`) : undefined],
        ["denied", capabilities.join(" ")],
        ["classes", blocked_classes.join(" ")],
        ["started by", kind === "skill" && meta.manual_only === true ? "a person only" : undefined],
      ].flatMap(([label, value]) => (value === undefined || value === "" ? [] : [[dim(`${label}`), String(value)]])),
    ),
    "",
    ...body.trimEnd().split("\n"),
  ],
});
