import { z } from "zod";
import { command } from "../../../cli/command.js";
import { bold, dim, table } from "../../../cli/text.js";
import { Board, type BoardTask } from "../../../schema/market.js";
import { CLAWNET } from "./clawnet-flags.js";
import { connect } from "./connect.js";

export default command({
  name: "tasks board",
  summary: "yours, and what is open to you",
  input: z.object({ ...CLAWNET }),
  output: Board,
  examples: [["nutshell tasks board", "what you published, what you do, what you could do"]],
  async run({ clawnet }, context) {
    return (await connect(clawnet, context)).board();
  },
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
