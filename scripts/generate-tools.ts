// Writes src/mcp/tool-list.json from the operations: `npx tsx scripts/generate-tools.ts`. A test compares them.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { toolList } from "../src/mcp/definitions.js";

const path = fileURLToPath(new URL("../src/mcp/tool-list.json", import.meta.url));
writeFileSync(path, `${JSON.stringify(toolList())}\n`);
