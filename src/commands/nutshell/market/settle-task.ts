import { NutError } from "../../../errors.js";
import { costOf, type Market } from "../../../market/index.js";
import type { Context } from "../../../operation.js";
import type { MarketTask } from "../../../schema/market.js";
import { confirm } from "./connect.js";

export type Verb = "approve" | "reject" | "cancel";

const ENDS: Readonly<Record<Verb, { status: string; question: (task: MarketTask) => string }>> = {
  approve: {
    status: "approved",
    question: (task) => `pay ${task.reward} shells to ${task.assigned_to}; this cannot be undone. Go on?`,
  },
  reject: {
    status: "rejected",
    question: (task) =>
      `reject "${task.title}"; ${task.reward} shells return and the worker gets no second try. Go on?`,
  },
  cancel: {
    status: "cancelled",
    question: (task) => `cancel "${task.title}"; ${task.reward} shells return, the fee does not. Go on?`,
  },
};

interface Settling {
  readonly yes: boolean;
  /** What was typed, to be typed again. */
  readonly command: string;
  /** What goes on record once the person agreed, and before the money goes. */
  readonly agreed?: () => void;
}

/** Ends a task one way. Repeating it after a lost answer is harmless: an end already reached is reported as done. */
export async function settleTask(market: Market, task: MarketTask, verb: Verb, context: Context, settling: Settling) {
  const { yes, command, agreed } = settling;
  const end = ENDS[verb];
  const done = {
    task_id: task.id,
    status: end.status,
    paid: verb === "approve" ? task.reward : 0,
    returned: verb === "approve" ? 0 : costOf(task.reward).frozen,
  };
  if (task.author_id !== market.peerId)
    throw new NutError("MARKET_STATE", `only the author can ${verb} a task`, {
      hint: `${market.line("tasks board")} shows the tasks that are yours`,
    });
  if (task.status === end.status) return done;
  const from = verb === "cancel" ? ["open", "assigned"] : ["submitted"];
  if (!from.includes(task.status)) {
    throw new NutError(
      "MARKET_STATE",
      `the task is ${task.status}; only ${from.join(" or ")} tasks can be ${end.status}`,
      {
        hint: market.line(`tasks show ${task.id}`),
      },
    );
  }
  await confirm(context, { yes, question: end.question(task), command });
  agreed?.();
  await market.settle(task.id, verb);
  return done;
}
