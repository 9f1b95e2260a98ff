import type { InstallInput } from "../install.js";

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
