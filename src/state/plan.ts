// The open plan: issues, and the decisions on them.
import type { Plan, PlanIssue } from "../schema/plan.js";
import { historyFile, planFile } from "./documents.js";
import { archive } from "./history.js";
import type { Project } from "./project.js";
import { type Refusal, refusal } from "./refusal.js";
import { recordReopening } from "./trackers.js";

const NO_PLAN = "No active plan session";

export interface PlanStart {
  readonly topic: string;
  readonly issues: readonly string[];
  readonly research_summary: string;
}

/** Files the open plan in history, then opens a new one. Tasks stay: they belong to the cycle, which goes on. */
export function startPlan(project: Project, { topic, issues, research_summary }: PlanStart, now: Date) {
  return project.store.update((change) => {
    const previous = change.open(planFile);
    if (previous !== null) archive(change, { plan: previous, tasks: [], branch: project.branch() }, now);
    const cycles = change.open(historyFile)?.cycles ?? [];
    const highest = cycles.reduce((max, { plan }) => Math.max(max, plan?.id ?? 0), previous?.id ?? 0);
    const id = 1 + Math.max(0, highest);
    const plan: Plan = {
      id,
      topic,
      issues: issues.map((title, index) => ({ id: index + 1, title, status: "pending" as const })),
      research_summary,
      created_at: now.toISOString(),
    };
    change.write(planFile, plan);
    return { created: true, plan_id: id, topic, issueCount: issues.length, previousArchived: previous !== null };
  });
}

export function planStatus(project: Project) {
  const plan = project.store.read(planFile);
  if (plan === null) return { active: false };
  const decided = plan.issues.filter(({ status }) => status === "decided").length;
  return {
    active: true,
    plan_id: plan.id,
    topic: plan.topic,
    issues: plan.issues,
    ...(plan.research_summary === undefined ? {} : { research_summary: plan.research_summary }),
    summary: { total: plan.issues.length, pending: plan.issues.length - decided, decided },
  };
}

export interface PlanUpdate {
  readonly action: string;
  readonly issue_id?: number | undefined;
  readonly title?: string | undefined;
}

export type PlanUpdated = { issue: PlanIssue } & Partial<Record<"added" | "removed" | "edited" | "reopened", true>>;

export async function updatePlan(project: Project, update: PlanUpdate, now: Date): Promise<PlanUpdated | Refusal> {
  if (!project.store.isBegun()) return refusal(NO_PLAN);
  return project.store.update((change) => {
    const plan = change.open(planFile);
    if (plan === null) return refusal(NO_PLAN);
    const next = updated(plan, update);
    if ("error" in next) return next;
    if (update.action === "reopen") recordReopening(change, "issues", next.result.issue.id, now);
    change.write(planFile, { ...plan, issues: next.issues });
    return next.result;
  });
}

interface Updated {
  readonly issues: PlanIssue[];
  readonly result: PlanUpdated;
}

function updated(plan: Plan, { action, issue_id, title }: PlanUpdate): Updated | Refusal {
  if (action === "add") {
    if (!title) return refusal("title is required for add");
    const id = 1 + Math.max(0, ...plan.issues.map((issue) => issue.id));
    const issue: PlanIssue = { id, title, status: "pending" };
    return { issues: [...plan.issues, issue], result: { added: true, issue } };
  }
  if (action !== "remove" && action !== "edit" && action !== "reopen") return refusal("Unknown action");
  if (action === "edit" && (issue_id === undefined || !title)) {
    return refusal("issue_id and title are required for edit");
  }
  if (issue_id === undefined) return refusal(`issue_id is required for ${action}`);
  const index = plan.issues.findIndex(({ id }) => id === issue_id);
  const before = plan.issues[index];
  if (before === undefined) return refusal(`Issue ${issue_id} not found`);
  if (action === "remove") return { issues: plan.issues.toSpliced(index, 1), result: { removed: true, issue: before } };
  const issue = action === "edit" ? { ...before, title: title! } : reopened(before);
  const result: PlanUpdated = action === "edit" ? { edited: true, issue } : { reopened: true, issue };
  return { issues: plan.issues.with(index, issue), result };
}

function reopened(issue: PlanIssue): PlanIssue {
  const { decision: _, ...rest } = issue;
  return { ...rest, status: "pending" } as PlanIssue;
}

export interface PlanDecision {
  readonly issue_id: number;
  readonly decision: string;
  readonly how_agents?: string[] | undefined;
  readonly how_summary?: Record<string, string> | undefined;
  readonly how_agent_ids?: Record<string, string> | undefined;
}

export interface PlanDecided {
  readonly decided: true;
  readonly issue: string;
  readonly allComplete: boolean;
  readonly message?: string;
  readonly remaining?: { id: number; title: string; status: PlanIssue["status"] }[];
}

export async function decidePlan(project: Project, given: PlanDecision): Promise<PlanDecided | Refusal> {
  if (!project.store.isBegun()) return refusal(NO_PLAN);
  const { issue_id, decision, how_agents, how_summary, how_agent_ids } = given;
  return project.store.update((change) => {
    const plan = change.open(planFile);
    if (plan === null) return refusal(NO_PLAN);
    const index = plan.issues.findIndex(({ id }) => id === issue_id);
    if (index < 0) return refusal(`Issue ${issue_id} not found`);
    const issue: PlanIssue = {
      ...plan.issues[index]!,
      status: "decided",
      decision,
      ...(how_agents === undefined ? {} : { how_agents }),
      ...(how_summary === undefined ? {} : { how_summary }),
      ...(how_agent_ids === undefined ? {} : { how_agent_ids }),
    };
    const issues = plan.issues.with(index, issue);
    change.write(planFile, { ...plan, issues });
    const remaining = issues
      .filter(({ status }) => status === "pending")
      .map(({ id, title, status }) => ({ id, title, status }));
    const base = { decided: true as const, issue: issue.title };
    if (remaining.length > 0) return { ...base, allComplete: false, remaining };
    return {
      ...base,
      allComplete: true,
      message: "every issue is decided: add the tasks with task_add, then run them",
    };
  });
}
