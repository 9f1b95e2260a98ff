// What a delivery says, from what happened. Pure: nothing here is taken from an agent's word without being marked so.
import { createHash } from "node:crypto";
import { artifactsOf } from "../../request/apply/delivered.js";
import type { Delivery } from "../../schema/delivery.js";
import type { AcceptedReport, AgentEnd, ItemJudgement, ReviewVerdict } from "../../schema/journal.js";
import type { Manifest } from "../../schema/manifest.js";
import type { RunTask } from "../../schema/run.js";
import { type RunState, sawThisTree } from "../record/run-state.js";
import { readReview, readTest } from "../review/answer.js";

export interface ResultInput {
  readonly run: string;
  readonly manifest: Manifest;
  readonly state: RunState;
  readonly accepted: AcceptedReport;
  readonly agent: { readonly name: string; readonly version?: string };
  readonly model: string | undefined;
  readonly now: Date;
  readonly isOwnTest: (path: string) => boolean;
}

export function deliveryResult(input: ResultInput): Delivery {
  const { manifest, state, accepted, now } = input;
  const checklist = checklistResults(manifest, state, accepted);
  const status = statusOf(state, accepted, checklist);
  return {
    nutshell_version: "0.2.0",
    bundle_type: "delivery",
    id: idFrom(input.run),
    request_id: manifest.id,
    parent_id: manifest.id,
    completed_at: now.toISOString(),
    deliverer: deliverer(input),
    status,
    ...percentage(accepted, status),
    summary: summary(input, status, missingFrom(state, accepted, checklist)),
    artifacts: artifactsOf(accepted.changes.filter(({ path }) => !input.isOwnTest(path))),
    acceptance_results: {
      tests_passed: accepted.counts.passed,
      tests_failed: accepted.counts.failed,
      tests_skipped: accepted.counts.skipped,
      ...(accepted.counts.unknown === 0 ? {} : { tests_for_person: accepted.counts.unknown }),
      ...hiddenUnrun(manifest),
      criteria: [...accepted.results],
      checklist,
    },
    execution_log: executionLog(input),
    tags: {
      skills_used: [...new Set([...(manifest.tags?.skills_required ?? []), ...harnessSkills(state)])],
      tools_used: [...new Set([...state.agents.values()].flatMap(({ end }) => end?.tools ?? []))].sort(),
      complexity_actual: complexity(state, accepted),
    },
    ...(state.repository === null ? {} : { base: { ...state.repository } }),
    digests: {
      ...(state.requestDigest === null ? {} : { request: state.requestDigest }),
      result: accepted.digests.result,
      tests: accepted.digests.tests,
    },
  };
}

/** Hidden checks are for whoever verifies: here it can only be said that they were not run. */
function hiddenUnrun({ acceptance }: Manifest): { tests_hidden?: number } {
  return acceptance?.hidden === undefined ? {} : { tests_hidden: acceptance.hidden.count };
}

