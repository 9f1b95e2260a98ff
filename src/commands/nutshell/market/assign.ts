import { command } from "../../../cli/command.js";
import { assign } from "./bids.js";
import { CLAWNET } from "./clawnet-flags.js";

export default command(assign, {
  positionals: [
    { name: "id", about: "your task's id, or enough of its beginning" },
    { name: "peer", about: "peer id of a bidder, or enough of its beginning" },
  ],
  flags: CLAWNET,
  examples: [["nutshell assign 3f2a 12D3KooW…", "to one of those nutshell bids lists"]],
  text: ({ task_id, assigned_to }) => [`${task_id} is assigned to ${assigned_to}`],
});
