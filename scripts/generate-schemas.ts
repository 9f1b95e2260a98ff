// schemas/*.json: JSON Schema of every document, generated from src/schema. A test compares; run this when it is red:
//   npx tsx scripts/generate-schemas.ts
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DOCUMENT_KINDS, jsonSchemaOf } from "../src/commands/nutshell/bundle/schema.js";

const folder = fileURLToPath(new URL("../schemas/", import.meta.url));
mkdirSync(folder, { recursive: true });
for (const kind of DOCUMENT_KINDS) {
  writeFileSync(`${folder}${kind}.json`, `${JSON.stringify(jsonSchemaOf(kind), null, 2)}\n`);
}
