import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { fromSystemError } from "../../../errors.js";
import { replaceFiles } from "../../../files/index.js";
import { Criteria } from "../../../schema/criteria.js";
import { Delivery } from "../../../schema/delivery.js";
import { Endpoints } from "../../../schema/endpoints.js";
import { Manifest } from "../../../schema/manifest.js";
import { Policy } from "../../../schema/policy.js";
import { Envelope, Statement } from "../../../schema/statement.js";
import { Vault } from "../../../schema/vault.js";

export const DOCUMENTS = {
  manifest: Manifest,
  delivery: Delivery,
  criteria: Criteria,
  endpoints: Endpoints,
  vault: Vault,
  statement: Statement,
  envelope: Envelope,
  policy: Policy,
};
export type DocumentKind = keyof typeof DOCUMENTS;
export const DOCUMENT_KINDS = Object.keys(DOCUMENTS) as [DocumentKind, ...DocumentKind[]];

/** JSON Schema (draft 2020-12) of one document, as an editor reads it. */
export function jsonSchemaOf(kind: DocumentKind): Record<string, unknown> {
  const { $schema, description, ...rest } = z.toJSONSchema(DOCUMENTS[kind], { target: "draft-2020-12", io: "input" });
  return { $schema, $id: `urn:nutcracker:schema:${kind}`, title: description, ...rest };
}

export default command({
  name: "schema",
  summary: "JSON Schema of every document",
  input: z.object({
    kind: positional(z.enum(DOCUMENT_KINDS).default("manifest"), {
      name: "document",
      about: `one of ${DOCUMENT_KINDS.join(", ")}`,
    }),
    output: flag(z.string().optional(), { short: "o", value: "<file>", about: "write it to a file" }),
  }),
  // The schema itself, or where it was written.
  output: z.record(z.string(), z.unknown()),
  about: ["JSON Schema, draft 2020-12, with the descriptions an editor shows while you type."],
  examples: [
    ["nutshell schema -o nutshell.schema.json", "for nutshell.json"],
    ["nutshell schema criteria", "for tests/criteria.json"],
  ],
  async run({ kind, output }, { cwd }) {
    const document = jsonSchemaOf(kind);
    if (output === undefined) return document;
    const path = resolve(cwd, output);
    try {
      replaceFiles([{ path, data: `${JSON.stringify(document, null, 2)}\n` }]);
    } catch (error) {
      throw fromSystemError(error, path) ?? error;
    }
    return { kind, path };
  },
  text: (result) =>
    "path" in result && !("$schema" in result)
      ? [`schema of ${String(result.kind)} → ${String(result.path)}`]
      : JSON.stringify(result, null, 2).split("\n"),
});
