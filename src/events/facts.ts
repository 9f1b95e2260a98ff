// Everything a decision may depend on, read beforehand by whoever asks.
import type { RoleLimits } from "../schema/roles.js";
import type { TagRule } from "./tags.js";

export interface GateFacts {
  /** Absolute path of the project. */
  readonly root: string;
  /** Work trees git has linked to it, wherever they are. */
  readonly linked: readonly string[];
  readonly tasksExist: boolean;
  readonly limits: RoleLimits;
  /** Names this harness recorded when agents started: agent id → role. */
  readonly tracked: Readonly<Record<string, string>>;
  /** The role the whole process was started in, if any. */
  readonly processRole: string | null;
  readonly activeSkill: string | null;
  /** Settings of hosts, relative to the project or starting with `~/`; a trailing `/` means everything below. */
  readonly settings: readonly string[];
  /** Words that, put before a command text, run it read-only (`bwrap … bash -c`); null where no sandbox works. */
  readonly sandbox: readonly string[] | null;
  /** Whether commands run inside a sandbox of the host's, where ours may not start. */
  readonly sandboxMayFail: boolean;
  /** Absolute forms of a path as given: as written, and as the disk resolves it. Never empty. */
  readonly places: (path: string) => readonly string[];
  readonly home: string | null;
  /** What this agent, or somebody, took from the harness since it started, in words; null when everything is as it was. */
  readonly loss: (agentId: string, needs: { readonly needsTree: boolean }) => string | null;
  /** Current text of a file, null when there is none. Asked only for files with a marked part. */
  readonly textOf: (path: string) => string | null;
}

export interface IssueFact {
  readonly id: number;
  readonly title: string;
  readonly status: string;
  readonly decision?: string | undefined;
}
export interface PlanFact {
  readonly id: number;
  readonly topic: string;
  readonly issues: readonly IssueFact[];
}
export interface TaskFact {
  readonly id: number;
  readonly title: string;
  readonly status: string;
  readonly context?: string | undefined;
  readonly approach?: string | undefined;
  readonly acceptance?: string | undefined;
  readonly owner?: string | undefined;
  readonly owner_agent_id?: string | undefined;
  readonly owner_reuse_policy?: string | undefined;
  readonly deps?: readonly number[] | undefined;
}
export interface AgentFact {
  readonly agent_id?: string | undefined;
  readonly agent_name?: string | undefined;
  readonly status?: string | undefined;
  readonly started_at: string;
  readonly stopped_at?: string | undefined;
  readonly files_touched?: readonly string[] | undefined;
}
export interface EditFact {
  readonly path: string;
  readonly agentId: string | null;
  readonly at: string;
}
export interface SkillFact {
  readonly id: string;
  readonly body: string;
  /** Host topics the skill wants explained beside it. */
  readonly docs: readonly string[];
}
export interface Knowledge {
  readonly memory: readonly string[];
  readonly context: readonly string[];
  readonly rules: readonly string[];
}

export interface Facts extends GateFacts {
  readonly plan: PlanFact | null;
  readonly goal: string | null;
  /** null when there is no tasks.json. */
  readonly tasks: readonly TaskFact[] | null;
  readonly ready: readonly number[];
  readonly agents: readonly AgentFact[];
  /** agent id → task id, as recorded. */
  readonly agentTasks: Readonly<Record<string, number>>;
  readonly edits: readonly EditFact[];
  readonly knowledge: Knowledge;
  readonly mode: string | null;
  /** The open tasks Lead was told of when it wanted to stop, as told; null when it was not. */
  readonly toldOpen: string | null;
  /** A setting that is another than when a role at work started, and that role. Looks at the disk. */
  readonly changedSetting: () => { readonly path: string; readonly role: string } | null;
  readonly otherSessions: number;
  readonly tags: readonly TagRule[];
  readonly skill: (id: string) => SkillFact | null;
  /** An earlier session of the role that could be continued for this work; null = start fresh. */
  readonly resumable: (
    agentName: string,
    task: TaskFact | null,
  ) => { readonly agentId: string; readonly reason: string } | null;
  /** Abstract tool name → its name on this host. */
  readonly toolNames: Readonly<Record<string, string>>;
  /** What this host says about a topic (`resume_invocation`, `report`). */
  readonly hostDocs: Readonly<Record<string, string>>;
  /** State files that could not be read, in words; a decision goes on without them and says so. */
  readonly troubles: readonly string[];
}
