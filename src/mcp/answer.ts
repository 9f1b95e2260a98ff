// One tool call over MCP: arguments in, a tool result out. A refusal is a result flagged as an error, with the same code
// and hint the command line gives; protocol errors are for malformed requests only.
import { fromSystemError, NutError } from "../errors.js";
import type { Context } from "../operation.js";
import { REPORT_TOOL } from "../schema/tools.js";
import { PREFIX } from "./prefix.js";

export interface ToolAnswer {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface ToolRequest {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
}

export async function answer({ name, arguments: given, _meta }: ToolRequest, context: Context): Promise<ToolAnswer> {
  try {
    if (name === `${PREFIX}${REPORT_TOOL}`) return await answerReport(given, context);
    // Loaded with the first call: listing the tools needs none of it.
    const [{ callTool }, { asCaller }] = await Promise.all([
      import("../tools/call-tool.js"),
      import("../tools/caller-role.js"),
    ]);
    const { result, refused, notes, root } = await callTool(name, given, asCaller(context, _meta));
    const { value, note } = bounded(name, result as Record<string, unknown>, root);
    const remarks = [...notes.slice(0, MAX_NOTES), ...(note === null ? [] : [note]), `project: ${root}`];
    return {
      content: [text(JSON.stringify(value)), text(remarks.join("\n"))],
      structuredContent: value,
      ...(refused ? { isError: true } : {}),
      _meta: { "nutcracker/project": root },
    };
  } catch (error) {
    return refusalAnswer(error);
  }
}

async function answerReport(given: unknown, { env }: Context): Promise<ToolAnswer> {
  const { handIn } = await import("../tools/report.js");
  const value = { ...handIn(env, given) };
  return { content: [text(JSON.stringify(value))], structuredContent: value };
}

const MAX_NOTES = 20;
/** About 15,000 tokens: a model that asked for a list can still think about something else. */
const MAX_LIST_CHARS = 60_000;

/** A list too long to read is cut to what still needs work, and says where the rest is. */
function bounded(name: string, value: Record<string, unknown>, root: string) {
  const tasks = value.tasks;
  if (!Array.isArray(tasks) || JSON.stringify(tasks).length <= MAX_LIST_CHARS) return { value, note: null };
  const open = (task: { status?: unknown }) => (task.status === "completed" ? 1 : 0);
  const ordered = [...tasks].sort((a, b) => open(a) - open(b));
  const kept: unknown[] = [];
  let left = MAX_LIST_CHARS;
  for (const task of ordered) {
    left -= JSON.stringify(task).length;
    if (left < 0 && kept.length > 0) break;
    kept.push(task);
  }
  const note =
    `${kept.length} of ${tasks.length} tasks shown, unfinished ones first; ` +
    `the rest, one per line: ${root}/.nexus/state/tasks.json (or: nexus ${name.replace(/^nx_/, "").replace("_", " ")})`;
  return { value: { ...value, tasks: kept }, note };
}

function refusalAnswer(error: unknown): ToolAnswer {
  const refusal = error instanceof NutError ? error : fromSystemError(error);
  if (refusal === null) throw error;
  const { code, message, hint, data } = refusal;
  const body = { error: message, code, hint };
  return { content: [text(JSON.stringify(body))], structuredContent: { ...body, data }, isError: true };
}

function text(value: string): ToolAnswer["content"][number] {
  return { type: "text", text: value };
}
