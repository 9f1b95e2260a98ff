// A Lead session that plans: nx-plan as its role, the request's context in tiers, and the tools to write the plan with.

import type { RunPlan, RunTask } from "../../schema/run.js";
import { planFile, tasksFile } from "../../state/index.js";
import { runThrough } from "../agents/attempt.js";
import { leadPrompt } from "../agents/prompts.js";
import { type Run, record } from "../run.js";
import { defaultPlan, listInText, type PlanFacts, planProblems, withFinalCheck } from "./plan.js";

const LEAD_TASK: RunTask = { id: 0, title: "Plan the request", context: "", deps: [], owner: "lead", kind: "work" };

/** The plan a Lead wrote; the default one, with the reason on record, when there is none that could be run. */
export async function planWithLead(run: Run, facts: PlanFacts, criteria: readonly string[]): Promise<RunPlan> {
  const slot = run.slots.take(run.state.versions);
  const end = await runThrough(run, () => ({
    task: LEAD_TASK,
    role: "lead",
    purpose: "plan",
    slot,
    session: null,
    reason: "the request has no plan",
    prompt: (fence) =>
      leadPrompt({
        fence,
        data: run.briefing.loaded,
        more: run.briefing.more,
        constraints: run.constraints.all,
        strategy: run.manifest.harness?.execution_strategy,
        criteria,
      }),
  }));
  if (end.outcome !== "stopped") run.slots.release(slot);
  run.halt.signal.throwIfAborted();
  const plan = writtenPlan(run, facts);
  if (typeof plan !== "string") return plan;
  record(run, { type: "issue", message: `the Lead's plan is not used: ${plan}` });
  run.context.progress({ type: "warning", message: `the Lead's plan is not used: ${plan}` });
  return defaultPlan(facts);
}

/** What the tools wrote, or why it cannot be run. */
function writtenPlan(run: Run, { manifest, roles, hasCriteria }: PlanFacts): RunPlan | string {
  const plan = run.project.store.read(planFile);
  const file = run.project.store.read(tasksFile);
  if (file === null || file.tasks.length === 0) return "it added no task";
  const tasks = file.tasks.map((task): RunTask => {
    const owner = task.owner ?? "engineer";
    const category = roles.get(owner);
    const texts = [task.approach, task.acceptance, task.context];
    const files = listInText("FILES", texts);
    const criteria = listInText("CRITERIA", texts);
    const kind = category === "check" ? (owner === "reviewer" ? "review" : "verify") : "work";
    return {
      ...task,
      owner,
      kind,
      ...(files === undefined ? {} : { files }),
      ...(criteria === undefined ? {} : { criteria }),
    };
  });
  const wrong = planProblems(tasks, new Set(roles.keys()));
  if (wrong.length > 0) return wrong.join("; ");
  return {
    source: "lead",
    goal: file.goal === "" || file.goal === undefined ? (plan?.topic ?? manifest.task?.title ?? "") : file.goal,
    decisions: file.decisions ?? [],
    issues: (plan?.issues ?? []).map(({ title, decision }) => ({
      title,
      ...(decision === undefined ? {} : { decision }),
    })),
    tasks: withFinalCheck(tasks, hasCriteria),
  };
}
