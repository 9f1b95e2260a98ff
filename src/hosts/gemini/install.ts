import { join, resolve } from "node:path";
import { TOOLS } from "../../schema/tools.js";
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
import { GEMINI_EVENTS, GEMINI_TOOLS, gemini } from "./host.js";

export function installGemini(input: InstallInput): InstallFile[] {
  const { scope, root } = input;
  const folder = scope === "project" ? join(root, ".gemini") : ownGeminiFolder(input);
  const settings = join(folder, "settings.json");
  const server = { ...serverWords(input), env: { NEXUS_HARNESS_ID: gemini.harnessId }, trust: true };
  return [
    {
      path: settings,
      edit: jsonEdit({ path: settings, strict: strictFor("gemini", input) }, [
        ...Object.entries(hookLists(input, gemini, GEMINI_EVENTS, MILLISECONDS)).map(([event, element]) => ({
          at: ["hooks", event],
          element,
          ours: isOurHook,
        })),
        { at: ["mcpServers", SERVER], value: server, ours: isOurServer },
      ]),
    },
    { path: scope === "project" ? join(root, "GEMINI.md") : join(folder, "GEMINI.md"), edit: markedEdit(MEMORY_TEXT) },
    ...input.agents.map((agent) => ({ path: join(folder, "agents", `${agent.id}.md`), content: geminiAgent(agent) })),
    ...input.skills.map((skill) => geminiSkill(skill, folder)),
  ];
}

/** A person's own, where Gemini CLI looks for it. */
export function ownGeminiFolder({ root, home, env }: Pick<InstallInput, "root" | "home" | "env">): string {
  return join(resolve(root, env.GEMINI_CLI_HOME || home), ".gemini");
}

const MILLISECONDS = 1_000;

/** What only Lead does, and names it takes in no list: one of them voids the role. */
const NOT_FOR_AGENTS = [
  "invoke_agent",
  "complete_task",
  "ask_user",
  "enter_plan_mode",
  "exit_plan_mode",
  "list_background_processes",
  "read_background_output",
];

/** It has only lists of what is allowed: all of its tools and ours but what the role is denied, and starting agents. */
export function geminiAgent({ id, description, prompt, blocked, model }: AgentFile): string {
  const denied = new Set([...deniedTools(gemini, blocked), ...NOT_FOR_AGENTS]);
  const tools = [...Object.keys(GEMINI_TOOLS), ...TOOLS.map(gemini.toolName)].filter((name) => !denied.has(name));
  const fields = [
    `name: ${id}`,
    `description: ${JSON.stringify(description)}`,
    ...(model === null ? [] : [`model: ${model}`]),
    `tools: [${tools.join(", ")}]`,
  ];
  return `---\n${fields.join("\n")}\n---\n\n${prompt}`;
}

/** What only a person may start is a command: skills are offered to the model. */
function geminiSkill({ id, description, prompt, manual }: SkillFile, folder: string): InstallFile {
  if (manual) {
    const content = `description = ${JSON.stringify(description)}\nprompt = ${JSON.stringify(prompt)}\n`;
    return { path: join(folder, "commands", `${id}.toml`), content };
  }
  const content = `---\nname: ${id}\ndescription: ${JSON.stringify(description)}\n---\n\n${prompt}`;
  return { path: join(folder, "skills", id, "SKILL.md"), content };
}
