// Claude Code through `claude -p --output-format stream-json`. Tools are an allow list: a deny list leaves other ways to
// write. Everything is sent again on resume, because the program forgets it.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { makeInside, writeInside } from "../files/index.js";
import {
  amount,
  at,
  giveUp,
  lineSession,
  list,
  newTranscript,
  readObjects,
  startAgent,
  type Transcript,
  text,
  waits,
} from "./agent-process.js";
import type { Driver, DriverEvent, SessionRequest, Usage } from "./driver.js";
import { forgetInside } from "./inherit.js";
import { lendLogin } from "./logins.js";
import { probeDriver, requireProgram } from "./probe.js";
import { type Trouble, troubleOf } from "./trouble.js";

const READING = ["Read", "Glob", "Grep", "TodoWrite", "WebFetch", "WebSearch"];
const EDITING = ["Edit", "MultiEdit", "Write", "NotebookEdit"];
const SHELL = ["Bash", "BashOutput", "KillShell"];
const QUIET = {
  DISABLE_TELEMETRY: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_ERROR_REPORTING: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  ENABLE_TOOL_SEARCH: "false",
};

export const claude: Driver = {
  name: "claude",
  probe: (env) => probeDriver("claude", env),
  async start(request) {
    const program = await requireProgram("claude", request.env);
    const { home } = request;
    makeInside(home, ".claude");
    const takeBack = lendLogin("claude", request);
    const names = { role: `.claude/role-${randomUUID()}.md`, servers: `.claude/mcp-${randomUUID()}.json` };
    const files = { role: join(home, names.role), servers: join(home, names.servers) };
    writeInside(home, names.role, request.rolePrompt);
    writeInside(home, names.servers, JSON.stringify({ mcpServers: mcpServers(request) }));
    const forget = () => {
      takeBack();
      for (const name of Object.values(names)) forgetInside(home, name);
    };
    try {
      const command = {
        command: program,
        args: claudeArguments(request, files),
        env: { ...QUIET, CLAUDE_CONFIG_DIR: join(home, ".claude") },
      };
      const agent = await startAgent("claude", request, command, { text: request.taskPrompt });
      const transcript = newTranscript();
      const hear = listener(transcript, request.onEvent ?? (() => {}));
      readObjects(agent, transcript, hear, request.patienceMs);
      const session = lineSession(agent, transcript);
      void session.ended.then(forget);
      return session;
    } catch (error) {
      forget();
      throw error;
    }
  },
};

function mcpServers({ mcpServers: servers }: SessionRequest): Record<string, unknown> {
  return Object.fromEntries(servers.map(({ name, command, args, env }) => [name, { command, args, env }]));
}

export function claudeArguments(request: SessionRequest, files: { role: string; servers: string }): string[] {
  const { may, mcpServers: servers, deniedTools = [], model, resume, budgetUsd, reportSchema } = request;
  const tools = [...READING, ...(may.edit ? EDITING : []), ...(may.shell ? SHELL : [])];
  const serverTools = servers.map(({ name }) => `mcp__${name}`);
  const denied = deniedTools.map((tool) => `mcp__${tool.replace(".", "__")}`);
  return [
    ...["-p", "--output-format", "stream-json", "--verbose"],
    ...["--append-system-prompt-file", files.role],
    ...["--mcp-config", files.servers, "--strict-mcp-config", "--setting-sources", ""],
    ...["--tools", tools.join(","), "--allowedTools", [...tools, ...serverTools].join(",")],
    ...(denied.length === 0 ? [] : ["--disallowedTools", denied.join(",")]),
    ...(model === undefined ? [] : ["--model", model]),
    ...(reportSchema === undefined ? [] : ["--json-schema", JSON.stringify(reportSchema)]),
    ...(budgetUsd === undefined ? [] : ["--max-budget-usd", String(budgetUsd)]),
    ...(resume === undefined ? [] : ["--resume", resume]),
  ];
}

type Emit = (event: DriverEvent) => void;

/** Results name only the call they belong to, so the tools' names are remembered. */
export function listener(transcript: Transcript, emit: Emit): (line: Record<string, unknown>) => void {
  const tools = new Map<string, string>();
  const answers = new Map<string, Usage>();
  return (line) => {
    if (line.type === "system" && line.subtype === "init") {
      transcript.sessionId = text(line.session_id);
      emit({ type: "session", id: transcript.sessionId });
    } else if (line.type === "system" && line.subtype === "api_retry") hearRetry(line, transcript, emit);
    else if (line.type === "rate_limit_event") hearLimit(at(line, "rate_limit_info"), transcript);
    else if (line.type === "assistant" && line.is_api_error_message === true) {
      // Words of the program in the agent's place: the result says the same.
      transcript.waiting = null;
    } else if (line.type === "assistant" || line.type === "user") {
      transcript.waiting = null;
      if (line.isSynthetic === true && transcript.text !== "") transcript.unshaped ??= transcript.text;
      if (line.type === "assistant") hearAnswer(at(line, "message"), transcript, answers, emit);
      for (const part of list(at(line, "message", "content"))) hearPart(part, transcript, tools, emit);
      if (line.type === "user") hearResult(line.tool_use_result, emit);
    } else if (line.type === "result") hearEnd(line, transcript, emit);
  };
}

