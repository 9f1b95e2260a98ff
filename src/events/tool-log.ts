// A use of a tool, as the tool log keeps it. Other harnesses read it too: no host's own name of a tool gets into it.
import type { Caller, ToolUse } from "../schema/events.js";
import type { ToolLogEntry } from "./decision.js";

const ERROR_LIMIT = 500;

interface Use {
  readonly caller: Caller;
  readonly tool: ToolUse;
  /** The role it was used in, or what the host calls the agent; null is Lead. */
  readonly agentName: string | null;
}

interface Outcome {
  readonly ok: boolean;
  readonly error?: string | undefined;
  readonly path?: string | undefined;
}

export function toolLogEntry({ caller, tool, agentName }: Use, { ok, error, path }: Outcome): ToolLogEntry {
  return {
    ...(caller.agentId === undefined ? {} : { agent_id: caller.agentId }),
    ...(agentName === null ? {} : { agent_name: agentName }),
    tool: abstractTool(tool),
    ...(path === undefined ? {} : { path }),
    ok,
    ...(error === undefined ? {} : { error: error.slice(0, ERROR_LIMIT) }),
  };
}

/** A reason was written for the host's model. */
export function denialEntry(use: Use, reason: string): ToolLogEntry {
  const { name, paths } = use.tool;
  const error = `denied: ${name === "" ? reason : reason.replaceAll(name, abstractTool(use.tool))}`;
  return toolLogEntry(use, { ok: false, error, path: paths[0] });
}

const abstractTool = ({ nexusTool, classes, access }: ToolUse): string => nexusTool ?? classes[0] ?? access;
