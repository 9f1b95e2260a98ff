import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DOCUMENT_KINDS, jsonSchemaOf } from "./schema.js";

describe("jsonSchemaOf", () => {
  for (const kind of DOCUMENT_KINDS) {
    it(`agrees with schemas/${kind}.json (else: npx tsx scripts/generate-schemas.ts)`, () => {
      const committed = readFileSync(new URL(`../../../../schemas/${kind}.json`, import.meta.url), "utf8");
      expect(JSON.parse(committed)).toEqual(jsonSchemaOf(kind));
    });
  }

  it("is draft 2020-12, describes fields, and asks only for what the format asks for", () => {
    const schema = jsonSchemaOf("manifest") as {
      $schema: string;
      required: string[];
      properties: Record<string, { description?: string; additionalProperties?: unknown }>;
    };
    expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(schema).toMatchObject({ $id: "urn:nutcracker:schema:manifest" });
    expect(schema.required).toEqual(["nutshell_version", "bundle_type", "id"]);
    expect(schema.properties.bundle_type?.description).toContain("request");
  });
});
