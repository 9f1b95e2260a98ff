// What is answered when an agent asks for leave. Pure: a question and a role's limits in, yes or no out.
import type { RequestPermissionRequest } from "@agentclientprotocol/sdk/unstable";
import { at, list } from "./agent-process.js";
import type { SessionRequest } from "./driver.js";

export type Asked = Pick<RequestPermissionRequest, "toolCall" | "options">;
export type Limits = Pick<SessionRequest, "may" | "deniedTools" | "mcpServers">;

/** Answers by the kind of an option, never by its id: ids are the agent's own. */
export function permit({ toolCall, options }: Asked, limits: Limits) {
  const allowed = mayUse(toolCall, limits);
  const kinds = allowed ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const option = kinds.map((kind) => options.find((row) => row.kind === kind)).find((row) => row !== undefined);
  const outcome =
    option === undefined
      ? { outcome: "cancelled" as const }
      : { outcome: "selected" as const, optionId: option.optionId };
  return { allowed, answer: { outcome } };
}

function mayUse(toolCall: Asked["toolCall"], { may, deniedTools = [], mcpServers }: Limits): boolean {
  const title = (toolCall.title ?? "").toLowerCase();
  if (deniedTools.some((tool) => title.includes(tool.split(".").at(-1)!.toLowerCase()))) return false;
  // Some agents label calls of our own MCP servers as commands.
  if (at(toolCall, "_meta", "is_mcp_tool_approval") === true) return true;
  // Whatever it is called, what shows a change is one.
  if (list(toolCall.content).some((part) => at(part, "type") === "diff")) return may.edit;
  switch (toolCall.kind) {
    case "edit":
    case "delete":
    case "move":
      return may.edit;
    case "execute":
      return may.shell;
    case "switch_mode":
      return false;
    case "read":
    case "search":
    case "think":
    case "fetch":
      return true;
    default:
      // Nobody says what it does: a tool of ours, or something for a role that may do anything.
      return (may.edit && may.shell) || mcpServers.some(({ name }) => title.includes(name.toLowerCase()));
  }
}
