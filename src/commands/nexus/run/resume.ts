import { join } from "node:path";
import { z } from "zod";
import { loadCatalog } from "../../../catalog/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { assertHeld } from "../../../request/held.js";
import { executeRun, findRun, parseBudget, readOptions, runFolder, runsFolder } from "../../../run/index.js";
import { openProject } from "../../../state/index.js";
import { acceptanceFlags, acceptanceOptions } from "./acceptance-flags.js";
import { RunResult, toResult } from "./result.js";
import { askToResume } from "./run-consent.js";
import { runExit, runText } from "./run-text.js";
import { findReviewer, findRunner, runSigner } from "./runner.js";

export default command({
  name: "resume",
  summary: "go on with a run that was stopped",
  input: z.object({
    run: positional(z.string().optional(), {
      about: "its id or the beginning of it; by default the latest that can go on",
    }),
    budget: flag(z.array(z.string()).default([]), { value: "<limits>", about: "new limits, such as time=20m" }),
    answer: flag(z.string().optional(), {
      value: "<text>",
      about: "what the next try of a failed task should do differently",
    }),
    deliver: flag(z.boolean().default(false), { about: "deliver what is there instead of trying again" }),
    noSandbox: flag(z.boolean().default(false), { about: "run agents and checks without bubblewrap from now on" }),
    ...acceptanceFlags,
    yes: flag(z.boolean().default(false), { short: "y", about: "do not ask from now on" }),
  }),
  output: RunResult,
  about: [
    "Finished tasks stay finished; nothing is done twice, however the run ended. The acceptance is run again: what a run recorded of it before proves nothing. A run that you did not start here is asked about first.",
  ],
  examples: [
    ["nexus resume", "the latest run that can go on"],
    ['nexus resume 20260314-10 --answer "the date is in UTC"', "answers a question and tries again"],
  ],
  stream: true,
  async run(input, context) {
    const outer = openProject(context.cwd, { env: context.env });
    const runs = runsFolder(outer.root);
    const id = findRun(runs, input.run);
    const stored = readOptions(runFolder(runs, id, false));
    const noSandbox = stored.no_sandbox === true || input.noSandbox;
    const chosen = { ...acceptanceOptions(input), ...(noSandbox ? { no_sandbox: true } : {}) };
    const options = { ...stored, ...chosen, yes: stored.yes || input.yes };
    const folder = runFolder(runs, id, options.repo !== undefined);
    await assertHeld({ sources: [options.request], noSandbox }, context);
    await askToResume(folder, stored, input.yes, context);
    const catalog = await loadCatalog({ configFile: join(outer.layout.nexus, "config.yml") });
    const { driver, command: line, reviewer: reviewing, reviewer_command: reviewerCommand } = options;
    const runner = await findRunner({ driver, command: line, env: context.env, noSandbox });
    const reviewer = await findReviewer({ reviewer: reviewing, reviewerCommand, noSandbox }, context.env);
    const signer = await runSigner({ sign: options.sign === true, key: options.sign_key }, context);
    const budget = parseBudget(input.budget, options.budget);
    const reply = input.deliver
      ? ({ answer: "deliver" } as const)
      : input.answer === undefined
        ? null
        : ({ answer: "retry", text: input.answer } as const);
    context.progress({ type: "run_resumed", run: id, message: `run ${id} goes on: ${options.title}` });
    const running = { folder, options, budget, runner, reviewer, signer, catalog, outer, context };
    return toResult(folder, await executeRun(running, reply));
  },
  text: runText,
  exit: runExit,
});