/** It tries again by itself. A login that is refused twice will be refused the tenth time. */
function hearRetry(line: Record<string, unknown>, transcript: Transcript, emit: Emit): void {
  const status = typeof line.error_status === "number" ? line.error_status : undefined;
  const words = text(line.error).replaceAll("_", " ");
  const trouble: Trouble = troubleOf({ status, words }) ?? { kind: "transport" };
  const message = `${words === "" || words === "unknown" ? "the connection broke" : words}${status === undefined ? "" : ` (${status})`}`;
  if (trouble.kind === "login" && amount(line.attempt) >= 2) giveUp(transcript, message, trouble);
  else waits(transcript, message, { ...trouble, retryAfterMs: amount(line.retry_delay_ms) }, emit);
}

/** What each answer cost in tokens, until the result says it of all: a session may end without one. */
function hearAnswer(message: unknown, transcript: Transcript, answers: Map<string, Usage>, emit: Emit): void {
  const id = text(at(message, "id"));
  if (id === "" || answers.has(id)) return;
  answers.set(id, usageIn(message));
  transcript.usage = [...answers.values()].reduce((sum, one) => ({
    inputTokens: sum.inputTokens + one.inputTokens,
    outputTokens: sum.outputTokens + one.outputTokens,
    cachedTokens: amount(sum.cachedTokens) + amount(one.cachedTokens),
  }));
  emit({ type: "usage", usage: transcript.usage });
}

function usageIn(value: unknown): Usage {
  const cached = amount(at(value, "usage", "cache_read_input_tokens"));
  return {
    inputTokens:
      amount(at(value, "usage", "input_tokens")) + cached + amount(at(value, "usage", "cache_creation_input_tokens")),
    outputTokens: amount(at(value, "usage", "output_tokens")),
    cachedTokens: cached,
  };
}

/** When the account's own limit ends, in seconds since 1970. */
function hearLimit(info: unknown, transcript: Transcript): void {
  if (at(info, "status") !== "rejected") return;
  const resets = amount(at(info, "resetsAt")) * 1_000;
  const retryAfterMs = Math.max(0, resets - Date.now());
  transcript.trouble = { kind: "limit", ...(resets === 0 ? {} : { retryAfterMs }) };
}

function hearPart(part: unknown, transcript: Transcript, tools: Map<string, string>, emit: Emit): void {
  switch (at(part, "type")) {
    case "text":
      transcript.text = text(at(part, "text"));
      emit({ type: "message", text: transcript.text, thought: false });
      return;
    case "thinking":
      emit({ type: "message", text: text(at(part, "thinking")), thought: true });
      return;
    case "tool_use": {
      const id = text(at(part, "id"));
      const tool = text(at(part, "name")).replace(/^mcp__(.+?)__/, "$1.");
      tools.set(id, tool);
      emit({ type: "tool_call", id, tool, status: "started", input: at(part, "input") });
      return;
    }
    case "tool_result": {
      const id = text(at(part, "tool_use_id"));
      const status = at(part, "is_error") === true ? "failed" : "finished";
      emit({ type: "tool_call", id, tool: tools.get(id) ?? "", status });
      return;
    }
  }
}

function hearResult(result: unknown, emit: Emit): void {
  const path = text(at(result, "filePath"));
  if (path === "") return;
  emit({ type: "file", path, change: at(result, "type") === "create" ? "created" : "modified" });
}

/** `subtype` says success even when it was not; `is_error`, the reasons and the text tell. */
function hearEnd(line: Record<string, unknown>, transcript: Transcript, emit: Emit): void {
  transcript.turnEnded = true;
  transcript.waiting = null;
  // The result then repeats the report as text; the agent's words are what it said before.
  if (line.structured_output !== undefined) transcript.report = line.structured_output;
  else if (text(line.result) !== "") transcript.text = wordsOf(line, transcript);
  transcript.usage = { ...usageIn(line), costUsd: amount(line.total_cost_usd), wholeSession: ["cost"] };
  emit({ type: "usage", usage: transcript.usage });
  for (const denial of list(line.permission_denials)) {
    emit({ type: "question", text: `may it use ${text(at(denial, "tool_name"))}?`, answer: "refused" });
  }
  if (line.is_error === true) hearError(line, transcript);
}

/** Reminded of the shape, an agent may only add a word to what it had said: then both are its words. */
function wordsOf({ result }: Record<string, unknown>, { unshaped }: Transcript): string {
  return unshaped === undefined || unshaped === result ? text(result) : `${unshaped}\n\n${text(result)}`;
}

/** How it begins what its vendor answered; older versions say it in these words alone. */
const API_ERROR = "API Error: ";

/** What the vendor answered counts as trouble; a limit of turns or money does not. */
function hearError(line: Record<string, unknown>, transcript: Transcript): void {
  const errors = Array.isArray(line.errors) ? line.errors.map(text).filter((error) => error !== "") : [];
  transcript.error = text(line.result) || errors.join("; ") || text(line.subtype) || "its turn failed";
  const { error: words } = transcript;
  const status = typeof line.api_error_status === "number" ? line.api_error_status : undefined;
  const isApis = line.terminal_reason === "api_error";
  const vendors = isApis || status !== undefined || words.includes(API_ERROR);
  const lost = troubleOf({ words });
  // Versions that say so of the end also say what kind of error the vendor's answer named; a page names none.
  const page = isApis && status === 403 && line.api_error_type === undefined ? { isPage: true } : {};
  if (vendors)
    transcript.trouble ??=
      troubleOf({ status, words, ...page }) ?? (status === undefined && isApis ? { kind: "transport" } : null);
  else if (lost?.kind === "session") transcript.trouble = lost;
}
