import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { yellow } from "../../../cli/text.js";
import { cancelRun, findRun, RunReader, runFolder } from "../../../run/index.js";
import { runsHere, Stopped, standing, stopRun } from "./stopping.js";

export default command({
  name: "cancel",
  summary: "give a run up, at work or waiting",
  input: z.object({ run: positional(z.string(), { about: "its id or the beginning of it" }) }),
  output: Stopped,
  about: [
    "A run at work is stopped as nexus pause does it. Then nothing asks about it any more, and nexus resume alone does not take it up; by its name it still goes on. Exit 1 when it came to its end before it could be cancelled.",
  ],
  examples: [["nexus cancel 20260314-10", "stop it, and ask no more about it"]],
  async run({ run }, context) {
    const runs = runsHere(context);
    const id = findRun(runs, run);
    const reader = new RunReader(runs, id);
    if (reader.isBusy) return stopRun(runs, id, "cancelled", context);
    cancelRun(runFolder(runs, id, false), context.now());
    return standing(reader, id);
  },
  text: ({ run, status, message }) =>
    status === "cancelled"
      ? [`${yellow("cancelled")}: run ${run}`, `should it go on after all: nexus resume ${run}`]
      : [`run ${run} is ${status}${message === "" ? "" : `: ${message}`}`],
  exit: ({ status }) => (status === "cancelled" ? 0 : 1),
});
