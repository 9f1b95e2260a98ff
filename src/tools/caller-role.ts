// A host whose agents share their settings starts a server per agent without saying for whom; but every call names the
// thread it comes from, and the harness recorded which agent that is. The record decides, never an argument.

import type { Context } from "../operation.js";
import { trackedAgents } from "../state/index.js";
import { projectOf } from "./tool.js";

/** A host may start agents whose names the record cannot hold. It is no role, so it may read and hand over, no more. */
const NAMELESS = "agent";

/** The context of a call, with the role of the agent whose thread it comes from. */
export function asCaller(context: Context, meta: Readonly<Record<string, unknown>> | undefined): Context {
  const thread = meta?.threadId;
  const given = context.env.NEXUS_ROLE;
  if (typeof thread !== "string" || (given !== undefined && given !== "")) return context;
  const agent = trackedAgents(projectOf(context)).findLast(({ agent_id }) => agent_id === thread);
  if (agent === undefined) return context;
  const role = agent.agent_name ?? NAMELESS;
  return { ...context, env: { ...context.env, NEXUS_ROLE: role, NEXUS_AGENT_ID: thread } };
}
