// Building and verifying a core folder need yaml and zod, so they are reached through `authoring()`: a hook process that
// imports this face must not pay for them.
export {
  assemble,
  blockedClasses,
  bodyOf,
  type Catalog,
  type CatalogAgent,
  type CatalogSource,
  effectiveCapabilities,
  findAgent,
  findSkill,
  loadCatalog,
  offeredSkills,
  roleLimits,
} from "./catalog.js";
export { CONFIG_FILE, modelFor, readConfig } from "./config.js";
export { findCoreFolder } from "./core-folder.js";
export { readManifestFast } from "./manifest.js";
export { type FrontmatterValue, type RenderOptions, renderPrompt } from "./render.js";
export type { Verified } from "./verify.js";

export const authoring = async () => ({
  ...(await import("./build.js")),
  ...(await import("./verify.js")),
});
