import type { z } from "zod";
import { NutError } from "../errors.js";
import type { Context } from "../operation.js";
import { isRefusal } from "../state/index.js";
import { projectOf, type Tool } from "./tool.js";
import { tools } from "./tools.js";

export interface ToolOutcome {
  readonly result: unknown;
  /** The contract's own refusal: an answer, but the answer is no. */
  readonly refused: boolean;
  readonly notes: string[];
  readonly root: string;
}

/** Calls a tool by its abstract name (or `nx_` and its name) with arguments nobody has checked yet. */
export async function callTool(name: string, args: unknown, context: Context): Promise<ToolOutcome> {
  const tool = findTool(name);
  const input = tool.input.safeParse(args ?? {});
  if (!input.success) throw invalidArguments(tool, input.error.issues);
  const result = await tool.run(input.data, context);
  return { result, refused: isRefusal(result), notes: tool.notes(result, context), root: projectOf(context).root };
}

function findTool(name: string): Tool {
  const abstract = name.replace(/^nx_/, "");
  const tool = tools.find(({ name: own }) => own === abstract);
  if (tool !== undefined) return tool;
  throw new NutError("USAGE", `there is no tool "${name}"`, {
    hint: `name one of ${tools.map((tool) => tool.name).join(", ")}`,
    data: { tool: name },
  });
}

function invalidArguments(tool: Tool, issues: readonly z.core.$ZodIssue[]): NutError {
  const reasons = issues.map(({ path, message }) => `${path.length === 0 ? "arguments" : path.join(".")}: ${message}`);
  return new NutError("USAGE", `${tool.name}: ${reasons.join("; ")}`, {
    hint: `nexus call ${tool.name} --help`,
    data: { tool: tool.name, issues: issues.map(({ path, message }) => ({ path, message })) },
  });
}
