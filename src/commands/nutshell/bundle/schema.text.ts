import { command } from "../../../cli/command.js";
import { DOCUMENT_KINDS, schema } from "./schema.js";

export default command(schema, {
  positionals: [{ name: "document", field: "kind", optional: true, about: `one of ${DOCUMENT_KINDS.join(", ")}` }],
  flags: { output: { short: "o", value: "<file>", about: "write it to a file" } },
  about: ["JSON Schema, draft 2020-12, with the descriptions an editor shows while you type."],
  examples: [
    ["nutshell schema -o nutshell.schema.json", "for nutshell.json"],
    ["nutshell schema criteria", "for tests/criteria.json"],
  ],
  text: (result) =>
    "path" in result && !("$schema" in result)
      ? [`schema of ${String(result.kind)} → ${String(result.path)}`]
      : JSON.stringify(result, null, 2).split("\n"),
});
