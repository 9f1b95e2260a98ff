// What the board's page is given. Plain types, shared with the browser; long texts are cut, numbers are numbers.
import type { VerdictView } from "../verdict.js";

export interface IssueRow {
  readonly id: number;
  readonly title: string;
  readonly status: "pending" | "decided";
  readonly decision: string;
  readonly how: readonly { readonly role: string; readonly said: string }[];
  readonly reopened: number;
}

export interface PlanView {
  readonly id: number;
  readonly topic: string;
  readonly research: string;
  readonly createdAt: string;
  readonly issues: readonly IssueRow[];
}

/**
 * `done` is completed and nothing else. `waiting`: something it needs is not done; `never`: what it needs can never be
 * done; `given up`: a person said to deliver without it.
 */
export type TaskStage = "done" | "failed" | "given up" | "running" | "ready" | "waiting" | "never";

export interface TaskRow {
  readonly id: number;
  readonly title: string;
  readonly stage: TaskStage;
  readonly deps: readonly number[];
  readonly owner: string;
  readonly issue: number | null;
  readonly context: string;
  readonly approach: string;
  readonly acceptance: string;
  readonly risk: string;
  /** How often a finished task was opened again. */
  readonly reopened: number;
  /** How many tries failed, in a run. */
  readonly failures: number;
  readonly why: string;
}

export interface TasksView {
  readonly goal: string;
  readonly decisions: readonly string[];
  readonly rows: readonly TaskRow[];
}

export interface AgentRow {
  readonly harness: string;
  readonly id: string;
  readonly role: string;
  readonly running: boolean;
  readonly startedAt: string;
  readonly stoppedAt: string;
  readonly resumed: number;
  readonly task: number | null;
  readonly files: readonly string[];
  readonly lastMessage: string;
}

export interface LogRow {
  readonly at: string;
  readonly agent: string;
  readonly tool: string;
  readonly path: string;
  readonly ok: boolean;
  readonly error: string;
}

export interface ArtifactRow {
  readonly name: string;
  readonly size: number;
  readonly at: string;
}

/** One session of one agent in a run. */
export interface SessionRow {
  readonly agent: string;
  /** The agent whose session it continues, or itself: one lane. */
  readonly lane: string;
  readonly role: string;
  readonly task: number;
  /** plan, work, diagnose, retry, review: what it is for. */
  readonly purpose: string;
  readonly startedAt: string;
  readonly endedAt: string;
  /** Empty while it works. */
  readonly outcome: string;
  readonly tokens: number;
  readonly costUsd: number;
  readonly problems: readonly string[];
  readonly files: readonly { readonly path: string; readonly change: string }[];
  readonly said: string;
}

/** A moment of a run that is worth a mark. */
export interface RunMark {
  readonly at: string;
  readonly kind:
    | "plan"
    | "merge"
    | "refusal"
    | "diagnosis"
    | "question"
    | "answer"
    | "acceptance"
    | "pause"
    | "cancel"
    | "note"
    | "end";
  readonly text: string;
  readonly task: number | null;
  readonly agent: string;
}

/** The latest ones; older runs are in the history. */
export const MOST_RUNS = 12;

/** One use of a credential that was lent. */
export interface CredentialUseRow {
  readonly name: string;
  readonly at: string;
  readonly by: string;
  readonly what: string;
  readonly allowed: boolean;
  readonly why: string;
  /** Out to the service and back. */
  readonly bytes: number;
}

export interface RunRow {
  readonly id: string;
  readonly title: string;
  readonly driver: string;
  readonly status: "running" | "paused" | "cancelled" | "interrupted" | "delivered" | "damaged";
  readonly createdAt: string;
  /** When it began, or went on after its latest pause. */
  readonly since: string;
  readonly tasks: TasksView;
  readonly sessions: readonly SessionRow[];
  readonly marks: readonly RunMark[];
  readonly verdict: VerdictView;
  readonly spent: { readonly ms: number; readonly tokens: number; readonly costUsd: number };
  readonly budget: { readonly timeMs?: number; readonly tokens?: number; readonly costUsd?: number };
  /** As its acceptance, or its delivery since, says. */
  readonly criteria: readonly { readonly id: string; readonly text: string; readonly status: string }[];
  readonly questions: readonly { readonly task: number; readonly title: string; readonly question: string }[];
  /** Criteria and points of the checklist that wait for somebody's judgement. */
  readonly forPerson: readonly { readonly id: string; readonly text: string }[];
  /** The plan that waits to be read, as a person may change it; empty when none does. */
  readonly planToRead: string;
  /** What of its budget it may be given more of, in the words of --budget. */
  readonly moreBudget: string;
  readonly issues: readonly string[];
  /** Newest first. */
  readonly uses: readonly CredentialUseRow[];
  /** The command that goes on with it. */
  readonly resume: string;
  readonly request: string;
  readonly delivery: string;
}

