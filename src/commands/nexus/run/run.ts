import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { loadCatalog } from "../../../catalog/index.js";
import { NutError, shellWord } from "../../../errors.js";
import { type Context, operation } from "../../../operation.js";
import {
  carriesDemoScript,
  createRun,
  executeRun,
  hasPlan,
  newRunId,
  parseBudget,
  peekRequest,
  previewRun,
  removeRun,
  runsFolder,
} from "../../../run/index.js";
import { openProject } from "../../../state/index.js";
import { RunResult, toResult } from "./result.js";
import { findRunner } from "./runner.js";

const Input = z.object({
  request: z.string().describe("a request bundle or folder"),
  driver: z.string().optional(),
  command: z.string().optional(),
  model: z.string().optional(),
  repo: z.string().optional(),
  plan: z.string().optional().describe("a plan file, or who plans: lead, default"),
  jobs: z.coerce.number().int().min(1).max(64).optional(),
  budget: z.array(z.string()).default([]),
  reviewPlan: z.boolean().default(false),
  output: z.string().optional(),
  identity: z.array(z.string()).default([]),
  yes: z.boolean().default(false),
  force: z.boolean().default(false),
  dryRun: z.boolean().default(false),
});

export const runStart = operation({
  name: "run_start",
  summary: "request in, verified delivery out",
  input: Input,
  output: RunResult,
  async run(input, context) {
    const request = resolve(context.cwd, input.request);
    const peek = await peekRequest(request);
    const outer = openProject(context.cwd, { env: context.env });
    const catalog = await loadCatalog({ configFile: join(outer.layout.nexus, "config.yml") });
    const driver = input.driver ?? catalog.config.program ?? "demo";
    if (driver === "demo" && !(await carriesDemoScript(request))) throw noDemo(input.request);
    const runner = await findRunner({ driver, command: input.command, env: context.env });
    const budget = parseBudget([...configured(catalog.config.limits), ...input.budget]);
    const options = {
      id: newRunId(context.now()),
      created_at: context.now().toISOString(),
      title: peek.title,
      request_id: peek.id,
      request,
      driver,
      ...(input.command === undefined ? {} : { command: input.command }),
      ...(input.model === undefined ? {} : { model: input.model }),
      ...(input.repo === undefined ? {} : { repo: resolve(context.cwd, input.repo) }),
      ...(input.plan === undefined ? {} : { plan: planWord(input.plan, context.cwd) }),
      ...(input.jobs === undefined ? {} : { jobs: input.jobs }),
      budget,
      review_plan: input.reviewPlan,
      yes: input.yes,
      force: input.force,
      output: outputPath(input.output, peek.slug, context),
      identity: input.identity.map((file) => resolve(context.cwd, file)),
    };
    if (input.dryRun) return previewRun({ options, runner, catalog, context });
    const folder = createRun(runsFolder(outer.root), options);
    context.progress({
      type: "run_started",
      run: folder.id,
      driver,
      message: `run ${folder.id} with ${driver}: ${peek.title}`,
    });
    try {
      return toResult(await executeRun({ folder, options, budget, runner, catalog, outer, context }));
    } catch (error) {
      // A run that never got as far as a plan left nothing worth going on with.
      if (!hasPlan(folder)) removeRun(folder);
      throw error;
    }
  },
});

const noDemo = (request: string) =>
  new NutError("DRIVER_MISSING", "the demo agent plays only requests that carry context/demo-agent.json", {
    hint: `nexus run ${shellWord(request)} --driver codex (or claude, opencode; nexus drivers shows what is installed)`,
  });

/** The project's own limits, in the words of --budget. */
const configured = (limits: Readonly<Record<string, string | number>> = {}) =>
  Object.entries(limits).map(([name, amount]) => `${name}=${amount}`);

const planWord = (plan: string, cwd: string) => (plan === "lead" || plan === "default" ? plan : resolve(cwd, plan));

function outputPath(given: string | undefined, slug: string, { cwd }: Context): string {
  if (given !== undefined) {
    const path = resolve(cwd, given);
    if (!existsSync(path)) return path;
    throw new NutError("FILE_EXISTS", `${given}: already exists`, { hint: `rm ${shellWord(given)}`, data: { path } });
  }
  for (let number = 1; ; number += 1) {
    const path = join(cwd, `${slug}-delivery${number === 1 ? "" : `-${number}`}.nut`);
    if (!existsSync(path)) return path;
  }
}
