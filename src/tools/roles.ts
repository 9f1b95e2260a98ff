// Which tools a role is denied: the catalog's canonical table and what the project adds to it, never less.
import { join } from "node:path";
import { blockedClasses, CONFIG_FILE, effectiveCapabilities, findAgent, loadCatalog } from "../catalog/index.js";

export type SemanticClass = "nexus_task_creation" | "nexus_task_state_transition";

/** Throws when the catalog or the project's configuration cannot be read: a gate that cannot decide does not open. */
export async function deniedTo(role: string, root: string): Promise<ReadonlySet<string>> {
  const catalog = await loadCatalog({ configFile: join(root, CONFIG_FILE) });
  const agent = findAgent(catalog, role);
  // A role nobody knows is denied whatever any role is denied.
  const capabilities = agent === null ? catalog.capabilities.map(({ id }) => id) : effectiveCapabilities(agent);
  return blockedClasses(capabilities, catalog);
}
