import { command } from "../../../cli/command.js";
import { bold, count, dim, green, red } from "../../../cli/text.js";
import { setup } from "./setup.js";

export default command(setup, {
  positionals: [{ name: "host", about: "claude, codex or opencode" }],
  flags: {
    scope: { about: "this project, or everything you do", value: "<scope>", choices: ["project", "user"] },
    "dry-run": { about: "show what would change and change nothing" },
    remove: { about: "take everything out again, to the byte where nobody changed it since" },
    yes: { about: "do not ask", short: "y" },
  },
  about: [
    "Installs the roles, the skills, the hooks and the MCP server. Your own settings keep their comments and their order;",
    "AGENTS.md and CLAUDE.md are touched only between two markers. Running it again changes nothing.",
  ],
  examples: [
    ["nexus setup claude --dry-run", "see the diff first"],
    ["nexus setup codex --scope user", "for every project"],
    ["nexus setup opencode --remove", "as if it had never been"],
  ],
  // Hosts start us by absolute paths: they may have another PATH than the person who sets them up.
  input: (values) => ({ ...values, node: process.execPath }),
  text: ({ host, scope, applied, removed, changes, kept, next }, { quiet }) => {
    const lines: string[] = [];
    for (const { path, kind, diff } of changes) {
      lines.push(`${kind} ${bold(path)}${kind === "change" ? "" : dim(` (${count(diff.length, "line")})`)}`);
      if (kind === "change" && !quiet)
        lines.push(
          ...diff.map(
            ({ sign, text }) =>
              `  ${sign === "+" ? green(`+ ${text}`) : sign === "-" ? red(`- ${text}`) : dim(`  ${text}`)}`,
          ),
        );
    }
    for (const path of kept) lines.push(`kept ${bold(path)}: it is yours, and ours would have the same name`);
    if (changes.length === 0) lines.push(`nothing to change: ${host} (${scope}) is as it should be`);
    else if (!applied) lines.push("nothing was changed");
    else lines.push(removed ? `${host} (${scope}) is as it was before` : `${host} (${scope}) is set up`);
    if (applied && !removed) lines.push(...next.map((step) => `next: ${step}`));
    return lines;
  },
});
