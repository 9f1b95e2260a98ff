// What waits for a person: the page shows it, and a page that nobody looks at asks the server how much it is.
import type { IssueRow, ProjectView, RunRow } from "./model.js";

export interface Waiting {
  readonly questions: readonly { readonly run: RunRow; readonly question: RunRow["questions"][number] }[];
  readonly plans: readonly RunRow[];
  readonly stopped: readonly RunRow[];
  readonly judging: readonly { readonly run: RunRow; readonly item: RunRow["forPerson"][number] }[];
  readonly issues: readonly IssueRow[];
}

/** A run that was finished is only asked about when nothing newer was started. */
export function waitingIn({ runs, plan }: Pick<ProjectView, "runs" | "plan">): Waiting {
  const latest = runs[0];
  const open = runs.filter((run) => run.status === "paused" || (run.status === "interrupted" && run === latest));
  const plans = open.filter(({ planToRead }) => planToRead !== "");
  // What failed is tried again; a judgement would not change it.
  const isOver = latest?.verdict.word === "failed" || latest?.verdict.word === "blocked";
  const judged = latest?.status === "delivered" && !isOver ? latest : undefined;
  return {
    questions: open.flatMap((run) => run.questions.map((question) => ({ run, question }))),
    plans,
    stopped: open.filter((run) => run.questions.length === 0 && !plans.includes(run)),
    judging: judged === undefined ? [] : judged.forPerson.map((item) => ({ run: judged, item })),
    issues: plan?.issues.filter(({ status }) => status === "pending") ?? [],
  };
}

export function waitingCount(project: Pick<ProjectView, "runs" | "plan">): number {
  return Object.values(waitingIn(project)).reduce((sum, list) => sum + (list as readonly unknown[]).length, 0);
}

/** The first thing, in a sentence for somebody who looks elsewhere. */
export function waitingWords(project: Pick<ProjectView, "runs" | "plan">): string {
  const { questions, plans, stopped, judging, issues } = waitingIn(project);
  const [question, plan, run, item, issue] = [questions[0], plans[0], stopped[0], judging[0], issues[0]];
  if (question !== undefined) return `${question.run.title}: ${question.question.question}`;
  if (plan !== undefined) return `${plan.title}: a plan waits to be read`;
  if (run !== undefined) return `${run.title} is ${run.status}: ${run.verdict.detail}`;
  if (item !== undefined) return `${item.run.title}: ${item.item.id} is for a person to judge`;
  return issue === undefined ? "" : `To decide: ${issue.title}`;
}
