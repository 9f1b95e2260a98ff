// OpenCode through `opencode run --format json`. Its exit status says nothing about the turn, so only its words count; that
// it tries again it says in its log alone.
import { readLines } from "../process/index.js";
import {
  amount,
  at,
  giveUp,
  lineSession,
  newTranscript,
  readObjects,
  startAgent,
  type Transcript,
  text,
  waits,
} from "./agent-process.js";
import type { Driver, DriverEvent } from "./driver.js";
import { lendLogin } from "./logins.js";
import {
  forChosenModel,
  keysOfOpencode,
  OPENCODE_AGENT,
  opencodeEnvironment,
  opencodeVariables,
  prepareOpencodeHome,
} from "./opencode-settings.js";
import { probeDriver, requireProgram } from "./probe.js";
import { retryAfter, troubleOf } from "./trouble.js";

export const opencode: Driver = {
  name: "opencode",
  probe: (env) => probeDriver("opencode", env),
  keys: keysOfOpencode,
  async start(asked) {
    const request = forChosenModel(asked);
    const program = await requireProgram("opencode", request.env);
    prepareOpencodeHome(request);
    const takeBack = lendLogin("opencode", request);
    const args = ["run", "--format", "json", "--dir", request.cwd, "--agent", OPENCODE_AGENT, ...LOG];
    if (request.model !== undefined) args.push("--model", request.model);
    if (request.resume !== undefined) args.push("--session", request.resume);
    const variables = opencodeVariables(request);
    const command = { command: program, args, env: opencodeEnvironment(request), variables };
    const agent = await startAgent("opencode", request, command, { text: request.taskPrompt }).catch((error) => {
      takeBack();
      throw error;
    });
    const transcript = newTranscript();
    const emit = request.onEvent ?? (() => {});
    const watch = readObjects(agent, transcript, (line) => hear(line, transcript, emit), request.patienceMs);
    readLines(agent.child.stderr, (line) => {
      hearLog(line, transcript, emit);
      watch.look();
    });
    const session = lineSession(agent, transcript);
    void session.ended.then(takeBack);
    return session;
  },
};

const LOG = ["--print-logs", "--log-level", "ERROR"];

/** A line of its log, about the turn itself and not about a title: it will try again. */
export function hearLog(line: string, transcript: Transcript, emit: Emit): void {
  hearFailure(line, transcript);
  if (!line.includes('message="stream error"') || !line.includes("small=false")) return;
  const why = /error\.error="(?:\w+: )?((?:[^"\\]|\\.)*)/.exec(line)?.[1] ?? "its model does not answer";
  const message = why.slice(0, 300);
  waits(transcript, message, troubleOf({ words: message }) ?? { kind: "transport" }, emit);
}

/** Some of its errors only say where in its log they are told. Either may come first. */
function hearFailure(line: string, transcript: Transcript): void {
  const [, ref, why] = / message=failed ref=(\w+) error="(?:\w+: )?((?:[^"\\]|\\.)*)/.exec(line) ?? [];
  if (ref === undefined) return;
  transcript.logged = new Map(transcript.logged).set(ref, why!.slice(0, 300));
  if (transcript.refersTo === ref) tellLogged(ref, transcript);
}

function tellLogged(ref: string, transcript: Transcript): void {
  const words = transcript.logged.get(ref);
  if (words !== undefined) Object.assign(transcript, { error: words, trouble: troubleOf({ words }) });
}

type Emit = (event: DriverEvent) => void;

