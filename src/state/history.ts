// Closed cycles. Append only: nothing here ever shortens the file.
import { createHash } from "node:crypto";
import { CONTRACT_VERSION } from "../schema/contract.js";
import type { Cycle, History } from "../schema/history.js";
import type { Plan } from "../schema/plan.js";
import type { Task } from "../schema/tasks.js";
import { historyFile } from "./documents.js";
import type { Project } from "./project.js";
import type { Transaction } from "./store.js";

export interface Closing {
  readonly plan: Plan | null;
  readonly tasks: readonly Task[];
  readonly branch: string;
}

export interface Archived {
  readonly completedAt: string;
  readonly totalCycles: number;
}

/**
 * Appends a cycle, on disk when this returns. A process killed after archiving and before deleting finds its own cycle at
 * the end of the file, and adds nothing twice. Closing nothing files nothing, but for the first cycle of a history where
 * `emptyFirst` asks for it: the contract's own fixture wants a file there.
 */
export function archive(change: Transaction, closing: Closing, now: Date, emptyFirst = false): Archived {
  const history: History = change.open(historyFile) ?? { cycles: [] };
  const last = history.cycles.at(-1);
  const empty = closing.plan === null && closing.tasks.length === 0;
  const isFiled = last !== undefined && cycleIdentity(last) === cycleIdentity(closing);
  if (isFiled || (empty && (last !== undefined || !emptyFirst))) {
    return { completedAt: last?.completed_at ?? now.toISOString(), totalCycles: history.cycles.length };
  }
  const cycle: Cycle = {
    schema_version: CONTRACT_VERSION,
    completed_at: now.toISOString(),
    branch: closing.branch,
    plan: closing.plan,
    tasks: [...closing.tasks],
  };
  change.write(historyFile, { ...history, cycles: [...history.cycles, cycle] }, { appended: cycle });
  return { completedAt: cycle.completed_at, totalCycles: history.cycles.length + 1 };
}

/** What makes two cycles the same one: their plan, tasks and branch. Recomputed, never stored. */
export function cycleIdentity({ plan, tasks, branch }: Closing | Cycle): string {
  return createHash("sha256")
    .update(JSON.stringify([plan ?? null, tasks ?? [], branch]))
    .digest("hex");
}

export interface CycleSummary {
  readonly completed_at: string;
  readonly branch: string;
  readonly topic?: string;
  readonly decisions?: { title: string; decision: string }[];
  readonly task_count?: number;
}

export interface HistoryQuery {
  readonly query?: string | undefined;
  readonly last_n?: number | undefined;
}

export const DEFAULT_LAST_N = 10;
/** About 2,000 tokens: what a reply may cost when the caller did not ask for a number of cycles. */
const DEFAULT_REPLY_CHARS = 7_000;
/** A caller who asks for everything still gets an answer a model can read. */
const LONGEST_REPLY_CHARS = 200_000;

export interface HistoryAnswer {
  readonly total: number;
  readonly showing: number;
  readonly cycles: CycleSummary[];
}

/** The last cycles whose JSON holds the query, in any letter case; oldest first. */
export function searchHistory(project: Project, { query = "", last_n }: HistoryQuery): HistoryAnswer {
  const history = project.store.read(historyFile);
  if (history === null) return { total: 0, showing: 0, cycles: [] };
  const matches = query === "" ? history.cycles : matching(history, query);
  const wanted = matches.slice(-(last_n ?? DEFAULT_LAST_N));
  const cycles = fitting(wanted.map(summary), last_n === undefined ? DEFAULT_REPLY_CHARS : LONGEST_REPLY_CHARS);
  return { total: matches.length, showing: cycles.length, cycles };
}

interface Haystack {
  readonly text: string;
  /** Where each cycle's text begins. */
  readonly starts: readonly number[];
}

/** Lower-cased once per version of the file; the history object is the key, and a changed file is a new object. */
const haystacks = new WeakMap<History, Haystack>();

function haystack(history: History): Haystack {
  const cached = haystacks.get(history);
  if (cached !== undefined) return cached;
  const texts = history.cycles.map((cycle) => JSON.stringify(cycle).toLowerCase());
  const starts: number[] = [];
  let at = 0;
  for (const { length } of texts) {
    starts.push(at);
    at += length + 1;
  }
  // Nothing a person searches for holds a NUL, so no match can straddle two cycles.
  const made = { text: texts.join("\0"), starts };
  haystacks.set(history, made);
  return made;
}

function matching(history: History, query: string): Cycle[] {
  const { text, starts } = haystack(history);
  const raw = query.toLowerCase().replaceAll("\0", "");
  const escaped = JSON.stringify(query).slice(1, -1).toLowerCase();
  const hits = new Set(cyclesHolding(text, starts, raw));
  if (escaped !== raw) for (const index of cyclesHolding(text, starts, escaped)) hits.add(index);
  return [...hits].sort((a, b) => a - b).map((index) => history.cycles[index]!);
}

function cyclesHolding(text: string, starts: readonly number[], needle: string): number[] {
  const indexes: number[] = [];
  if (needle === "") return indexes;
  let index = 0;
  for (let at = text.indexOf(needle); at >= 0; ) {
    while (index + 1 < starts.length && starts[index + 1]! <= at) index += 1;
    indexes.push(index);
    const next = starts[index + 1];
    if (next === undefined) break;
    at = text.indexOf(needle, next);
  }
  return indexes;
}

function summary({ completed_at, branch, plan, tasks }: Cycle): CycleSummary {
  const decisions = (plan?.issues ?? [])
    .filter(({ status, decision }) => status === "decided" && decision !== undefined)
    .map(({ title, decision }) => ({ title, decision: decision! }));
  return {
    completed_at,
    branch,
    ...(plan?.topic === undefined ? {} : { topic: plan.topic }),
    ...(decisions.length === 0 ? {} : { decisions }),
    ...(tasks === undefined ? {} : { task_count: tasks.length }),
  };
}

/** Drops the oldest cycles until the rest fits; one cycle that is too long by itself loses the ends of its decisions. */
function fitting(cycles: CycleSummary[], limit: number): CycleSummary[] {
  let left = limit;
  let first = cycles.length;
  while (first > 0) {
    const { length } = JSON.stringify(cycles[first - 1]);
    if (length > left) break;
    left -= length;
    first -= 1;
  }
  const shown = cycles.slice(first);
  const newest = cycles.at(-1);
  return shown.length === 0 && newest !== undefined ? [shortened(newest, limit)] : shown;
}

function shortened(cycle: CycleSummary, limit: number): CycleSummary {
  const decisions = cycle.decisions ?? [];
  const share = Math.floor(limit / (decisions.length + 2));
  const cut = (text: string) => (text.length > share ? `${text.slice(0, share)}… (cut)` : text);
  const shown = decisions.slice(-Math.max(1, Math.floor(limit / 200)));
  return {
    ...cycle,
    ...(cycle.topic === undefined ? {} : { topic: cut(cycle.topic) }),
    decisions: shown.map(({ title, decision }) => ({ title: cut(title).slice(0, 200), decision: cut(decision) })),
  };
}
