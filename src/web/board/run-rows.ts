// Runs as their journals tell them. A journal only grows, so each look reads what was added since the last.
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { isRunBusy, runFolder, runsFolder } from "../../run/index.js";
import { applyEvent, emptyState, type JournalEvent, type RunState } from "../../run/record/run-state.js";
import type { RunRow } from "./model.js";

/** The latest ones; older runs are in the history. */
const MOST_RUNS = 12;
const MOST_ISSUES = 5;

interface Followed {
  readonly state: RunState;
  read: number;
  damaged: string;
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
    try {
      return readdirSync(this.#runs, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .sort()
        .reverse()
        .slice(0, MOST_RUNS);
    } catch {
      return [];
    }
  }

  isBusy(id: string): boolean {
    return isRunBusy(runFolder(this.#runs, id, false).lock);
  }

  #row(id: string): RunRow {
    const folder = runFolder(this.#runs, id, false);
    const followed = this.#follow(id, folder.journal);
    const { state } = followed;
    const options = readOptions(folder.options);
    const tasks = [...state.tasks.values()];
    const count = (...wanted: string[]) => tasks.filter(({ status }) => wanted.includes(status)).length;
    return {
      id,
      title: String(options.title ?? ""),
      driver: String(options.driver ?? ""),
      ...statusOf(followed, isRunBusy(folder.lock)),
      createdAt: String(options.created_at ?? state.createdAt),
      tasks: {
        total: tasks.length,
        done: count("completed", "skipped"),
        running: count("running", "ended", "merging"),
        failed: count("failed", "conflict"),
      },
      spent: { ...state.spent },
      budget: budgetOf(options.budget),
      working: [...state.agents.values()]
        .filter(({ end }) => end === undefined)
        .map(({ agent, role, task, startedAt }) => ({ agent, role, task, since: startedAt })),
      questions: tasks
        .filter(({ question, status }) => question !== undefined && status === "failed")
        .map(({ task, question }) => ({ task: task.id, question: cut(question!, 2_000) })),
      issues: state.issues.slice(-MOST_ISSUES).map(({ message }) => cut(message, 500)),
      accepted: acceptedOf(state.accepted?.results),
      delivery: state.delivered?.path ?? "",
    };
  }

  #follow(id: string, journal: string): Followed {
    const followed = this.#followed.get(id) ?? { state: emptyState(), read: 0, damaged: "" };
    this.#followed.set(id, followed);
    try {
      const text = readSince(journal, followed.read);
      const whole = text.subarray(0, text.lastIndexOf(0x0a) + 1);
      followed.read += whole.length;
      for (const line of whole.toString("utf8").split("\n")) {
        if (line !== "") applyEvent(followed.state, JSON.parse(line) as JournalEvent);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") followed.damaged = "its journal cannot be read";
    }
    return followed;
  }
}

function readSince(path: string, from: number): Buffer {
  const file = openSync(path, "r");
  try {
    const length = Math.max(0, fstatSync(file).size - from);
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(file, buffer, 0, length, from));
  } finally {
    closeSync(file);
  }
}

function readOptions(path: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function budgetOf(given: unknown): RunRow["budget"] {
  const { timeMs, tokens, costUsd } = (given ?? {}) as Record<string, unknown>;
  return {
    ...(typeof timeMs === "number" ? { timeMs } : {}),
    ...(typeof tokens === "number" ? { tokens } : {}),
    ...(typeof costUsd === "number" ? { costUsd } : {}),
  };
}

function statusOf({ state, damaged }: Followed, busy: boolean): Pick<RunRow, "status" | "detail"> {
  if (damaged !== "") return { status: "damaged", detail: damaged };
  if (busy) return { status: "running", detail: "" };
  if (state.closed) return { status: "delivered", detail: state.delivered?.status ?? "" };
  if (state.paused !== null) return { status: "paused", detail: cut(state.paused.message, 500) };
  return { status: "interrupted", detail: "it was killed" };
}

function acceptedOf(results: unknown): string {
  const { verdict } = (results ?? {}) as { verdict?: unknown };
  return typeof verdict === "string" ? verdict : "";
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
