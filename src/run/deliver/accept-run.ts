// The last word: the harness runs the request's acceptance on the finished tree. What fails gets one diagnosis and one
// more try, like any task, and then it is for a person to say.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runAcceptance } from "../../acceptance/index.js";
import { contentDigest } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import { AcceptedReport } from "../../schema/journal.js";
import type { RunTask } from "../../schema/run.js";
import { deletedFrom } from "../../trees/slots.js";
import { compareTrees, lookAt, type Tree, unchangedTreeBeside } from "../../trees/tree.js";
import { counts, putBack } from "../open/workspace.js";
import { mirrorTasks } from "../record/mirror.js";
import { sawThisTree } from "../record/run-state.js";
import { type Run, record, roleOf } from "../run.js";

/** Runs it and records what it came to. */
export async function acceptRun(run: Run): Promise<AcceptedReport> {
  const untouched = assertUntouched(run);
  const attempt = (run.state.accepted?.attempt ?? 0) + 1;
  const logs = join(run.folder.logs, "acceptance");
  rmSync(logs, { recursive: true, force: true });
  mkdirSync(logs, { recursive: true });
  run.context.progress({ type: "acceptance_started", attempt, message: "the harness runs the acceptance itself" });
  const report = await runAcceptance({
    request: run.folder.request,
    base: run.folder.base,
    looked: run.start,
    manifest: run.manifest,
    result: run.folder.main,
    deleted: run.folder.isDelta ? deletedFrom(run.start, run.main) : undefined,
    workDir: join(run.folder.scratch, `acceptance-${attempt}`),
    env: run.context.env,
    sandbox: run.options.no_sandbox === true ? "off" : "auto",
    allowOrigins: run.options.allow_origins ?? [],
    ...(run.options.trials === undefined ? {} : { trials: run.options.trials }),
    ...(run.options.quick === undefined ? {} : { quick: run.options.quick }),
    credentials: run.secrets.read,
    scrub: run.secrets.scrub,
    install: run.install,
    logs: { dir: logs, name: (file) => `delivery/logs/acceptance/${file}` },
    signal: run.halt.signal,
    onProgress: (event) => run.context.progress({ ...event, type: `acceptance_${event.type}` }),
  });
  await untouched;
  const accepted = AcceptedReport.parse(report);
  record(run, { type: "accepted", attempt, versions: run.state.versions.length, report: accepted });
  run.context.progress({
    type: "acceptance_finished",
    attempt,
    verdict: report.verdict,
    counts: report.counts,
    message: `acceptance: ${report.counts.passed} passed, ${report.counts.failed} failed, ${report.counts.skipped} skipped, ${report.counts.unknown} for a person`,
  });
  for (const message of report.warnings) record(run, { type: "issue", message });
  return accepted;
}

/**
 * Agents in a sandbox cannot reach the run's folder; without one they can. Tests that were changed would prove nothing,
 * so the run stops; a main tree that was changed is put back from what was really merged, at once. A large base is listed while
 * whoever asks goes on: a change stays visible, so the answer is worth the same when it comes.
 */
export function assertUntouched(run: Run): Promise<void> {
  const { folder } = run;
  const listing = unchangedTreeBeside(folder.base);
  if (listing === null) assertSame(run, null);
  const put = putBack(folder, run.main, { start: run.start, objects: run.objects });
  if (put.length > 0) {
    const message = `changed behind the harness's back and put back: ${put.slice(0, 5).join(", ")}`;
    record(run, { type: "issue", message });
  }
  const compared = listing === null ? Promise.resolve() : listing.then((listed) => assertSame(run, listed));
  // Whoever asked may be stopped before the answer.
  compared.catch(() => {});
  return compared;
}

function assertSame(run: Run, listed: Tree | null): void {
  if (isBaseAsItWas(run, listed)) return;
  throw new NutError("RUN_TREE_MOVED", "the request in the run's folder was changed while agents worked", {
    hint: `nexus run ${shellWord(run.options.request)}`,
    data: { path: run.folder.request },
  });
}

/** The base and the request, which are one where there is no repository: a list that is the same to the byte speaks for both. */
function isBaseAsItWas({ folder, start, state }: Run, listed: Tree | null): boolean {
  const isListed = listed === start;
  if (isListed && folder.base === folder.request) return true;
  const skip = (path: string) => !counts(path);
  if (!isListed && compareTrees(lookAt(folder.base, { skip }), start).length > 0) return false;
  return contentDigest(folder.request, { ignoreRules: false }) === state.requestDigest;
}

/** Adds the task that repairs what the acceptance found; false when it was tried before or nobody may edit. */
export async function addRepair(run: Run, report: AcceptedReport): Promise<boolean> {
  const tasks = [...run.state.tasks.values()];
  if (tasks.some(({ task }) => task.kind === "repair")) return false;
  const problems = report.results
    .filter(({ status }) => status === "failed")
    .map(({ id, reason }) => `${id} fails: ${reason ?? "no reason"}`);
  const task: RunTask = {
    id: nextId(run),
    title: `Repair what the acceptance found: ${run.manifest.task?.title ?? "the request"}`,
    context: `All tasks are done, but the request's own tests do not hold:\n${problems.join("\n")}`,
    deps: [],
    owner: "engineer",
    kind: "repair",
    criteria: "all",
  };
  record(run, { type: "task_added", task });
  // It starts as a failed task, so that the diagnosis comes before the try.
  record(run, { type: "task_failed", task: task.id, problems });
  await mirrorTasks(run.project, run.state.plan!, run.state, run.context.now());
  return true;
}

/**
 * A checklist is judged by a reviewer who could not have done the work, on the tree that is delivered: a plan without such a
 * review gets one, and so does a tree that was changed after it. false when there is nothing to judge, or a review was given up.
 */
export async function addReview(run: Run): Promise<boolean> {
  const checklist = run.manifest.acceptance?.checklist ?? [];
  const reviews = [...run.state.tasks.values()].filter(
    ({ task }) => task.kind === "review" && !roleOf(run, task.owner).mayEdit,
  );
  const isSettled = reviews.some(({ status, last }) => status !== "completed" || sawThisTree(run.state, last?.agent));
  if ((checklist.length === 0 && reviews.length === 0) || isSettled) return false;
  const task: RunTask = {
    id: nextId(run),
    title: `Review: ${run.manifest.task?.title ?? "the request"}`,
    context: "Read the change against the request, and judge every checklist item with evidence from the files.",
    deps: [],
    owner: "reviewer",
    kind: "review",
  };
  record(run, { type: "task_added", task });
  await mirrorTasks(run.project, run.state.plan!, run.state, run.context.now());
  return true;
}

const nextId = (run: Run) => 1 + Math.max(0, ...run.state.tasks.keys());
