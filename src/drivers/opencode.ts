// OpenCode through `opencode run --format json`. Its exit status says nothing about the turn, so only its words count.
import {
  amount,
  at,
  lineSession,
  newTranscript,
  readObjects,
  startAgent,
  type Transcript,
  text,
} from "./agent-process.js";
import type { Driver, DriverEvent } from "./driver.js";
import { OPENCODE_AGENT, opencodeEnvironment, opencodeVariables, prepareOpencodeHome } from "./opencode-settings.js";
import { probeDriver, requireProgram } from "./probe.js";

export const opencode: Driver = {
  name: "opencode",
  probe: (env) => probeDriver("opencode", env),
  async start(request) {
    const program = await requireProgram("opencode", request.env);
    const reads = prepareOpencodeHome(request);
    const args = ["run", "--format", "json", "--dir", request.cwd, "--agent", OPENCODE_AGENT];
    if (request.model !== undefined) args.push("--model", request.model);
    if (request.resume !== undefined) args.push("--session", request.resume);
    const variables = opencodeVariables(request);
    const command = { command: program, args, env: opencodeEnvironment(request), reads, variables };
    const agent = await startAgent("opencode", request, command, { text: request.taskPrompt });
    const transcript = newTranscript();
    readObjects(agent.child, (line) => hear(line, transcript, request.onEvent ?? (() => {})));
    return lineSession(agent, transcript);
  },
};

type Emit = (event: DriverEvent) => void;

export function hear(line: Record<string, unknown>, transcript: Transcript, emit: Emit): void {
  const id = text(line.sessionID);
  if (transcript.sessionId === null && id !== "") {
    transcript.sessionId = id;
    emit({ type: "session", id });
  }
  switch (line.type) {
    case "text":
      transcript.text = text(at(line, "part", "text"));
      emit({ type: "message", text: transcript.text, thought: false });
      return;
    case "reasoning":
      emit({ type: "message", text: text(at(line, "part", "text")), thought: true });
      return;
    case "tool_use":
      hearTool(at(line, "part"), emit);
      return;
    case "step_finish":
      hearStep(at(line, "part"), transcript, emit);
      return;
    case "error":
      transcript.error =
        text(at(line, "error", "data", "message")) || text(at(line, "error", "name")) || "its turn failed";
      return;
  }
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

/** Usage comes per step; the session's is their sum. */
function hearStep(part: unknown, transcript: Transcript, emit: Emit): void {
  transcript.turnEnded = at(part, "reason") === "stop";
  const tokens = at(part, "tokens");
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
