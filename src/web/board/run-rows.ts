// Runs as the board shows them.
import { RunReader, runIds, runsFolder } from "../../run/index.js";
import type { RunRow } from "./model.js";

/** The latest ones; older runs are in the history. */
const MOST_RUNS = 12;
const MOST_ISSUES = 5;

export class RunFollower {
  readonly #runs: string;
  readonly #readers = new Map<string, RunReader>();

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
    return this.#reader(id).isBusy;
  }

  #reader(id: string): RunReader {
    const reader = this.#readers.get(id) ?? new RunReader(this.#runs, id);
    this.#readers.set(id, reader);
    return reader;
  }

  #row(id: string): RunRow {
    const { options, state, status, detail } = this.#reader(id).read();
    const { timeMs, tokens, costUsd } = options?.budget ?? {};
    const tasks = [...state.tasks.values()];
    const count = (...wanted: string[]) => tasks.filter((task) => wanted.includes(task.status)).length;
    return {
      id,
      title: options?.title ?? "",
      driver: options?.driver ?? "",
      status,
      detail: cut(detail, 500),
      createdAt: options?.created_at ?? "",
      tasks: {
        total: tasks.length,
        done: count("completed", "skipped"),
        running: count("running", "ended", "merging"),
        failed: count("failed", "conflict"),
      },
      spent: { ...state.spent },
      budget: {
        ...(timeMs === undefined ? {} : { timeMs }),
        ...(tokens === undefined ? {} : { tokens }),
        ...(costUsd === undefined ? {} : { costUsd }),
      },
      working: [...state.agents.values()]
        .filter(({ end }) => end === undefined)
        .map(({ agent, role, task, startedAt }) => ({ agent, role, task, since: startedAt })),
      questions: tasks
        .filter((task) => task.question !== undefined && task.status === "failed")
        .map(({ task, question }) => ({ task: task.id, question: cut(question!, 2_000) })),
      issues: state.issues.slice(-MOST_ISSUES).map(({ message }) => cut(message, 500)),
      accepted: state.accepted?.report.verdict ?? "",
      delivery: state.delivered?.path ?? "",
    };
  }
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
