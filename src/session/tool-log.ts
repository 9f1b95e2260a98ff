// The tool log: what was used, and what was denied. No lock is taken for it.
import { existsSync } from "node:fs";
import type { Decision, Effect } from "../events/index.js";
import { findRoot, type Layout, layoutOf, logTool } from "../state/index.js";
import { projectPath, realPath } from "./gate-facts.js";
import type { Surroundings } from "./surroundings.js";

type LogTool = Extract<Effect, { type: "log_tool" }>;
type Where = Pick<Surroundings, "cwd" | "env" | "now">;

export function recordToolUse({ entry, hostTool }: LogTool, layout: Layout, around: Where): void {
  // The host's own name of a tool is for this harness only.
  const who = entry.agent_id === undefined ? {} : { agent_id: entry.agent_id };
  logTool(layout, logLine(entry, layout, around), { at: around.now().toISOString(), tool: hostTool, ...who });
}

function logLine(entry: LogTool["entry"], layout: Layout, around: Where) {
  const path = entry.path === undefined ? {} : { path: projectPath(entry.path, layout.root, around) };
  return { at: around.now().toISOString(), ...entry, ...path };
}

/**
 * What was denied is worth seeing: the board shows it, and a person learns which limit an agent runs into. A log that cannot
 * be written changes no decision.
 */
export function recordDenial({ effects }: Decision, around: Where & Pick<Surroundings, "host">): void {
  try {
    const layout = layoutOf(realPath(findRoot(around.cwd, around.env)), around.host.harnessId);
    // A gate makes no folders: without a session there is nobody to tell.
    if (!existsSync(layout.state)) return;
    for (const effect of effects)
      if (effect.type === "log_tool") logTool(layout, logLine(effect.entry, layout, around));
  } catch {
    // The answer stands whatever becomes of its record.
  }
}
