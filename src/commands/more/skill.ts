import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { findCoreFolder } from "../../catalog/index.js";
import { command } from "../../cli/command.js";

export interface ProductSkill {
  readonly name: string;
  readonly description: string;
  /** The whole file, frontmatter included. */
  readonly text: string;
  readonly body: string;
}

/** SKILL.md of the package: the one place where agents learn to use both tools. */
export function productSkill(packageRoot: string = dirname(findCoreFolder())): ProductSkill {
  const text = readFileSync(join(packageRoot, "SKILL.md"), "utf8");
  const [, head = "", body = ""] = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(text) ?? [];
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(head)?.[1] ?? "";
  return { name: field("name"), description: field("description"), text, body };
}

export default command({
  name: "skill",
  summary: "what an agent must know to use both tools",
  input: z.object({}),
  output: z.object({ name: z.string(), description: z.string(), text: z.string() }),
  about: ["Prints SKILL.md. nexus setup installs it into the host together with the roles."],
  examples: [
    ["nutshell skill > .claude/skills/nutshell/SKILL.md", "only this skill, in one project"],
    ["nexus setup claude", "this and everything else"],
  ],
  async run() {
    const { name, description, text } = productSkill();
    return { name, description, text };
  },
  text: ({ text }) => text.trimEnd().split("\n"),
});
