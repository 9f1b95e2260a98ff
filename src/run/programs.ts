// Where our own programs are: agents reach the tools through one of them, and the demo is another.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NutError } from "../errors.js";

export function packageRoot(moduleUrl: string = import.meta.url): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  while (!existsSync(join(folder, "package.json")) || !existsSync(join(folder, "bin", "nexus.js"))) {
    const parent = dirname(folder);
    if (parent === folder) {
      throw new NutError("CATALOG_MISSING", "the package is not completely installed", {
        hint: "npm install -g nutcracker",
      });
    }
    folder = parent;
  }
  return folder;
}

/** The MCP server an agent is given. */
export function toolServer(): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: [join(packageRoot(), "bin", "nexus.js"), "mcp"] };
}

/** The demo agent as a shell line for the command driver. */
export function demoCommand(): string {
  return [process.execPath, join(packageRoot(), "dist", "demo-agent.js")].map(quoted).join(" ");
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
