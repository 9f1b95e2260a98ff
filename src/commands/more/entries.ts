import type { Entry, Program } from "../../cli/command.js";

/** What both programs have besides their own work. */
export function moreEntries(program: () => Program): Entry[] {
  return [
    {
      name: "skill",
      summary: "what an agent must know to use both tools",
      group: "More",
      load: () => import("./skill.text.js"),
    },
    {
      name: "completion",
      summary: "teach bash, zsh or fish the commands",
      group: "More",
      load: async () => ({ default: (await import("./completion.js")).completionCommand(async () => program()) }),
    },
  ];
}
