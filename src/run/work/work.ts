// The schedule in motion: start what is ready, carry each task through try, check, diagnosis and merge, and stop when
// nothing is left that could start.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chooseSession, diagnosisRole, type EarlierSession } from "../../session/resume-policy.js";
import { hasMarkers } from "../../trees/merge.js";
import type { Slot } from "../../trees/slots.js";
import { type Change, fileChanges } from "../../trees/tree.js";
import { type Attempt, runThrough } from "../agents/attempt.js";
import { diagnosisPrompt, taskPrompt } from "../agents/prompts.js";
import { checkpoint } from "../deliver/checkpoint.js";
import type { AgentState, TaskState } from "../record/run-state.js";
import { shownAsRequested, takeReviewSlot } from "../review/review-tree.js";
import { type Run, record, roleOf, spentSoFar } from "../run.js";
import { completeConflict, completeMerged, finishMerge, integrate, isMerged, mergeInto } from "./integrate.js";
import { nextTasks } from "./schedule.js";

/** Works until nothing more can start. Returns early when the run is halted; what a step throws is thrown at the end. */
export async function workThrough(run: Run): Promise<void> {
  const running = new Map<number, Promise<void>>();
  const turn = new Turns();
  const failures: unknown[] = [];
  const fail = (error: unknown) => {
    failures.push(error);
    run.halt.abort("error");
  };
  // Whatever goes wrong here, agents at work are waited for.
  const guarded = (step: () => void) => {
    try {
      step();
    } catch (error) {
      fail(error);
    }
  };
  const start = () => {
    for (const t of run.halt.signal.aborted ? [] : startable(run, running)) {
      const job = carryTask(run, t, turn)
        .catch(fail)
        .finally(() => running.delete(t.task.id));
      running.set(t.task.id, job);
    }
  };
  const show = () => showStatus(run, running.size);
  const heartbeat = setInterval(() => guarded(show), HEARTBEAT_MS);
  try {
    for (;;) {
      guarded(start);
      guarded(show);
      if (running.size === 0) break;
      await Promise.race(running.values());
    }
  } finally {
    clearInterval(heartbeat);
  }
  if (failures.length > 0) throw failures[0];
}

const HEARTBEAT_MS = 1_000;

/** One moving line: how far the run is, who works on what, and what it has cost. */
function showStatus(run: Run, running: number): void {
  if (running === 0) return;
  const tasks = [...run.state.tasks.values()];
  const now = run.context.now().getTime();
  const agents = [...run.state.agents.values()]
    .slice(run.agentsBefore)
    .filter(({ end }) => end === undefined)
    .slice(-4)
    .map(({ role, task, startedAt }) => `${role} on ${task} (${secondsFrom(startedAt, now)} s)`);
  const { waiting } = run.state;
  if (waiting !== null) agents.push(`waiting for ${waiting.program} (${secondsFrom(waiting.at, now)} s)`);
  const { tokens, costUsd } = spentSoFar(run);
  const spent = `${tokens === 0 ? "" : `, ${tokens} tokens`}${costUsd === 0 ? "" : `, $${costUsd.toFixed(2)}`}`;
  run.context.progress({
    type: "status",
    live: true,
    message: `${agents.join(", ") || "checking"}${spent}; tasks done`,
    done: tasks.filter(({ status }) => status === "completed").length,
    total: tasks.length,
  });
}

/** For the eye only: the wall clock may have been set back. */
const secondsFrom = (startedAt: string, now: number) => Math.max(0, Math.round((now - Date.parse(startedAt)) / 1_000));

/** Tasks that can be started or taken up where a killed process left them. */
function startable(run: Run, running: ReadonlyMap<number, unknown>): TaskState[] {
  const all = [...run.state.tasks.values()];
  const open = (t: TaskState) =>
    !running.has(t.task.id) &&
    (["pending", "running", "ended", "merging", "merged"].includes(t.status) ||
      (t.status === "failed" && t.question === undefined) ||
      isMerged(run, t));
  const next = nextTasks({
    tasks: all.map(({ task }) => task),
    done: new Set(all.filter(({ status }) => status === "completed").map(({ task }) => task.id)),
    busy: new Set(all.filter((t) => !open(t)).map(({ task }) => task.id)),
    running: [...running.keys()].map((id) => run.state.tasks.get(id)!.task),
    jobs: jobsOf(run),
    writes: (owner) => roleOf(run, owner).mayEdit,
  });
  return next.map(({ id }) => run.state.tasks.get(id)!);
}

