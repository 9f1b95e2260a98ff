// Any agent that speaks the Agent Client Protocol on its standard input and output. The protocol asks for leave, it does
// not hold anyone: what the role may not do is also taken away by settings and by the sandbox around the process.
import { Readable, Writable } from "node:stream";
import {
  type ClientConnection,
  client,
  methods,
  type NewSessionRequest,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionNotification,
  type Stream,
} from "@agentclientprotocol/sdk/unstable";
import { NutError } from "../errors.js";
import { findProgram } from "../process/index.js";
import { VERSION } from "../version.js";
import { type AcpAgent, acpAgent, untried } from "./acp-agents.js";
import {
  type AgentProcess,
  amount,
  at,
  list,
  newTranscript,
  sessionEnd,
  startAgent,
  type Transcript,
  text,
} from "./agent-process.js";
import type { Driver, DriverEvent, Session, SessionEnd, SessionRequest } from "./driver.js";
import { lendLogin } from "./logins.js";
import { probeDriver, programOf } from "./probe.js";
import { type Trouble, troubleOf } from "./trouble.js";

export const DEFAULT_ACP_COMMAND = "opencode acp";
/** How long an agent has to wind its turn down after a cancel. */
const CANCEL_MS = 5_000;
/** How long an agent has to ask our servers for their tools. */
const TOOLS_MS = 15_000;
const TOOLS_LOOK_MS = 50;
/** The protocol's code for a session that needs a login first. */
const AUTH_REQUIRED = -32_000;
const METHOD_NOT_FOUND = -32_601;

export const acp: Driver = {
  name: "acp",
  probe: (env, command) => probeDriver("acp", env, command ?? DEFAULT_ACP_COMMAND),
  keys: (env, command) => acpAgent(command ?? DEFAULT_ACP_COMMAND).keys?.(env) ?? [],
  async start(asked) {
    const line = asked.command ?? DEFAULT_ACP_COMMAND;
    const quirks = acpAgent(line);
    const request = quirks.forModel?.(asked) ?? asked;
    const program = programOf(line);
    if (findProgram(program, request.env, request.cwd) === null) {
      throw new NutError("DRIVER_MISSING", `${program} is not on PATH`, {
        hint: "nexus drivers",
        data: { driver: "acp" },
      });
    }
    const variables = quirks.prepare?.(request) ?? [];
    const takeBack = lendLogin("acp", { ...request, command: line });
    const env = quirks.env?.(request) ?? {};
    const command = { command: "/bin/sh", args: ["-c", `exec env ${line}`], env, variables };
    const agent = await startAgent("acp", { ...request, command: line }, command, "pipe").catch((error) => {
      takeBack();
      throw error;
    });
    const session = new Conversation(agent, request, quirks).begin();
    void session.ended.then(takeBack);
    return session;
  },
};

/** One process, one session, one turn. */
class Conversation {
  readonly #agent: AgentProcess;
  readonly #request: SessionRequest;
  readonly #quirks: AcpAgent;
  readonly #transcript: Transcript = newTranscript();
  readonly #titles = new Map<string, string>();
  readonly #connection: ClientConnection;
  /** History that is replayed on load is not part of this turn. */
  #live = false;
  #cancelled = false;

