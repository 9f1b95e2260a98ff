// `nexus mcp`: the eleven tools for an agent, over standard input and output, which carry the protocol and nothing else.
import type { Readable, Writable } from "node:stream";
import { Server, type Tool } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Context } from "../operation.js";
import { REPORT_KIND } from "../schema/tools.js";
import { VERSION } from "../version.js";
import { answer } from "./answer.js";
import { PatientTransport } from "./patient-transport.js";
import { rehearse } from "./rehearse.js";
import listed from "./tool-list.json" with { type: "json" };

export interface ServeOptions {
  readonly context: Context;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly onError: (error: Error) => void;
}

const UNASKED_MS = 5;

/** Resolves when the client has gone, or the context was aborted. */
export async function serve({ context, stdin, stdout, onError }: ServeOptions): Promise<void> {
  const transport = new PatientTransport(stdin, stdout);
  const make = () => makeServer(context);
  const server = serveStdio(make, { transport, onerror: onError });
  const stop = () => void server.close();
  context.signal.addEventListener("abort", stop, { once: true });
  // Whoever asks at once is answered at once; and whatever goes wrong here, the first who asks meets it.
  const idle = setTimeout(() => {
    if (!transport.isAsked) rehearse(make).catch(() => {});
  }, UNASKED_MS);
  await transport.closed;
  clearTimeout(idle);
  context.signal.removeEventListener("abort", stop);
}

function makeServer(context: Context): Server {
  const server = new Server(
    { name: "nexus", title: "Nutcracker Nexus", version: VERSION },
    { capabilities: { tools: {} }, instructions: instructions(context) },
  );
  server.setRequestHandler("tools/list", async () => ({
    tools: [...(listed as unknown as Tool[]), ...(await reportTool(context))],
  }));
  server.setRequestHandler("tools/call", ({ params }) => answer(params, context));
  return server;
}

/** Where a report is awaited, the tool that takes it. */
async function reportTool({ env }: Context): Promise<Tool[]> {
  if (env[REPORT_KIND] === undefined) return [];
  const { reportListing } = await import("../tools/report.js");
  return reportListing(env) as unknown as Tool[];
}

/** Read once per session by the model: what the tools are for, and who it is here. */
function instructions({ env }: Context): string {
  const role = env.NEXUS_ROLE;
  // Agents that Lead starts inside a host read this, too: only what was started in a role can be told which it is.
  const who =
    role === undefined || role === ""
      ? "Lead, the session a person talks to, plans, adds tasks, hands them out, verifies and closes; an agent in a role does its task and reports to Lead."
      : role === "lead"
        ? "You are Lead: plan, add tasks, hand them out, verify, close."
        : `You work as ${role} on ${env.NEXUS_TASK_ID ? `task ${env.NEXUS_TASK_ID}` : "a task"}: report to Lead, and leave what your role is refused to Lead.`;
  return [
    "The plan, the tasks and the history of this project, kept in .nexus and shared by everyone who works on it.",
    who,
    "Order of a cycle: history_search, plan_start, plan_decide for each issue, task_add, task_update as work is verified, task_close.",
    "A result with error says what to do next. Every answer names the project it is about.",
  ].join(" ");
}
