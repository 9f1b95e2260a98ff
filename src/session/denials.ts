// What was denied is worth seeing: the board shows it, and a person learns which limit an agent runs into.
import { existsSync } from "node:fs";
import type { PreToolUse } from "../schema/events.js";
import { findRoot, layoutOf, logTool } from "../state/index.js";
import { type GateSurroundings, realPath } from "./gate-facts.js";

/** One line in the tool log, without a lock. A log that cannot be written changes no decision. */
export function recordDenial(
  { caller, tool }: PreToolUse,
  reason: string,
  { cwd, env, harnessId, now }: Pick<GateSurroundings, "cwd" | "env" | "harnessId"> & { readonly now: Date },
): void {
  try {
    const layout = layoutOf(realPath(findRoot(cwd, env)), harnessId);
    // A gate makes no folders: without a session there is nobody to tell.
    if (!existsSync(layout.state)) return;
    const abstract = tool.nexusTool ?? tool.classes[0] ?? tool.access;
    const line = {
      at: now.toISOString(),
      ...(caller.agentId === undefined ? {} : { agent_id: caller.agentId }),
      ...(caller.agentName === undefined ? {} : { agent_name: caller.agentName }),
      tool: abstract,
      ...(tool.paths[0] === undefined ? {} : { path: tool.paths[0] }),
      ok: false,
      // The reason was written for the host's model; a common file names no host's tool.
      error: `denied: ${tool.name === "" ? reason : reason.replaceAll(tool.name, abstract)}`.slice(0, 500),
    };
    logTool({ layout }, line);
  } catch {
    // The answer stands whatever becomes of its record.
  }
}
