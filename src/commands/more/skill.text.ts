import { command } from "../../cli/command.js";
import { skill } from "./skill.js";

export default command(skill, {
  about: ["Prints SKILL.md. nexus setup installs it into Claude Code, Codex and OpenCode together with the roles."],
  examples: [
    ["nutshell skill > .claude/skills/nutshell/SKILL.md", "only this skill, in one project"],
    ["nexus setup claude", "this and everything else"],
  ],
  text: ({ text }) => text.trimEnd().split("\n"),
});
