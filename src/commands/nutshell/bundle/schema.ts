import { resolve } from "node:path";
import { z } from "zod";
import { fromSystemError } from "../../../errors.js";
import { atomicWrite } from "../../../files/index.js";
import { operation } from "../../../operation.js";
import { Criteria } from "../../../schema/criteria.js";
import { Delivery } from "../../../schema/delivery.js";
import { Endpoints } from "../../../schema/endpoints.js";
import { Manifest } from "../../../schema/manifest.js";
import { Vault } from "../../../schema/vault.js";

export const DOCUMENTS = {
  manifest: Manifest,
  delivery: Delivery,
  criteria: Criteria,
  endpoints: Endpoints,
  vault: Vault,
};
export type DocumentKind = keyof typeof DOCUMENTS;
export const DOCUMENT_KINDS = Object.keys(DOCUMENTS) as [DocumentKind, ...DocumentKind[]];

/** JSON Schema (draft 2020-12) of one document, as an editor reads it. */
export function jsonSchemaOf(kind: DocumentKind): Record<string, unknown> {
  const { $schema, description, ...rest } = z.toJSONSchema(DOCUMENTS[kind], { target: "draft-2020-12", io: "input" });
  return { $schema, title: description, ...rest };
}

export const schema = operation({
  name: "bundle_schema",
  summary: "print a JSON Schema for editors",
  input: z.object({ kind: z.enum(DOCUMENT_KINDS).default("manifest"), output: z.string().optional() }),
  /** The schema itself, or where it was written. */
  output: z.record(z.string(), z.unknown()),
  async run({ kind, output }, { cwd }) {
    const document = jsonSchemaOf(kind);
    if (output === undefined) return document;
    const path = resolve(cwd, output);
    try {
      atomicWrite(path, `${JSON.stringify(document, null, 2)}\n`);
    } catch (error) {
      throw fromSystemError(error, path) ?? error;
    }
    return { kind, path };
  },
});