/** One at a time unless asked otherwise: a plan that says "incremental" means it. */
export function jobsOf({ options, manifest }: Pick<Run, "options" | "manifest">): number {
  if (options.jobs !== undefined) return options.jobs;
  const strategy = manifest.harness?.execution_strategy;
  return strategy === "one-shot" || strategy === "incremental" ? 1 : 4;
}

/** Carries one task as far as it goes. Every step starts from what the journal says, so any of them may be the first. */
async function carryTask(run: Run, t: TaskState, turn: Turns): Promise<void> {
  for (;;) {
    if (run.halt.signal.aborted) return;
    const before = t.status;
    switch (t.status) {
      case "pending":
      case "running":
        await tryTask(run, t);
        break;
      case "ended":
        await checkTask(run, t, turn);
        break;
      case "merging":
        await turn.take(async () => finishMerge(run, t));
        break;
      case "merged":
        await completeMerged(run, t);
        break;
      case "failed":
        if (t.diagnosis !== undefined || t.question !== undefined) return askPerson(run, t);
        await diagnose(run, t);
        break;
      case "conflict":
        if (!isMerged(run, t)) return;
        await completeConflict(run, t);
        break;
      case "completed":
        await checkpoint(run, t.task);
        return;
      default:
        return;
    }
    // A step that moved nothing would be taken again for ever.
    if (t.status === before && !run.halt.signal.aborted) throw new Error(`task ${t.task.id} stays ${t.status}`);
  }
}

async function tryTask(run: Run, t: TaskState): Promise<void> {
  let slot: Slot | undefined;
  const end = await runThrough(run, async () => {
    const before = slot;
    if (before !== undefined) run.slots.leave(before);
    const attempt = await attemptOf(run, t);
    slot = attempt.slot;
    // Nobody goes on in what a session left that is not continued.
    if (before !== undefined && before.name !== slot.name) run.slots.discard(before);
    return attempt;
  });
  // A stopped agent's slot waits, edits and all, for the session to be continued.
  if (end.outcome !== "stopped") run.held.set(end.agent, slot!);
}

async function attemptOf(run: Run, t: TaskState): Promise<Attempt> {
  const { slot, ...session } = takeSlot(run, t);
  const conflicts = t.task.kind === "merge" ? await seedConflicts(run, t, slot) : undefined;
  return {
    task: t.task,
    role: t.task.owner,
    purpose: "work",
    slot,
    session: session.session,
    reason: session.reason,
    prompt: (fence, credentials) =>
      taskPrompt({
        task: t.task,
        fence,
        constraints: run.constraints.all,
        knowledge: run.knowledge,
        data: run.briefing.loaded,
        more: run.briefing.more,
        credentials,
        problems: t.problems,
        ...(t.diagnosis === undefined ? {} : { diagnosis: t.diagnosis.text }),
        ...answerFor(run, t),
        reread: session.reread,
        ...(conflicts === undefined ? {} : { conflicts }),
        ...(t.task.kind === "review"
          ? { checklist: run.manifest.acceptance?.checklist ?? [], shownAsRequested: shownAsRequested(run) }
          : {}),
      }),
  };
}

/** What was said of this task, or of an earlier run of the same request. Reviewers judge for themselves. */
function answerFor({ options }: Run, { answer, task }: TaskState): { readonly answer?: string } {
  const said = answer ?? (task.kind === "review" || task.kind === "verify" ? undefined : options.answer);
  return said === undefined ? {} : { answer: said };
}

async function seedConflicts(run: Run, t: TaskState, slot: Slot): Promise<string[]> {
  const parent = run.state.tasks.get(t.parent!)!;
  const { changes, conflicts } = await mergeInto(run, parent.last!.changes, parent.task);
  run.slots.seed(slot, changes);
  return conflicts.map(({ path, reason }) => `${path}: ${reason}`);
}

