// What an agent of the protocol tells during its turn, and how the turn ends. An agent may send anything: no shape is
// believed.
import { amount, at, giveUp, list, type Transcript, text, waits } from "./agent-process.js";
import type { DriverEvent } from "./driver.js";
import { isTooLong, type Trouble, type TroubleKind, troubleOf } from "./trouble.js";

type Emit = (event: DriverEvent) => void;

/** More than this in one go is no report. */
const TEXT_LIMIT = 1024 * 1024;

export class Turn {
  readonly #transcript: Transcript;
  readonly #emit: Emit;
  readonly #titles = new Map<string, string>();
  #refusals = 0;

  constructor(transcript: Transcript, emit: Emit) {
    this.#transcript = transcript;
    this.#emit = emit;
  }

  hear(update: unknown): void {
    const transcript = this.#transcript;
    const words = text(at(update, "content", "text"));
    switch (at(update, "sessionUpdate")) {
      case "agent_message_chunk":
        transcript.waiting = null;
        if (transcript.text.length < TEXT_LIMIT) transcript.text += words.slice(0, TEXT_LIMIT);
        return;
      case "agent_thought_chunk":
        transcript.waiting = null;
        this.#emit({ type: "message", text: words, thought: true });
        return;
      case "tool_call":
      case "tool_call_update":
        transcript.waiting = null;
        this.#hearTool(update);
        return;
      case "session_info_update":
        this.#hearFailure(failureIn(update));
        return;
      case "usage_update":
        this.#hearUsage(update);
        return;
    }
  }

  #hearUsage(update: unknown): void {
    const used = amount(at(update, "used"));
    const { inputTokens = used, outputTokens = 0 } = this.#transcript.usage ?? {};
    const usage = { inputTokens: Math.max(inputTokens, used), outputTokens };
    const costUsd = amount(at(update, "cost", "amount"));
    this.#transcript.usage = { ...usage, costUsd, wholeSession: ["cost"] };
    this.#emit({ type: "usage", usage: this.#transcript.usage });
  }

  #hearTool(update: unknown): void {
    const [id, status, title] = [text(at(update, "toolCallId")), at(update, "status"), text(at(update, "title"))];
    const input = at(update, "rawInput");
    const first = !this.#titles.has(id);
    if (first || this.#titles.get(id) === "") this.#titles.set(id, title);
    const tool = this.#titles.get(id) ?? "";
    if (first) {
      // What was said before a tool is talk on the way; only what follows the last one is the report.
      if (this.#transcript.text !== "") this.#emit({ type: "message", text: this.#transcript.text, thought: false });
      this.#transcript.text = "";
      this.#emit({ type: "tool_call", id, tool, status: "started", input });
    }
    if (status !== "completed" && status !== "failed") return;
    this.#emit({ type: "tool_call", id, tool, status: status === "failed" ? "failed" : "finished", input });
    if (status === "completed")
      for (const path of changedPaths(update)) this.#emit({ type: "file", path, change: "modified" });
  }

  /** Some agents say in a field of its own what stands in their way, and whether they go on trying. */
  #hearFailure(failure: Failure | null): void {
    if (failure === null) return;
    const { trouble, words, isFinal } = failure;
    if (trouble === undefined) {
      this.#emit({ type: "warning", message: words });
      return;
    }
    if (isFinal || trouble === null) return;
    this.#refusals += trouble.kind === "login" ? 1 : 0;
    if (trouble.kind === "model" || this.#refusals > 1) giveUp(this.#transcript, words, trouble);
    else waits(this.#transcript, words, trouble, this.#emit);
  }

  end(answer: unknown): void {
    const transcript = this.#transcript;
    const stop = text(at(answer, "stopReason"));
    const failure = failureIn(answer);
    transcript.waiting = null;
    if (transcript.text !== "") this.#emit({ type: "message", text: transcript.text, thought: false });
    if (failure?.isFinal === true) {
      Object.assign(transcript, { error: failure.words, trouble: failure.trouble });
      return;
    }
    transcript.turnEnded = stop === "end_turn";
    if (stop === "") Object.assign(transcript, { error: "it does not say how its turn ended", trouble: UNREADABLE });
    else if (stop !== "end_turn") transcript.error = `its turn ended early (${stop})`;
    const usage = at(answer, "usage");
    if (usage === undefined || usage === null) return;
    const cost = transcript.usage?.costUsd;
    transcript.usage = {
      inputTokens: amount(at(usage, "inputTokens")) + amount(at(usage, "cachedReadTokens")),
      outputTokens: amount(at(usage, "outputTokens")),
      cachedTokens: amount(at(usage, "cachedReadTokens")),
      ...(cost === undefined ? {} : { costUsd: cost, wholeSession: ["cost"] as const }),
    };
    this.#emit({ type: "usage", usage: transcript.usage });
  }
}

const UNREADABLE: Trouble = { kind: "transport" };

interface Failure {
  readonly words: string;
  /** It will not try again. */
  readonly isFinal: boolean;
  /** null: it is about the work; undefined: it is a note. */
  readonly trouble: Trouble | null | undefined;
}

/** What claude-agent-acp and codex-acp mean by their groups; one they call limit may be that of a conversation. */
const CATEGORIES: Readonly<Record<string, TroubleKind>> = {
  connection: "transport",
  access: "login",
  limit: "limit",
  service: "overload",
};

/** Asked for in `clientCapabilities`. */
export const TELLS_FAILURES = { jetbrains: { air: { version: 1, capabilities: ["sessionFailure"] } } };

function failureIn(message: unknown): Failure | null {
  const told = at(message, "_meta", "jetbrains", "air", "sessionFailure");
  const category = text(at(told, "category"));
  if (category === "") return null;
  const title = text(at(told, "title"));
  const words = [title, text(at(told, "details"))]
    .filter((part) => part !== "")
    .join(": ")
    .slice(0, 2_000);
  const isFinal = at(told, "severity") === "error";
  if (category === "unknown") return { words, isFinal: false, trouble: undefined };
  const isFull = isTooLong(words) || list(at(told, "actions")).includes("new_session");
  const kind = Object.hasOwn(CATEGORIES, category) ? CATEGORIES[category]! : null;
  const byGroup = kind === null || (kind === "limit" && isFull) ? null : { kind };
  return { words, isFinal, trouble: troubleOf({ words }) ?? byGroup };
}

/** Agents differ in where they tell: in locations, in a diff, or only in what the tool gave back. */
function changedPaths(update: unknown): string[] {
  const kind = at(update, "kind");
  const diffs = list(at(update, "content")).filter((part) => at(part, "type") === "diff");
  const reported = text(at(update, "rawOutput", "metadata", "filepath")) || text(at(update, "rawInput", "filePath"));
  const diffPaths = diffs.map((part) => text(at(part, "path")));
  if (diffPaths.length > 0) return [...new Set(diffPaths)];
  return reported !== "" && (kind === "edit" || at(update, "rawOutput", "metadata", "filepath") !== undefined)
    ? [reported]
    : [];
}
