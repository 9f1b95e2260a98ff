// What the eleven tools have in common: the project they act on, the role that calls them, remarks beside the result.
// A result holds exactly the contract's fields; whatever else a caller should know is a note, shown by the door.
import { z } from "zod";
import type { Context, Operation } from "../operation.js";
import type { NexusTool } from "../schema/tools.js";
import { isRefusal, openProject, type Project } from "../state/index.js";
import { assertMayCall } from "./roles.js";

export interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodType> {
  readonly name: NexusTool;
  readonly summary: string;
  /** For models: when and how to use it. */
  readonly guidance?: string;
  readonly input: Input;
  readonly output: Output;
  /** Reads only: never refused to a role. */
  readonly readOnly?: boolean;
  /** Calling it again with the same arguments changes nothing more. */
  readonly idempotent?: boolean;
  /** Deletes or overwrites. */
  readonly destructive?: boolean;
  run(project: Project, input: z.output<Input>, context: Context): unknown;
  notes?(result: z.output<Output>, project: Project): string[];
}

export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType>
  extends Operation<Input, Output> {
  readonly guidance: string;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly destructive: boolean;
  /** One line each, for whoever called: how to get the rest of a list, which tasks can never be ready. */
  notes(result: unknown, context: Context): string[];
}

/** A contract refusal or a success; `error` is present in exactly the refusals. */
export function tool<Input extends z.ZodObject, Output extends z.ZodType>(
  definition: ToolDefinition<Input, Output>,
): Tool<Input, Output> {
  const { name, summary, input, output, readOnly = false } = definition;
  return {
    name,
    summary,
    guidance: definition.guidance ?? "",
    input,
    output,
    readOnly,
    idempotent: readOnly || (definition.idempotent ?? false),
    destructive: definition.destructive ?? false,
    async run(given, context) {
      const project = projectOf(context);
      await assertMayCall(name, project.root, context.env);
      return (await definition.run(project, given, context)) as z.output<Output>;
    },
    notes(result, context) {
      if (isRefusal(result)) return [];
      return definition.notes?.(result as z.output<Output>, projectOf(context)) ?? [];
    },
  };
}

export function projectOf({ cwd, env }: Context): Project {
  return openProject(cwd, { env });
}

/** Models often send 3 as "3". Anything else that is not a whole number is refused. */
export const WholeNumber = z.union(
  [
    z.int(),
    z
      .string()
      .regex(/^-?\d{1,15}$/)
      .transform(Number),
  ],
  { error: "must be a whole number" },
);

export const Words = z.string({ error: (issue) => (issue.input === undefined ? "is required" : "must be text") });
export const SomeWords = Words.refine((text) => text.trim() !== "", "must not be empty");
