// What a person may change from the board: decide an issue, reopen a task, answer what a run asks.
import { z } from "zod";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { findRun, isRunBusy, runFolder, runsFolder } from "../../run/index.js";
import { Journal, readJournal } from "../../run/record/journal.js";
import { lockRun } from "../../run/record/lock.js";
import { replay } from "../../run/record/run-state.js";
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

/** Goes into the run's journal, as if `nexus resume --answer` had said it; whoever resumes finds it there. */
function answerRun(
  { run, task, text }: { run: string; task: number; text: string },
  { cwd, env, now }: Context,
): string {
  const runs = runsFolder(openProject(cwd, { env }).root);
  const id = findRun(runs, run, isRunBusy);
  const folder = runFolder(runs, id, false);
  const lock = lockRun(folder);
  try {
    const asked = replay(readJournal(folder.journal)).tasks.get(task);
    if (asked?.question === undefined)
      throw new NutError("TOOL_REFUSED", `task ${task} of run ${id} asks nothing`, { hint: "nexus runs" });
    const journal = new Journal(folder.journal);
    try {
      journal.append({ type: "answered", at: now().toISOString(), task, answer: "retry", text });
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
  return `answered; go on with: nexus resume ${id}`;
}