interface SlotAndSession {
  readonly slot: Slot;
  readonly session: Attempt["session"];
  readonly reason: string;
  readonly reread: boolean;
}

/** A slot and a session: the interrupted ones when they can be continued, otherwise as policy and tier say. */
function takeSlot(run: Run, { task }: TaskState): SlotAndSession {
  if (task.kind === "review") {
    return { slot: takeReviewSlot(run), session: null, reason: "a review starts afresh", reread: false };
  }
  const { agent } = roleOf(run, task.owner);
  const agents = continuable([...run.state.agents.values()]);
  const latest = agents.findLast((entry) => entry.task === task.id && entry.purpose === "work");
  if (latest !== undefined && wasInterrupted(latest) && run.runner.canResume && latest.session !== undefined) {
    const slot = run.slots.adopt(latest.slot, run.state.versions.slice(0, latest.base), run.start);
    if (slot !== null) {
      return { slot, session: { id: latest.session, agent: latest.agent }, reason: "it was interrupted", reread: true };
    }
  }
  const choice = chooseSession({
    tier: agent.resume_tier as "persistent" | "bounded" | "ephemeral",
    ...(task.owner_reuse_policy === undefined ? {} : { policy: task.owner_reuse_policy }),
    earlier: run.runner.canResume
      ? agents
          .filter((entry) => entry.role === task.owner && !wasInterrupted(entry))
          .flatMap((entry) => sessionsOf(run, entry))
      : [],
    files: filesOf(run, task.id, task.files),
    canResume: run.runner.canResume,
  });
  const session = choice.session === null ? null : { id: choice.session.session, agent: choice.session.agent };
  return { slot: run.slots.take(run.state.versions), session, reason: choice.reason, reread: choice.reread };
}

/** Agents whose sessions the program at work could still know. */
function continuable(agents: readonly AgentState[]): AgentState[] {
  const lost = new Set(agents.flatMap(({ end, session }) => (end?.trouble?.kind === "session" ? [session] : [])));
  return agents.filter(({ left, session }) => left !== true && (session === undefined || !lost.has(session)));
}

const wasInterrupted = ({ end }: AgentState) => end === undefined || end.outcome === "stopped";

function filesOf(run: Run, id: number, declared: readonly string[] | undefined): string[] {
  const touched = [...run.state.agents.values()]
    .filter(({ task }) => task === id)
    .flatMap(({ end }) => end?.changes ?? []);
  return [...(declared ?? []), ...touched.map(({ path }) => path)];
}

function sessionsOf({ state }: Run, { agent, session, task, end }: AgentState): EarlierSession[] {
  if (session === undefined || end === undefined) return [];
  const files = end.changes.map(({ path }) => path);
  const lastMerge = state.lastMerges.get(agent) ?? 0;
  return [
    { agent, session, task, files, editedSince: files.some((path) => (state.lastEdits.get(path) ?? 0) > lastMerge) },
  ];
}

/** The harness's own check: limits first, then whatever tests the task names, then the merge. */
async function checkTask(run: Run, t: TaskState, turn: Turns): Promise<void> {
  const last = t.last!;
  const held = run.held.get(last.agent);
  const slot = held ?? rebuildSlot(run, last.changes);
  const problems = last.problems.length > 0 ? last.problems : await testProblems(run, t, slot);
  run.held.delete(last.agent);
  // A reviewer's tree is not the main tree.
  if (held !== undefined && t.task.kind === "review") run.slots.discard(slot);
  else run.slots.release(slot);
  if (run.halt.signal.aborted) return;
  if (problems.length === 0) return turn.take(() => integrate(run, t));
  record(run, { type: "task_failed", task: t.task.id, problems });
  run.context.progress({
    type: "task_failed",
    task: t.task.id,
    problems,
    message: `task ${t.task.id} does not hold: ${problems[0]}`,
  });
}

