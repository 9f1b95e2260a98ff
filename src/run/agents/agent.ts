// What the engine needs of an agent, whatever program it is. Drivers are adapted to this in one place; tests script it.
import type { Installed } from "../../acceptance/index.js";
import type { LoginKey } from "../../drivers/index.js";
import type { AgentTrouble } from "../../schema/journal.js";
import type { RoomPlaces } from "../../schema/places.js";
import type { ReportKind } from "../../schema/report.js";

export interface AgentRequest {
  readonly agent: string;
  readonly role: string;
  readonly task: number;
  readonly rolePrompt: string;
  readonly taskPrompt: string;
  readonly cwd: string;
  /** cwd holds changes only, and this is what they lie over; the sandbox puts the tree together. */
  readonly over?: string;
  /** The session's own: nobody else was or will be in it. */
  readonly home: string;
  /** Set for the agent's own process and for its connection to our tools. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly mayEdit: boolean;
  readonly mayRunShell: boolean;
  readonly capabilities: readonly string[];
  readonly blocked: ReadonlySet<string>;
  readonly model?: string;
  /** A session of this program to continue. */
  readonly resume?: string;
  /** Folders besides the working folder it may look into, such as the run's state. */
  readonly readable: readonly string[];
  /** What it is to hand in at its end, and where a tool server may put that. */
  readonly report?: { readonly kind: ReportKind; readonly file: string };
  /** What was installed for the tree it works in. */
  readonly installed?: Installed;
  /** Absolute names the tree is known by besides its own. */
  readonly places?: RoomPlaces;
  readonly signal: AbortSignal;
}

export type AgentEvent =
  | { readonly type: "session"; readonly id: string; readonly model?: string }
  | { readonly type: "message"; readonly text: string }
  | {
      readonly type: "tool";
      readonly name: string;
      readonly key: string;
      readonly path?: string;
      readonly ok?: boolean;
    }
  | { readonly type: "file"; readonly path: string }
  /** What this session has used so far, in all. */
  | {
      readonly type: "usage";
      readonly tokens: number;
      readonly costUsd: number;
      /** Figures that count from the session's beginning, turns of earlier agents included. */
      readonly wholeSession?: readonly ("tokens" | "cost")[];
    }
  /** Its program tries again by itself. */
  | { readonly type: "waiting"; readonly why: AgentTrouble["kind"]; readonly message: string }
  | { readonly type: "question"; readonly text: string };

export interface AgentOutcome {
  readonly outcome: "done" | "failed" | "stopped";
  /** The final message; empty when there was none. */
  readonly text: string;
  /** What it handed in in the shape it was asked for; nobody has checked it yet. */
  readonly report?: unknown;
  readonly error?: string;
  /** What kept it from its work, when the work is not to blame. */
  readonly trouble?: AgentTrouble;
  /** Its program never asked which tools of ours there are, so its model had none. */
  readonly withoutTools?: true;
}

export interface AgentRunner {
  readonly name: string;
  /** Name, version and whatever else a delivery should say about the program. */
  readonly about: { readonly name: string; readonly version?: string };
  /** What a person should know of the program although it can be used. */
  readonly note?: string;
  readonly canResume: boolean;
  /** What a person types when its login is refused. */
  readonly login?: string;
  /** Renews a login that was refused, where that can be done without a person. Returns whether it is another one now. */
  renewLogin?(signal: AbortSignal, model?: string): Promise<boolean>;
  /** How it hands in a report: in a shape its program holds it to, through a tool of ours, or in words alone. */
  readonly reports?: "shape" | "tool";
  /** Whether every session of it is held by a sandbox that puts layered trees together (`AgentRequest.over`) in this folder. */
  canLayer?(folder: string): Promise<boolean>;
  /** Whether it can call our tools. */
  readonly hasTools: boolean;
  /** Whether it can be trusted with planning: any program but an unknown command. */
  readonly canPlan: boolean;
  readonly toolName: (abstract: string) => string;
  /** Runs one session to its end. Must not throw over what the agent does; the signal ends it early. */
  run(request: AgentRequest, onEvent: (event: AgentEvent) => void): Promise<AgentOutcome>;
  /** The person's keys for it that can be lent: it is told where to ask, and has no key. */
  readonly keys?: readonly LoginKey[];
  /** How it would be started, for a dry run. No secrets. */
  describe(request: Pick<AgentRequest, "role" | "mayEdit" | "cwd">): string;
}
