import type { z } from "zod";
import { taskBoard } from "../../operations/market/tasks.js";
import type { BoardTask } from "../../schema/market.js";
import { command } from "../command.js";
import { bold, dim, table } from "../text.js";
import { CLAWNET } from "./clawnet-flags.js";

export default command(taskBoard, {
  flags: CLAWNET,
  examples: [["nutshell tasks board", "what you published, what you do, what you could do"]],
  text: ({ my_published, my_assigned, open_tasks }) => [
    ...section("Published by you", my_published),
    "",
    ...section("Assigned to you", my_assigned),
    "",
    ...section("Open to you", open_tasks),
  ],
});

function section(title: string, tasks: readonly z.infer<typeof BoardTask>[]): string[] {
  if (tasks.length === 0) return [bold(title), dim("  none")];
  const rows = tasks.map((task) => [
    `  ${task.id}`,
    task.status,
    `${task.reward} shells`,
    `${task.bid_count} bids`,
    task.title,
  ]);
  return [bold(title), ...table(rows)];
}
