import { join, resolve } from "node:path";
import { claudeSkill } from "../claude/install.js";
import { hookEventsWithout } from "../command-hooks.js";
import { type JsonWish, jsonEdit } from "../edit/jsonc.js";
import { markedEdit } from "../edit/marked.js";
import { serverWords } from "../here.js";
import { SERVER } from "../host.js";
import {
  type AgentFile,
  deniedTools,
  hookLists,
  type InstallFile,
  type InstallInput,
  isNewOrHas,
  isOurHook,
  isOurServer,
  MEMORY_TEXT,
  strictFor,
} from "../install.js";
import { qwen } from "./host.js";

export function installQwen(input: InstallInput): InstallFile[] {
  const { scope, root } = input;
  const folder = scope === "project" ? join(root, ".qwen") : ownQwenFolder(input);
  const settings = join(folder, "settings.json");
  const server = { ...serverWords(input), env: { NEXUS_HARNESS_ID: qwen.harnessId }, trust: true };
  return [
    {
      path: settings,
      edit: jsonEdit({ path: settings, strict: strictFor("qwen", input) }, [
        ...versionWish(settings),
        ...Object.entries(hookLists(input, qwen, QWEN_EVENTS, MILLISECONDS)).map(([event, element]) => ({
          at: ["hooks", event],
          element,
          ours: isOurHook,
        })),
        { at: ["mcpServers", SERVER], value: server, ours: isOurServer },
        // With it our tools are not offered: a model would have to know of them to look for them.
        { at: ["permissions", "deny"], element: TOOL_SEARCH, ours: (value) => value === TOOL_SEARCH, shared: true },
      ]),
    },
    { path: scope === "project" ? join(root, "QWEN.md") : join(folder, "QWEN.md"), edit: markedEdit(MEMORY_TEXT) },
    ...input.agents.map((agent) => ({ path: join(folder, "agents", `${agent.id}.md`), content: qwenAgent(agent) })),
    ...input.skills.map((skill) => ({
      path: join(folder, "skills", skill.id, "SKILL.md"),
      content: claudeSkill(skill),
    })),
  ];
}

/** A person's own, where Qwen Code looks for it. */
export function ownQwenFolder({ root, home, env }: Pick<InstallInput, "root" | "home" | "env">): string {
  const named = env.QWEN_HOME;
  if (!named) return join(home, ".qwen");
  return /^~(?:\/|$)/.test(named) ? join(home, named.slice(1)) : resolve(root, named);
}

/** Those it was seen to send. */
export const QWEN_EVENTS = hookEventsWithout("Stop", "ConfigChange");

/** Qwen Code writes a file without it anew and leaves the old one beside: everybody who works on the project would see both. */
const versionWish = (settings: string): JsonWish[] =>
  isNewOrHas(settings, `"$version": ${FORM}`) ? [{ at: ["$version"], value: FORM, hosts: true }] : [];

/** The form of settings of the version that was tried. */
const FORM = 4;

const MILLISECONDS = 1_000;
const TOOL_SEARCH = "tool_search";

/** Every role is denied what its limits forbid, and starting agents: only Lead coordinates. */
export function qwenAgent({ id, description, prompt, blocked, model }: AgentFile): string {
  const denied = [...deniedTools(qwen, blocked), "agent"];
  const fields = [
    `name: ${id}`,
    `description: ${JSON.stringify(description)}`,
    ...(model === null ? [] : [`model: ${model}`]),
    // Its parser knows lists in this form only.
    "disallowedTools:",
    ...denied.map((name) => `  - ${name}`),
  ];
  return `---\n${fields.join("\n")}\n---\n\n${prompt}`;
}
