import { existsSync } from "node:fs";
import { join } from "node:path";
import { type JsonWish, jsonEdit } from "../edit/jsonc.js";
import { markedEdit } from "../edit/marked.js";
import { SERVER } from "../host.js";
import {
  type AgentFile,
  deniedTools,
  type InstallFile,
  type InstallInput,
  MEMORY_TEXT,
  type SkillFile,
} from "../install.js";
import { opencode } from "./host.js";

export function installOpencode(input: InstallInput): InstallFile[] {
  const { scope, root, home, env } = input;
  const userFolder = join(env.XDG_CONFIG_HOME ?? join(home, ".config"), "opencode");
  const folder = scope === "project" ? join(root, ".opencode") : userFolder;
  const base = scope === "project" ? root : userFolder;
  const config = existsSync(join(base, "opencode.jsonc")) ? join(base, "opencode.jsonc") : join(base, "opencode.json");
  const manual = input.skills.filter((skill) => skill.manual);
  const wishes: JsonWish[] = [
    {
      at: ["mcp", SERVER],
      value: { type: "local", command: [...input.server], environment: { NEXUS_HARNESS_ID: opencode.harnessId } },
    },
    // OpenCode also reads skills of other hosts, where a manual one may lie.
    ...manual.map(({ id }) => ({ at: ["permission", "skill", id], value: "deny" })),
  ];
  return [
    { path: config, edit: jsonEdit({ path: config }, wishes) },
    { path: join(folder, "plugins/nexus.js"), content: pluginFile(input) },
    { path: join(base, "AGENTS.md"), edit: markedEdit(MEMORY_TEXT) },
    ...input.agents.map((agent) => ({ path: join(folder, "agents", `${agent.id}.md`), content: opencodeAgent(agent) })),
    ...input.skills.map((skill) => opencodeSkill(skill, folder)),
  ];
}

export function pluginFile({ node, hook, plugin }: Pick<InstallInput, "node" | "hook" | "plugin">): string {
  const place = JSON.stringify({ node, hook });
  // OpenCode takes every export for a plugin, so there is one and no other.
  const body =
    "path" in plugin
      ? importing(JSON.stringify(plugin.path), place)
      : `const __PLACE__ = ${place};\n${plugin.code.trim()}`;
  return `// Written by nexus setup; nexus setup opencode --remove takes it out.\n${body}\n`;
}

/**
 * OpenCode goes on without a plugin that cannot be loaded. This one then blocks the tools of every agent: which role one has
 * cannot be told. `path` and `place` are expressions.
 */
export function importing(path: string, place: string): string {
  return `export const Nexus = async (input) => {
  try {
    const { nexusPlugin } = await import(${path});
    return await nexusPlugin(${place})(input);
  } catch (error) {
    const agents = new Set();
    return {
      event: async ({ event }) => {
        const { id, parentID } = event.properties?.info ?? {};
        if (event.type === "session.created" && parentID) agents.add(id);
      },
      "tool.execute.before": async ({ sessionID }) => {
        if (agents.has(sessionID)) throw new Error("nexus: the gate cannot start, denied: " + String(error));
      },
    };
  }
};`;
}

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
