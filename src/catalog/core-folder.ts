import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NutError } from "../errors.js";

/** The core/ of the package this code was installed with: the first one found on the way up from the module. */
export function findCoreFolder(moduleUrl: string = import.meta.url): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  for (;;) {
    const core = join(folder, "core");
    if (existsSync(join(folder, "package.json")) && existsSync(join(core, "vocabulary"))) return core;
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  throw new NutError("CATALOG_MISSING", "the package has no core folder: it is not completely installed", {
    hint: "npm install -g nutcracker",
  });
}