export interface HistoryView {
  readonly total: number;
}

export interface Problem {
  readonly message: string;
  readonly fix: string;
}

/** The parts of a project that change on their own; each is sent again only when its files changed. */
export interface Sections {
  readonly plan: PlanView | null;
  readonly tasks: TasksView | null;
  readonly agents: readonly AgentRow[];
  readonly log: readonly LogRow[];
  readonly artifacts: readonly ArtifactRow[];
  readonly runs: readonly RunRow[];
  readonly history: HistoryView;
}

export type SectionName = keyof Sections;

export interface ProjectView extends Sections {
  readonly id: number;
  readonly name: string;
  readonly root: string;
  readonly branch: string;
  readonly problems: Readonly<Partial<Record<SectionName, Problem>>>;
}

export const FLEET_STATES = ["running", "queued", "delivered", "cancelled", "dead"] as const;
export type FleetState = (typeof FLEET_STATES)[number];

export interface FleetJobRow {
  readonly id: string;
  readonly title: string;
  readonly state: FleetState;
  readonly priority: string;
  readonly labels: readonly string[];
  readonly worker: string;
  /** How often it was given to a worker, and how many of those it cost. */
  readonly tries: number;
  readonly deaths: number;
  /** What the delivery says of itself. */
  readonly status: string;
  readonly tokens: number;
  readonly costUsd: number;
  readonly reason: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** What its run said last. */
  readonly said: string;
}

export interface FleetWorkerRow {
  readonly id: string;
  readonly state: "at work" | "idle" | "draining" | "silent";
  readonly has: readonly string[];
  readonly slots: number;
  readonly jobs: readonly string[];
  readonly done: number;
  readonly failed: number;
  readonly heardAt: string;
}

export interface FleetEventRow {
  readonly at: string;
  readonly job: string;
  readonly worker: string;
  readonly type: string;
  readonly message: string;
}

/** How many jobs of each state a page is given; the rest are counted. */
export const MOST_FLEET_JOBS = 100;

/** A fleet, as its records and its event stream tell it. */
export interface FleetView {
  readonly server: string;
  /** How the server was named when the board was started, for commands that are shown: ` --server …`, or nothing. */
  readonly words: string;
  readonly counts: Readonly<Record<FleetState, number>>;
  /** The latest of each state. */
  readonly jobs: readonly FleetJobRow[];
  readonly workers: readonly FleetWorkerRow[];
  /** Newest first. */
  readonly events: readonly FleetEventRow[];
  /** Why this may be old; empty while the server is heard. */
  readonly away: string;
}

export interface Hello {
  readonly projects: readonly ProjectView[];
  /** null: the board was not started to show one. */
  readonly fleet: FleetView | null;
  /** Whether the board was started to change things. */
  readonly mayWrite: boolean;
  /** The command line that starts this board again. */
  readonly command: string;
}

/** How much waits for a person, and the first of it. */
export interface WaitingNow {
  readonly count: number;
  readonly words: string;
}

export interface SectionChange {
  readonly project: number;
  readonly section: SectionName;
  readonly value: unknown;
  readonly problem: Problem | null;
}

/** A line that a search found: in an artifact, or in what a session was told or reported. */
export interface ContentFound {
  readonly name: string;
  readonly run: string;
  readonly agent: string;
  readonly part: string;
  readonly line: number;
  readonly text: string;
}

/** A request that may be run. */
export interface RequestRow {
  readonly path: string;
  readonly title: string;
}

export interface CycleRow {
  readonly completed_at: string;
  readonly branch: string;
  readonly topic?: string;
  readonly decisions?: readonly { readonly title: string; readonly decision: string }[];
  readonly task_count?: number;
}

export interface HistoryAnswer {
  readonly total: number;
  readonly showing: number;
  readonly cycles: readonly CycleRow[];
}
