// One run in progress: what every step shares. Steps change the state only through `record`, which writes the journal first.

import type { Constraints, Installed, Installer } from "../acceptance/index.js";
import type { Catalog, CatalogAgent } from "../catalog/index.js";
import { blockedClasses, effectiveCapabilities, findAgent } from "../catalog/index.js";
import { NutError } from "../errors.js";
import type { Context } from "../operation.js";
import type { Briefing } from "../request/open/briefing.js";
import type { SigningKey } from "../request/signatures/signing-key.js";
import type { AgentUsage, JournalRecord } from "../schema/journal.js";
import type { Manifest } from "../schema/manifest.js";
import { mayEdit, mayRunCommands } from "../schema/roles.js";
import type { Budget, RunOptions, RunTask } from "../schema/run.js";
import type { Project } from "../state/index.js";
import type { Objects } from "../trees/objects.js";
import type { Slot, Slots } from "../trees/slots.js";
import type { Tree, TreeEntry } from "../trees/tree.js";
import type { AgentRunner } from "./agents/agent.js";
import type { AgentEvents } from "./agents/agent-events.js";
import type { Spent } from "./agents/breakers.js";
import type { RunSecrets } from "./agents/credentials.js";
import type { RunFolder } from "./record/folder.js";
import type { Journal } from "./record/journal.js";
import type { RunState } from "./record/run-state.js";
import type { BackOff } from "./work/get-over.js";

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type NewRecord = Without<JournalRecord, "at">;

/** What a run is started or continued with. */
export interface RunInput {
  readonly folder: RunFolder;
  readonly options: RunOptions;
  /** Called with what the request is, once it lies where nobody else can change it and before anything of it is read. */
  readonly onOpened?: (digest: string) => Promise<void>;
  /** As it is for this stretch of work; a resumed run may have been given more. */
  readonly budget: Budget;
  readonly runner: AgentRunner;
  /** Signs the delivery, when the person asked for it. */
  readonly signer?: SigningKey | undefined;
  /** Programs that take over, one after the other, when the one at work is limited for too long. */
  readonly fallbacks?: readonly AgentRunner[] | undefined;
  /** What the person changed about the program since the run last worked: sessions begin anew. */
  readonly switched?: {
    readonly from: string;
    readonly to: string;
    readonly command?: string;
    readonly model?: string;
  };
  /** The plan as the person changed it, for a run that waits for its plan to be read. */
  readonly editedPlan?: unknown;
  /** Another program for reviews. */
  readonly reviewer?: AgentRunner | undefined;
  readonly catalog: Catalog;
  /** The project the run works for. */
  readonly outer: Project;
  readonly context: Context;
  /** Milliseconds that only ever grow, whatever the wall clock is set to, and stand still while the machine sleeps (default: so). */
  readonly clock?: () => number;
  /** Comes back after a time, or as soon as the signal says so. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface Run extends Omit<RunInput, "runner" | "fallbacks"> {
  /** The program at work; another may take over. */
  runner: AgentRunner;
  readonly fallbacks: AgentRunner[];
  /** Programs that are waited for just now, by name. */
  readonly backOffs: Map<string, BackOff>;
  /** Programs whose login was renewed and that did not answer since. */
  readonly renewed: Set<string>;
  readonly clock: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly manifest: Manifest;
  /** Makes room for another run's trees. */
  readonly leave: () => void;
  readonly constraints: Constraints;
  readonly secrets: RunSecrets;
  readonly state: RunState;
  readonly journal: Journal;
  readonly objects: Objects;
  readonly slots: Slots;
  /** The untouched workspace, looked at once. */
  readonly start: Tree;
  /** The main tree as it must be; kept in step with every merge. */
  readonly main: Tree & { readonly entries: Map<string, TreeEntry> };
  /** Slots of agents that ended and are still being judged. */
  readonly held: Map<string, Slot>;
  readonly events: AgentEvents;
  /** The run's own state files. */
  readonly project: Project;
  readonly knowledge: readonly string[];
  /** Ends every agent: a breaker tripped, or the person asked to stop. */
  readonly halt: AbortController;
  /** What running agents have used so far; added to the state when they end. */
  readonly live: Map<string, AgentUsage>;
  /** Tests that belong to the request and may not be changed by anyone. */
  readonly isOwnTest: (path: string) => boolean;
  readonly briefing: Briefing;
  /** Prepares what the checks of a tree need; undefined when the request names nothing. */
  readonly install: Installer | undefined;
  /** What was prepared for the untouched tree, which agents see too. */
  readonly installed: Installed | null;
  /** When this stretch of work began, by the clock above. */
  readonly since: number;
  /** Agents of earlier stretches. */
  readonly agentsBefore: number;
}

/** Something happened: it goes into the journal, and with it into the state. */
export function record({ journal, context }: Pick<Run, "journal" | "context">, fields: NewRecord): void {
  journal.append({ at: context.now().toISOString(), ...fields } as JournalRecord);
}

/** The run stops here and can go on later. Not an error of anyone. */
export class Pause extends Error {
  readonly reason: string;
  readonly hint: string;

  constructor(reason: string, message: string, hint: string) {
    super(message);
    this.reason = reason;
    this.hint = hint;
  }
}

/** The program that runs the agent of a task. */
export function runnerOf({ runner, reviewer }: Pick<Run, "runner" | "reviewer">, { kind }: RunTask): AgentRunner {
  return kind === "review" ? (reviewer ?? runner) : runner;
}

/** The model the person named, for the program in whose words it was named. */
export function namedModel({ options }: Pick<Run, "options">, { name }: AgentRunner): string | undefined {
  return name === options.driver ? options.model : undefined;
}

export interface Role {
  readonly agent: CatalogAgent;
  readonly capabilities: readonly string[];
  readonly blocked: ReadonlySet<string>;
  readonly mayEdit: boolean;
  readonly mayRunShell: boolean;
}

/** The scheduler asks about every task's role at every turn. */
const rolesByCatalog = new WeakMap<Catalog, Map<string, Role>>();

export function roleOf({ catalog }: Pick<Run, "catalog">, id: string): Role {
  const roles = rolesByCatalog.get(catalog) ?? new Map<string, Role>();
  rolesByCatalog.set(catalog, roles);
  const role = roles.get(id) ?? makeRole(catalog, id);
  roles.set(id, role);
  return role;
}

function makeRole(catalog: Catalog, id: string): Role {
  const agent = findAgent(catalog, id);
  if (agent === null)
    throw new NutError("RUN_PLAN_INVALID", `there is no role "${id}"`, { hint: "nexus catalog list" });
  const capabilities = effectiveCapabilities(agent);
  const blocked = blockedClasses(capabilities, catalog);
  return {
    agent,
    capabilities,
    blocked,
    mayEdit: mayEdit({ kind: "role", blocked }),
    mayRunShell: mayRunCommands({ blocked }),
  };
}

/** What the whole run has spent up to now, running agents included. */
export function spentSoFar(run: Pick<Run, "state" | "live" | "since" | "clock">): Spent {
  let { tokens, costUsd } = run.state.spent;
  for (const usage of run.live.values()) {
    tokens += usage.tokens;
    costUsd += usage.costUsd;
  }
  return { ms: run.state.spent.ms + stretchMs(run), tokens, costUsd };
}

/** How long this process has been at it. */
export const stretchMs = ({ clock, since }: Pick<Run, "clock" | "since">): number => clock() - since;
