// Which record may follow which. A journal whose lines were lost, doubled or moved is found here, where nothing has been
// done with it yet. Pure: the state so far and the next record in, a sentence or null out.
import type { JournalRecord } from "../../schema/journal.js";
import type { RunPlan } from "../../schema/run.js";
import { orderProblems } from "../plan/plan.js";
import type { RunState, TaskState } from "./run-state.js";

/** What a task must be for a record about it to make sense. */
const TASK_BEFORE: Readonly<Partial<Record<JournalRecord["type"], readonly TaskState["status"][]>>> = {
  merging: ["ended"],
  merged: ["merging"],
  task_completed: ["merged", "conflict"],
  // A repair is added as a failed task, so that its diagnosis comes before its try.
  task_failed: ["ended", "pending"],
  diagnosed: ["failed"],
  asked: ["failed"],
  answered: ["failed"],
  checkpoint: ["completed"],
};

const AGENT_BEFORE: Readonly<Record<"work" | "diagnose", readonly TaskState["status"][]>> = {
  work: ["pending", "running"],
  diagnose: ["failed"],
};

/** Why this record cannot come next; null when it can. */
export function misplaced(state: RunState, record: JournalRecord): string | null {
  if ((state.createdAt === "") !== (record.type === "created")) return "a journal begins with what created it, once";
  if (state.closed) return "the run was closed before it";
  switch (record.type) {
    case "opened":
      return state.baseDigest === null ? null : "the request was opened before";
    case "planned":
      return misplacedPlan(state, record.plan);
    case "reviewed":
      return state.plan === null ? "there is no plan yet" : null;
    case "agent_started":
      return misplacedStart(state, record);
    case "agent_session":
    case "agent_ended":
    case "credential_used":
      return misplacedOfAgent(state, record);
    case "task_added":
      return misplacedTask(state, record);
    case "accepted":
      return record.versions === state.versions.length ? null : "it speaks of another tree";
    case "delivered":
      return state.accepted?.versions === state.versions.length ? null : "nothing was accepted before it";
    case "closed":
      return state.delivered === null ? "nothing was delivered before it" : null;
    default:
      return "task" in record && record.type !== "issue" ? misplacedOfTask(state, record) : null;
  }
}

function misplacedPlan(state: RunState, plan: RunPlan): string | null {
  const [problem] = orderProblems(plan.tasks);
  if (problem !== undefined) return problem;
  if (state.baseDigest === null) return "the request was not opened before it";
  const untouched = [...state.tasks.values()].every(({ status }) => status === "pending");
  return untouched ? null : "tasks were begun before it";
}

function misplacedStart(
  state: RunState,
  { agent, task, purpose, base }: Extract<JournalRecord, { type: "agent_started" }>,
): string | null {
  if (state.agents.has(agent)) return `${agent} was started before`;
  if (base > state.versions.length) return "it starts from a tree that is not there yet";
  if (purpose === "plan") return null;
  return unlike(state, task, AGENT_BEFORE[purpose]);
}

function misplacedOfAgent(
  state: RunState,
  record: Extract<JournalRecord, { type: "agent_session" | "agent_ended" | "credential_used" }>,
): string | null {
  const agent = state.agents.get(record.agent);
  if (agent === undefined || agent.end !== undefined) return `${record.agent} is not at work`;
  return record.type === "agent_ended" && record.task !== agent.task ? `${record.agent} worked on another task` : null;
}

function misplacedTask(state: RunState, { task, for: parent }: Extract<JournalRecord, { type: "task_added" }>) {
  if (state.plan === null) return "there is no plan yet";
  if (state.tasks.has(task.id)) return `task ${task.id} is there already`;
  return parent === undefined ? null : unlike(state, parent, ["ended"]);
}

function misplacedOfTask(state: RunState, record: Extract<JournalRecord, { readonly task: number }>): string | null {
  const wrong = unlike(state, record.task, TASK_BEFORE[record.type] ?? []);
  if (wrong !== null || (record.type !== "merging" && record.type !== "merged")) return wrong;
  return state.tasks.get(record.task)?.last?.agent === record.agent ? null : `${record.agent} did not do the task`;
}

function unlike(state: RunState, id: number, wanted: readonly TaskState["status"][]): string | null {
  const task = state.tasks.get(id);
  if (task === undefined) return `there is no task ${id}`;
  return wanted.includes(task.status) ? null : `task ${id} is ${task.status} there`;
}
