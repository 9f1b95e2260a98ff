// One request made ready to run, with everything that can be refused refused before anything is made for it. One request,
// several at once and races all begin here.
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { loadCatalog } from "../../../catalog/index.js";
import { flag } from "../../../cli/fields.js";
import { holdLess, holdLessFor } from "../../../cli/hold-less.js";
import { beginProbe, isDriverName, lineFrom } from "../../../drivers/index.js";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { beginSandbox } from "../../../process/index.js";
import { agreedTo, askConsent } from "../../../request/consent/consent.js";
import { assertHeld } from "../../../request/consent/held.js";
import {
  carriesDemoScript,
  createRun,
  executeRun,
  hasPlan,
  isPlanWord,
  newRunId,
  parseBudget,
  peekRequest,
  previewRun,
  readPlanFile,
  removeRun,
  runsFolder,
  sweepTrash,
} from "../../../run/index.js";
import type { RunOptions } from "../../../schema/run.js";
import { openProject } from "../../../state/index.js";
import { collectorOf } from "../../../traces/index.js";
import { acceptanceFlags, acceptanceOptions } from "./acceptance-flags.js";
import { assertBranchFits, toBranch } from "./apply-branch.js";
import { chooseDriver } from "./choose-driver.js";
import { type RunResult, toResult } from "./result.js";
import { recordStarted } from "./run-consent.js";
import { fallbackNames, findFallbacks, findReviewer, findRunner, runSigner, tellNotes } from "./runner.js";
import { watched } from "./watched.js";

