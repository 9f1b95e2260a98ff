// Codex through `codex exec --json`. Each session has a settings profile of its own in the run's home, so sessions cannot
// disturb one another and nothing but flags stands in the arguments, which everyone on the machine can read.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { parse, stringify } from "@decimalturn/toml-patch";
import { makeInside, writeInside } from "../files/index.js";
import {
  amount,
  at,
  giveUp,
  isSandboxed,
  lineSession,
  list,
  newTranscript,
  objectIn,
  readObjects,
  startAgent,
  type Transcript,
  text,
  waits,
} from "./agent-process.js";
import { pastLauncher } from "./codex-launcher.js";
import type { Driver, DriverEvent, McpServer, SessionRequest } from "./driver.js";
import { forgetInside, pick, readIfThere } from "./inherit.js";
import { isDirect, keyIn, type LoginKey } from "./login-variables.js";
import { lendLogin } from "./logins.js";
import { probeDriver, requireProgram } from "./probe.js";
import { troubleOf } from "./trouble.js";

export const codex: Driver = {
  name: "codex",
  probe: (env) => probeDriver("codex", env),
  keys: codexKeys,
  async start(request) {
    const program = pastLauncher(await requireProgram("codex", request.env));
    const variables = prepareCodexHome(request);
    const takeBack = lendLogin("codex", request);
    const sandboxed = await isSandboxed(request);
    const profile = `session-${randomUUID()}`;
    const file = `.codex/${profile}.config.toml`;
    const schema = `.codex/${profile}.schema.json`;
    writeInside(request.home, file, stringify({ ...codexProfile(request), ...inMemory(sandboxed) }));
    if (request.reportSchema !== undefined) writeInside(request.home, schema, JSON.stringify(request.reportSchema));
    const forget = () => {
      takeBack();
      for (const name of [file, schema]) forgetInside(request.home, name);
    };
    try {
      const command = {
        command: program.command,
        args: codexArguments(request, profile, sandboxed, join(request.home, schema)),
        env: { ...program.env, CODEX_HOME: codexHome(request), ...withoutOthers(request) },
        variables,
      };
      const agent = await startAgent("codex", request, command, { text: request.taskPrompt });
      const transcript = newTranscript();
      const emit = request.onEvent ?? (() => {});
      const hearLine = (line: Record<string, unknown>) => {
        hear(line, transcript, emit);
        if (line.type === "turn.completed" && request.reportSchema !== undefined) takeReport(transcript);
      };
      readObjects(agent, transcript, hearLine, request.patienceMs);
      const session = lineSession(agent, transcript);
      void session.ended.then(forget);
      return session;
    } catch (error) {
      forget();
      throw error;
    }
  },
};

const codexHome = ({ home }: SessionRequest): string => join(home, ".codex");

/** What of the person's settings is theirs to choose in a run, too: the model, and what is told to the vendor. */
const KEPT_KEYS = [
  "analytics",
  "feedback",
  "model",
  "model_provider",
  "model_providers",
  "model_reasoning_effort",
  "model_verbosity",
  "chatgpt_base_url",
];

const folderOf = (env: SessionRequest["env"]): string => env.CODEX_HOME || join(env.HOME ?? "/nonexistent", ".codex");

function settingsOf(env: SessionRequest["env"]): Record<string, unknown> {
  const text = readIfThere(join(folderOf(env), "config.toml"));
  return text === null ? {} : pick(parse(text), KEPT_KEYS);
}

/** Returns what of the person's own variables the program needs. `more` are settings of ours. */
export function prepareCodexHome(request: SessionRequest, more: Readonly<Record<string, unknown>> = {}): string[] {
  const { home, env } = request;
  makeInside(home, ".codex");
  if (folderOf(env) === codexHome(request)) return [];
  const settings = settingsOf(env);
  const all = { ...settings, ...lentProvider(settings, request), ...more };
  if (Object.keys(all).length > 0) writeInside(home, ".codex/config.toml", stringify(all));
  return providerKey(settings);
}

/** Where it is told a lent key is used. */
const LENT_ADDRESS = "CODEX_LENT_BASE_URL";
const KEYS = ["CODEX_API_KEY", "OPENAI_API_KEY", "CODEX_ACCESS_TOKEN"];

