// What will be done, by whom and in which order, before anything is started. Pure: text and values in, a plan out.

import { NutError } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import { mismatchLine, mismatchWords } from "../../schema/mismatch.js";
import { PlanFile, type PlanSource, type RunPlan, type RunTask } from "../../schema/run.js";

export interface PlanFacts {
  readonly manifest: Manifest;
  /** Role → category, from the catalog. */
  readonly roles: ReadonlyMap<string, "how" | "do" | "check">;
  readonly hasCriteria: boolean;
}

/** Reads a plan file. Every mistake in it is named at once, since a person will fix them by hand. */
export function readPlan(source: PlanSource, value: unknown, facts: PlanFacts): RunPlan {
  const parsed = PlanFile.safeParse(value);
  if (!parsed.success) {
    throw new NutError("RUN_PLAN_INVALID", `the plan is not valid: ${mismatchLine(parsed.error.issues[0]!, "plan")}`, {
      hint: "nexus run --help says what a plan file holds",
      data: {
        issues: parsed.error.issues.map((issue) => ({ path: issue.path.join("."), message: mismatchWords(issue) })),
      },
    });
  }
  const plan = parsed.data;
  const tasks = plan.tasks.map((task, index): RunTask => {
    const category = facts.roles.get(task.owner);
    const kind = task.kind ?? (category === "check" ? (task.owner === "reviewer" ? "review" : "verify") : "work");
    return { ...task, id: task.id ?? index + 1, context: task.context ?? task.title, kind };
  });
  return assertRunnable(
    {
      source,
      goal: plan.goal ?? facts.manifest.task?.title ?? "",
      decisions: plan.decisions,
      issues: plan.issues,
      tasks: withFinalCheck(tasks, facts.hasCriteria),
    },
    facts,
  );
}

/** When nobody says which task the criteria belong to, they belong to the one all other work leads to. */
export function withFinalCheck(tasks: readonly RunTask[], hasCriteria: boolean): readonly RunTask[] {
  if (!hasCriteria || tasks.some(({ criteria }) => criteria !== undefined)) return tasks;
  const work = tasks.filter(({ kind }) => kind === "work");
  const last = work.filter(({ id }) => !work.some(({ deps }) => deps.includes(id)));
  if (last.length !== 1) return tasks;
  return tasks.map((task) => (task === last[0] ? { ...task, criteria: "all" as const } : task));
}

/** The plan a request carries itself, or null. */
export function planInRequest(manifest: Manifest): unknown {
  const extension = manifest.extensions?.nexus;
  if (typeof extension !== "object" || extension === null || !("plan" in extension)) return null;
  return extension.plan;
}

/** Work, verify, review: what any request needs when nobody has planned it. */
export function defaultPlan(facts: PlanFacts): RunPlan {
  const { goal, acceptance, work } = theWork(facts);
  const verify: RunTask = {
    id: 2,
    title: `Verify: ${goal}`,
    context: "Run what the request says proves the work, look at what was changed, and report what does not hold.",
    ...acceptance,
    deps: [1],
    owner: "tester",
    kind: "verify",
  };
  const review: RunTask = {
    id: 3,
    title: `Review: ${goal}`,
    context: "Read the change against the request, and judge every checklist item with evidence from the files.",
    ...acceptance,
    deps: [1, 2],
    owner: "reviewer",
    kind: "review",
  };
  return assertRunnable({ source: "default", goal, decisions: [], issues: [], tasks: [work, verify, review] }, facts);
}

/** The work alone: nobody else looks at it but the acceptance. */
export function workPlan(facts: PlanFacts): RunPlan {
  const { goal, work } = theWork(facts);
  return assertRunnable({ source: "default", goal, decisions: [], issues: [], tasks: [work] }, facts);
}

function theWork({ manifest, hasCriteria }: PlanFacts) {
  const goal = manifest.task?.title ?? "the request";
  const points = (manifest.acceptance?.checklist ?? []).map((item) => `- ${item}`).join("\n");
  const acceptance = points === "" ? {} : { acceptance: points };
  const work: RunTask = {
    id: 1,
    title: goal,
    context: manifest.task?.summary ?? goal,
    ...acceptance,
    deps: [],
    owner: workRole(manifest),
    kind: "work",
    ...(hasCriteria ? { criteria: "all" as const } : {}),
  };
  return { goal, acceptance, work };
}