export const runFlags = {
  driver: flag(z.string().optional(), {
    value: "<name>",
    about: "what runs the agents: demo, codex, claude, opencode, acp, command; noop does nothing",
  }),
  oracle: flag(z.string().min(1).optional(), {
    value: "<dir>",
    about: "no agent: this folder's files, a known solution, are laid over the work (or its solve.sh is run there)",
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
  plan: flag(z.string().optional(), {
    value: "<file>",
    about: "a plan to follow, who plans (lead, default), or work: one task and no review",
  }),
  answer: flag(z.string().trim().min(1).optional(), {
    value: "<text>",
    about: "what an earlier run got wrong and this one should do differently; told to whoever works",
  }),
  jobs: flag(z.coerce.number().int().min(1).max(64).optional(), {
    short: "j",
    value: "<n>",
    about: "how many agents may work at the same time, whatever the number of requests",
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
  output: flag(z.string().optional(), {
    short: "o",
    value: "<file>",
    about: "where the delivery goes; of several requests: the folder",
  }),
  identity: flag(z.array(z.string()).default([]), {
    short: "i",
    value: "<file>",
    about: "age identity that opens the vault (default: none), or the key a sealed request is for",
  }),
  handOut: flag(z.array(z.string()).default([]), {
    value: "<name>",
    about: "give agents this credential's value instead of a way to use it; recorded",
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
};

const RunFlags = z.object(runFlags);
export type RunAsked = z.output<typeof RunFlags> & { readonly request: string };

/** A request that can be run: nothing was made for it yet. */
export interface ReadyRun {
  /** As typed. */
  readonly request: string;
  readonly title: string;
  readonly options: RunOptions;
  /** Makes the run and works on it until it is delivered or has to wait. */
  start(context: Context): Promise<RunResult>;
  preview(): Promise<RunResult>;
}

/** What others that are made ready beside it have taken already. */
export interface Beside {
  readonly ids: Set<string>;
  readonly outputs: Set<string>;
  /** Where deliveries go that nobody named; the person's folder unless it is another. */
  readonly folder?: string;
}

const nothingBeside = (): Beside => ({ ids: new Set(), outputs: new Set() });

/** Throws what is wrong with it, CONSENT_NEEDED included. */
export async function prepareRun(
  typed: RunAsked,
  context: Context,
  beside: Beside = nothingBeside(),
): Promise<ReadyRun> {
  const command = lineFrom(typed.command, context.cwd);
  const input = { ...typed, command, reviewerCommand: lineFrom(typed.reviewerCommand, context.cwd) };
  beginQuestions(input, context);
  const request = resolve(context.cwd, input.request);
  if (input.repo === undefined) holdLessFor(request);
  else holdLess();
  const identity = input.identity.map((file) => resolve(context.cwd, file));
  if (input.repo !== undefined) assertFolder(resolve(context.cwd, input.repo));
  const peek = await peekRequest(request, identity, context);
  const outer = openProject(context.cwd, { env: context.env });
  const catalog = await loadCatalog({ configFile: join(outer.layout.nexus, "config.yml") });
  const hasDemo = await carriesDemoScript(request, identity, context);
  const oracle = input.oracle === undefined ? undefined : resolve(context.cwd, input.oracle);
  const driver = await chooseDriver(
    {
      named: namedDriver(input),
      configured: catalog.config.program,
      hasDemo,
      line: context.typed ?? `nexus run ${shellWord(input.request)}`,
    },
    context,
  );
  const runner = await findRunner({
    driver,
    command: input.command,
    oracle,
    env: context.env,
    noSandbox: input.noSandbox,
  });
  const reviewer = await findReviewer(input, context.env);
  const fallback = fallbackNames(input.fallback).filter((name) => name !== driver);
  const fallbacks = await findFallbacks(fallback, { env: context.env, noSandbox: input.noSandbox });
  tellNotes([runner, reviewer, ...fallbacks], context);
  const budget = parseBudget([...configured(catalog.config.limits), ...input.budget]);
  const signer = await runSigner(input, context);
  const options = {
    id: freeId(runsFolder(outer.root), context.now(), beside),
    created_at: context.now().toISOString(),
    title: peek.title,
    request_id: peek.id,
    request,
    driver,
    ...(input.command === undefined ? {} : { command: input.command }),
    ...(input.model === undefined ? {} : { model: input.model }),
    ...(oracle === undefined ? {} : { oracle }),
    ...(fallback.length === 0 ? {} : { fallback }),
    ...(input.repo === undefined ? {} : { repo: resolve(context.cwd, input.repo) }),
    ...(input.applyToBranch === undefined ? {} : { apply_to_branch: input.applyToBranch }),
    ...planOf(input, context.cwd),
    ...(input.answer === undefined ? {} : { answer: input.answer }),
    ...(input.jobs === undefined ? {} : { jobs: input.jobs }),
    ...(input.reviewer === undefined ? {} : { reviewer: input.reviewer }),
    ...(input.reviewerCommand === undefined ? {} : { reviewer_command: input.reviewerCommand }),
    ...acceptanceOptions(input),
    budget,
    review_plan: input.reviewPlan,
    yes: input.yes,
    force: input.force,
    output: outputPath(input.output, peek.slug, beside, context),
    identity,
    ...(input.handOut.length === 0 ? {} : { hand_out: input.handOut }),
    ...(input.noSandbox ? { no_sandbox: true } : {}),
    ...(input.sign ? { sign: true } : {}),
    ...(input.key === undefined ? {} : { sign_key: resolve(context.cwd, input.key) }),
  };
  await assertBranchFits(options, context);
  collectorOf(context.env);
  const preview = async () => previewRun({ options, runner, catalog, context });
  const asked = { request: input.request, title: peek.title };
  if (input.dryRun) return { ...asked, options, preview, start: preview };
  const held = await assertHeld({ sources: [request], noSandbox: input.noSandbox, identity }, context);
  const consent = { sources: [request], yes: input.yes, noSandbox: input.noSandbox, identity, agents: true };
  const agreed = await askConsent(consent, context);
  const allowed = { ...options, ...(agreed.install ? { allow_install: true } : {}) };
  const start = async (within: Context) => {
    sweepTrash(runsFolder(outer.root));
    const folder = createRun(runsFolder(outer.root), allowed);
    recordStarted(folder, within);
    within.progress({
      type: "run_started",
      run: folder.id,
      driver,
      message: `run ${folder.id} with ${driver}: ${peek.title}`,
    });
    const onOpened = agreedTo([held, agreed], request);
    const parts = {
      folder,
      options: allowed,
      budget,
      runner,
      fallbacks,
      reviewer,
      signer,
      catalog,
      outer,
      ...onOpened,
    };
    try {
      return await watched({ folder, options: allowed, config: catalog.config, context: within }, async (heard) =>
        toBranch(await toResult(folder, await executeRun({ ...parts, context: heard })), options, heard),
      );
    } catch (error) {
      // A run that never got as far as a plan left nothing worth going on with; one that was told how it goes on stays.
      if (!hasPlan(folder) && !isInterruption(error)) removeRun(folder);
      throw error;
    }
  };
  return { ...asked, options: allowed, preview, start };
}

function assertFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new NutError("FILE_NOT_FOUND", `--repo ${path}: no such folder`, { data: { path } });
}

/** Other programs answer while the request is read. What they say is awaited where it is needed. */
function beginQuestions({ driver = "", command, noSandbox }: RunAsked, { env }: Context): void {
  if (!noSandbox) void beginSandbox(env);
  if (isDriverName(driver) && command === undefined) beginProbe(driver, env);
}

function namedDriver({ request, driver, oracle, command, model }: RunAsked): string | undefined {
  if (oracle === undefined) return driver;
  const other = [driver === "oracle" ? undefined : driver, command, model].find((word) => word !== undefined);
  if (other === undefined) return "oracle";
  throw new NutError("USAGE", `--oracle hands in a known solution, so ${other} has nothing to do`, {
    hint: `nexus run ${shellWord(request)} --oracle ${shellWord(oracle)}`,
  });
}

/** Whoever knows the solution needs nobody beside it. */
function planOf({ plan, oracle }: RunAsked, cwd: string): { readonly plan?: string } {
  if (plan !== undefined) return { plan: planWord(plan, cwd) };
  return oracle === undefined ? {} : { plan: "work" };
}

const isInterruption = (error: unknown) => error instanceof NutError && error.code === "INTERRUPTED";

/** The project's own limits, in the words of --budget. */
const configured = (limits: Readonly<Record<string, string | number>> = {}) =>
  Object.entries(limits).map(([name, amount]) => `${name}=${amount}`);

/** Throws for a file that is not there or no JSON, before anything is made. */
function planWord(plan: string, cwd: string): string {
  if (isPlanWord(plan)) return plan;
  const path = resolve(cwd, plan);
  readPlanFile(path);
  return path;
}

/** Ids are short and made of the time: several are made in one second. */
function freeId(runs: string, now: Date, { ids }: Beside): string {
  for (;;) {
    const id = newRunId(now);
    if (ids.has(id) || existsSync(join(runs, id))) continue;
    ids.add(id);
    return id;
  }
}

function outputPath(given: string | undefined, slug: string, { outputs, folder }: Beside, { cwd }: Context): string {
  if (given !== undefined) {
    const path = resolve(cwd, given);
    if (!existsSync(path)) return path;
    throw new NutError("FILE_EXISTS", `${given}: already exists`, {
      hint: `name another file with -o, or move this one away: mv ${shellWord(given)} ${shellWord(`${given}.old`)}`,
      data: { path },
    });
  }
  for (let number = 1; ; number += 1) {
    const path = join(folder ?? cwd, `${slug}-delivery${number === 1 ? "" : `-${number}`}.nut`);
    if (outputs.has(path) || existsSync(path)) continue;
    outputs.add(path);
    return path;
  }
}
