// Writes core/conformance/schema and state-schemas from src/schema: `npx tsx scripts/generate-conformance.ts`.
// A test compares them.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { conformanceSchemas } from "../src/commands/nexus/conformance/schemas.js";

const folder = fileURLToPath(new URL("../core/conformance/", import.meta.url));
for (const [name, schema] of Object.entries(conformanceSchemas())) {
  const path = `${folder}${name}`;
  mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  writeFileSync(path, `${JSON.stringify(schema, null, 2)}\n`);
}
