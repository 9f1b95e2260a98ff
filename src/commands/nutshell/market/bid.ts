import { command } from "../../../cli/command.js";
import { bid } from "./bids.js";
import { CLAWNET } from "./clawnet-flags.js";

export default command(bid, {
  positionals: [{ name: "id", about: "task id, or enough of its beginning" }],
  flags: {
    amount: { value: "<shells>", about: "what you would take; the author sees it, the reward stays as published" },
    message: { short: "m", value: "<text>", about: "why you" },
    ...CLAWNET,
  },
  examples: [['nutshell bid 3f2a -m "done this before"', "offers to do the task"]],
  text: ({ bid: offer, repeated }) => [
    repeated ? `you have already bid on ${offer.task_id}` : `bid placed on ${offer.task_id}`,
    `when the author assigns it to you: nutshell claim ${offer.task_id}`,
  ],
});
