import { join, resolve } from "node:path";
import { z } from "zod";
import { type Catalog, CONFIG_FILE, findCoreFolder, loadCatalog } from "../../../catalog/index.js";
import { flag } from "../../../cli/fields.js";
import type { Context } from "../../../operation.js";
import { findRoot } from "../../../state/index.js";

/** `--core` as every command on the catalog takes it. */
export const CORE = {
  core: flag(z.string().min(1).optional(), {
    value: "<dir>",
    about: "a nexus-core folder of the 0.7 line (default: the one built in)",
  }),
};

/** The folder asked for, or the one that came with the package. */
export function coreFolder(core: string | undefined, { cwd }: Pick<Context, "cwd">): string {
  return core === undefined ? findCoreFolder() : resolve(cwd, core);
}

/** The catalog as the project around `cwd` sees it. */
export function openCatalog(core: string | undefined, context: Context): Promise<Catalog> {
  return loadCatalog({
    ...(core === undefined ? {} : { coreDir: coreFolder(core, context) }),
    configFile: join(findRoot(context.cwd, context.env), CONFIG_FILE),
  });
}