  constructor(agent: AgentProcess, request: SessionRequest, quirks: AcpAgent) {
    this.#agent = agent;
    this.#request = request;
    this.#quirks = quirks;
    const stream = ndJsonStream(
      Writable.toWeb(agent.child.stdin!) as WritableStream<Uint8Array>,
      Readable.toWeb(agent.child.stdout) as ReadableStream<Uint8Array>,
    );
    this.#connection = client({ name: "nutcracker" })
      .onRequest(methods.client.session.requestPermission, ({ params }) => this.#permit(params))
      .onNotification(methods.client.session.update, ({ params }) => this.#hear(params))
      .connect({ ...stream, readable: stream.readable.pipeThrough(answersToUs()) });
  }

  begin(): Session {
    const { child } = this.#agent;
    // A turn that never ends is ended by the process: its time limit and the signal close the connection.
    const ended = this.#converse()
      .catch((error: unknown) => {
        this.#transcript.error = reasonOf(error);
        this.#transcript.trouble = troubleIn(error, this.#transcript.error);
      })
      .then(() => this.#finish());
    return {
      pid: child.pid,
      ended,
      cancel: async () => {
        this.#cancelled = true;
        await this.#askToCancel();
        await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, CANCEL_MS).unref())]);
        await child.stop();
        return ended;
      },
    };
  }

  async #converse(): Promise<void> {
    const { agent } = this.#connection;
    const { rolePrompt, taskPrompt, resume } = this.#request;
    const { role } = this.#quirks;
    const opened = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "nutcracker", version: VERSION },
      // The agent works on files itself: what went through us would escape its own limits.
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    const { agentCapabilities = {}, authMethods = [] } = opened;
    const note = untried(
      this.#quirks,
      this.#request.command ?? DEFAULT_ACP_COMMAND,
      text(at(opened, "agentInfo", "version")),
    );
    if (note !== null) this.#emit({ type: "warning", message: note });
    const sessionId = await this.#openSession(agentCapabilities).catch(async (error: unknown) => {
      if (!(await this.#logIn(error, authMethods))) throw error;
      return this.#openSession(agentCapabilities);
    });
    this.#transcript.sessionId = sessionId;
    this.#emit({ type: "session", id: sessionId });
    const mode = this.#quirks.mode?.(this.#request, this.#agent.sandboxed) ?? null;
    if (mode !== null) await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode });

    await this.#toolsAreThere();
    this.#live = true;
    // A session that is continued keeps the role it began with, whatever it is sent.
    const isSaid = role === "prompt" || (role === "system" && resume !== undefined);
    const prompt = isSaid ? `${rolePrompt}\n\n${taskPrompt}` : taskPrompt;
    const answer = await agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text: prompt }],
    });
    this.#hearEnd(answer);
  }

  /** Asked to log in, it does so with what was brought into its home: never with a way that needs a person. */
  async #logIn(error: unknown, offered: readonly unknown[]): Promise<boolean> {
    if (at(error, "code") !== AUTH_REQUIRED) return false;
    const ids = offered.map((method) => text(at(method, "id")));
    const id = (this.#quirks.logins?.(this.#request) ?? []).find((known) => ids.includes(known));
    if (id === undefined) return false;
    await this.#connection.agent.request(methods.agent.authenticate, { methodId: id });
    return true;
  }

  /** Some agents start our servers after the session is open, and a prompt that comes first meets a model without tools. */
  async #toolsAreThere(): Promise<void> {
    const { hasTools, mcpServers } = this.#request;
    if (hasTools === undefined || mcpServers.length === 0) return;
    for (let waited = 0; !hasTools() && waited < TOOLS_MS; waited += TOOLS_LOOK_MS) {
      await new Promise((resolve) => setTimeout(resolve, TOOLS_LOOK_MS));
    }
    if (!hasTools()) this.#emit({ type: "warning", message: "the agent did not ask for our tools" });
  }

  async #openSession(capabilities: { loadSession?: boolean; sessionCapabilities?: unknown }): Promise<string> {
    const { agent } = this.#connection;
    const { cwd, mcpServers, resume, rolePrompt, model } = this.#request;
    const systemPrompt = { mode: "append" as const, content: [{ type: "text" as const, text: rolePrompt }] };
    const setup: NewSessionRequest = {
      cwd,
      mcpServers: mcpServers.map(({ name, command, args, env }) => ({
        name,
        command,
        args: [...args],
        env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
      })),
      ...(this.#quirks.role === "system" ? { systemPrompt } : {}),
      ...(this.#quirks.meta === undefined ? {} : { _meta: this.#quirks.meta(this.#request) }),
    };
    if (resume === undefined) {
      const opened = await agent.request(methods.agent.session.new, setup);
      await this.#chooseModel(opened.sessionId, opened.configOptions, model);
      return opened.sessionId;
    }
    const canResume = at(capabilities, "sessionCapabilities", "resume") != null;
    if (!canResume && capabilities.loadSession !== true) throw new Error("this agent cannot continue a session");
    const load = () => agent.request(methods.agent.session.load, { ...setup, sessionId: resume });
    const answer = canResume
      ? await agent.request(methods.agent.session.resume, { ...setup, sessionId: resume }).catch((error: unknown) => {
          // Some say that they can and do not know the word.
          if (at(error, "code") !== METHOD_NOT_FOUND || capabilities.loadSession !== true) throw error;
          return load();
        })
      : await load();
    await this.#chooseModel(resume, at(answer, "configOptions"), model);
    return resume;
  }

  async #chooseModel(sessionId: string, options: unknown, model: string | undefined): Promise<void> {
    const option = Array.isArray(options) ? options.find((row) => at(row, "id") === "model") : undefined;
    if (model === undefined || option === undefined || at(option, "currentValue") === model) return;
    const { agent } = this.#connection;
    await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: "model", value: model });
  }

  /** Answers by the kind of an option, never by its id: ids are the agent's own. */
  #permit({ toolCall, options }: RequestPermissionRequest) {
    const allowed = this.#mayUse(toolCall);
    const kinds = allowed ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
    const option = kinds.map((kind) => options.find((row) => row.kind === kind)).find((row) => row !== undefined);
    this.#emit({
      type: "question",
      text: `may it ${toolCall.title ?? toolCall.kind ?? "use a tool"}?`,
      answer: allowed ? "allowed" : "refused",
    });
    if (option === undefined) return { outcome: { outcome: "cancelled" as const } };
    return { outcome: { outcome: "selected" as const, optionId: option.optionId } };
  }

  #mayUse(toolCall: RequestPermissionRequest["toolCall"]): boolean {
    const { may, deniedTools = [] } = this.#request;
    const title = (toolCall.title ?? "").toLowerCase();
    if (deniedTools.some((tool) => title.includes(tool.split(".").at(-1)!.toLowerCase()))) return false;
    // Some agents label calls of our own MCP servers as commands.
    if (at(toolCall, "_meta", "is_mcp_tool_approval") === true) return true;
    switch (toolCall.kind) {
      case "edit":
      case "delete":
      case "move":
        return may.edit;
      case "execute":
        return may.shell;
      case "switch_mode":
        return false;
      default:
        return true;
    }
  }

  #hear({ update }: SessionNotification): void {
    if (!this.#live) return;
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        this.#transcript.text += text(at(update.content, "text"));
        return;
      case "agent_thought_chunk":
        this.#emit({ type: "message", text: text(at(update.content, "text")), thought: true });
        return;
      case "tool_call":
      case "tool_call_update":
        this.#hearTool(update);
        return;
      case "usage_update": {
        const used = amount(update.used);
        const { inputTokens = used, outputTokens = 0 } = this.#transcript.usage ?? {};
        const costUsd = amount(update.cost?.amount);
        this.#transcript.usage = {
          inputTokens: Math.max(inputTokens, used),
          outputTokens,
          costUsd,
          wholeSession: ["cost"],
        };
        this.#emit({ type: "usage", usage: this.#transcript.usage });
        return;
      }
    }
  }

  #hearTool(update: Extract<SessionNotification["update"], { sessionUpdate: "tool_call" | "tool_call_update" }>): void {
    const { toolCallId: id, status } = update;
    const first = !this.#titles.has(id);
    if (update.title != null && (first || this.#titles.get(id) === "")) this.#titles.set(id, update.title);
    const tool = this.#titles.get(id) ?? "";
    if (first) {
      // What was said before a tool is talk on the way; only what follows the last one is the report.
      if (this.#transcript.text !== "") this.#emit({ type: "message", text: this.#transcript.text, thought: false });
      this.#transcript.text = "";
      this.#emit({ type: "tool_call", id, tool, status: "started", input: update.rawInput });
    }
    if (status !== "completed" && status !== "failed") return;
    this.#emit({
      type: "tool_call",
      id,
      tool,
      status: status === "failed" ? "failed" : "finished",
      input: update.rawInput,
    });
    if (status === "completed")
      for (const path of changedPaths(update)) this.#emit({ type: "file", path, change: "modified" });
  }

  #hearEnd(answer: unknown): void {
    const stop = text(at(answer, "stopReason"));
    this.#transcript.turnEnded = stop === "end_turn";
    if (this.#transcript.text !== "") this.#emit({ type: "message", text: this.#transcript.text, thought: false });
    if (stop !== "end_turn" && stop !== "cancelled") this.#transcript.error = `its turn ended early (${stop})`;
    if (stop === "cancelled") this.#cancelled = true;
    const usage = at(answer, "usage");
    if (usage === undefined || usage === null) return;
    const cost = this.#transcript.usage?.costUsd;
    this.#transcript.usage = {
      inputTokens: amount(at(usage, "inputTokens")) + amount(at(usage, "cachedReadTokens")),
      outputTokens: amount(at(usage, "outputTokens")),
      cachedTokens: amount(at(usage, "cachedReadTokens")),
      ...(cost === undefined ? {} : { costUsd: cost, wholeSession: ["cost"] as const }),
    };
    this.#emit({ type: "usage", usage: this.#transcript.usage });
  }

  /** The agent would wait for another turn; there is none. */
  async #finish(): Promise<SessionEnd> {
    const exit = await this.#agent.child.stop();
    this.#connection.close();
    // We end the process ourselves after a good turn; only a limit or a signal that came first is the session's end.
    const ownEnd =
      this.#transcript.turnEnded && exit.reason === "stopped" ? { ...exit, reason: "exited" as const, code: 0 } : exit;
    const crashed = exit.reason === "stopped" && !this.#cancelled && this.#request.signal?.aborted !== true;
    const shownEnd = crashed && !this.#transcript.turnEnded ? { ...exit, reason: "exited" as const } : ownEnd;
    return {
      ...sessionEnd(
        this.#transcript,
        this.#cancelled ? { ...exit, reason: "stopped" } : shownEnd,
        this.#agent.complaint(),
      ),
      exit,
    };
  }

  async #askToCancel(): Promise<void> {
    const { sessionId } = this.#transcript;
    if (sessionId === null) return;
    await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {});
  }

  #emit(event: DriverEvent): void {
    this.#request.onEvent?.(event);
  }
}

type Message = Stream["readable"] extends ReadableStream<infer One> ? One : never;

/** Answers to what nobody asked are dropped: the library prints their ids, and so an agent could speak to the terminal. Ours are numbers. */
const answersToUs = () =>
  new TransformStream<Message, Message>({
    transform: (message, controller) => {
      if ("method" in message || typeof at(message, "id") === "number") controller.enqueue(message);
    },
  });

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

/** By the protocol's own code first, then by the agent's words. */
function troubleIn(error: unknown, words: string): Trouble | null {
  if (at(error, "code") === AUTH_REQUIRED) return { kind: "login" };
  const status = at(error, "data", "statusCode") ?? at(error, "data", "status");
  return troubleOf({ words, status: typeof status === "number" ? status : undefined });
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const details = text(at(error, "data", "details")) || text(at(error, "data", "message"));
  return (details === "" ? message : `${message}: ${details}`).slice(0, 500);
}
