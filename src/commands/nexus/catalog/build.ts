import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { authoring } from "../../../catalog/index.js";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { count, green, red } from "../../../cli/text.js";
import { atomicWrite, makeFolder } from "../../../files/index.js";
import { CORE, coreFolder } from "./open-catalog.js";

export default command({
  name: "catalog build",
  summary: "write manifest.json of a core folder from its sources",
  input: z.object({
    ...CORE,
    check: flag(z.boolean().default(false), { about: "write nothing; exit 1 when something is out of date" }),
  }),
  output: z.object({
    core: z.string(),
    written: z.boolean(),
    changed: z.array(z.string()).describe("files that differed from what the sources give"),
    files: z.number(),
  }),
  about: ["Run it after changing a body, a meta.yml or the vocabulary. The same sources always give the same files."],
  examples: [
    ["nexus catalog build", "write what changed"],
    ["nexus catalog build --check", "for CI"],
  ],
  async run({ core, check }, context) {
    const folder = coreFolder(core, context);
    const files = (await authoring()).buildCore(folder);
    const changed = [...files].filter(([name, content]) => current(join(folder, name)) !== content);
    if (!check) {
      for (const [name, content] of changed) {
        makeFolder(dirname(join(folder, name)));
        atomicWrite(join(folder, name), content);
      }
    }
    return { core: folder, written: !check, changed: changed.map(([name]) => name), files: files.size };
  },
  text: ({ changed, files, written }) => [
    ...changed.map((name) => (written ? `wrote ${name}` : `${red("out of date")}  ${name}`)),
    ...(changed.length === 0 ? [`${green("up to date")}  ${count(files, "file")}`] : []),
  ],
  exit: ({ changed, written }) => (written || changed.length === 0 ? 0 : 1),
});

function current(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}
