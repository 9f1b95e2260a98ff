// What a person may change from the board: decide an issue, reopen a task, answer what a run asks, let a run go on.
import { z } from "zod";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { answerQuestion, findRun, runFolder, runsFolder } from "../../run/index.js";
import { isRefusal, openProject } from "../../state/index.js";
import { planDecide } from "../../tools/plan-decide.js";
import { taskUpdate } from "../../tools/task-update.js";
import { type GoingOn, goOn } from "./go-on.js";

/** Decide an issue, reopen a task, answer a question of a run, let it go on, or deliver without what failed. */
export const BoardChange = z.discriminatedUnion("action", [
  z.object({ action: z.literal("decide"), issue: z.int(), decision: z.string().trim().min(1).max(20_000) }),
  z.object({ action: z.literal("reopen"), task: z.int() }),
  z.object({
    action: z.literal("answer"),
    run: z.string().min(1).max(100),
    task: z.int(),
    text: z.string().trim().min(1).max(20_000),
  }),
  z.object({ action: z.literal("resume"), run: z.string().min(1).max(100) }),
  z.object({ action: z.literal("deliver"), run: z.string().min(1).max(100) }),
]);

export async function changeFromBoard(
  change: z.output<typeof BoardChange>,
  context: Context,
  /** Of the person who started the board: a run goes on as if they had typed it. */
  env: Context["env"],
): Promise<{ message: string }> {
  if (change.action === "decide") {
    const result = await planDecide.run({ issue_id: change.issue, decision: change.decision }, context);
    return { message: refuse(result, `issue ${change.issue} is decided`) };
  }
  if (change.action === "reopen") {
    const result = await taskUpdate.run({ id: change.task, status: "pending" }, context);
    return { message: refuse(result, `task ${change.task} is open again`) };
  }
  const runs = runsFolder(openProject(context.cwd, { env: context.env }).root);
  const run = findRun(runs, change.run);
  const going = { root: context.cwd, runs, run, env };
  if (change.action !== "answer") {
    await goOn({ ...going, deliver: change.action === "deliver" });
    return { message: change.action === "deliver" ? `run ${run} delivers what is there` : `run ${run} goes on` };
  }
  answerQuestion(runFolder(runs, run, false), change.task, change.text, context.now());
  return { message: `answered; ${await goesOnOrWhy(going)}` };
}

/** The answer is on record either way. */
async function goesOnOrWhy(going: Omit<GoingOn, "deliver">): Promise<string> {
  try {
    await goOn({ ...going, deliver: false });
    return `run ${going.run} goes on`;
  } catch (error) {
    if (!(error instanceof NutError)) throw error;
    return `${error.message}; go on with: nexus resume ${going.run}`;
  }
}

function refuse(result: unknown, done: string): string {
  if (isRefusal(result)) throw new NutError("TOOL_REFUSED", result.error, { hint: "nexus status" });
  return done;
}
