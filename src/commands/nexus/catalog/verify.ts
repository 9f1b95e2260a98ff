import { z } from "zod";
import { authoring } from "../../../catalog/index.js";
import { operation } from "../../../operation.js";
import { FindingSchema } from "./finding.js";
import { CoreInput, coreFolder, openCatalog } from "./open-catalog.js";

export const verify = operation({
  name: "catalog_verify",
  summary: "check that a core folder holds together and that its texts are unchanged",
  input: CoreInput,
  output: z.object({
    core: z.string(),
    ok: z.boolean(),
    agents: z.number(),
    skills: z.number(),
    findings: z.array(FindingSchema),
  }),
  async run({ core }, context) {
    const folder = coreFolder(core, context);
    const { agents, skills, findings } = (await authoring()).verifyCore(folder);
    // A core that does not hold together says enough; only a sound one is worth judging the project by.
    const all = findings.length > 0 ? [...findings] : [...(await openCatalog(core, context)).findings];
    return { core: folder, ok: all.every(({ severity }) => severity !== "error"), agents, skills, findings: all };
  },
});
