import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { authoring } from "../../../catalog/index.js";
import { atomicWrite } from "../../../files/index.js";
import { operation } from "../../../operation.js";
import { CoreInput, coreFolder } from "./open-catalog.js";

export const build = operation({
  name: "catalog_build",
  summary: "write manifest.json and the schemas of a core folder from its sources",
  input: CoreInput.extend({ check: z.boolean().default(false) }),
  output: z.object({
    core: z.string(),
    written: z.boolean(),
    changed: z.array(z.string()).describe("files that differed from what the sources give"),
    files: z.number(),
  }),
  async run({ core, check }, context) {
    const folder = coreFolder(core, context);
    const files = (await authoring()).buildCore(folder);
    const changed = [...files].filter(([name, content]) => current(join(folder, name)) !== content);
    if (!check) {
      for (const [name, content] of changed) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        atomicWrite(join(folder, name), content);
      }
    }
    return { core: folder, written: !check, changed: changed.map(([name]) => name), files: files.size };
  },
});

function current(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}
