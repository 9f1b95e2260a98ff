import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { NutError } from "../../../errors.js";
import { runFlags } from "./prepare-run.js";
import { RunResult } from "./result.js";
import { runOne } from "./run-one.js";
import { RunsResult, runSeveral } from "./run-several.js";
import { runExit, runText } from "./run-text.js";
import { runsExit, runsText } from "./runs-text.js";

export default command({
  name: "run",
  summary: "request in, verified delivery out",
  input: z.object({
    requests: positional(z.array(z.string().min(1)), {
      name: "request",
      about: "a request bundle (.nut) or its folder; several are worked on side by side",
    }),
    ...runFlags,
  }),
  output: z.union([RunResult, RunsResult]),
  about: [
    "Opens the request, has agents do its tasks in their roles, checks what they leave, runs the request's own tests itself and packs what was really done.",
    "Several requests are each a run of their own, as many at once as --jobs allows; nothing is started before all of them are known to be fit to run.",
    'A plan file is JSON: {"tasks": [{"title": "greet", "files": ["files/a.js"]}, {"title": "look", "owner": "reviewer", "deps": [1]}]}. Beside tasks it may hold goal, decisions and issues; a task also context, approach, acceptance, risk, kind and criteria (ids, or "all").',
    "A run that is stopped, killed or over its budget goes on with nexus resume. Exit 0: delivered and completed, all of them; 1: delivered otherwise, or paused; 2: one could not be run; 129, 130, 143: interrupted, and resumable.",
  ],
  examples: [
    ["nexus run task.nut", "with the configured program; at a terminal, the one logged in here"],
    ["nexus run task.nut --driver codex --budget time=30m,tokens=500k", "with Codex, within limits"],
    ["nexus run task.nut --repo . --driver claude -o done.nut", "on a clone of this repository"],
    ["nexus run a.nut b.nut c.nut --jobs 2 -o done", "two at a time, deliveries into the folder done"],
    ["nexus run task --oracle oracles/task", "does its known solution pass?"],
    ["nexus run task.nut --dry-run", "what would happen"],
  ],
  stream: true,
  async run({ requests, ...flags }, context) {
    if (flags.oracle !== undefined && requests.length > 1) {
      throw new NutError("USAGE", "--oracle is the known solution of one request", { hint: "nexus run --help" });
    }
    if (requests.length > 1) return runSeveral(requests, flags, context);
    return runOne.run({ request: requests[0]!, ...flags }, context);
  },
  text: (result) => ("runs" in result ? runsText(result) : runText(result)),
  exit: (result) => ("runs" in result ? runsExit(result) : runExit(result)),
});
