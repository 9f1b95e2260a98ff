// Runs as the board shows them: the journal, folded, in the words every other screen uses.
import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { shellWord } from "../../errors.js";
import { CREDENTIAL_USES, RunReader, runIds, runsFolder } from "../../run/index.js";
import type { Delivery } from "../../schema/delivery.js";
import type { RunOptions } from "../../schema/run.js";
import { tellingLine, withoutEscapes } from "../log-lines.js";
import { type VerdictView, verdictOf } from "../verdict.js";
import { credentialUses } from "./credential-uses.js";
import { DeliveryReader } from "./delivery-reader.js";
import { logTail } from "./log-tail.js";
import { MOST_RUNS, type RunRow, type SessionRow, type TaskRow, type TaskStage } from "./model.js";
import { MarkList } from "./run-marks.js";

const MOST_ISSUES = 5;
/** Of how many runs the delivery itself is read. */
const MOST_JUDGED = 4;
const MOST_PLAN = 200 * 1024;

type Reading = ReturnType<RunReader["read"]>;
type State = Reading["state"];

interface Followed {
  readonly reader: RunReader;
  readonly marks: MarkList;
}

export class RunFollower {
  readonly #runs: string;
  readonly #followed = new Map<string, Followed>();

  readonly #deliveries: DeliveryReader;
  /** Where runs delivered to, for those whose delivery is looked at. */
  readonly #delivered = new Map<string, string>();

  /** `heard`: a delivery was read, and its run may be told differently. */
  constructor(projectRoot: string, heard: () => void = () => {}) {
    this.#runs = runsFolder(projectRoot);
    this.#deliveries = new DeliveryReader(heard);
  }

  get folder(): string {
    return this.#runs;
  }