export function hear(line: Record<string, unknown>, transcript: Transcript, emit: Emit): void {
  const id = text(line.sessionID);
  if (transcript.sessionId === null && id !== "") {
    transcript.sessionId = id;
    emit({ type: "session", id });
  }
  if (line.type === "text" || line.type === "tool_use" || line.type === "reasoning") transcript.waiting = null;
  switch (line.type) {
    case "text":
      if (at(line, "part", "synthetic") === true) {
        hearOwnWords(at(line, "part"), transcript);
        return;
      }
      transcript.text = text(at(line, "part", "text"));
      emit({ type: "message", text: transcript.text, thought: false });
      return;
    case "reasoning":
      emit({ type: "message", text: text(at(line, "part", "text")), thought: true });
      return;
    case "tool_use":
      transcript.overflows = 0;
      hearTool(at(line, "part"), emit);
      return;
    case "step_finish":
      hearStep(at(line, "part"), transcript, emit);
      return;
    case "error":
      hearError(at(line, "error"), transcript);
      return;
  }
}

/** What it says in the agent's place: after it summed the conversation up, the turn goes on, and all before is got over. */
function hearOwnWords(part: unknown, transcript: Transcript): void {
  if (at(part, "metadata", "compaction_continue") !== true) return;
  if (transcript.error !== null) transcript.gotOver = true;
  Object.assign(transcript, { error: null, trouble: null, text: "", turnEnded: false });
}

/** A conversation that is too long it sums up and tries again, without end when that does not help. */
const MOST_OVERFLOWS = 3;

function hearError(error: unknown, transcript: Transcript): void {
  const words = text(at(error, "data", "message")) || text(at(error, "name")) || "its turn failed";
  const status = at(error, "data", "statusCode");
  const retryAfterMs = retryAfter(at(error, "data", "responseHeaders", "retry-after"));
  const known = typeof status === "number" ? status : undefined;
  const type = text(at(error, "data", "responseHeaders", "content-type"));
  const page = type.startsWith("text/html") ? { isPage: true } : {};
  transcript.error = words;
  transcript.trouble = troubleOf({ status: known, words, retryAfterMs, ...page });
  transcript.refersTo = text(at(error, "data", "ref"));
  tellLogged(transcript.refersTo, transcript);
  if (at(error, "name") !== "ContextOverflowError") return;
  transcript.overflows += 1;
  if (transcript.overflows >= MOST_OVERFLOWS) giveUp(transcript, words, null);
}

function hearTool(part: unknown, emit: Emit): void {
  const tool = text(at(part, "tool"));
  const failed = at(part, "state", "status") === "error";
  emit({
    type: "tool_call",
    id: text(at(part, "callID")),
    tool,
    status: failed ? "failed" : "finished",
    input: at(part, "state", "input"),
  });
  const path = text(at(part, "state", "input", "filePath"));
  if (failed || path === "" || !/^(edit|write|multiedit|patch|apply_patch)$/.test(tool)) return;
  const existed = at(part, "state", "metadata", "exists");
  emit({ type: "file", path, change: tool === "write" && existed === false ? "created" : "modified" });
}

/** Steps in a row that said and cost nothing: an answer that is no answer, which it asks for again without end. */
const MOST_EMPTY_STEPS = 3;

/** Usage comes per step; the turn's is their sum. */
function hearStep(part: unknown, transcript: Transcript, emit: Emit): void {
  transcript.turnEnded = at(part, "reason") === "stop";
  const tokens = at(part, "tokens");
  const isEmpty = at(part, "reason") === "unknown" && amount(at(tokens, "output")) === 0;
  transcript.emptySteps = isEmpty ? transcript.emptySteps + 1 : 0;
  if (transcript.emptySteps >= MOST_EMPTY_STEPS) {
    giveUp(transcript, "the model's answers cannot be read", { kind: "transport" });
  }
  const cached = amount(at(tokens, "cache", "read"));
  transcript.usage = {
    inputTokens: (transcript.usage?.inputTokens ?? 0) + amount(at(tokens, "input")) + cached,
    outputTokens:
      (transcript.usage?.outputTokens ?? 0) + amount(at(tokens, "output")) + amount(at(tokens, "reasoning")),
    cachedTokens: (transcript.usage?.cachedTokens ?? 0) + cached,
    costUsd: (transcript.usage?.costUsd ?? 0) + amount(at(part, "cost")),
  };
  emit({ type: "usage", usage: transcript.usage });
}
