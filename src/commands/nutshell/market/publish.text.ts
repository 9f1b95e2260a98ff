import { command } from "../../../cli/command.js";
import { bold, dim, green } from "../../../cli/text.js";
import { CLAWNET, YES } from "./clawnet-flags.js";
import { publish } from "./publish.js";

export default command(publish, {
  about: [
    "Packs the folder, checks it, and offers it on the network. Nothing is sent until everything that could go wrong has been looked at: completeness, leaks, reward and fee against the balance, size and deadline.",
    "The reward is --reward, else extensions.clawnet.reward in the manifest, else 100 shells. Publishing again after a failure is safe: an earlier try that got through is found and finished.",
  ],
  examples: [
    ["nutshell publish --dir my-task --reward 500", "bidders offer, you choose one and review the work"],
    ["nutshell publish --dir my-task --peer 12D3KooW…", "sealed for one peer, who alone can open it"],
  ],
  flags: {
    dir: { short: "d", value: "<dir>", about: "the request's folder (default: here)" },
    reward: { value: "<shells>", about: "0, or a whole number from 100 up" },
    peer: { value: "<peer>", about: "seal it for one peer: 64 hex digits or a 12D3KooW… peer id" },
    simple: { about: "the first to deliver is paid at once, without review" },
    allow: { value: "<path>", many: true, about: "publish this file although it looks like a secret" },
    ...YES,
    ...CLAWNET,
  },
  text: (task) => [
    `${green("✓")} ${task.repeated ? "already published, now complete" : "published"} as ${bold(task.task_id)}`,
    `  ${task.reward} shells held, ${task.fee} fee; ${task.mode}${task.target_peer === "" ? "" : `, for ${task.target_peer}`}`,
    `  ${task.hash}`,
    dim(`  kept: ${task.kept}`),
    ...task.warnings.map((warning) => dim(`  note: ${warning}`)),
    task.mode === "auction" ? `next: nutshell bids ${task.task_id}` : `next: nutshell tasks show ${task.task_id}`,
  ],
});
