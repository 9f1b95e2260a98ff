// What `nexus race` and `nexus bench` are both told.
import { z } from "zod";
import { flag } from "../../../cli/fields.js";
import { runFlags } from "../run/prepare-run.js";

const { repo, plan, jobs, budget, reviewer, reviewerCommand, allowOrigin, allowInstall, identity, force, noSandbox } =
  runFlags;

export const raceFlags = {
  with: flag(z.array(z.string().min(1)).default([]), {
    value: "<who>",
    about: "who takes part: codex, claude:opus, opencode:<model>, demo, 'command:<line>', 'name=acp:<line>'",
  }),
  trials: flag(z.coerce.number().int().min(1).max(100).default(1), { value: "<n>", about: "how often each tries" }),
  repo,
  plan,
  jobs,
  budget,
  reviewer,
  reviewerCommand,
  allowOrigin,
  allowInstall,
  identity,
  force,
  noSandbox,
  yes: flag(z.boolean().default(false), { short: "y", about: "do not ask: run what was not made here" }),
};

const RaceFlags = z.object(raceFlags);
export type RaceFlags = z.output<typeof RaceFlags>;
