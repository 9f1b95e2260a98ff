import { existsSync } from "node:fs";
import { join } from "node:path";
import { type JsonWish, jsonEdit } from "../edit/jsonc.js";
import { markedEdit } from "../edit/marked.js";
import { serverWords, TRAVELLING_PLUGIN } from "../here.js";
import { SERVER } from "../host.js";
import {
  type AgentFile,
  deniedTools,
  type InstallFile,
  type InstallInput,
  isNewOrHas,
  isOurServer,
  MEMORY_TEXT,
  type SkillFile,
} from "../install.js";
import { opencode } from "./host.js";
import { pluginFile } from "./plugin-file.js";

export function installOpencode(input: InstallInput): InstallFile[] {
  const { scope, root, home, env } = input;
  const userFolder = join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
  const folder = scope === "project" ? join(root, ".opencode") : userFolder;
  const base = scope === "project" ? root : userFolder;
  const config = existsSync(join(base, "opencode.jsonc")) ? join(base, "opencode.jsonc") : join(base, "opencode.json");
  const { command, args } = serverWords(input);
  const manual = input.skills.filter((skill) => skill.manual);
  const wishes: JsonWish[] = [
    ...schemaWish(config),
    {
      at: ["mcp", SERVER],
      value: {
        type: "local",
        command: [command, ...args],
        environment: { NEXUS_HARNESS_ID: opencode.harnessId },
        // A person's own server of this name may be off, and OpenCode puts both together.
        enabled: true,
      },
      ours: isOurServer,
    },
    // OpenCode also reads skills of other hosts, where a manual one may lie.
    ...manual.map(({ id }) => ({ at: ["permission", "skill", id], value: "deny" })),
  ];
  return [
    { path: config, edit: jsonEdit({ path: config }, wishes) },
    {
      path: join(folder, "plugins/nexus.js"),
      content: scope === "project" ? TRAVELLING_PLUGIN : pluginFile(input),
      isOurs: (text) => text.startsWith("// Written by nexus setup;"),
    },
    { path: join(base, "AGENTS.md"), edit: markedEdit(MEMORY_TEXT) },
    ...input.agents.map((agent) => ({ path: join(folder, "agents", `${agent.id}.md`), content: opencodeAgent(agent) })),
    ...input.skills.map((skill) => opencodeSkill(skill, folder)),
  ];
}

const SCHEMA = "https://opencode.ai/config.json";

/** OpenCode adds it to a file that has none: everybody who works on the project would see the file changed. */
const schemaWish = (config: string): JsonWish[] =>
  isNewOrHas(config, SCHEMA) ? [{ at: ["$schema"], value: SCHEMA, hosts: true }] : [];

/** `edit` is the one permission all of OpenCode's writing tools ask for. */
export function opencodeAgent({ id, description, prompt, blocked, model }: AgentFile): string {
  const denied = deniedTools(opencode, blocked).map((name) => (EDITING.has(name) ? "edit" : name));
  const permission = Object.fromEntries([...new Set([...denied, "task"])].map((name) => [name, "deny"]));
  const fields = [
    `description: ${JSON.stringify(description)}`,
    "mode: subagent",
    ...(model === null ? [] : [`model: ${model}`]),
    `permission: ${JSON.stringify(permission)}`,
  ];
  return `---\n${fields.join("\n")}\n---\n\n${prompt || id}`;
}

const EDITING = new Set(["write", "edit", "multiedit", "patch", "apply_patch"]);

/** A manual skill is a slash command here: commands are for people only. */
function opencodeSkill({ id, description, prompt, manual }: SkillFile, folder: string): InstallFile {
  if (manual)
    return {
      path: join(folder, "commands", `${id}.md`),
      content: `---\ndescription: ${JSON.stringify(description)}\n---\n\n${prompt}`,
    };
  return {
    path: join(folder, "skills", id, "SKILL.md"),
    content: `---\nname: ${id}\ndescription: ${JSON.stringify(description)}\n---\n\n${prompt}`,
  };
}
