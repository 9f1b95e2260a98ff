import { join } from "node:path";
import { jsonEdit } from "../edit/jsonc.js";
import { markedEdit } from "../edit/marked.js";
import { tomlEdit } from "../edit/toml.js";
import { NEXUS_CLASSES, SERVER } from "../host.js";
import {
  type AgentFile,
  hookLists,
  type InstallFile,
  type InstallInput,
  isOurHook,
  MEMORY_TEXT,
  type SkillFile,
} from "../install.js";
import { codex } from "./host.js";

export const CODEX_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "SubagentStart",
  "SubagentStop",
  "PreToolUse",
  "PostToolUse",
  "PreCompact",
  "SessionEnd",
] as const;

export function installCodex(input: InstallInput): InstallFile[] {
  const { scope, root, home, env } = input;
  const folder = scope === "project" ? join(root, ".codex") : (env.CODEX_HOME ?? join(home, ".codex"));
  const skills = scope === "project" ? join(root, ".agents/skills") : join(home, ".agents/skills");
  const config = join(folder, "config.toml");
  const hooks = join(folder, "hooks.json");
  return [
    { path: config, edit: tomlEdit(config, serverTable(input, null), [["mcp_servers", SERVER]]) },
    {
      path: hooks,
      edit: jsonEdit(
        hooks,
        Object.entries(hookLists(input, "codex", CODEX_EVENTS)).map(([event, element]) => ({
          at: ["hooks", event],
          element,
          ours: isOurHook,
        })),
      ),
    },
    { path: scope === "project" ? join(root, "AGENTS.md") : join(folder, "AGENTS.md"), edit: markedEdit(MEMORY_TEXT) },
    ...input.agents.map((agent) => ({
      path: join(folder, "agents", `${agent.id}.toml`),
      content: codexAgent(agent, input),
    })),
    ...input.skills.flatMap((skill) => codexSkill(skill, skills)),
  ];
}

/** Every agent has a server of its own, which is told the role and holds it, whatever the model asks for. */
export function serverTable({ server }: Pick<InstallInput, "server">, role: AgentFile | null): string {
  const [command, ...args] = server;
  const hidden =
    role === null
      ? []
      : Object.keys(NEXUS_CLASSES).filter((name) => NEXUS_CLASSES[name]!.some((one) => role.blocked.includes(one)));
  return [
    `[mcp_servers.${SERVER}]`,
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    // Without these the first request misses the tools, and calls are refused outside full access.
    "required = true",
    'default_tools_approval_mode = "approve"',
    ...(hidden.length === 0 ? [] : [`disabled_tools = ${JSON.stringify(hidden.map((name) => `nx_${name}`))}`]),
    "",
    `[mcp_servers.${SERVER}.env]`,
    `NEXUS_HARNESS_ID = "${codex.harnessId}"`,
    ...(role === null ? [] : [`NEXUS_ROLE = "${role.id}"`]),
  ].join("\n");
}

export function codexAgent(agent: AgentFile, input: Pick<InstallInput, "server">): string {
  const { id, description, prompt, blocked, model } = agent;
  return `${[
    `name = "${id}"`,
    `description = ${JSON.stringify(description)}`,
    ...(model === null ? [] : [`model = ${JSON.stringify(model)}`]),
    ...(blocked.includes("file_modification") ? ['sandbox_mode = "read-only"'] : []),
    `developer_instructions = ${JSON.stringify(prompt)}`,
    "",
    serverTable(input, agent),
  ].join("\n")}\n`;
}

function codexSkill({ id, description, prompt, manual }: SkillFile, folder: string): InstallFile[] {
  const content = `---\nname: ${id}\ndescription: ${JSON.stringify(description)}\n---\n\n${prompt}`;
  const files: InstallFile[] = [{ path: join(folder, id, "SKILL.md"), content }];
  if (manual)
    files.push({
      path: join(folder, id, "agents/openai.yaml"),
      content: "policy:\n  allow_implicit_invocation: false\n",
    });
  return files;
}
