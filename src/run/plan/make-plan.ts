// Which plan a run follows: one a person gave, one the request carries, one a Lead makes, or the default.
import { readFileSync } from "node:fs";
import { planChecks } from "../../acceptance/index.js";
import { fromSystemError, NutError } from "../../errors.js";
import type { RunPlan } from "../../schema/run.js";
import type { Run } from "../run.js";
import { planByDefault, planWithLead } from "./lead.js";
import { defaultPlan, type PlanFacts, planInRequest, readPlan, workPlan } from "./plan.js";

export async function makePlan(run: Run): Promise<RunPlan> {
  const facts = planFacts(run);
  const given = givenPlan(run.options.plan, run.manifest);
  if (given !== null) return readPlan(given.source, given.value, facts);
  if (run.options.plan === "work") return workPlan(facts);
  if (!plansWithLead(run)) {
    const asked = run.options.plan === "lead";
    return asked ? planByDefault(run, facts, `${run.runner.name} has no tools to plan with`) : defaultPlan(facts);
  }
  const { checks } = planChecks(run.folder.request, run.manifest);
  return planWithLead(
    run,
    facts,
    checks.map(({ id, description }) => `${id}: ${description ?? ""}`),
  );
}

/** One go needs no plan of its own; everything else is planned by an agent, if the agent can. */
export function plansWithLead({ options, runner, manifest }: Pick<Run, "options" | "runner" | "manifest">): boolean {
  if (options.plan !== undefined) return options.plan === "lead" && runner.hasTools;
  return runner.canPlan && manifest.harness?.execution_strategy !== "one-shot";
}

/** Words of `--plan` that are no file: who plans, or that the work is all there is. */
const PLAN_WORDS: readonly string[] = ["lead", "default", "work"];

export const isPlanWord = (plan: string): boolean => PLAN_WORDS.includes(plan);

/** `--plan` names a file, or is one of the words. */
export function givenPlan(
  plan: string | undefined,
  manifest: Run["manifest"],
): { readonly source: "file" | "request"; readonly value: unknown } | null {
  if (plan !== undefined && !isPlanWord(plan)) return { source: "file", value: readPlanFile(plan) };
  const carried = plan === undefined ? planInRequest(manifest) : null;
  return carried === null ? null : { source: "request", value: carried };
}

export function readPlanFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new NutError("RUN_PLAN_INVALID", `${path}: not JSON`, {
        hint: "nexus run --help says what a plan file holds",
        data: { path },
        cause: error,
      });
    }
    throw fromSystemError(error, path) ?? error;
  }
}

export function planFacts(run: Pick<Run, "manifest" | "catalog" | "folder">): PlanFacts {
  const { checks } = planChecks(run.folder.request, run.manifest);
  return {
    manifest: run.manifest,
    roles: new Map(run.catalog.agents.map(({ id, category }) => [id, category as "how" | "do" | "check"])),
    hasCriteria: checks.some(({ automatic }) => automatic),
  };
}
