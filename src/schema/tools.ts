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

/** Takes an agent's report. Not one of the eleven: it is there only while a run awaits one. */
export const REPORT_TOOL = "report";
/** Variables that tell a tool server which report is awaited, and where it goes. No agent in a sandbox has them. */
export const REPORT_KIND = "NEXUS_REPORT_KIND";
export const REPORT_FILE = "NEXUS_REPORT_FILE";