/** The slot as its agent left it, after a crash in between. */
function rebuildSlot(run: Run, changes: readonly Change[]): Slot {
  const slot = run.slots.take(run.state.versions);
  run.slots.seed(slot, changes);
  return slot;
}

async function testProblems(run: Run, { task, last }: TaskState, slot: Slot): Promise<string[]> {
  if (task.kind === "merge") {
    const marked = last!.changes.filter(({ path, after }) => {
      if (after?.type !== "file") return false;
      return hasMarkers(readFileSync(join(slot.path, path), "utf8"));
    });
    if (marked.length > 0) return marked.map(({ path }) => `${path} still holds conflict markers`);
  }
  if (task.criteria === undefined) return [];
  const { runChecks } = await import("../../acceptance/run-acceptance.js");
  const results = await runChecks({
    request: run.folder.request,
    base: run.folder.base,
    // Nobody in a sandbox can have changed what layers lie over, and whatever counts is run again on a base that was compared.
    looked: slot.over === null ? undefined : run.start,
    manifest: run.manifest,
    result: slot.path,
    deleted: run.slots.deleted(slot),
    workDir: join(run.folder.scratch, `check-${last!.agent}`),
    env: run.context.env,
    sandbox: run.options.no_sandbox === true ? "off" : "auto",
    baseline: false,
    quick: true,
    allowOrigins: run.options.allow_origins ?? [],
    ...(task.criteria === "all" ? {} : { only: task.criteria }),
    credentials: run.secrets.read,
    scrub: run.secrets.scrub,
    install: run.install,
    signal: run.halt.signal,
  }).catch((error: unknown) => {
    if (run.halt.signal.aborted) return [];
    throw error;
  });
  return results
    .filter(({ status }) => status === "failed")
    .map(({ id, reason, output }) => `${id} fails: ${reason ?? "no reason"}${tail(output)}`);
}

const tail = (output: string) =>
  output.trim() === "" ? "" : ` | ${output.trim().split("\n").slice(-6).join(" | ").slice(-600)}`;

/** One look by the role that knows how: what went wrong, and what the next try must do differently. */
async function diagnose(run: Run, t: TaskState): Promise<void> {
  const role = diagnosisRole(t.task.owner);
  const slot = run.slots.take(run.state.versions);
  const last = t.last;
  if (last !== undefined) run.slots.seed(slot, last.changes);
  const changed = fileChanges(last?.changes ?? []).map(({ path, kind }) => `${path} (${kind})`);
  const before = slot.base;
  // The diagnosis looks at the failed try, so that is what its own changes are measured against.
  if (last !== undefined && last.changes.length > 0) {
    run.slots.changes(slot);
    slot.base = slot.after!;
    slot.after = null;
  }
  const end = await runThrough(run, () => ({
    task: { ...t.task, owner: role, files: undefined },
    role,
    purpose: "diagnose",
    slot,
    session: null,
    reason: `task ${t.task.id} failed`,
    prompt: (fence) =>
      diagnosisPrompt({ task: t.task, fence, problems: t.problems, report: last?.text ?? "", changed, evidence: [] }),
  }));
  if (end.outcome === "stopped") return;
  slot.after = null;
  run.slots.changes(slot);
  slot.base = before;
  run.slots.release(slot);
  const text = end.problems.length === 0 ? end.text : `no diagnosis: ${end.problems.join("; ")}`;
  record(run, { type: "diagnosed", task: t.task.id, role, text });
  run.context.progress({
    type: "diagnosed",
    task: t.task.id,
    role,
    text,
    message: `task ${t.task.id}: the ${role} ${end.problems.length === 0 ? "looked" : "could not look"} into it`,
  });
}

async function askPerson(run: Run, t: TaskState): Promise<void> {
  if (t.question !== undefined) return;
  const again = `task ${t.task.id} ("${t.task.title}") failed again: `;
  const question = again + t.problems.join("; ");
  record(run, { type: "asked", task: t.task.id, question });
  // The question itself is in the run's answer.
  run.context.progress({ type: "asked", task: t.task.id, question, message: `${again}a person is asked` });
}

/** One after another, in the order they came. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
