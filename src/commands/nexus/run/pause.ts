import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { yellow } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { findRun, RunReader } from "../../../run/index.js";
import { runAtWork, runsHere, Stopped, standing, stopRun } from "./stopping.js";

export default command({
  name: "pause",
  summary: "stop a run that is at work, to go on later",
  input: z.object({
    run: positional(z.string().optional(), { about: "its id or the beginning of it; by default the one at work" }),
  }),
  output: Stopped,
  about: [
    "As Ctrl-C in the terminal it was started from: agents are ended, what they finished and what they had begun is kept, and nexus resume goes on. Exit 1 when the run came to its end before it could be paused.",
  ],
  examples: [
    ["nexus pause", "the run that is at work"],
    ["nexus pause 20260314-10", "one of several"],
  ],
  async run({ run }, context) {
    const runs = runsHere(context);
    const id = run === undefined ? runAtWork(runs, "pause") : findRun(runs, run);
    const reader = new RunReader(runs, id);
    if (!reader.isBusy) {
      const { status } = standing(reader, id);
      throw new NutError("RUN_IDLE", `nobody works on run ${id}: it is ${status}`, { hint: "nexus runs" });
    }
    return stopRun(runs, id, "paused", context);
  },
  text: ({ run, status, message }) =>
    status === "paused"
      ? [`${yellow("paused")}: run ${run}`, `go on with: nexus resume ${run}`]
      : [`run ${run} is ${status}${message === "" ? "" : `: ${message}`}`],
  exit: ({ status }) => (status === "paused" ? 0 : 1),
});