/** The same run always gives the same id, so delivering again after a crash is the same delivery. */
function idFrom(run: string): string {
  const hex = createHash("sha256").update(`delivery ${run}`).digest("hex");
  return `nut-${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

function deliverer({ state, agent, ...input }: ResultInput): Delivery["deliverer"] {
  const agents = [...state.agents.values()];
  const model = agents.findLast((entry) => entry.model !== undefined)?.model ?? input.model;
  return {
    ...agent,
    ...(model === undefined ? {} : { model }),
    sessions_used: new Set(agents.map(({ session, agent: id }) => session ?? id)).size,
    total_tokens: state.spent.tokens,
    ...(state.spent.costUsd > 0 ? { total_cost_usd: state.spent.costUsd } : {}),
  };
}

type Checklist = NonNullable<NonNullable<Delivery["acceptance_results"]>["checklist"]>;

/**
 * A reviewer's word is a judgement; without one an item is open. Of two who disagree, the one who says no is heard. An item
 * in the words of a criterion is answered by running that.
 */
function checklistResults({ acceptance }: Manifest, state: RunState, { results }: AcceptedReport): Checklist {
  const judgements = new Map<string, ItemJudgement>();
  for (const { task, last } of state.tasks.values()) {
    if (last === undefined || !sawThisTree(state, last.agent)) continue;
    for (const judgement of last.judgements) {
      // Only a review says yes to an item; older versions recorded a tester's yes too.
      if (task.kind !== "review" && judgement.status !== "failed") continue;
      if (judgements.get(judgement.item)?.status !== "failed") judgements.set(judgement.item, judgement);
    }
  }
  return (acceptance?.checklist ?? []).map((item) => {
    const judgement = judgements.get(item);
    const criterion = results.find(
      ({ id, description, status }) => status === "passed" && (description ?? id) === item,
    );
    if (criterion?.evidence === "proven" && judgement?.status !== "failed") {
      return { item, status: "passed" as const, evidence: "proven" as const, note: `criterion ${criterion.id}` };
    }
    if (judgement === undefined) return { item, status: "unknown" as const, note: "nobody judged it" };
    const { status, note } = judgement;
    return { item, status, evidence: "judged" as const, ...(note === undefined ? {} : { note }) };
  });
}

/**
 * completed is only what is backed: every task done, every criterion passed when the harness ran it, every item judged. Where
 * nothing can be proven by running it (a refactoring, a document), what guards must hold and a checklist must be judged.
 */
function statusOf(state: RunState, accepted: AcceptedReport, checklist: Checklist): Delivery["status"] {
  const tasks = [...state.tasks.values()];
  const done = tasks.every(({ status }) => status === "completed");
  const judged = checklist.every(({ status }) => status === "passed");
  const isAnswered = accepted.verdict === "passed" || (checklist.length > 0 && awaitsOnlyJudgement(accepted));
  if (done && isAnswered && judged && !saysNo(state)) return "completed";
  if (accepted.counts.proven > 0) return "partial";
  const blocked = tasks.some(({ problems }) => problems.some((problem) => problem.startsWith("blocked: ")));
  const worked = tasks.some(({ status, task }) => status === "completed" && task.kind === "work");
  if (blocked && !worked) return "blocked";
  return accepted.verdict !== "failed" && worked ? "partial" : "failed";
}

/** Nothing that can be run is against it, and no criterion asks for a person. */
const awaitsOnlyJudgement = ({ awaitsJudgement, forPerson }: AcceptedReport): boolean =>
  awaitsJudgement === true && forPerson?.length === 0;

/** Why it is not completed, in the order a person would ask. Empty when nothing is missing. */
function missingFrom(state: RunState, accepted: AcceptedReport, checklist: Checklist): string[] {
  const { counts, results, forPerson = [] } = accepted;
  const open = [...state.tasks.values()].filter(({ status }) => status !== "completed").length;
  const unbacked = results.filter(({ status, evidence }) => status === "passed" && evidence !== "proven").length;
  const unjudged = checklist.filter(({ status }) => status !== "passed").length;
  const lacks = accepted.verdict !== "passed" && counts.proven === 0 && !accepted.awaitsJudgement;
  const rows: readonly (readonly [boolean, string])[] = [
    [open > 0, `${tally(open, "task")} not done`],
    [counts.failed > 0, `${tally(counts.failed, "criterion")} failed`],
    [counts.skipped > 0, `${tally(counts.skipped, "criterion")} could not be run`],
    [unbacked > 0, `${tally(unbacked, "criterion")} passed without being proven`],
    [forPerson.length > 0, `${tally(forPerson.length, "criterion")} for a person to judge`],
    [unjudged > 0, `${tally(unjudged, "checklist item")} not judged as passed`],
    [saysNo(state), "a tester or reviewer says no"],
    [lacks && counts.failed + unbacked === 0, "nothing that was run shows the work"],
    [checklist.length === 0 && awaitsOnlyJudgement(accepted), "there is no checklist to judge it by"],
  ];
  return rows.flatMap(([isSo, words]) => (isSo ? [words] : []));
}

function tally(n: number, noun: string): string {
  return `${n} ${n === 1 ? noun : noun === "criterion" ? "criteria" : `${noun}s`}`;
}

/** The latest word of each checking role counts; a tester who says no is heard even when the tests pass. */
function saysNo(state: RunState): boolean {
  return [...state.agents.values()].some(({ end, purpose }) => {
    const task = end === undefined || purpose !== "work" ? undefined : state.tasks.get(end.task);
    if (task?.last?.agent !== end?.agent || task === undefined) return false;
    // A review of an older tree was followed by another.
    if (task.task.kind === "review" && !sawThisTree(state, end?.agent)) return false;
    return verdictOf(task.task, end!) === "fail";
  });
}

/** Older versions recorded the words only. */
function verdictOf({ kind }: RunTask, { verdict, text }: AgentEnd): ReviewVerdict | undefined {
  if (verdict !== undefined || (kind !== "review" && kind !== "verify")) return verdict;
  return (kind === "review" ? readReview(text, []) : readTest(text, [])).verdict;
}

function percentage(
  { results, counts }: AcceptedReport,
  status: Delivery["status"],
): { completion_percentage?: number } {
  if (status === "completed") return { completion_percentage: 100 };
  const meaningful = results.filter(({ proves_nothing }) => proves_nothing !== true).length;
  if (results.length === 0) return {};
  // What is not completed is not all of it, whichever checks pass.
  const share = meaningful === 0 ? 0 : Math.round((counts.proven / meaningful) * 100);
  return { completion_percentage: Math.min(99, share) };
}

function summary(
  { manifest, state, accepted }: ResultInput,
  status: Delivery["status"],
  missing: readonly string[],
): string {
  const tasks = [...state.tasks.values()];
  const done = tasks.filter(({ status: own }) => own === "completed").length;
  const { passed, failed, skipped, unknown } = accepted.counts;
  const tests = `${passed} of ${passed + failed + skipped + unknown} criteria passed when the harness ran them`;
  const short = status === "completed" || missing.length === 0 ? "" : ` Missing: ${missing.join("; ")}.`;
  const judged =
    accepted.verdict === "passed" || status !== "completed"
      ? ""
      : " Nothing in it could be proven by a run: what guards holds, and the checklist was judged.";
  const hidden =
    manifest.acceptance?.hidden === undefined ? "" : ` ${manifest.acceptance.hidden.count} hidden, not run.`;
  return `${manifest.task?.title ?? "The request"}: ${status}. ${done} of ${tasks.length} tasks done; ${tests}.${hidden}${judged}${short}`;
}

function executionLog({ state }: ResultInput): Delivery["execution_log"] {
  const used = new Map(
    state.credentials.map((use) => [use.name, { name: use.name, at: use.at, purpose: use.purpose }]),
  );
  return {
    strategy_used: strategy(state),
    checkpoints: checkpoints(state),
    decisions: unique(state.decisions, ({ decision }) => decision),
    issues_encountered: [...new Set(problemsOf(state))],
    credentials_used: [...used.values()],
    full_log: "delivery/logs/execution.log",
  };
}

function checkpoints(state: RunState): { at: string; description: string }[] {
  if (state.checkpoints.length > 0) return state.checkpoints.map(({ at, description }) => ({ at, description }));
  return [...state.agents.values()]
    .filter(({ end, purpose }) => purpose === "work" && end !== undefined && state.tasks.get(end.task)?.last === end)
    .map(({ endedAt, task }) => ({ at: endedAt!, description: state.tasks.get(task)!.task.title }));
}

function problemsOf(state: RunState): string[] {
  const failed = [...state.agents.values()].flatMap(({ end }) => end?.problems ?? []);
  const tasks = [...state.tasks.values()].flatMap(({ problems }) => problems);
  return [...state.issues.map(({ message }) => message), ...failed, ...tasks];
}

/** What really happened: at the same time, one after the other, or in one go. */
export function strategy(state: RunState): "parallel" | "incremental" | "one-shot" {
  const work = [...state.agents.values()].filter(({ purpose }) => purpose === "work");
  const overlap = work.some((a) =>
    work.some((b) => a !== b && a.startedAt < (b.endedAt ?? "") && b.startedAt < (a.endedAt ?? "")),
  );
  if (overlap) return "parallel";
  return [...state.tasks.values()].filter(({ task }) => task.kind === "work").length > 1 ? "incremental" : "one-shot";
}

function complexity(state: RunState, { changes }: AcceptedReport): "low" | "medium" | "high" {
  const lines = changes.reduce((sum, { diffLines }) => sum + diffLines, 0);
  const failures = [...state.tasks.values()].reduce((sum, task) => sum + task.failures, 0);
  if (state.tasks.size > 12 || lines > 1_000 || failures > 3) return "high";
  return state.tasks.size > 4 || lines > 100 || failures > 0 ? "medium" : "low";
}

function harnessSkills(state: RunState): string[] {
  return state.plan?.source === "lead" ? ["nx-plan", "nx-run"] : ["nx-run"];
}

function unique<T>(items: readonly T[], key: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}
