// What a run would do, without doing it: plan, roles, limits and commands. Leaves nothing behind.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConstraints } from "../../acceptance/index.js";
import type { Catalog } from "../../catalog/index.js";
import { clearAway } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { assertReady } from "../../request/judge/completeness.js";
import type { Budget, RunOptions } from "../../schema/run.js";
import type { AgentRunner } from "../agents/agent.js";
import { givenPlan, planFacts, plansWithLead } from "../plan/make-plan.js";
import { defaultPlan, readPlan, workPlan } from "../plan/plan.js";
import { runFolder } from "../record/folder.js";
import { roleOf } from "../run.js";
import { jobsOf } from "../work/work.js";
import { openRequest } from "./workspace.js";

export interface PreviewInput {
  readonly options: RunOptions;
  readonly runner: AgentRunner;
  readonly catalog: Catalog;
  readonly context: Context;
}

export async function previewRun({ options, runner, catalog, context }: PreviewInput) {
  const scratch = mkdtempSync(join(tmpdir(), "nexus-dry-run-"));
  try {
    const folder = runFolder(scratch, "preview", false);
    const identity = options.identity ?? [];
    const { manifest } = await openRequest(options.request, join(scratch, "request"), identity, context);
    if (!options.force) await assertReady(options.request, identity, context);
    const facts = planFacts({ manifest, catalog, folder: { ...folder, request: join(scratch, "request") } });
    const given = givenPlan(options.plan, manifest);
    const byDefault = () => (options.plan === "work" ? workPlan(facts) : defaultPlan(facts));
    const plan = given === null ? byDefault() : readPlan(given.source, given.value, facts);
    const lead = given === null && plansWithLead({ options, runner, manifest });
    const constraints = readConstraints(manifest.harness?.constraints ?? []);
    const tasks = plan.tasks.map((task) => {
      const role = roleOf({ catalog }, task.owner);
      return {
        ...task,
        deps: [...task.deps],
        limits: [...role.capabilities],
        command: runner.describe({ role: task.owner, mayEdit: role.mayEdit, cwd: "." }),
      };
    });
    return {
      type: "result" as const,
      run: options.id,
      status: "planned" as const,
      plan: {
        source: lead ? "lead (shown: the plan if it writes none)" : plan.source,
        driver: runner.name,
        jobs: jobsOf({ options, manifest }),
        constraints: constraints.all.map((text) => ({ text, enforced: !constraints.spoken.includes(text) })),
        budget: limitsOf(options.budget),
        tasks,
      },
    };
  } finally {
    clearAway(scratch);
  }
}

/** The budget as it is shown: every limit with its unit in its name. */
function limitsOf({ timeMs, tokens, costUsd, agentMs, stallMs, loop }: Budget) {
  return {
    ...(timeMs === undefined ? {} : { time_ms: timeMs }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(costUsd === undefined ? {} : { cost_usd: costUsd }),
    agent_ms: agentMs,
    stall_ms: stallMs,
    loop,
  };
}