  /** Newest first. */
  rows(): RunRow[] {
    return this.ids().map((id, at) => this.#row(id, at < MOST_JUDGED));
  }

  ids(): string[] {
    return runIds(this.#runs).reverse().slice(0, MOST_RUNS);
  }

  /** What changes when a run is to be told anew. Whether someone works on it is told by its lock, not by a file's time. */
  signature(id: string): string {
    const { reader } = this.#follow(id);
    const delivered = this.#delivered.get(id);
    const { journal, plan } = reader.folder;
    const isBusy = reader.isBusy;
    const said = isBusy ? this.#atWork(id).map((agent) => stamp(join(reader.folder.agents, agent, "log.jsonl"))) : [];
    const uses = stamp(join(reader.folder.logs, CREDENTIAL_USES));
    const judged = delivered && this.#deliveries.signature(delivered);
    return [stamp(journal), stamp(plan), isBusy, ...said, uses, judged].join(" ");
  }

  #atWork(id: string): readonly string[] {
    const { agents } = this.#follow(id).reader.read().state;
    return [...agents.values()].filter(({ end }) => end === undefined).map(({ agent }) => agent);
  }

  /** Where something of it may change: its own folder, and those of the agents at work in it. */
  folders(id: string): string[] {
    const { folder, isBusy } = this.#follow(id).reader;
    const agents = isBusy ? this.#atWork(id).map((agent) => join(folder.agents, agent)) : [];
    return [join(this.#runs, id), ...(isBusy ? [folder.logs] : []), ...agents];
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

  #row(id: string, isRecent: boolean): RunRow {
    const { reader, marks } = this.#follow(id);
    const reading = reader.read();
    const { options, state, status } = reading;
    const { timeMs, tokens, costUsd } = options?.budget ?? {};
    const sessions = sessionRows(state, status === "running", reader.folder.agents);
    const since = marks.since || (options?.created_at ?? "");
    const path = status === "delivered" ? (state.delivered?.path ?? "") : "";
    if (isRecent && path !== "") this.#delivered.set(id, path);
    const delivery = isRecent && path !== "" ? this.#deliveries.look(path) : null;
    return {
      id,
      title: options?.title ?? "",
      driver: state.switched?.to ?? options?.driver ?? "",
      status,
      createdAt: options?.created_at ?? "",
      since,
      tasks: {
        goal: shorten(state.plan?.goal ?? "", 1_000),
        decisions: state.decisions.map(({ decision }) => shorten(decision, 1_000)),
        rows: taskRows(state, status === "running"),
      },
      sessions,
      marks: marks.marks,
      verdict: verdictOfRun(reading, delivery, join(reader.folder.logs, "acceptance")),
      spent: spentBy(
        state,
        sessions,
        status === "interrupted" ? lastSign(reader.folder, state) - Date.parse(since) : 0,
      ),
      budget: {
        ...(timeMs === undefined ? {} : { timeMs }),
        ...(tokens === undefined ? {} : { tokens }),
        ...(costUsd === undefined ? {} : { costUsd }),
      },
      criteria: resultsOf(state, delivery).criteria.map(({ id: name, description, status: own }) => ({
        id: name,
        text: shorten(description ?? "", 300),
        status: own,
      })),
      // A run that was cancelled asks nothing any more.
      questions: [...(status === "cancelled" ? [] : state.tasks.values())]
        .filter((task) => task.question !== undefined && task.status === "failed")
        .map(({ task, question }) => ({
          task: task.id,
          title: shorten(task.title, 300),
          question: shorten(withoutEscapes(question!), 2_000),
        })),
      forPerson: status === "delivered" ? forPerson(state, delivery) : [],
      planToRead: status === "paused" && options !== null ? planToRead(options, state, reader.folder.plan) : "",
      moreBudget: /--budget ([\w.,=%-]+)$/.exec(pastable(state.paused?.hint ?? "") ?? "")?.[1] ?? "",
      issues: state.issues.slice(-MOST_ISSUES).map(({ message }) => shorten(withoutEscapes(message), 500)),
      uses: credentialUses(join(reader.folder.logs, CREDENTIAL_USES)),
      resume: resumeOf(id),
      request: options?.request ?? "",
      delivery: state.delivered?.path ?? "",
    };
  }
}

/** The badge is the outcome: a run that delivered failed work has failed. */
function verdictOfRun(
  { id, options, state, status, detail }: Reading,
  delivery: Delivery | null,
  logs: string,
): VerdictView {
  const { criteria, checklist } = resultsOf(state, delivery);
  const results = status === "delivered" ? criteria : (state.accepted?.report.results ?? []);
  const word = status === "delivered" ? (delivery?.status ?? state.delivered?.status ?? status) : status;
  const logOf = new Map(results.map((result) => [result.id, result.log]));
  return verdictOf({
    word,
    criteria: results,
    checklist: status === "delivered" ? checklist : [],
    detail: status === "delivered" ? "" : shorten(withoutEscapes(detail), 500),
    next: nextStep({
      id,
      options,
      state,
      status,
      word,
      waits: status === "delivered" && forPerson(state, delivery).length > 0,
    }),
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
  /** Something in it is for a person to judge. */
  readonly waits: boolean;
}

/** As the delivery says now, or as the journal said then. */
function resultsOf(state: State, delivery: Delivery | null) {
  const said = delivery?.acceptance_results;
  return { criteria: said?.criteria ?? state.accepted?.report.results ?? [], checklist: said?.checklist ?? [] };
}

function forPerson(state: State, delivery: Delivery | null): { id: string; text: string }[] {
  const { criteria, checklist } = resultsOf(state, delivery);
  const isOpen = ({ status }: { status: string }) => status === "unknown";
  return [
    ...criteria.filter(isOpen).map(({ id, description }) => ({ id, text: shorten(description ?? "", 500) })),
    ...checklist.filter(isOpen).map(({ item }) => ({ id: item, text: "" })),
  ];
}

/** The file a person may have changed already, else the plan as it was made. */
function planToRead(options: RunOptions, { plan, reviewed }: State, file: string): string {
  if (!options.review_plan || reviewed || plan === null) return "";
  const written = logTail(file, MOST_PLAN);
  if (written !== "") return written;
  const { goal, decisions, issues, tasks } = plan;
  return `${JSON.stringify({ goal, decisions, issues, tasks }, null, 2)}\n`;
}

/** What the command line says at the same moment, or the one thing that leads on. */
function nextStep({ id, options, state, status, word, waits }: Ended): VerdictView["next"] {
  if (status === "running") return null;
  if (status === "cancelled") return { words: "Take it up again after all", command: resumeOf(id) };
  if (status === "interrupted") return { words: "Go on where it stopped", command: resumeOf(id) };
  if (status === "paused") return { words: "Go on", command: pastable(state.paused?.hint ?? "") ?? resumeOf(id) };
  if (status === "damaged" || options === null || state.delivered === null)
    return { words: "What is wrong with it", command: "nexus runs" };
  const [delivery, request] = [shellWord(state.delivered.path), shellWord(options.request)];
  if (word === "failed" || word === "blocked")
    return { words: "Try it again", command: `nexus run ${request} --driver=${shellWord(options.driver)}` };
  if (waits && (state.accepted?.report.counts.failed ?? 0) === 0) {
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

function taskRows(state: State, isRunning: boolean): TaskRow[] {
  const isDone = (id: number) => state.tasks.get(id)?.status === "completed";
  return [...state.tasks.values()].map(({ task, status, problems, failures, question }) => ({
    id: task.id,
    title: shorten(task.title, 300),
    stage: stageOf(status, task.deps.every(isDone), isRunning),
    deps: [...task.deps],
    owner: task.owner,
    issue: task.plan_issue ?? null,
    context: shorten(task.context, 400),
    approach: shorten(task.approach ?? "", 400),
    acceptance: shorten(task.acceptance ?? "", 400),
    risk: shorten(task.risk ?? "", 200),
    reopened: 0,
    failures,
    why: shorten(withoutEscapes(question ?? problems.join("; ")), 1_000),
  }));
}

/** Done is completed, and nothing else. What was begun in a run that nobody runs is taken up when it goes on. */
function stageOf(status: string, isReady: boolean, isRunning: boolean): TaskStage {
  if (status === "completed") return "done";
  if (status === "failed") return "failed";
  if (status === "skipped") return "given up";
  if (status === "conflict") return "waiting";
  return isRunning && status !== "pending" ? "running" : isReady ? "ready" : "waiting";
}

/** What ended sessions used is in the state; the others add what they told. `unrecorded`: time of which no end is recorded. */
function spentBy({ spent, agents }: State, sessions: readonly SessionRow[], unrecorded: number): RunRow["spent"] {
  const open = sessions.filter(({ agent }) => agents.get(agent)?.end === undefined);
  const sum = (of: (session: SessionRow) => number) => open.reduce((all, session) => all + of(session), 0);
  return {
    ms: spent.ms + Math.max(0, unrecorded || 0),
    tokens: spent.tokens + sum((each) => each.tokens),
    costUsd: spent.costUsd + sum((each) => each.costUsd),
  };
}

/** When a run that was killed was last heard of. */
function lastSign({ agents, journal }: RunReader["folder"], state: State): number {
  const logs = [...state.agents.keys()].map((agent) => join(agents, agent, "log.jsonl"));
  const times = [journal, ...logs].map((path) => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(...times);
}

function sessionRows(state: State, isRunning: boolean, agents: string): SessionRow[] {
  const seen = new Map<number, number>();
  return [...state.agents.values()].map(({ agent, home, role, task, purpose, startedAt, endedAt, end }) => {
    const live = end === undefined ? liveUsage(join(agents, agent, "log.jsonl")) : null;
    const tries = seen.get(task) ?? 0;
    if (purpose === "work") seen.set(task, tries + 1);
    const kind = state.tasks.get(task)?.task.kind;
    const isReview = kind === "review" || kind === "verify";
    return {
      agent,
      lane: home ?? agent,
      role,
      task,
      purpose: purpose !== "work" ? purpose : isReview ? kind! : tries > 0 ? "retry" : "work",
      startedAt,
      endedAt: endedAt ?? "",
      // Nobody works in a run that nobody runs.
      outcome: end?.outcome ?? (isRunning ? "" : "stopped"),
      tokens: end?.usage.tokens ?? live?.tokens ?? 0,
      costUsd: end?.usage.costUsd ?? live?.costUsd ?? 0,
      problems: (end?.problems ?? []).map((problem) => shorten(withoutEscapes(problem), 500)),
      files: (end?.changes ?? []).slice(0, 100).map(({ path, kind: change }) => ({ path, change })),
      said: shorten(end?.text ?? "", 2_000),
    };
  });
}

/** What a session that is at work has used so far, by the latest word of its program. */
function liveUsage(log: string): { readonly tokens: number; readonly costUsd: number } | null {
  const line = logTail(log)
    .split("\n")
    .findLast((each) => each.includes('"type":"usage"'));
  try {
    const { tokens, costUsd } = JSON.parse(line ?? "null") as { tokens?: unknown; costUsd?: unknown };
    return { tokens: Number(tokens) || 0, costUsd: Number(costUsd) || 0 };
  } catch {
    return null;
  }
}

function stamp(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "-" : `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
}

const shorten = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
