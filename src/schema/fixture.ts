// A conformance fixture: what was there, what was done, what must be there afterwards. Any implementation can run them.
import { z } from "zod";

/** JSONPath of a kind both people and small programs can read: `$.cycles[-1].plan.topic`, `$.tasks.length`. */
const Matcher = z.strictObject({
  type: z.enum(["iso8601", "string", "number", "boolean"]),
  min: z.number().optional(),
  max: z.number().optional(),
  minLength: z.number().optional(),
  pattern: z.string().optional(),
});
export type Matcher = z.infer<typeof Matcher>;

const Expected = z.union([z.string(), z.number(), z.boolean(), z.null(), Matcher]);
export type Expected = z.infer<typeof Expected>;

const Assertions = z.record(z.string(), Expected);
export type Assertions = z.infer<typeof Assertions>;

const StateAssertions = z
  .record(z.string(), Assertions.nullable())
  .describe("null: the file must not exist; {}: it exists, whatever it holds");

const Action = z.strictObject({
  tool: z.string().describe("abstract name, such as task_add"),
  params: z.record(z.string(), z.unknown()),
});

const LifecycleEvent = z.strictObject({
  type: z.enum(["agent_spawn", "agent_complete", "agent_resume"]),
  params: z.record(z.string(), z.unknown()).optional(),
  description: z.string().optional(),
});

const Step = z
  .strictObject({
    description: z.string().optional(),
    action: Action.optional(),
    event: LifecycleEvent.optional(),
    assert_return: Assertions.optional(),
    assert_state: StateAssertions.optional(),
  })
  .refine(({ action, event }) => (action === undefined) !== (event === undefined), "needs one of action, event");
export type Step = z.infer<typeof Step>;

const Fields = z.record(z.string(), z.array(z.string().regex(/^[^ ]+$/, "must be a word without spaces")));

export const Fixture = z
  .strictObject({
    test_id: z.string().regex(/^[a-z][a-z0-9_-]*$/),
    description: z.string().min(10),
    covers: z
      .strictObject({
        state_schemas: Fields.optional(),
        return_value: Fields.optional(),
        description: z.string().optional(),
      })
      .refine(
        ({ state_schemas = {}, return_value = {} }) =>
          Object.keys(state_schemas).length + Object.keys(return_value).length > 0,
        "must name a schema or a tool",
      ),
    uncovered_params: z.array(z.string()).optional().describe("parameters it deliberately does not look at"),
    precondition: z
      .strictObject({
        state_files: z.record(z.string(), z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.null()])),
      })
      .optional(),
    action: Action.optional(),
    event: LifecycleEvent.optional(),
    steps: z.array(Step).min(1).optional(),
    postcondition: z
      .strictObject({
        state_files: StateAssertions.optional(),
        return_value: Assertions.optional(),
        error: z.boolean().optional(),
        error_contains: z.string().optional(),
      })
      .optional(),
  })
  .refine(
    ({ action, event, steps }) => [action, event, steps].filter((one) => one !== undefined).length === 1,
    "needs exactly one of action, event, steps",
  );
export type Fixture = z.infer<typeof Fixture>;
