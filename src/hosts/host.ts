// What the product needs to know about a place it can live in. One folder per host; adding a host adds a folder.
import type { LifecycleEvent, SemanticClass, ToolUse, Verdict } from "../schema/events.js";

export const HOST_NAMES = ["claude", "codex", "opencode"] as const;
export type HostName = (typeof HOST_NAMES)[number];

/** The name our MCP server is registered under; tool names are derived from it, never typed. */
export const SERVER = "nexus";

export interface Answer {
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
  readonly canResume: boolean;
  /** Topic → what a model is told on this host. */
  readonly docs: Readonly<Record<string, string>>;
  /** The name a model sees for one of our tools. */
  toolName(abstract: string): string;
  /** Built-in tools by class: the source of every deny list. */
  readonly toolsByClass: Readonly<Partial<Record<SemanticClass, readonly string[]>>>;
  toolUse(name: string, input: unknown): ToolUse;
  /** What a payload means, in order; empty for what is none of our business. Throws PayloadError when it cannot be read. */
  decode(payload: unknown): readonly LifecycleEvent[];
  /** Answers a payload. `verdicts` are those of `decode`'s events, in order. */
  answer(payload: unknown, verdicts: readonly Verdict[]): Answer;
}

/** A payload that cannot be judged. A gate denies, everything else goes on. */
export class PayloadError extends Error {
  override readonly name = "PayloadError";
}

export const NOTHING: Answer = { stdout: "", stderr: "", exit: 0 };
