import { z } from "zod";
import { NutError } from "../errors.js";
import type { Context } from "../operation.js";
import { mismatchLine, mismatchWords } from "../schema/mismatch.js";
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
export async function callTool(name: string, args: unknown, context: Context, among = tools): Promise<ToolOutcome> {
  const tool = findTool(name, among);
  const input = tool.input.strict().safeParse(args ?? {});
  if (!input.success) throw invalidArguments(tool, input.error.issues);
  const result = await tool.run(input.data, context);
  return { result, refused: isRefusal(result), notes: tool.notes(result, context), root: projectOf(context).root };
}

/** What a tool takes, a line each; null when there is no such tool. */
export function describeArguments(name: string): (readonly [argument: string, about: string])[] | null {
  const tool = toolNamed(name, tools);
  if (tool === undefined) return null;
  const { properties = {}, required = [] } = z.toJSONSchema(tool.input, { io: "input" });
  return Object.entries(properties).map(([argument, schema]) => {
    const about = typeof schema === "boolean" ? "" : (schema.description ?? "");
    const need = required.includes(argument) ? "needed" : "";
    return [argument, [typeOf(schema), need, about].filter((part) => part !== "").join("; ")];
  });
}

function typeOf(schema: z.core.JSONSchema._JSONSchema): string {
  if (typeof schema === "boolean") return "anything";
  if (schema.enum !== undefined) return schema.enum.join(", ");
  // A whole number may come as text.
  if (schema.anyOf !== undefined) return typeOf(schema.anyOf[0]!);
  if (schema.type === "array")
    return `list of ${Array.isArray(schema.items) ? "value" : typeOf(schema.items ?? true)}s`;
  return { string: "text", integer: "whole number", object: "object of texts" }[String(schema.type)] ?? "value";
}

const toolNamed = (name: string, among: readonly Tool[]): Tool | undefined =>
  among.find((tool) => tool.name === name.replace(/^nx_/, ""));

function findTool(name: string, among: readonly Tool[]): Tool {
  const tool = toolNamed(name, among);
  if (tool !== undefined) return tool;
  throw new NutError("USAGE", `there is no tool "${name}"`, {
    hint: `name one of ${tools.map((tool) => tool.name).join(", ")}`,
    data: { tool: name },
  });
}

function invalidArguments(tool: Tool, issues: readonly z.core.$ZodIssue[]): NutError {
  const reasons = issues.map((issue) => mismatchLine(issue, "arguments"));
  return new NutError("USAGE", `${tool.name}: ${reasons.join("; ")}`, {
    hint: `nexus call ${tool.name} --help`,
    data: { tool: tool.name, issues: issues.map((issue) => ({ path: issue.path, message: mismatchWords(issue) })) },
  });
}
