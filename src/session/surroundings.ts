// Where an event happens: the folder, the environment, the clock and the host.
import type { spawn } from "node:child_process";
import type { Catalog } from "../catalog/index.js";
import type { Effect } from "../events/index.js";
import type { Env, Project } from "../state/index.js";
import type { ProcessMark } from "./sessions.js";
import type { Watch } from "./settings-watch.js";

/** What the place we live in looks like to an agent. `nexus run` has one of its own. */
export interface HostFace {
  readonly harnessId: string;
  /** Abstract tool name → the name a model sees here. */
  readonly toolNames: Readonly<Record<string, string>>;
  /** Topic → what to tell a model: `report`, and whatever skills ask for (`resume_invocation`, `instruction_file`). */
  readonly docs: Readonly<Record<string, string>>;
  /** Settings of hosts: relative to the project, starting with `~/`, or absolute. */
  readonly settings: readonly string[];
  /** What is watched while agents are at work. */
  readonly watched?: readonly Watch[];
  readonly canResume: boolean;
  /** Whether it runs commands in a sandbox of its own. */
  readonly ownSandbox?: boolean;
  /** false: a command cannot be put into a sandbox of ours. */
  readonly rewrites?: boolean;
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: Env;
  readonly now: () => Date;
  readonly host: HostFace;
  readonly coreDir?: string;
  /** The process whose end is the end of the session, when the door can tell. Asked when a session starts: it takes a while. */
  readonly process?: () => ProcessMark | null;
  /** Whether what happens is also recorded outside the project, where agents do not work. A run has other ways. */
  readonly looksOut?: boolean;
  /** Learns a large work tree while nobody waits; the first role that may not edit then starts at once. */
  readonly prepare?: (tree: string, start: typeof spawn) => void;
  /** What the caller has open already. */
  readonly project?: Project;
  readonly catalog?: Catalog;
  /** Effects the caller takes care of in its own way. */
  readonly skips?: ReadonlySet<Effect["type"]>;
}

/** Who edited when nobody but Lead did; edit-tracker.json wants an id. */
export const LEAD = "lead";
