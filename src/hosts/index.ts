import { TOOLS } from "../schema/tools.js";
import { CLAUDE_PLUGIN, claude } from "./claude/host.js";
import { installClaude } from "./claude/install.js";
import { codex } from "./codex/host.js";
import { CODEX_EVENTS, installCodex } from "./codex/install.js";
import { HOOK_EVENTS } from "./command-hooks.js";
import { GEMINI_EVENTS, gemini } from "./gemini/host.js";
import { installGemini } from "./gemini/install.js";
import { HOST_NAMES, type Host, type HostName, SERVER } from "./host.js";
import type { InstallFile, InstallInput } from "./install.js";
import { MACHINE_SETTINGS, movedTo, withMoved } from "./moved-settings.js";
import { opencode } from "./opencode/host.js";
import { installOpencode } from "./opencode/install.js";
import { qwen } from "./qwen/host.js";
import { installQwen, QWEN_EVENTS } from "./qwen/install.js";

export { CLAUDE_PLUGIN } from "./claude/host.js";
export { claudeAgent, claudeSkill } from "./claude/install.js";

export { codexSkill, hasServerAlike } from "./codex/install.js";
export type { TextEdit } from "./edit/edit.js";
export { isObjectText, isReadBy, isStrictJson, READINGS } from "./edit/jsonc.js";

export { ownGeminiFolder } from "./gemini/install.js";
export { type LocalFile, localFiles } from "./here.js";
export { throughShell } from "./hook-command.js";
export {
  asksForGate,
  HOST_NAMES,
  type HookAnswer,
  type Host,
  type HostName,
  PayloadError,
  SERVER,
} from "./host.js";
export {
  type AgentFile,
  deniedTools,
  hookCommand,
  type InstallFile,
  type InstallInput,
  isOurHook,
  isOurServer,
  type Scope,
  type SkillFile,
} from "./install.js";
export type { PluginAnswer, PluginNote } from "./opencode/host.js";
export { importing } from "./opencode/plugin-file.js";
export { ownQwenFolder } from "./qwen/install.js";

const hosts: Readonly<Record<HostName, Host>> = { claude, codex, opencode, qwen, gemini };

/** Claude Code with our plugin: the same host, but our tools carry the plugin's name. */
const claudePlugin: Host = {
  ...claude,
  toolName: (abstract) => `mcp__plugin_${CLAUDE_PLUGIN}_${SERVER}__nx_${abstract}`,
};

export function findHost(name: string): Host | null {
  if (name === "claude-plugin") return claudePlugin;
  return (HOST_NAMES as readonly string[]).includes(name) ? hosts[name as HostName] : null;
}

/** Settings of every host, since an agent in one must not change another's either, and what we keep outside of projects. */
const ALL_SETTINGS: readonly string[] = [
  ...Object.values(hosts).flatMap(({ settings }) => settings),
  "~/.config/opencode/opencode.json",
  "/etc/gemini-cli/settings.json",
  "/etc/qwen-code/settings.json",
  "~/.local/state/nutcracker/",
  ...MACHINE_SETTINGS,
];

export const allSettings = (env: InstallInput["env"], cwd: string): readonly string[] =>
  withMoved(ALL_SETTINGS, env, cwd);

/** What is watched of every host, and the project's own limits of roles. */
export const allWatched = (env: InstallInput["env"], cwd: string): Host["watched"] => [
  ...Object.values(hosts).flatMap(({ watched }) =>
    watched.flatMap((one) => [one, ...movedTo(one.path, env, cwd).map((path) => ({ ...one, path }))]),
  ),
  { path: ".nexus/config.yml" },
];

export function toolNames(host: Host): Record<string, string> {
  return Object.fromEntries(TOOLS.map((tool) => [tool, host.toolName(tool)]));
}

export function installFiles(host: HostName, input: InstallInput): InstallFile[] {
  const install = {
    claude: installClaude,
    codex: installCodex,
    opencode: installOpencode,
    qwen: installQwen,
    gemini: installGemini,
  };
  return install[host](input);
}

/** The events a command host is asked to send us. */
export const hookEvents = (host: Exclude<HostName, "opencode">): readonly string[] =>
  ({ claude: HOOK_EVENTS, codex: CODEX_EVENTS, qwen: QWEN_EVENTS, gemini: GEMINI_EVENTS })[host];
