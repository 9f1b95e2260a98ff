// Settings of a project travel to other machines, so no path of one stands in them. They look for nexus in two places: what
// `nexus setup` left for this machine in the account's state folder, then PATH.
import { join } from "node:path";
import { shellQuoted } from "./hook-command.js";
import type { InstallInput } from "./install.js";
import { pluginFile } from "./opencode/plugin-file.js";

/** Below the state folder, where no agent may write. */
const HERE = "nutcracker/here";
/** Starts us as `nexus` does, hooks without the command line in between. */
const LAUNCHER = `${HERE}/nexus`;
const OPENCODE = `${HERE}/opencode.js`;

/** Leaves the program in `$n`; fails when there is none. For a shell script in single quotes. */
const FIND = `n="\${XDG_STATE_HOME:-$HOME/.local/state}/${LAUNCHER}"; [ -x "$n" ] || n=$(command -v nexus)`;

const MISSING = "nexus is not installed on this machine, and this project cannot be worked on without it";
const INSTALL = "npm install -g nutcracker";

/**
 * Stands in for the server where there is none, in a shell: no tools, and a sentence for the model. A host that must have its
 * servers (Codex) would not start otherwise, and say of no program that it is missing.
 */
function standIn(sentence: string): string {
  const hello = {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "nexus", version: "0" },
    instructions: sentence,
  };
  return [
    `echo "nexus: ${sentence}" >&2`,
    `while read -r l; do case $l in *'"id":'*) i=\${l##*'"id":'}; i=\${i%%[,\\}]*}`,
    `case $l in *'"initialize"'*) r='${JSON.stringify(hello)}';; *'"tools/list"'*) r='{"tools":[]}';; *) r='{}';; esac`,
    `printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$i" "$r";; esac; done`,
    "exit 127",
  ].join("; ");
}

/** What comes before a hook's own script: `$@` becomes the words that start us. */
export const finding = (exit: number): string =>
  `${FIND} || { echo "nexus: ${MISSING}: ${INSTALL}" >&2; exit ${exit}; }; set -- "$n" "$@"`;

/** The words that start the MCP server, as they stand in the settings. */
export function serverWords({ scope, server, platform }: Pick<InstallInput, "scope" | "server" | "platform">): {
  readonly command: string;
  readonly args: readonly string[];
} {
  const [command = "", ...args] = server;
  if (scope === "user") return { command, args };
  if (platform === "win32") return { command: "cmd", args: ["/c", "nexus", "mcp"] };
  const script = `${FIND} || { ${standIn(`${MISSING}: ${INSTALL}`)}; }; exec "$n" "$@"`;
  return { command: "/bin/sh", args: ["-c", script, "nexus", "mcp"] };
}

const GONE = "nexus is not where it was on this machine";

/** The same for a host that does not start without its servers, and may outlive us: nexus may be gone from a person's machine. */
export function lastingServerWords(input: Parameters<typeof serverWords>[0]): ReturnType<typeof serverWords> {
  const { command, args } = serverWords(input);
  if (input.scope === "project" || input.platform === "win32") return { command, args };
  const isGone = 'for w; do case $w in /*) [ -e "$w" ] ||';
  const script = `${isGone} { ${standIn(`${GONE}: ${INSTALL} && nexus setup codex --scope user`)}; };; esac; done; exec "$@"`;
  return { command: "/bin/sh", args: ["-c", script, "nexus", command, ...args] };
}

export interface LocalFile {
  readonly path: string;
  readonly content: string;
  readonly mode: number;
}

/** What is left for this machine. */
export function localFiles(input: InstallInput): LocalFile[] {
  const { node, hook, server, home, env } = input;
  const state = env.XDG_STATE_HOME || join(home, ".local/state");
  const [program, ...args] = server.slice(0, -1).map(shellQuoted);
  // A single file answers hooks itself: then the hook is a word, and there is no file to look for.
  const isThere = [program!, ...args].map((path) => `[ -e ${path} ]`).join(" && ");
  const launcher = [
    "#!/bin/sh",
    "# Where nexus is on this machine. Written by nexus setup; nexus setup --remove takes it out.",
    `if ${isThere}; then`,
    `  case $1 in hook) shift; exec ${shellQuoted(node)} ${shellQuoted(hook)} "$@";; esac`,
    `  exec ${[program, ...args].join(" ")} "$@"`,
    "fi",
    'command -v nexus >/dev/null && exec nexus "$@"',
    `case $1 in mcp) ${standIn(`${MISSING}: ${INSTALL}`)};; esac`,
    `echo "nexus: ${MISSING}: ${INSTALL}" >&2`,
    // A gate that is gone is closed.
    'case "$1 $3" in "hook PreToolUse"|"hook BeforeTool") exit 2;; esac',
    "exit 127",
    "",
  ].join("\n");
  return [
    { path: join(state, LAUNCHER), content: launcher, mode: 0o755 },
    { path: join(state, OPENCODE), content: pluginFile(input), mode: 0o644 },
  ];
}

/** The plugin as it stands in a project: it looks for the one of this machine, and blocks every tool when there is none. */
export const TRAVELLING_PLUGIN = `// Written by nexus setup; nexus setup opencode --remove takes it out.
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";

async function find() {
  const here = join(process.env.XDG_STATE_HOME || join(homedir(), ".local/state"), "${OPENCODE}");
  if (existsSync(here)) return (await import(here)).Nexus;
  for (const folder of (process.env.PATH ?? "").split(delimiter).filter(isAbsolute)) {
    if (!existsSync(join(folder, "nexus"))) continue;
    const hooks = join(dirname(realpathSync(join(folder, "nexus"))), "../dist/hook");
    if (!existsSync(join(hooks, "opencode-plugin.js"))) throw new Error("nexus: run this once on this machine: nexus setup opencode");
    const { nexusPlugin } = await import(join(hooks, "opencode-plugin.js"));
    return nexusPlugin({ node: "node", hook: join(hooks, "hook.js") });
  }
  throw new Error("nexus: ${MISSING}: ${INSTALL}");
}

export const Nexus = async (input) => {
  try {
    return await (await find())(input);
  } catch (error) {
    const refuse = async () => {
      throw error;
    };
    return { "tool.execute.before": refuse };
  }
};
`;
