/** The eleven tools of the contract, by their abstract names. Over MCP `nx_` stands in front. */
export const TOOLS = [
  "plan_start",
  "plan_status",
  "plan_update",
  "plan_decide",
  "task_add",
  "task_list",
  "task_update",
  "task_close",
  "history_search",
  "context",
  "artifact_write",
] as const;
export type NexusTool = (typeof TOOLS)[number];

export function isNexusTool(name: string): name is NexusTool {
  return (TOOLS as readonly string[]).includes(name);
}

/** Variable that tells `nexus mcp` to pass its words on to a socket, behind which the server is: see run/agents/tool-line.ts. */
export const TOOL_SOCKET = "NEXUS_TOOL_SOCKET";
