import { command } from "../../../cli/command.js";
import { bold, count, cyan, dim, green, red, yellow } from "../../../cli/text.js";
import { status } from "./status.js";

const MOST = 12;

interface Line {
  readonly id: number;
  readonly title: string;
}

export default command(status, {
  about: ["Reads only, and takes no lock: it can be asked at any time, whoever is working."],
  examples: [["nexus status", "where this project stands"]],
  text: ({ root, branch, plan, tasks, agents, cycles, problems }) => [
    `${bold(root)}  ${dim(`branch ${branch}, ${count(cycles, "closed cycle")}`)}`,
    ...problems.flatMap(({ message, fix }) => [`${red("✗")} ${message}`, ...(fix === undefined ? [] : [`    ${fix}`])]),
    ...(plan === null
      ? [dim("no plan is open")]
      : [
          `plan ${plan.id}: ${plan.topic}  ${dim(`${plan.decided} decided, ${plan.pending.length} to decide`)}`,
          ...lines(plan.pending, yellow("?")),
        ]),
    ...(tasks === null
      ? [dim("no tasks")]
      : [
          `tasks: ${tasks.completed} of ${tasks.total} done${tasks.goal === "" ? "" : `  ${dim(tasks.goal)}`}`,
          ...lines(tasks.running, cyan("▸")),
          ...lines(tasks.ready, green("○")),
          ...(tasks.waiting > 0 ? [dim(`  ${tasks.waiting} waiting for others`)] : []),
          ...tasks.never.map(({ id, why }) => `  ${red("✗")} ${id} can never be ready: it ${why}`),
        ]),
    ...agents.map(({ name, id, since }) => `agent ${name}  ${dim(`${id}, since ${since}`)}`),
  ],
  exit: ({ problems }) => (problems.length === 0 ? 0 : 1),
});

function lines(items: readonly Line[], mark: string): string[] {
  const shown = items.slice(0, MOST).map(({ id, title }) => `  ${mark} ${id}  ${title}`);
  return items.length > MOST ? [...shown, dim(`  … ${items.length - MOST} more: nexus task`)] : shown;
}
