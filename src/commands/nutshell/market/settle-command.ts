import { command } from "../../../cli/command.js";
import { CLAWNET, YES } from "./clawnet-flags.js";
import type { approve } from "./settle.js";

type Examples = readonly (readonly [string, string])[];

/** approve, reject and cancel are asked for and answered the same way. */
export const settleCommand = (operation: typeof approve, examples: Examples) =>
  command(operation, {
    positionals: [{ name: "id", about: "your task's id, or enough of its beginning" }],
    flags: { ...YES, ...CLAWNET },
    examples,
    text: ({ task_id, status, paid, returned }) => [
      `${task_id} is ${status}`,
      paid > 0 ? `${paid} shells paid` : `${returned} shells returned to you`,
    ],
  });
