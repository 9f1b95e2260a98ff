import { command } from "../../../cli/command.js";
import { dim, table } from "../../../cli/text.js";
import { bids } from "./bids.js";
import { CLAWNET } from "./clawnet-flags.js";

export default command(bids, {
  positionals: [{ name: "id", about: "task id, or enough of its beginning" }],
  flags: CLAWNET,
  examples: [["nutshell bids 3f2a", "who offers, for how much"]],
  text: ({ task_id, bids: offers }) =>
    offers.length === 0
      ? [dim("no bids yet")]
      : [
          ...table(offers.map((offer) => [offer.bidder_id, offer.bidder_name, String(offer.amount), offer.message])),
          "",
          `to choose one: nutshell assign ${task_id} <peer>`,
        ],
});
