// Runs as the board shows them: the journal, folded, in the words every other screen uses.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { shellWord } from "../../errors.js";
import { RunReader, runIds, runsFolder } from "../../run/index.js";
import type { RunOptions } from "../../schema/run.js";
import { tellingLine, withoutEscapes } from "../log-lines.js";
import { type VerdictView, verdictOf } from "../verdict.js";
import type { RunRow, SessionRow, TaskRow, TaskStage } from "./model.js";
import { MarkList } from "./run-marks.js";

/** The latest ones; older runs are in the history. */
const MOST_RUNS = 12;
const MOST_ISSUES = 5;
const LOG_TAIL = 16 * 1024;

type Reading = ReturnType<RunReader["read"]>;
type State = Reading["state"];

interface Followed {
  readonly reader: RunReader;
  readonly marks: MarkList;
}

export class RunFollower {
  readonly #runs: string;
  readonly #followed = new Map<string, Followed>();

  constructor(projectRoot: string) {
    this.#runs = runsFolder(projectRoot);
  }

  get folder(): string {
    return this.#runs;
  }

  /** Newest first. */
  rows(): RunRow[] {
    return this.ids().map((id) => this.#row(id));
  }

  ids(): string[] {
    return runIds(this.#runs).reverse().slice(0, MOST_RUNS);
  }

  isBusy(id: string): boolean {
    return this.#follow(id).reader.isBusy;
  }

  #follow(id: string): Followed {
    const known = this.#followed.get(id);
    if (known !== undefined) return known;
    const marks = new MarkList();
    const followed = { reader: new RunReader(this.#runs, id, (record) => marks.hear(record)), marks };
    this.#followed.set(id, followed);
    return followed;
  }

  #row(id: string): RunRow {
    const { reader, marks } = this.#follow(id);
    const reading = reader.read();
    const { options, state, status } = reading;
    const { timeMs, tokens, costUsd } = options?.budget ?? {};
    const waiting = state.accepted?.report.results.filter((result) => result.status === "unknown") ?? [];
    return {
      id,
      title: options?.title ?? "",
      driver: options?.driver ?? "",
      status,
      createdAt: options?.created_at ?? "",
      since: marks.since || (options?.created_at ?? ""),
      tasks: {
        goal: shorten(state.plan?.goal ?? "", 1_000),
        decisions: state.decisions.map(({ decision }) => shorten(decision, 1_000)),
        rows: taskRows(state),
      },
      sessions: sessionRows(state, status === "running"),
      marks: marks.marks,
      verdict: verdictOfRun(reading, join(reader.folder.logs, "acceptance")),
      spent: { ...state.spent },
      budget: {
        ...(timeMs === undefined ? {} : { timeMs }),
        ...(tokens === undefined ? {} : { tokens }),
        ...(costUsd === undefined ? {} : { costUsd }),
      },
      questions: [...state.tasks.values()]
        .filter((task) => task.question !== undefined && task.status === "failed")
        .map(({ task, question }) => ({
          task: task.id,
          title: shorten(task.title, 300),
          question: shorten(withoutEscapes(question!), 2_000),
        })),
      forPerson:
        status === "delivered"
          ? waiting.map((result) => ({ id: result.id, text: shorten(result.description ?? result.id, 500) }))
          : [],
      issues: state.issues.slice(-MOST_ISSUES).map(({ message }) => shorten(withoutEscapes(message), 500)),
      resume: resumeOf(id),
      request: options?.request ?? "",
      delivery: state.delivered?.path ?? "",
    };
  }
}

/** The badge is the outcome: a run that delivered failed work has failed. */
function verdictOfRun({ id, options, state, status, detail }: Reading, logs: string): VerdictView {
  const results = state.accepted?.report.results ?? [];
  const word = status === "delivered" ? (state.delivered?.status ?? status) : status;
  const logOf = new Map(results.map((result) => [result.id, result.log]));
  return verdictOf({
    word,
    criteria: results,
    checklist: [],
    detail: status === "delivered" ? "" : shorten(withoutEscapes(detail), 500),
    next: nextStep({ id, options, state, status, word }),
    // What a journal calls a log is a name in the delivery; in the run's folder only its last part counts.
    log: (criterion) => logTail(join(logs, basename(logOf.get(criterion) ?? "-"))),
    tellingLine,
  });
}

interface Ended {
  readonly id: string;
  readonly options: RunOptions | null;
  readonly state: State;
  readonly status: Reading["status"];
  readonly word: string;
}

/** What the command line says at the same moment, or the one thing that leads on. */
function nextStep({ id, options, state, status, word }: Ended): VerdictView["next"] {
  if (status === "running") return null;
  if (status === "interrupted") return { words: "Go on where it stopped", command: resumeOf(id) };
  if (status === "paused") return { words: "Go on", command: pastable(state.paused?.hint ?? "") ?? resumeOf(id) };
  if (status === "damaged" || options === null || state.delivered === null)
    return { words: "What is wrong with it", command: "nexus runs" };
  const [delivery, request] = [shellWord(state.delivered.path), shellWord(options.request)];
  if (word === "failed" || word === "blocked")
    return { words: "Try it again", command: `nexus run ${request} --driver ${shellWord(options.driver)}` };
  const forPerson = state.accepted?.report.counts.unknown ?? 0;
  if (forPerson > 0 && (state.accepted?.report.counts.failed ?? 0) === 0) {
    const judge = `nutshell judge ${delivery} --request ${request} --all --status passed`;
    return { words: "A person judges the rest", command: `${judge} --by "your name" --why "what you looked at"` };
  }
  const base = options.repo === undefined ? "" : ` --base ${shellWord(options.repo)}`;
  return { words: "Check it here", command: `nutshell verify ${delivery} --request ${request}${base} --rerun` };
}

const resumeOf = (id: string) => `nexus resume ${shellWord(id)}`;

/** A journal may come with a stranger's repository: of its hints, only those that can do no more than go on. */
export function pastable(hint: string): string | null {
  return /^nexus resume(?: [\w.,=%-]+| "[^"$`\\!]*")*$/.test(hint) ? hint : null;
}

function taskRows(state: State): TaskRow[] {
  const isDone = (id: number) => state.tasks.get(id)?.status === "completed";
  return [...state.tasks.values()].map(({ task, status, problems, failures, question }) => ({
    id: task.id,
    title: shorten(task.title, 300),
    stage: stageOf(status, task.deps.every(isDone)),
    deps: [...task.deps],
    owner: task.owner,
    issue: task.plan_issue ?? null,
    context: shorten(task.context, 400),
    approach: shorten(task.approach ?? "", 400),
    acceptance: shorten(task.acceptance ?? "", 400),
    risk: shorten(task.risk ?? "", 200),
    reopened: failures,
    why: shorten(withoutEscapes(question ?? problems.join("; ")), 1_000),
  }));
}

/** Done is completed, and nothing else. */
export function stageOf(status: string, isReady: boolean): TaskStage {
  if (status === "completed") return "done";
  if (status === "failed") return "failed";
  if (status === "skipped") return "given up";
  if (status === "pending") return isReady ? "ready" : "waiting";
  return status === "conflict" ? "waiting" : "running";
}

function sessionRows(state: State, isRunning: boolean): SessionRow[] {
  const seen = new Map<number, number>();
  return [...state.agents.values()].map(({ agent, role, task, purpose, startedAt, endedAt, end }) => {
    const tries = seen.get(task) ?? 0;
    if (purpose === "work") seen.set(task, tries + 1);
    const kind = state.tasks.get(task)?.task.kind;
    const isReview = kind === "review" || kind === "verify";
    return {
      agent,
      role,
      task,
      purpose: purpose !== "work" ? purpose : isReview ? kind! : tries > 0 ? "retry" : "work",
      startedAt,
      endedAt: endedAt ?? "",
      // Nobody works in a run that nobody runs.
      outcome: end?.outcome ?? (isRunning ? "" : "stopped"),
      tokens: end?.usage.tokens ?? 0,
      costUsd: end?.usage.costUsd ?? 0,
      problems: (end?.problems ?? []).map((problem) => shorten(withoutEscapes(problem), 500)),
      files: (end?.changes ?? []).slice(0, 100).map(({ path, kind: change }) => ({ path, change })),
      said: shorten(end?.text ?? "", 2_000),
    };
  });
}

function logTail(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return ""; // Pruned, or never written.
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return "";
    const { size } = stats;
    const buffer = Buffer.alloc(Math.min(size, LOG_TAIL));
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, size - buffer.length)).toString("utf8");
  } finally {
    closeSync(file);
  }
}

const shorten = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
