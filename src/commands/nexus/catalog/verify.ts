import { z } from "zod";
import { authoring } from "../../../catalog/index.js";
import { command } from "../../../cli/command.js";
import { count, green, red } from "../../../cli/text.js";
import { FindingShape } from "../../../schema/finding.js";
import { findingLines } from "./finding-lines.js";
import { CORE, coreFolder, openCatalog } from "./open-catalog.js";

export default command({
  name: "catalog verify",
  summary: "check that a core folder holds together",
  input: z.object(CORE),
  output: z.object({
    core: z.string(),
    ok: z.boolean(),
    agents: z.number(),
    skills: z.number(),
    findings: z.array(FindingShape),
  }),
  about: [
    "Checks every meta.yml and vocabulary file against its schema, every reference between them, every body against the " +
      "hash in manifest.json, and what the project's .nexus/config.yml adds. Answers no (exit 1) when something is wrong.",
  ],
  examples: [
    ["nexus catalog verify", "the core that came with the program"],
    ["nexus catalog verify --core ./nexus-core", "any other"],
  ],
  async run({ core }, context) {
    const folder = coreFolder(core, context);
    const { agents, skills, findings } = (await authoring()).verifyCore(folder);
    // A core that does not hold together says enough; only a sound one is worth judging the project by.
    const all = findings.length > 0 ? [...findings] : [...(await openCatalog(core, context)).findings];
    return { core: folder, ok: all.every(({ severity }) => severity !== "error"), agents, skills, findings: all };
  },
  text: ({ ok, agents, skills, core, findings }) => [
    ...findingLines(findings),
    ok
      ? `${green("ok")}  ${count(agents, "role")}, ${count(skills, "skill")} in ${core}`
      : `${red("not ok")}  ${count(findings.length, "finding")} in ${core}`,
  ],
  exit: ({ ok }) => (ok ? 0 : 1),
});
