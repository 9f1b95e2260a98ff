// One small interface for every program that can play a role. A driver knows its vendor's flags and words; it knows
// nothing of plans, bundles or state, and it decides nothing: what a role may do arrives in the request.
import type { ChildEnd, Environment } from "../process/index.js";
import type { RoomPlaces } from "../schema/places.js";
import type { InstalledTree } from "../trees/installed.js";
import type { LoginKey } from "./login-variables.js";
import type { Trouble, TroubleKind } from "./trouble.js";

export const DRIVER_NAMES = ["codex", "claude", "opencode", "acp", "command"] as const;
export type DriverName = (typeof DRIVER_NAMES)[number];

export interface McpServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface SessionRequest {
  readonly rolePrompt: string;
  readonly taskPrompt: string;
  /** Where the agent works. */
  readonly cwd: string;
  /** cwd holds changes only, and this is what they lie over; asked only where a sandbox holds the session. */
  readonly over?: string;
  readonly mcpServers: readonly McpServer[];
  /** Whether the program has asked our servers for their tools; absent where nobody can tell. */
  readonly hasTools?: () => boolean;
  /** What the role may do, besides reading and talking to its MCP servers. */
  readonly may: { readonly edit: boolean; readonly shell: boolean };
  /** Tools of our MCP servers the role must not call: `<server>.<tool>`. The server refuses them too. */
  readonly deniedTools?: readonly string[];
  /** The caller's environment; drivers pass on what their program needs of it. */
  readonly env: Environment;
  /** Set for the agent on top: role, task, credentials handed out. */
  readonly extraEnv?: Readonly<Record<string, string>>;
  /** The session's own home, in a folder only we write to. A session that is resumed comes back to it. */
  readonly home: string;
  /** Of the person's login what lets the program in (the default), or the whole of it, to be renewed. Never for an agent. */
  readonly login?: "access" | "whole";
  readonly model?: string;
  readonly timeoutMs?: number;
  /** The shape its last word must have, for programs that hold one themselves: a JSON Schema. */
  readonly reportSchema?: Readonly<Record<string, unknown>>;
  /** Ceiling for the session's cost, for programs that hold one themselves. */
  readonly budgetUsd?: number;
  /** Id of an earlier session of the same driver and home. Everything else in the request is sent again. */
  readonly resume?: string;
  /** auto holds the agent in bubblewrap when that works here. */
  readonly sandbox?: "auto" | "off";
  /** Folders outside `cwd` and `home` the agent (or its MCP servers) may read. */
  readonly readable?: readonly string[];
  /** What was installed for the tree, read-only at its place. */
  readonly installed?: InstalledTree;
  /** Absolute names the tree is known by besides its own; only in a sandbox. */
  readonly places?: RoomPlaces;
  /** For acp and command: the program and its arguments, as one shell line. */
  readonly command?: string;
  /** How long the program may go on trying by itself when its vendor does not answer as it should. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
  /** Must not throw. */
  readonly onEvent?: (event: DriverEvent) => void;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens?: number;
  readonly costUsd?: number;
  /** Figures that count from the session's beginning, earlier turns included; the others are this turn's. */
  readonly wholeSession?: readonly ("tokens" | "cost")[];
}

export type DriverEvent =
  | { readonly type: "session"; readonly id: string }
  | { readonly type: "message"; readonly text: string; readonly thought: boolean }
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly tool: string;
      readonly status: "started" | "finished" | "failed";
      /** What it was called with, as far as the agent tells. */
      readonly input?: unknown;
    }
  | { readonly type: "file"; readonly path: string; readonly change: "created" | "modified" | "deleted" }
  /** Everything this session has used so far; replaces the event before it. */
  | { readonly type: "usage"; readonly usage: Usage }
  /** The agent asked for leave; the role's limits answered. */
  | { readonly type: "question"; readonly text: string; readonly answer: "allowed" | "refused" }
  /** The program itself tries again: nothing of it is an error unless the turn fails. */
  | { readonly type: "waiting"; readonly why: TroubleKind; readonly message: string }
  | { readonly type: "warning"; readonly message: string };

export interface SessionEnd {
  /** completed: the turn ended and said something. It is a claim about the conversation, never about the work. */
  readonly outcome: "completed" | "failed" | "cancelled" | "timeout";
  readonly sessionId: string | null;
  /** The agent's last message, as far as it is words. */
  readonly text: string;
  /** What it handed in instead, or besides, when a shape was asked for: JSON nobody has checked. */
  readonly report?: unknown;
  readonly usage: Usage | null;
  /** One sentence, when the outcome is not completed. */
  readonly error?: string;
  /** Why it failed, when that is not the agent's doing. */
  readonly trouble?: Trouble;
  readonly exit: ChildEnd;
}

export interface Session {
  readonly pid: number;
  /** Never rejects. Settles when the agent and everything it started are gone. */
  readonly ended: Promise<SessionEnd>;
  /** Lets the agent stop at the next good moment, then ends it. */
  cancel(): Promise<SessionEnd>;
}

/** native: the program does it; emulated: we do it around the program; absent: it cannot be had. */
export type Support = "native" | "emulated" | "absent";
export const ABILITIES = [
  "resume",
  "cancel",
  "mcp",
  "usage",
  "files",
  "deny_edit",
  "deny_shell",
  "budget",
  "report",
] as const;
export type Ability = (typeof ABILITIES)[number];

export interface Probe {
  readonly driver: DriverName;
  /** What to type to get it, and what it is called. */
  readonly program: string;
  readonly path: string | null;
  readonly version: string | null;
  readonly usable: boolean;
  /** Why not, in one sentence. */
  readonly reason?: string;
  readonly hint?: string;
  /** What a person should know although it can be used. */
  readonly note?: string;
  readonly abilities: Readonly<Record<Ability, Support>>;
}

export interface Driver {
  readonly name: DriverName;
  /** Keys of the person's that an agent need not see, because its program's settings say where they are used. */
  keys?(env: Environment, command?: string): readonly LoginKey[];
  /** What is installed and what it can really do. Never throws. */
  probe(env: Environment, command?: string): Promise<Probe>;
  /** Throws DRIVER_MISSING or DRIVER_TOO_OLD before anything runs. */
  start(request: SessionRequest): Promise<Session>;
}
