import { join } from "node:path";
import { HOOK_EVENTS } from "../command-hooks.js";
import { jsonEdit } from "../edit/jsonc.js";
import { markedEdit } from "../edit/marked.js";
import { serverWords } from "../here.js";
import { SERVER } from "../host.js";
import {
  type AgentFile,
  deniedTools,
  hookLists,
  type InstallFile,
  type InstallInput,
  isOurHook,
  isOurServer,
  MEMORY_TEXT,
  type SkillFile,
  strictFor,
} from "../install.js";
import { claude } from "./host.js";

export function installClaude(input: InstallInput): InstallFile[] {
  const { scope, root, home, env } = input;
  const folder = scope === "project" ? join(root, ".claude") : env.CLAUDE_CONFIG_DIR || join(home, ".claude");
  const servers = scope === "project" ? join(root, ".mcp.json") : join(env.CLAUDE_CONFIG_DIR || home, ".claude.json");
  const settings = join(folder, "settings.json");
  const hooks = hookLists(input, claude, HOOK_EVENTS);
  const strict = strictFor("claude", input);
  const isServer = (element: unknown) => element === SERVER;
  return [
    {
      path: settings,
      edit: jsonEdit({ path: settings, strict }, [
        ...Object.entries(hooks).map(([event, element]) => ({ at: ["hooks", event], element, ours: isOurHook })),
        {
          at: ["permissions", "allow"],
          element: `mcp__${SERVER}`,
          ours: (element) => element === `mcp__${SERVER}`,
          shared: true,
        },
        // Otherwise Claude Code asks about a project's server, and Enter says no.
        ...(scope === "project"
          ? [{ at: ["enabledMcpjsonServers"], element: SERVER, ours: isServer, shared: true }]
          : []),
      ]),
    },
    {
      path: servers,
      edit: jsonEdit({ path: servers, strict }, [
        { at: ["mcpServers", SERVER], value: claudeServer(input), ours: isOurServer },
      ]),
    },
    { path: scope === "project" ? join(root, "CLAUDE.md") : join(folder, "CLAUDE.md"), edit: markedEdit(MEMORY_TEXT) },
    ...input.agents.map((agent) => ({ path: join(folder, "agents", `${agent.id}.md`), content: claudeAgent(agent) })),
    ...input.skills.map((skill) => ({
      path: join(folder, "skills", skill.id, "SKILL.md"),
      content: claudeSkill(skill),
    })),
  ];
}

export function claudeServer(input: Pick<InstallInput, "scope" | "server" | "platform">): object {
  return { ...serverWords(input), env: { NEXUS_HARNESS_ID: claude.harnessId } };
}

/** Every role is denied what its limits forbid, and starting agents: only Lead coordinates. */
export function claudeAgent(
  { id, description, prompt, blocked, model }: AgentFile,
  toolName = claude.toolName,
): string {
  const denied = [...deniedTools(claude, blocked, toolName).filter((name) => !CLAUDE_GONE.has(name)), "Agent"];
  const fields = [
    `name: ${id}`,
    `description: ${JSON.stringify(description)}`,
    ...(model === null ? [] : [`model: ${model}`]),
    `disallowedTools: ${denied.join(", ")}`,
  ];
  return `---\n${fields.join("\n")}\n---\n\n${prompt}`;
}

/** Known to the gate because older versions have them; naming them in a deny list of a newer one may void the list. */
const CLAUDE_GONE = new Set(["MultiEdit", "PowerShell", "Monitor"]);

export function claudeSkill({ id, description, prompt, manual }: SkillFile): string {
  const fields = [
    `name: ${id}`,
    `description: ${JSON.stringify(description)}`,
    ...(manual ? ["disable-model-invocation: true"] : []),
  ];
  return `---\n${fields.join("\n")}\n---\n\n${prompt}`;
}
