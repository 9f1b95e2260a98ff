// Where our own programs are: agents reach the tools through one of them, and the demo is another.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NutError } from "../../errors.js";
import { STANDALONE } from "../../process/index.js";
import { RELAY_SCRIPT } from "./relay-script.js";

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

/** `nexus` with these arguments, as a process of its own. */
export function nexusProgram(...args: readonly string[]): {
  readonly command: string;
  readonly args: readonly string[];
} {
  if (STANDALONE) return { command: process.execPath, args };
  return { command: process.execPath, args: [join(packageRoot(), "bin", "nexus.js"), ...args] };
}

/** Memory is given back soon rather than kept for speed: it passes bytes on, and keeps next to nothing. */
const SMALL = ["--max-semi-space-size=1", "--max-old-space-size=256", "--expose-gc"];

/** What holds the secrets of a run. */
export function brokerProgram(): ReturnType<typeof nexusProgram> {
  if (STANDALONE) return nexusProgram("broker");
  return { command: process.execPath, args: [...SMALL, join(packageRoot(), "dist", "broker.js")] };
}

/** Where every sandbox shows it. */
const PERL = "/usr/bin/perl";

/** The tools for an agent: the server, and what passes on to it from inside a sandbox. */
export function toolPrograms() {
  const server = nexusProgram("mcp");
  if (existsSync(PERL)) return { server, relay: { command: PERL, args: ["-e", RELAY_SCRIPT] } };
  if (STANDALONE) return { server, relay: server };
  return { server, relay: { command: process.execPath, args: [join(packageRoot(), "dist", "relay.js")] } };
}

/** The word by which the executable plays the demo agent. */
const DEMO_AGENT = "demo-agent";

/** The demo agent as a shell line for the command driver. */
export function demoCommand(): string {
  const program = STANDALONE ? DEMO_AGENT : join(packageRoot(), "dist", "demo-agent.cjs");
  return [process.execPath, program].map(quoted).join(" ");
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
