// The same content as folders a host can install by itself: one plugin that Claude Code and Codex both read, with a
// marketplace file for each, and a file for OpenCode. The runtime is copied in by scripts/build-hosts.mjs.
import { loadCatalog } from "../../../catalog/index.js";
import {
  CLAUDE_PLUGIN,
  claudeAgent,
  claudeSkill,
  codexSkill,
  findHost,
  type Host,
  hookEvents,
  type InstallFile,
  importing,
  SERVER,
  throughShell,
  toolNames,
} from "../../../hosts/index.js";
import { VERSION } from "../../../version.js";
import { agentFiles, skillFiles } from "./install-input.js";

const ABOUT = "Hold agents to their roles and check their work: plans, tasks, roles and gates of Nexus";

/** Path → content, relative to the output folder. */
export async function pluginFiles(): Promise<Record<string, string>> {
  const catalog = await loadCatalog();
  const claude = findHost("claude-plugin")!;
  const codex = findHost("codex")!;
  const files: Record<string, string> = {
    ".claude-plugin/marketplace.json": json({
      name: CLAUDE_PLUGIN,
      owner: { name: CLAUDE_PLUGIN },
      metadata: { description: ABOUT, version: VERSION },
      plugins: [{ name: CLAUDE_PLUGIN, source: `./${CLAUDE_PLUGIN}`, description: ABOUT, version: VERSION }],
    }),
    ".agents/plugins/marketplace.json": json({
      name: CLAUDE_PLUGIN,
      interface: { displayName: "Nutcracker" },
      plugins: [
        {
          name: CLAUDE_PLUGIN,
          source: { source: "local", path: `./${CLAUDE_PLUGIN}` },
          policy: { installation: "AVAILABLE", authentication: "ON_INSTALL" },
          category: "Productivity",
        },
      ],
    }),
    "opencode/nexus.js": OPENCODE,
  };
  const inside = (path: string, content: string) => {
    files[`${CLAUDE_PLUGIN}/${path}`] = content;
  };
  inside(
    ".claude-plugin/plugin.json",
    json({
      name: CLAUDE_PLUGIN,
      version: VERSION,
      description: ABOUT,
      author: { name: CLAUDE_PLUGIN },
      license: "MIT",
      mcpServers: { [SERVER]: server(claude, `${shellVariable("CLAUDE_PLUGIN_ROOT")}/bin/nexus.js`) },
    }),
  );
  inside(
    "hooks/hooks.json",
    json({ hooks: hooks(claude, "claude-plugin", shellVariable("CLAUDE_PLUGIN_ROOT"), hookEvents("claude")) }),
  );
  for (const agent of agentFiles(catalog, claude)) inside(`agents/${agent.id}.md`, claudeAgent(agent, claude.toolName));
  for (const skill of skillFiles(catalog, claude)) inside(`skills/${skill.id}/SKILL.md`, claudeSkill(skill));

  inside(
    ".codex-plugin/plugin.json",
    json({
      name: CLAUDE_PLUGIN,
      version: VERSION,
      description: ABOUT,
      skills: "./codex/skills/",
      hooks: "./codex/hooks.json",
      mcpServers: "./codex/mcp.json",
    }),
  );
  inside(
    "codex/hooks.json",
    json({ hooks: hooks(codex, "codex", shellVariable("PLUGIN_ROOT:-$CLAUDE_PLUGIN_ROOT"), hookEvents("codex")) }),
  );
  // Codex expands nothing here; a relative path counts from the plugin's own folder.
  inside("codex/mcp.json", json({ mcpServers: { [SERVER]: { ...server(codex, "./bin/nexus.js"), cwd: "." } } }));
  for (const skill of skillFiles(catalog, codex, toolNames(codex))) {
    for (const file of codexSkill(skill, "codex/skills"))
      inside(file.path, (file as Extract<InstallFile, { content: string }>).content);
  }
  return files;
}

function server(host: Host, program: string): { command: string; args: string[]; env: Record<string, string> } {
  return { command: "node", args: [program, "mcp"], env: { NEXUS_HARNESS_ID: host.harnessId } };
}

function hooks({ harnessId }: Host, name: string, root: string, events: readonly string[]): Record<string, unknown[]> {
  // A plugin is one for every platform.
  const command = (event: string) =>
    throughShell({ words: ["node", `"${root}/dist/hook/hook.js"`, name, event], harnessId, event, platform: "any" });
  return Object.fromEntries(
    events.map((event) => [
      event,
      [
        {
          ...(event.includes("ToolUse") ? { matcher: "*" } : {}),
          hooks: [
            {
              type: "command",
              command: command(event),
              timeout: event === "SessionEnd" ? 3 : 20,
            },
          ],
        },
      ],
    ]),
  );
}

/** For the host or its shell to fill in. */
const shellVariable = (name: string): string => `\${${name}}`;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const OPENCODE = `import { fileURLToPath } from "node:url";

const hook = fileURLToPath(new URL("../${CLAUDE_PLUGIN}/dist/hook/hook.js", import.meta.url));
${importing(`"../${CLAUDE_PLUGIN}/dist/hook/opencode-plugin.js"`, '{ node: "node", hook }')}
`;