/** Who does the work: the hint of the request, as far as it names a kind of role. */
function workRole({ harness, tags }: Manifest): string {
  switch (harness?.agent_type_hint) {
    case "research":
      return "researcher";
    case "planning":
      return "strategist";
    case "review":
      return "reviewer";
    default:
      return (tags?.domains ?? []).some((domain) => /^(docs?|documentation|writing)$/i.test(domain))
        ? "writer"
        : "engineer";
  }
}

function assertRunnable(plan: RunPlan, { roles }: PlanFacts): RunPlan {
  const wrong = planProblems(plan.tasks, new Set(roles.keys()));
  if (wrong.length > 0) {
    throw new NutError("RUN_PLAN_INVALID", `the plan cannot be run: ${wrong[0]}`, {
      hint: "nexus run --help says what a plan file holds",
      data: { problems: wrong },
    });
  }
  return plan;
}

/** Everything that would make a plan hang or fail before its first agent. */
export function planProblems(tasks: readonly RunTask[], roles: ReadonlySet<string>): string[] {
  const strangers = tasks.filter(({ owner }) => !roles.has(owner));
  return [
    ...strangers.map(({ id, owner }) => `task ${id} is owned by "${owner}", which is not a role`),
    ...orderProblems(tasks),
  ];
}

/** Why tasks could never all be started: ids twice, deps that do not exist, circles. */
export function orderProblems(tasks: readonly RunTask[]): string[] {
  const problems: string[] = [];
  const ids = new Set<number>();
  for (const { id } of tasks) {
    if (ids.has(id)) problems.push(`task ${id} appears twice`);
    ids.add(id);
  }
  for (const { id, deps } of tasks) {
    for (const dep of deps) if (!ids.has(dep)) problems.push(`task ${id} waits for task ${dep}, which does not exist`);
  }
  const stuck = circles(tasks);
  if (stuck.length > 0) problems.push(`tasks ${stuck.join(", ")} wait for each other`);
  return problems;
}

/** Ids that can never become ready because they wait for one another. */
function circles(tasks: readonly RunTask[]): number[] {
  const waiting = new Map(tasks.map(({ id, deps }) => [id, new Set(deps)]));
  const followers = new Map<number, number[]>();
  for (const { id, deps } of tasks) {
    for (const dep of deps) {
      const list = followers.get(dep);
      if (list === undefined) followers.set(dep, [id]);
      else list.push(id);
    }
  }
  const free = tasks.filter(({ deps }) => deps.length === 0).map(({ id }) => id);
  while (free.length > 0) {
    const id = free.pop()!;
    waiting.delete(id);
    for (const follower of followers.get(id) ?? []) {
      const open = waiting.get(follower);
      if (open?.delete(id) === true && open.size === 0) free.push(follower);
    }
  }
  // A dep that does not exist is reported by itself; what waits for it is not a circle.
  const ids = new Set(tasks.map(({ id }) => id));
  return [...waiting].filter(([, deps]) => [...deps].every((dep) => ids.has(dep))).map(([id]) => id);
}

/**
 * Tasks a Lead wrote through the tools carry their files as a `FILES: a, b` line and the criteria that prove them as a
 * `CRITERIA: AC-1` line, since the task schema is closed.
 */
export function listInText(name: "FILES" | "CRITERIA", texts: readonly (string | undefined)[]): string[] | undefined {
  const line = new RegExp(`^[^\\S\\n]*${name}[^\\S\\n]*:[^\\S\\n]*(.+)$`, "im");
  for (const text of texts) {
    const match = text === undefined ? null : line.exec(text);
    if (match === null) continue;
    const files = match[1]!
      .split(/[,\s]+/)
      .map((word) => word.replace(/^[`"']|[`"']$/g, ""))
      .filter((word) => word !== "");
    if (files.length > 0) return files;
  }
  return undefined;
}
