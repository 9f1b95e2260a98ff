// How hosts start us. A hook process starts for every tool call, so a single-file nexus is preferred where there is one:
// it starts several times faster than node does.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { InstallInput } from "../../../hosts/index.js";
import { askVersion, type Environment, findProgram, STANDALONE } from "../../../process/index.js";
import { VERSION } from "../../../version.js";

type OwnPrograms = Pick<InstallInput, "node" | "hook" | "plugin" | "server">;

export interface Whereabouts {
  readonly packageRoot: string;
  /** The program that runs us now: node, or ourselves. */
  readonly node: string;
  readonly env: Environment;
}

export async function ownPrograms({ packageRoot, node, env }: Whereabouts): Promise<OwnPrograms> {
  if (STANDALONE) {
    const code = readFileSync(join(packageRoot, "opencode-plugin.js"), "utf8");
    return { ...executable(node), plugin: { code } };
  }
  const plugin = { path: join(packageRoot, "dist/hook/opencode-plugin.js") };
  const single = await findExecutable(env);
  if (single !== null) return { ...executable(single), plugin };
  return {
    node,
    hook: join(packageRoot, "dist/hook/hook.js"),
    plugin,
    server: [node, join(packageRoot, "bin/nexus.js"), "mcp"],
  };
}

const executable = (path: string) => ({ node: path, hook: "hook", server: [path, "mcp"] });

/** A nexus on PATH that is a program of the machine's own kind, not a script, and of exactly our version. */
async function findExecutable(env: Environment): Promise<string | null> {
  const path = findProgram("nexus", env);
  if (path === null || isScript(path)) return null;
  try {
    const said = await askVersion({ path, args: ["version", "--json"], env });
    const { name, version } = JSON.parse(said ?? "null") as { name?: unknown; version?: unknown };
    return name === "nexus" && version === VERSION ? path : null;
  } catch {
    return null;
  }
}

/** ELF, Mach-O or PE begin a program; anything else is a script of some kind. */
function isScript(path: string): boolean {
  const start = Buffer.alloc(4);
  const fd = openSync(path, "r");
  try {
    readSync(fd, start, 0, 4, 0);
  } finally {
    closeSync(fd);
  }
  return !["7f454c46", "cffaedfe"].includes(start.toString("hex")) && start.toString("latin1", 0, 2) !== "MZ";
}
