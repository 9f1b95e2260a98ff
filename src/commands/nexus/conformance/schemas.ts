// The JSON Schemas that other implementations check themselves against, made from ours.
import { z } from "zod";
import { Fixture } from "../../../schema/fixture.js";
import { History } from "../../../schema/history.js";
import { Plan } from "../../../schema/plan.js";
import { TasksFile } from "../../../schema/tasks.js";
import { AgentTracker } from "../../../schema/tracker.js";

/** By their path below core/conformance. */
export function conformanceSchemas(): Record<string, unknown> {
  return {
    "schema/fixture.schema.json": schema(Fixture, "A conformance fixture"),
    "state-schemas/plan.schema.json": schema(Plan, ".nexus/state/plan.json"),
    "state-schemas/tasks.schema.json": schema(TasksFile, ".nexus/state/tasks.json"),
    "state-schemas/history.schema.json": schema(History, ".nexus/history.json"),
    "state-schemas/agent-tracker.schema.json": schema(AgentTracker, ".nexus/state/{harness-id}/agent-tracker.json"),
  };
}

function schema(type: z.ZodType, title: string): unknown {
  const { $schema, ...rest } = z.toJSONSchema(type, {
    io: "input",
    override({ jsonSchema }) {
      // We read what a newer version added; we write only what is listed.
      if (jsonSchema.type === "object" && jsonSchema.properties !== undefined) jsonSchema.additionalProperties = false;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
    },
  });
  return { $schema, title, ...rest };
}
