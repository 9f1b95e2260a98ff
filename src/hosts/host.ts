// What the product needs to know about a place it can live in. One folder per host; adding a host adds a folder.
import type { LifecycleEvent, SemanticClass, ToolUse, Verdict } from "../schema/events.js";

export const HOST_NAMES = ["claude", "codex", "opencode", "qwen", "gemini"] as const;
export type HostName = (typeof HOST_NAMES)[number];

/** The name our MCP server is registered under; tool names are derived from it, never typed. */
export const SERVER = "nexus";

/** What the hook process leaves a host with. */
export interface HookAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: 0 | 2;
}

export interface Host {
  readonly name: HostName;
  readonly title: string;
  readonly harnessId: string;
  /** Settings files and folders of this host, relative to a project or starting with `~/`, lower case. */
  readonly settings: readonly string[];
  /** Of those, what starts our hooks and holds roles: files, or folders of files (`/`). `shared`: the host writes there itself. */
  readonly watched: readonly { readonly path: string; readonly shared?: boolean }[];
  readonly canResume: boolean;
  /** Whether it runs commands in a sandbox of its own, where another may not start. */
  readonly ownSandbox?: boolean;
  /** false: it does not say which agent calls a tool. */
  readonly namesCallers?: false;
  /** false: a session may begin with its first message and nothing before. */
  readonly announcesSessions?: false;
  /** false: an agent that has ended may go on without a word to us. */
  readonly announcesResumed?: false;
  /** Whether a gate may have to record the start of an agent first. */
  readonly startsAtGate?: true;
  /** false: a command runs as the model gave it, or not at all. */
  readonly rewrites?: false;
  /** Topic → what a model is told on this host. */
  readonly docs: Readonly<Record<string, string>>;
  /** The name a model sees for one of our tools. */
  toolName(abstract: string): string;
  /** Built-in tools by class: the source of every deny list. */
  readonly toolsByClass: Readonly<Partial<Record<SemanticClass, readonly string[]>>>;
  toolUse(name: string, input: unknown): ToolUse;
  /** The host's own name of the event a gate answers, and of the others it sends us. */
  readonly gateEvent: string;
  readonly otherEvents: readonly string[];
  /** The name of the event a payload is about; undefined when that cannot be read. */
  eventOf(payload: unknown): string | undefined;
  /** What a payload means, in order; empty for what is none of our business. Throws PayloadError when it cannot be read. */
  decode(payload: unknown): readonly LifecycleEvent[];
  /** Answers a payload. `verdicts` are those of `decode`'s events, in order. */
  answer(payload: unknown, verdicts: readonly Verdict[]): HookAnswer;
  /** Tells the person of something that went wrong. */
  complain(line: string): HookAnswer;
}

/** Whether an event waits for a gate. One that is not known to be another does. */
export function asksForGate({ otherEvents }: Host, event: string | undefined): boolean {
  return event === undefined || !otherEvents.includes(event);
}

/** A payload that cannot be judged. A gate denies, everything else goes on. */
export class PayloadError extends Error {
  override readonly name = "PayloadError";
}

export const NO_ANSWER: HookAnswer = { stdout: "", stderr: "", exit: 0 };
