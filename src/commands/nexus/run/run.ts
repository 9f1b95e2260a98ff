import { accessSync, constants, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { loadCatalog } from "../../../catalog/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { lineFrom } from "../../../drivers/index.js";
import { fromSystemError, NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { askConsent } from "../../../request/consent/consent.js";
import { assertHeld } from "../../../request/consent/held.js";
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
import { acceptanceFlags, acceptanceOptions } from "./acceptance-flags.js";
import { assertBranchFits, toBranch } from "./apply-branch.js";
import { chooseDriver } from "./choose-driver.js";
import { RunResult, toResult } from "./result.js";
import { recordStarted } from "./run-consent.js";
import { runExit, runText } from "./run-text.js";
import { fallbackNames, findFallbacks, findReviewer, findRunner, runSigner } from "./runner.js";

export default command({
  name: "run",
  summary: "request in, verified delivery out",
  input: z.object({
    request: positional(z.string(), { about: "a request bundle (.nut) or its folder" }),
    driver: flag(z.string().optional(), {
      value: "<name>",
      about: "what runs the agents: demo, codex, claude, opencode, acp, command",
    }),
    command: flag(z.string().optional(), { value: "<line>", about: "the program for --driver acp or command" }),
    model: flag(z.string().optional(), { value: "<name>", about: "the model, in the agent program's own words" }),
    fallback: flag(z.array(z.string()).default([]), {
      value: "<names>",
      about: "drivers that take over, in this order, when one is limited for longer than --budget wait= allows",
    }),
    repo: flag(z.string().optional(), {
      value: "<dir>",
      about: "work in a clone of this git repository; the checkout itself is only read",
    }),
    applyToBranch: flag(z.string().min(1).optional(), {
      value: "<name>",
      about: "with --repo: completed work becomes this new branch there",
    }),
    plan: flag(z.string().optional(), { value: "<file>", about: "a plan to follow, or who plans: lead, default" }),
    answer: flag(z.string().trim().min(1).optional(), {
      value: "<text>",
      about: "what an earlier run got wrong and this one should do differently; told to whoever works",
    }),
    jobs: flag(z.coerce.number().int().min(1).max(64).optional(), {
      short: "j",
      value: "<n>",
      about: "how many agents may work at the same time",
    }),
    budget: flag(z.array(z.string()).default([]), {
      value: "<limits>",
      about: "such as time=10m,tokens=200k,cost=2.5 (also agent=, stall=, loop=, wait=)",
    }),
    reviewPlan: flag(z.boolean().default(false), {
      about: "stop and let a person read the plan before anything is done",
    }),
    reviewer: flag(z.string().optional(), {
      value: "<name>",
      about: "another driver for reviews, so that the work is judged by another program",
    }),
    reviewerCommand: flag(z.string().optional(), {
      value: "<line>",
      about: "the program for --reviewer acp or command",
    }),
    ...acceptanceFlags,
    output: flag(z.string().optional(), { short: "o", value: "<file>", about: "where the delivery goes" }),
    identity: flag(z.array(z.string()).default([]), {
      short: "i",
      value: "<file>",
      about: "age identity that opens the vault (default: none), or the key a sealed request is for",
    }),
    sign: flag(z.boolean().default(false), { about: "sign the delivery: which request, agents, checks, sandbox" }),
    key: flag(z.string().optional(), {
      value: "<file>",
      about: "the key for --sign: an SSH key or an Ed25519 identity (default: your own)",
    }),
    yes: flag(z.boolean().default(false), {
      short: "y",
      about: "do not ask: run what was not made here, and deliver what is there when a task fails for good",
    }),
    force: flag(z.boolean().default(false), { about: "work on a request that nutshell check does not call ready" }),
    noSandbox: flag(z.boolean().default(false), {
      about: "run agents and checks without bubblewrap, even of a request that was not made here",
    }),
    dryRun: flag(z.boolean().default(false), { about: "show plan, roles, limits and commands; start nothing" }),
  }),
  output: RunResult,
  about: [
    "Opens the request, has agents do its tasks in their roles, checks what they leave, runs the request's own tests itself and packs what was really done.",
    "A run that is stopped, killed or over its budget goes on with nexus resume. Exit 0: delivered and completed; 1: delivered otherwise, or paused; 129, 130, 143: interrupted, and resumable.",
  ],
  examples: [
    ["nexus run task.nut", "with the program the configuration names, or the one logged in here"],
    ["nexus run task.nut --driver codex --budget time=30m,tokens=500k", "with Codex, within limits"],
    ["nexus run task.nut --repo . --driver claude -o done.nut", "on a clone of this repository"],
    ["nexus run task.nut --dry-run", "what would happen"],
  ],
  stream: true,
  async run(typed, context) {
    const input = {
      ...typed,
      command: lineFrom(typed.command, context.cwd),
      reviewerCommand: lineFrom(typed.reviewerCommand, context.cwd),
    };
    const request = resolve(context.cwd, input.request);
    const identity = input.identity.map((file) => resolve(context.cwd, file));
    const peek = await peekRequest(request, identity, context);
    const outer = openProject(context.cwd, { env: context.env });
    const catalog = await loadCatalog({ configFile: join(outer.layout.nexus, "config.yml") });
    const hasDemo = await carriesDemoScript(request, identity, context);
    const driver = await chooseDriver(
      { named: input.driver, configured: catalog.config.program, hasDemo, request: input.request },
      context,
    );
    const runner = await findRunner({
      driver,
      command: input.command,
      env: context.env,
      noSandbox: input.noSandbox,
    });
    const reviewer = await findReviewer(input, context.env);
    const fallback = fallbackNames(input.fallback).filter((name) => name !== driver);
    const fallbacks = await findFallbacks(fallback, { env: context.env, noSandbox: input.noSandbox });
    const budget = parseBudget([...configured(catalog.config.limits), ...input.budget]);
    const signer = await runSigner(input, context);
    const options = {
      id: newRunId(context.now()),
      created_at: context.now().toISOString(),
      title: peek.title,
      request_id: peek.id,
      request,
      driver,
      ...(input.command === undefined ? {} : { command: input.command }),
      ...(input.model === undefined ? {} : { model: input.model }),
      ...(fallback.length === 0 ? {} : { fallback }),
      ...(input.repo === undefined ? {} : { repo: resolve(context.cwd, input.repo) }),
      ...(input.applyToBranch === undefined ? {} : { apply_to_branch: input.applyToBranch }),
      ...(input.plan === undefined ? {} : { plan: planWord(input.plan, context.cwd) }),
      ...(input.answer === undefined ? {} : { answer: input.answer }),
      ...(input.jobs === undefined ? {} : { jobs: input.jobs }),
      ...(input.reviewer === undefined ? {} : { reviewer: input.reviewer }),
      ...(input.reviewerCommand === undefined ? {} : { reviewer_command: input.reviewerCommand }),
      ...acceptanceOptions(input),
      budget,
      review_plan: input.reviewPlan,
      yes: input.yes,
      force: input.force,
      output: outputPath(input.output, peek.slug, context),
      identity,
      ...(input.noSandbox ? { no_sandbox: true } : {}),
      ...(input.sign ? { sign: true } : {}),
      ...(input.key === undefined ? {} : { sign_key: resolve(context.cwd, input.key) }),
    };
    await assertBranchFits(options, context);
    if (input.dryRun) return previewRun({ options, runner, catalog, context });
    await assertHeld({ sources: [request], noSandbox: input.noSandbox, identity }, context);
    const consent = { sources: [request], yes: input.yes, noSandbox: input.noSandbox, identity, agents: true };
    const agreed = await askConsent(consent, context);
    const allowed = { ...options, ...(agreed.install ? { allow_install: true } : {}) };
    const folder = createRun(runsFolder(outer.root), allowed);
    recordStarted(folder, context);
    context.progress({
      type: "run_started",
      run: folder.id,
      driver,
      message: `run ${folder.id} with ${driver}: ${peek.title}`,
    });
    try {
      const running = {
        folder,
        options: allowed,
        budget,
        runner,
        fallbacks,
        reviewer,
        signer,
        catalog,
        outer,
        context,
      };
      return await toBranch(toResult(folder, await executeRun(running)), options, context);
    } catch (error) {
      // A run that never got as far as a plan left nothing worth going on with.
      if (!hasPlan(folder)) removeRun(folder);
      throw error;
    }
  },
  text: runText,
  exit: runExit,
});

/** The project's own limits, in the words of --budget. */
const configured = (limits: Readonly<Record<string, string | number>> = {}) =>
  Object.entries(limits).map(([name, amount]) => `${name}=${amount}`);

/** Throws for a file that is not there, before anything is made. */
function planWord(plan: string, cwd: string): string {
  if (plan === "lead" || plan === "default") return plan;
  const path = resolve(cwd, plan);
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  return path;
}

function outputPath(given: string | undefined, slug: string, { cwd }: Context): string {
  if (given !== undefined) {
    const path = resolve(cwd, given);
    if (!existsSync(path)) return path;
    throw new NutError("FILE_EXISTS", `${given}: already exists`, {
      hint: `name another file with -o, or move this one away: mv ${shellWord(given)} ${shellWord(`${given}.old`)}`,
      data: { path },
    });
  }
  for (let number = 1; ; number += 1) {
    const path = join(cwd, `${slug}-delivery${number === 1 ? "" : `-${number}`}.nut`);
    if (!existsSync(path)) return path;
  }
}
