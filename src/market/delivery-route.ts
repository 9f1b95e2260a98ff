import type { MarketBid, MarketTask } from "../schema/market.js";

/** How a delivery reaches the author, or why it cannot. */
export type DeliveryRoute =
  | { readonly kind: "claim" }
  | { readonly kind: "deliver" }
  | { readonly kind: "work" }
  | { readonly kind: "done" }
  | { readonly kind: "refuse"; readonly message: string; readonly hint: string };

interface RouteFacts {
  readonly task: MarketTask;
  readonly me: string;
  readonly bids: readonly MarketBid[];
  /** Hash of the delivery, to recognise that it already arrived. */
  readonly hash: string;
  /** A command line for the daemon that was asked. */
  readonly line: (words: string) => string;
}

/** Decides by the task's state, never by trying. */
export function deliveryRoute({ task, me, bids, hash, line }: RouteFacts): DeliveryRoute {
  const look = line(`tasks show ${task.id}`);
  const board = `${line("tasks board")} shows what is open to you`;
  if (task.author_id === me) return refuse("this is your own task; somebody else has to deliver it", look);
  if (task.target_peer !== "" && task.target_peer !== me) return refuse("the task is meant for another peer", board);
  switch (task.status) {
    case "open":
      if (task.mode !== "auction") return { kind: "claim" };
      if (bids.some((bid) => bid.bidder_id === me)) return { kind: "work" };
      return refuse("an auction task takes work only from those who bid", line(`bid ${task.id}`));
    case "assigned":
      return task.assigned_to === me ? { kind: "deliver" } : refuse("the task is assigned to somebody else", board);
    case "submitted":
    case "approved":
      if (task.assigned_to === me && task.result.includes(hash)) return { kind: "done" };
      return refuse(
        task.assigned_to === me ? "you have already delivered something else" : "somebody else has already delivered",
        look,
      );
    case "rejected":
      return refuse("the author rejected the task; ClawNet offers no second try", look);
    case "cancelled":
      return refuse("the author cancelled the task", board);
    case "settled":
      return refuse("the task is settled", look);
    default:
      return refuse(`the task is in a state this client does not know: "${task.status}"`, look);
  }
}

const refuse = (message: string, hint: string): DeliveryRoute => ({ kind: "refuse", message, hint });