/** The key of a provider of the person's own, or the one it is let in with at its vendor's. */
function codexKeys(env: SessionRequest["env"]): readonly LoginKey[] {
  if (!isDirect(env)) return [];
  const settings = settingsOf(env);
  const own = ownProvider(settings);
  if (own === null) {
    const url = env.OPENAI_BASE_URL || "https://api.openai.com/v1";
    return keyIn(env, { variable: "CODEX_API_KEY", address: LENT_ADDRESS, url, header: null });
  }
  const [variable] = providerKey(settings);
  const url = text(at(settings, "model_providers", own, "base_url"));
  if (variable === undefined || !/^https?:\/\//.test(url)) return [];
  return keyIn(env, { variable, address: LENT_ADDRESS, url, header: null });
}

function ownProvider(settings: Record<string, unknown>): string | null {
  const name = text(settings.model_provider);
  return name === "" || name === "openai" ? null : name;
}

/** The provider at another address. The vendor's own has none that could be set, so another one stands for it. */
function lentProvider(settings: Record<string, unknown>, { extraEnv = {} }: SessionRequest): Record<string, unknown> {
  const base_url = extraEnv[LENT_ADDRESS];
  if (base_url === undefined) return {};
  const own = ownProvider(settings);
  const name = own ?? "lent";
  const vendor = { name: "lent", env_key: "CODEX_API_KEY", wire_api: "responses" };
  const provider = own === null ? vendor : (at(settings, "model_providers", own) as Record<string, unknown>);
  const others = (settings.model_providers ?? {}) as Record<string, unknown>;
  return { model_provider: name, model_providers: { ...others, [name]: { ...provider, base_url } } };
}

/** Whoever uses a lent key needs no other one. */
function withoutOthers({ env, extraEnv = {} }: SessionRequest): Record<string, string> {
  if (extraEnv[LENT_ADDRESS] === undefined) return {};
  return Object.fromEntries(KEYS.filter((name) => env[name] !== undefined).map((name) => [name, ""]));
}

/** A provider of the person's own names the variable its key is in. */
function providerKey(settings: Record<string, unknown>): string[] {
  const key = at(settings, "model_providers", text(settings.model_provider), "env_key");
  return typeof key === "string" ? [key] : [];
}

/**
 * Its databases are an index of what its session files say, made anew for every home: on a disk that takes as long as the rest
 * of a short session. In a sandbox they lie in memory.
 */
const inMemory = (sandboxed: boolean): Record<string, unknown> => (sandboxed ? { sqlite_home: "/tmp/codex" } : {});

export function codexProfile({
  may,
  rolePrompt,
  mcpServers,
  deniedTools = [],
}: SessionRequest): Record<string, unknown> {
  const server = ({ name, command, args, env }: McpServer) => {
    const denied = deniedTools.filter((tool) => tool.startsWith(`${name}.`)).map((tool) => tool.slice(name.length + 1));
    return {
      command,
      args: [...args],
      env: { ...env },
      env_vars: ["PATH", "HOME", "TMPDIR"],
      // Without these two the first model request misses the tools, and calls are refused.
      required: true,
      default_tools_approval_mode: "approve",
      ...(denied.length === 0 ? {} : { disabled_tools: denied }),
    };
  };
  return {
    approval_policy: "never",
    developer_instructions: rolePrompt,
    features: codexFeatures(may),
    shell_environment_policy: { inherit: "all" },
    ...(mcpServers.length === 0
      ? {}
      : { mcp_servers: Object.fromEntries(mcpServers.map((row) => [row.name, server(row)])) }),
  };
}

export const codexFeatures = (may: SessionRequest["may"]): Record<string, unknown> => ({
  shell_tool: may.shell,
  multi_agent: false,
  // Models that come with agents of their own bring them along whatever the feature says, the older ones inside scripts.
  // Those of the newer kind can be left out, so every model gets the newer kind, left out.
  multi_agent_v2: {
    enabled: true,
    disable_native_tools: true,
    // Nor is a model told how to use what it does not have.
    usage_hint_enabled: false,
    root_agent_usage_hint_text: "",
    multi_agent_mode_hint_text: "",
  },
  plugins: false,
  hooks: false,
  goals: false,
});

/** `sandboxed`: bubblewrap surrounds it, and Codex's own sandbox does not work inside another. */
export function codexArguments(
  { cwd, may, model, resume, reportSchema }: SessionRequest,
  profile: string,
  sandboxed: boolean,
  schema = "",
): string[] {
  return [
    ...["exec", "--json", "--skip-git-repo-check", "-p", profile, "-C", cwd, "-s", sandboxMode(may, sandboxed)],
    ...(model === undefined ? [] : ["-m", model]),
    ...(reportSchema === undefined ? [] : ["--output-schema", schema]),
    ...(resume === undefined ? [] : ["resume", resume]),
    "-",
  ];
}

/** Without a shell its own read-only mode needs no helper process, so it holds inside bubblewrap too. */
export function sandboxMode(may: SessionRequest["may"], sandboxed: boolean): string {
  if (!may.edit && !(sandboxed && may.shell)) return "read-only";
  return sandboxed ? "danger-full-access" : "workspace-write";
}

type Emit = (event: DriverEvent) => void;

export function hear(line: Record<string, unknown>, transcript: Transcript, emit: Emit): void {
  switch (line.type) {
    case "thread.started":
      transcript.sessionId = text(line.thread_id);
      emit({ type: "session", id: transcript.sessionId });
      return;
    case "turn.completed":
      transcript.turnEnded = true;
      // Whatever went wrong on the way was got over.
      Object.assign(transcript, { error: null, waiting: null });
      transcript.usage = {
        inputTokens: amount(at(line, "usage", "input_tokens")),
        cachedTokens: amount(at(line, "usage", "cached_input_tokens")),
        outputTokens: amount(at(line, "usage", "output_tokens")),
        wholeSession: ["tokens"],
      };
      emit({ type: "usage", usage: transcript.usage });
      return;
    case "turn.failed":
    case "error":
      hearError(text(at(line, "error", "message")) || text(line.message) || "its turn failed", transcript, emit);
      return;
    case "item.started":
    case "item.completed":
      transcript.waiting = null;
      hearItem(line.type === "item.completed", at(line, "item"), transcript, emit);
      return;
  }
}

/** Its last message is the report, unless its model paid no heed to the shape: then it is words. */
export function takeReport(transcript: Transcript): void {
  const value = objectIn(transcript.text.trim());
  if (value !== null) Object.assign(transcript, { report: value, text: "" });
}

/**
 * `Reconnecting... 2/5 (why)` is a note that it tries again; `Reconnecting... waiting for network (why)` that it does so
 * without end. A login that is refused twice stays refused, and a model nobody has stays away.
 */
const RECONNECTING = /^Reconnecting[. ]*(?:(\d+)\/\d+|waiting for network)\s*\(?(.*?)\)?$/s;

function hearError(message: string, transcript: Transcript, emit: Emit): void {
  const note = RECONNECTING.exec(message);
  if (note === null) {
    // It passes on what its vendor sent as it came; what kind of error it is stands beside the words.
    const error = text(at(objectIn(message), "error", "message")) || message;
    Object.assign(transcript, { error, trouble: troubleOf({ words: message }) });
    return;
  }
  const [, attempt = "0", why = ""] = note;
  const trouble = troubleOf({ words: why }) ?? { kind: "transport" as const };
  const isFinal = trouble.kind === "model" || (trouble.kind === "login" && Number(attempt) >= 2);
  if (isFinal) giveUp(transcript, why, trouble);
  else waits(transcript, why, trouble, emit);
}

const CHANGES: Readonly<Record<string, "created" | "modified" | "deleted">> = {
  add: "created",
  update: "modified",
  delete: "deleted",
};

function hearItem(done: boolean, item: unknown, transcript: Transcript, emit: Emit): void {
  const id = text(at(item, "id"));
  const status = done ? (at(item, "status") === "failed" ? "failed" : "finished") : "started";
  switch (at(item, "type")) {
    case "agent_message":
      if (!done) return;
      transcript.text = text(at(item, "text"));
      emit({ type: "message", text: transcript.text, thought: false });
      return;
    case "reasoning":
      if (done) emit({ type: "message", text: text(at(item, "text")), thought: true });
      return;
    case "command_execution":
      emit({ type: "tool_call", id, tool: "shell", status, input: { command: at(item, "command") } });
      return;
    case "mcp_tool_call":
      emit({
        type: "tool_call",
        id,
        tool: `${text(at(item, "server"))}.${text(at(item, "tool"))}`,
        status,
        input: at(item, "arguments"),
      });
      return;
    case "file_change":
      emit({ type: "tool_call", id, tool: "edit", status });
      if (status !== "finished") return;
      for (const change of list(at(item, "changes"))) {
        emit({ type: "file", path: text(at(change, "path")), change: CHANGES[text(at(change, "kind"))] ?? "modified" });
      }
      return;
    case "error":
      emit({ type: "warning", message: text(at(item, "message")) });
      return;
  }
}
