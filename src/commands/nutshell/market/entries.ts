import type { Entry } from "../../../cli/command.js";

const group = "Market (ClawNet, optional)";

export const marketEntries: readonly Entry[] = [
  { name: "publish", group, summary: "offer a task on the network", load: () => import("./publish.text.js") },
  { name: "claim", group, summary: "fetch a task to work on", load: () => import("./claim.text.js") },
  { name: "deliver", group, summary: "send the work back", load: () => import("./deliver.text.js") },
  {
    name: "receive",
    group,
    summary: "check a delivery, then approve or reject",
    load: () => import("./receive.text.js"),
  },
  { name: "tasks", group, summary: "list the tasks this node knows", load: () => import("./tasks-list.js") },
  { name: "tasks list", group, summary: "the same", hidden: true, load: () => import("./tasks-list.js") },
  { name: "tasks board", group, summary: "yours, and what is open to you", load: () => import("./tasks-board.js") },
  { name: "tasks show", group, summary: "one task, its bids and work", load: () => import("./tasks-show.js") },
  { name: "bids", group, summary: "who offers to do a task", load: () => import("./bids.text.js") },
  { name: "bid", group, summary: "offer to do an auction task", load: () => import("./bid.js") },
  { name: "assign", group, summary: "give your task to one bidder", load: () => import("./assign.js") },
  { name: "approve", group, summary: "accept a delivery and pay for it", load: () => import("./approve.js") },
  { name: "reject", group, summary: "refuse a delivery", load: () => import("./reject.js") },
  { name: "cancel", group, summary: "take back a task", load: () => import("./cancel.js") },
  { name: "balance", group, summary: "the shells this node can spend", load: () => import("./balance.text.js") },
  { name: "profile", group, summary: "tell the network your skills", load: () => import("./profile.text.js") },
];
