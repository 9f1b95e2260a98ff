// What a person may change from the board: decide an issue, reopen a task, answer what a run asks.
import { z } from "zod";
import { NutError } from "../../errors.js";
import { type Context, operation } from "../../operation.js";
import { answerQuestion, findRun, runFolder, runsFolder } from "../../run/index.js";
import { isRefusal, openProject } from "../../state/index.js";
import { planDecide } from "../../tools/plan-decide.js";
import { taskUpdate } from "../../tools/task-update.js";

export const boardChange = operation({
  name: "board_change",
  summary: "decide an issue, reopen a task, or answer a question of a run",
  input: z.discriminatedUnion("action", [
    z.object({ action: z.literal("decide"), issue: z.int(), decision: z.string().trim().min(1).max(20_000) }),
    z.object({ action: z.literal("reopen"), task: z.int() }),
    z.object({
      action: z.literal("answer"),
      run: z.string().min(1).max(100),
      task: z.int(),
      text: z.string().trim().min(1).max(20_000),
    }),
  ]),
  output: z.object({ message: z.string() }),
  async run(input, context) {
    if (input.action === "decide") {
      const result = await planDecide.run({ issue_id: input.issue, decision: input.decision }, context);
      return { message: refuse(result, `issue ${input.issue} is decided`) };
    }
    if (input.action === "reopen") {
      const result = await taskUpdate.run({ id: input.task, status: "pending" }, context);
      return { message: refuse(result, `task ${input.task} is open again`) };
    }
    return { message: answerRun(input, context) };
  },
});

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
