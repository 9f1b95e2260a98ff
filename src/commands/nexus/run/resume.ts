import { join } from "node:path";
import { z } from "zod";
import { loadCatalog } from "../../../catalog/index.js";
import { operation } from "../../../operation.js";
import { executeRun, findRun, parseBudget, readOptions, runFolder, runsFolder } from "../../../run/index.js";
import { openProject } from "../../../state/index.js";
import { RunResult, toResult } from "./result.js";
import { findRunner } from "./runner.js";

export const runResume = operation({
  name: "run_resume",
  summary: "go on with a run that was paused, interrupted or killed",
  input: z.object({
    run: z.string().optional().describe("its id, or the beginning of it"),
    budget: z.array(z.string()).default([]),
    answer: z.string().optional().describe("what the next try of a failed task should do differently"),
    deliver: z.boolean().default(false).describe("deliver what is there instead of trying again"),
    yes: z.boolean().default(false),
  }),
  output: RunResult,
  async run(input, context) {
    const outer = openProject(context.cwd, { env: context.env });
    const runs = runsFolder(outer.root);
    const id = findRun(runs, input.run);
    const stored = readOptions(runFolder(runs, id, false));
    const options = { ...stored, yes: stored.yes || input.yes };
    const folder = runFolder(runs, id, options.repo !== undefined);
    const catalog = await loadCatalog({ configFile: join(outer.layout.nexus, "config.yml") });
    const runner = await findRunner({ driver: options.driver, command: options.command, env: context.env });
    const budget = parseBudget(input.budget, options.budget);
    const reply = input.deliver
      ? ({ answer: "deliver" } as const)
      : input.answer === undefined
        ? null
        : ({ answer: "retry", text: input.answer } as const);
    context.progress({ type: "run_resumed", run: id, message: `run ${id} goes on: ${options.title}` });
    return toResult(await executeRun({ folder, options, budget, runner, catalog, outer, context }, reply));
  },
});
