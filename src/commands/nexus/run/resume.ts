import { join, resolve } from "node:path";
import { z } from "zod";
import { loadCatalog } from "../../../catalog/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { holdLess } from "../../../cli/hold-less.js";
import { lineFrom } from "../../../drivers/index.js";
import { NutError } from "../../../errors.js";
import { assertHeld } from "../../../request/consent/held.js";
import {
  type CurrentProgram,
  currentProgram,
  executeRun,
  findRun,
  parseBudget,
  type Reply,
  readOptions,
  readPlanFile,
  runFolder,
  runsFolder,
} from "../../../run/index.js";
import { openProject } from "../../../state/index.js";
import { acceptanceFlags, acceptanceOptions } from "./acceptance-flags.js";
import { toBranch } from "./apply-branch.js";
import { RunResult, toResult } from "./result.js";
import { askToResume, assertRunHeld, believedOptions } from "./run-consent.js";
import { runExit, runText } from "./run-text.js";
import {
  fallbackNames,
  findFallbacks,
  findKeptFallbacks,
  findReviewer,
  findRunner,
  runSigner,
  tellNotes,
} from "./runner.js";
import { watched } from "./watched.js";

export default command({
  name: "resume",
  summary: "go on with a run that was stopped",
  input: z.object({
    run: positional(z.string().optional(), {
      about: "its id or the beginning of it; by default the latest that can go on",
    }),
    driver: flag(z.string().optional(), {
      value: "<name>",
      about: "another program goes on, with sessions of its own: codex, claude, opencode, acp, command",
    }),
    command: flag(z.string().optional(), { value: "<line>", about: "the program for --driver acp or command" }),
    model: flag(z.string().optional(), { value: "<name>", about: "another model; sessions begin anew" }),
    fallback: flag(z.array(z.string()).default([]), {
      value: "<names>",
      about: "drivers that take over, in this order, when one is limited for too long",
    }),
    budget: flag(z.array(z.string()).default([]), { value: "<limits>", about: "new limits, such as time=20m" }),
    answer: flag(z.string().optional(), {
      value: "<text>",
      about: "what the next try of a failed task should do differently",
    }),
    retry: flag(z.boolean().default(false), { about: "try failed tasks again, with nothing to add" }),
    skip: flag(z.boolean().default(false), { about: "go on without failed tasks" }),
    task: flag(z.coerce.number().int().min(1).optional(), {
      value: "<id>",
      about: "with --answer, --retry or --skip: this task only (default: every one that asks)",
    }),
    deliver: flag(z.boolean().default(false), { about: "deliver what is there instead of trying again" }),
    plan: flag(z.string().min(1).optional(), {
      value: "<file>",
      about: "for a run that waits for its plan to be read: follow this plan instead",
    }),
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
    ["nexus resume --driver codex", "finished tasks stay, the rest is done by Codex"],
    ['nexus resume 20260314-10 --answer "the date is in UTC"', "answers a question and tries again"],
    ["nexus resume 20260314-10 --task 3 --skip", "goes on without task 3"],
    ["nexus resume 20260314-10 --plan plan.json", "agrees to the plan, as changed in that file"],
  ],
  stream: true,
  async run(typed, context) {
    const input = { ...typed, command: lineFrom(typed.command, context.cwd) };
    const reply = replyOf(input);
    const outer = openProject(context.cwd, { env: context.env });
    const runs = runsFolder(outer.root);
    const id = findRun(runs, input.run);
    const bare = runFolder(runs, id, false);
    const stored = believedOptions(bare, readOptions(bare), context);
    const noSandbox = stored.no_sandbox === true || input.noSandbox;
    const chosen = { ...acceptanceOptions(input), ...(noSandbox ? { no_sandbox: true } : {}) };
    const folder = runFolder(runs, id, stored.repo !== undefined);
    const { program, switched } = programOf(input, currentProgram(folder, stored));
    const { driver: _driver, command: _command, model: _model, ...rest } = stored;
    const known = { ...rest, ...program, ...chosen, yes: stored.yes || input.yes };
    await assertHeld({ sources: [known.request], noSandbox, identity: known.identity ?? [] }, context);
    await assertRunHeld(folder, noSandbox, context);
    const agreed = await askToResume(folder, known, input.yes, context);
    const options = { ...known, ...(agreed.install ? { allow_install: true } : {}) };
    const catalog = await loadCatalog({ configFile: join(outer.layout.nexus, "config.yml") });
    const { driver, command: line, oracle, reviewer: reviewing, reviewer_command: reviewerCommand } = options;
    const runner = await findRunner({ driver, command: line, oracle, env: context.env, noSandbox });
    const reviewer = await findReviewer({ reviewer: reviewing, reviewerCommand, noSandbox }, context.env);
    const signer = await runSigner({ sign: options.sign === true, key: options.sign_key }, context);
    const world = { env: context.env, noSandbox };
    const fallbacks =
      input.fallback.length > 0
        ? await findFallbacks(
            fallbackNames(input.fallback).filter((name) => name !== driver),
            world,
          )
        : await findKeptFallbacks(fallbacksLeft(stored.fallback ?? [], driver), world, context);
    tellNotes([runner, reviewer, ...fallbacks], context);
    const budget = parseBudget(input.budget, options.budget);
    const edited = input.plan === undefined ? {} : { editedPlan: readPlanFile(resolve(context.cwd, input.plan)) };
    context.progress({ type: "run_resumed", run: id, message: `run ${id} goes on: ${options.title}` });
    holdLess();
    const parts = { folder, options, budget, runner, fallbacks, reviewer, signer, catalog, outer };
    const changed = { ...edited, ...(switched === null ? {} : { switched }) };
    return watched({ folder, options, config: catalog.config, context }, async (heard) => {
      const outcome = await executeRun({ ...parts, ...changed, context: heard }, reply);
      return toBranch(await toResult(folder, outcome), options, heard);
    });
  },
  text: runText,
  exit: runExit,
});

/** One word to whatever waits for one. */
function replyOf(asked: {
  readonly answer?: string | undefined;
  readonly retry: boolean;
  readonly skip: boolean;
  readonly deliver: boolean;
  readonly task?: number | undefined;
}): Reply | null {
  const { answer: text, retry, skip, deliver, task } = asked;
  const said = [text !== undefined, retry, skip, deliver].filter(Boolean).length;
  const isAboutOne = task !== undefined && (said === 0 || deliver);
  if (said > 1 || isAboutOne) {
    const what = isAboutOne
      ? "--task goes with --answer, --retry or --skip"
      : "say one of --answer, --retry, --skip, --deliver";
    throw new NutError("USAGE", what, { hint: "nexus resume --help" });
  }
  if (said === 0) return null;
  return {
    answer: skip || deliver ? "deliver" : "retry",
    ...(text === undefined ? {} : { text }),
    ...(task === undefined ? {} : { task }),
  };
}

/** Who may take over when the person names nobody now: those after the one at work; the ones before had their turn. */
const fallbacksLeft = (stored: readonly string[], driver: string): readonly string[] =>
  stored.slice(stored.indexOf(driver) + 1);

/** Who goes on, and what the person changed about it. A model or a line is in the words of one program. */
function programOf(
  asked: {
    readonly driver?: string | undefined;
    readonly command?: string | undefined;
    readonly model?: string | undefined;
  },
  now: CurrentProgram,
) {
  const driver = asked.driver ?? now.driver;
  const kept = driver === now.driver ? now : { driver };
  const command = asked.command ?? kept.command;
  const model = asked.model ?? kept.model;
  const more = { ...(command === undefined ? {} : { command }), ...(model === undefined ? {} : { model }) };
  const same = driver === now.driver && command === now.command && model === now.model;
  return {
    program: { driver, ...more },
    switched: same ? null : { from: now.driver, to: driver, ...more },
  };
}
