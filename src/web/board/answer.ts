// What a person may change from the board: decide an issue, reopen a task, answer what a run asks.
import { z } from "zod";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { answerQuestion, findRun, runFolder, runsFolder } from "../../run/index.js";
import { isRefusal, openProject } from "../../state/index.js";
import { planDecide } from "../../tools/plan-decide.js";
import { taskUpdate } from "../../tools/task-update.js";

/** Decide an issue, reopen a task, or answer a question of a run. */
export const BoardChange = z.discriminatedUnion("action", [
  z.object({ action: z.literal("decide"), issue: z.int(), decision: z.string().trim().min(1).max(20_000) }),
  z.object({ action: z.literal("reopen"), task: z.int() }),
  z.object({
    action: z.literal("answer"),
    run: z.string().min(1).max(100),
    task: z.int(),
    text: z.string().trim().min(1).max(20_000),
  }),
]);

export async function changeFromBoard(
  change: z.output<typeof BoardChange>,
  context: Context,
): Promise<{ message: string }> {
  if (change.action === "decide") {
    const result = await planDecide.run({ issue_id: change.issue, decision: change.decision }, context);
    return { message: refuse(result, `issue ${change.issue} is decided`) };
  }
  if (change.action === "reopen") {
    const result = await taskUpdate.run({ id: change.task, status: "pending" }, context);
    return { message: refuse(result, `task ${change.task} is open again`) };
  }
  return { message: answerRun(change, context) };
}

function refuse(result: unknown, done: string): string {
  if (isRefusal(result)) throw new NutError("TOOL_REFUSED", result.error, { hint: "nexus status" });
  return done;
}

function answerRun(
  { run, task, text }: { run: string; task: number; text: string },
  { cwd, env, now }: Context,
): string {
  const runs = runsFolder(openProject(cwd, { env }).root);
  const id = findRun(runs, run);
  const folder = runFolder(runs, id, false);
  answerQuestion(folder, task, text, now());
  return `answered; go on with: nexus resume ${id}`;
}
