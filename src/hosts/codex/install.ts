import { join } from "node:path";
import { hookEventsWithout } from "../command-hooks.js";
import { jsonEdit } from "../edit/jsonc.js";
import { markedEdit } from "../edit/marked.js";
import { parsed, tomlEdit } from "../edit/toml.js";
import { lastingServerWords } from "../here.js";
import { SERVER } from "../host.js";
import {
  type AgentFile,
  hookLists,
  type InstallFile,
  type InstallInput,
  isOurHook,
  isOurServer,
  MEMORY_TEXT,
  type SkillFile,
  strictFor,
} from "../install.js";
import { codex } from "./host.js";

/** Codex has no event of its own for a tool that failed, and none for settings. */
export const CODEX_EVENTS = hookEventsWithout("PostToolUseFailure", "ConfigChange");

export function installCodex(input: InstallInput): InstallFile[] {
  const { scope, root, home, env } = input;
  const folder = scope === "project" ? join(root, ".codex") : env.CODEX_HOME || join(home, ".codex");
  const skills = scope === "project" ? join(root, ".agents/skills") : join(home, ".agents/skills");
  const config = join(folder, "config.toml");
  const hooks = join(folder, "hooks.json");
  return [
    { path: config, edit: tomlEdit(config, serverTable(input), [["mcp_servers", SERVER]]) },
    {
      path: hooks,
      edit: jsonEdit(
        { path: hooks, strict: strictFor("codex", input) },
        Object.entries(hookLists(input, codex, CODEX_EVENTS)).map(([event, element]) => ({
          at: ["hooks", event],
          element,
          ours: isOurHook,
        })),
      ),
    },
    { path: scope === "project" ? join(root, "AGENTS.md") : join(folder, "AGENTS.md"), edit: markedEdit(MEMORY_TEXT) },
    ...input.agents.map((agent) => ({
      path: join(folder, "agents", `${agent.id}.toml`),
      content: codexAgent(agent),
    })),
    ...input.skills.flatMap((skill) => codexSkill(skill, skills)),
  ];
}

/** Whether a person's settings have a server of our name that is not ours. */
export function hasServerAlike(config: string): boolean {
  const server = (parsed(config)?.mcp_servers as Readonly<Record<string, unknown>> | undefined)?.[SERVER];
  return server !== undefined && !isOurServer(server);
}

/** Agents get a server of their own from the same settings; it knows its caller by the thread each call names. */
export function serverTable(input: Pick<InstallInput, "scope" | "server" | "platform">): string {
  const { command, args } = lastingServerWords(input);
  return [
    `[mcp_servers.${SERVER}]`,
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    // Without these the first request misses the tools, and calls are refused outside full access.
    "required = true",
    // A person's own server of this name may be off, and Codex puts both tables together.
    "enabled = true",
    // Otherwise it is not given to servers, and where we are on this machine stands there.
    'env_vars = ["XDG_STATE_HOME"]',
    'default_tools_approval_mode = "approve"',
    "",
    `[mcp_servers.${SERVER}.env]`,
    `NEXUS_HARNESS_ID = "${codex.harnessId}"`,
  ].join("\n");
}

export function codexAgent({ id, description, prompt, blocked, model }: AgentFile): string {
  return `${[
    `name = "${id}"`,
    `description = ${JSON.stringify(description)}`,
    ...(model === null ? [] : [`model = ${JSON.stringify(model)}`]),
    ...(blocked.includes("file_modification") ? ['sandbox_mode = "read-only"'] : []),
    `developer_instructions = ${JSON.stringify(prompt)}`,
  ].join("\n")}\n`;
}

export function codexSkill({ id, description, prompt, manual }: SkillFile, folder: string): InstallFile[] {
  const content = `---\nname: ${id}\ndescription: ${JSON.stringify(description)}\n---\n\n${prompt}`;
  const files: InstallFile[] = [{ path: join(folder, id, "SKILL.md"), content }];
  if (manual)
    files.push({
      path: join(folder, id, "agents/openai.yaml"),
      content: "policy:\n  allow_implicit_invocation: false\n",
    });
  return files;
}
