// The role a tool is called in: from the environment the harness set, never from an argument.
import { join } from "node:path";
import { CONFIG_FILE, loadCatalog, roleLimits } from "../catalog/index.js";
import { NutError } from "../errors.js";
import { mayCall, roleIn, standingOf, TOOL_RULES } from "../schema/roles.js";
import type { NexusTool } from "../schema/tools.js";

/**
 * Throws ROLE_DENIED. Throws too when the catalog or the project's configuration cannot be read: a gate that cannot decide
 * does not open.
 */
export async function assertMayCall(
  tool: NexusTool,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const role = roleIn(env);
  if (role === null || TOOL_RULES[tool].callers === "all") return;
  const catalog = await loadCatalog({ configFile: join(root, CONFIG_FILE) });
  if (mayCall(tool, standingOf({ processRole: role }, roleLimits(catalog)))) return;
  throw new NutError("ROLE_DENIED", `${tool} is not for the role "${role}": ask Lead to do it`, {
    hint: "report what is needed in your final message",
    data: { tool, role },
  });
}
