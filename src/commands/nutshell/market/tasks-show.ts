import { command } from "../../../cli/command.js";
import { bold, dim, table } from "../../../cli/text.js";
import { CLAWNET } from "./clawnet-flags.js";
import { taskShow } from "./tasks.js";

export default command(taskShow, {
  positionals: [{ name: "id", about: "task id, or enough of its beginning" }],
  flags: CLAWNET,
  examples: [["nutshell tasks show 3f2a", "one task, its bids and work"]],
  text: ({ task, bids, submissions }) => [
    bold(task.title),
    ...table(
      [
        ["id", task.id],
        ["status", `${task.status} (${task.mode || "simple"})`],
        ["reward", `${task.reward} shells`],
        ["author", `${task.author_name} ${task.author_id}`],
        ["assigned to", task.assigned_to],
        ["meant for", task.target_peer],
        ["tags", task.tags.join(", ")],
        ["deadline", task.deadline],
        ["bundle", task.nutshell_hash],
        ["result", task.result],
      ].filter(([, value]) => value !== ""),
    ),
    ...(task.description === "" ? [] : ["", task.description]),
    ...(bids.length === 0 ? [] : ["", bold("Bids")]),
    ...table(bids.map((bid) => [`  ${bid.bidder_id}`, String(bid.amount), bid.message])),
    ...(submissions.length === 0 ? [] : ["", bold("Submissions")]),
    ...submissions.map((one) => `  ${one.worker_id} ${dim(one.submitted_at)} ${one.result}`),
  ],
});
