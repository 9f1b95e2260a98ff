// A tool as a person uses it: a refusal is a refusal, and what is worth knowing beside the result is said.
import type { z } from "zod";
import { NutError } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { isRefusal } from "../../../state/index.js";
import { projectOf, type Tool } from "../../../tools/tool.js";

/** Throws TOOL_REFUSED where the tool would answer `{ error }`. */
export async function useTool<Input extends z.ZodObject, Output extends z.ZodType>(
  tool: Tool<Input, Output>,
  input: z.output<Input>,
  context: Context,
): Promise<z.output<Output>> {
  const result = await tool.run(input, context);
  if (isRefusal(result)) throw new NutError("TOOL_REFUSED", result.error, { hint: "nexus status" });
  for (const message of tool.notes(result, context)) context.progress({ type: "warning", message });
  context.progress({ type: "note", message: `project: ${projectOf(context).root}` });
  return result;
}
