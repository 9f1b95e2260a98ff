// Any agent that speaks the Agent Client Protocol on its standard input and output. The protocol asks for leave, it does
// not hold anyone: what the role may not do is also taken away by settings and by the sandbox around the process.
import {
  type ClientConnection,
  client,
  methods,
  type NewSessionRequest,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk/unstable";
import { NutError } from "../errors.js";
import { findProgram } from "../process/index.js";
import { VERSION } from "../version.js";
import { type AcpAgent, acpAgent, untried } from "./acp-agents.js";
import { type Asked, permit } from "./acp-permit.js";
import { TELLS_FAILURES, Turn } from "./acp-turn.js";
import { quietStream } from "./acp-wire.js";
import {
  type AgentProcess,
  at,
  list,
  newTranscript,
  PATIENCE_MS,
  patience,
  sessionEnd,
  startAgent,
  type Transcript,
  text,
} from "./agent-process.js";
import type { Driver, DriverEvent, Session, SessionEnd, SessionRequest } from "./driver.js";
import { lendLogin } from "./logins.js";
import { probeDriver, programOf } from "./probe.js";
import { type Trouble, type TroubleKind, troubleOf } from "./trouble.js";

export const DEFAULT_ACP_COMMAND = "opencode acp";
/** How long an agent has to wind its turn down after a cancel. */
const CANCEL_MS = 5_000;
/** How long an agent has to ask our servers for their tools. */
const TOOLS_MS = 15_000;
const TOOLS_LOOK_MS = 50;
/** The protocol's code for a session that needs a login first. */
const AUTH_REQUIRED = -32_000;
const METHOD_NOT_FOUND = -32_601;
/** What the library makes of an answer that is none. */
const INVALID_REQUEST = -32_600;

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
  readonly #turn: Turn;
  readonly #connection: ClientConnection;
  readonly #patienceMs: number;
  /** History that is replayed on load is not part of this turn. */
  #live = false;
  #cancelled = false;

  constructor(agent: AgentProcess, request: SessionRequest, quirks: AcpAgent) {
    this.#agent = agent;
    this.#request = request;
    this.#quirks = quirks;
    this.#patienceMs = request.patienceMs ?? PATIENCE_MS;
    this.#turn = new Turn(this.#transcript, (event) => this.#emit(event));
    const watch = patience(this.#transcript, () => void agent.child.stop(), this.#patienceMs);
    void agent.child.ended.then(watch.end);
    const { stdin, stdout } = agent.child;
    const stream = quietStream({ stdin: stdin!, stdout }, (update) => {
      if (!this.#live) return;
      this.#turn.hear(update);
      watch.look();
    });
    this.#connection = client({ name: "nutcracker" })
      .onRequest(methods.client.session.requestPermission, ({ params }) => this.#answer(params))
      .connect(stream);
  }

  begin(): Session {
    const { child } = this.#agent;
    // A turn that never ends is ended by the process: its time limit and the signal close the connection.
    const ended = this.#converse()
      .catch((error: unknown) => this.#fail(error))
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
    const opened = await this.#within("initialize", () =>
      agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientInfo: { name: "nutcracker", version: VERSION },
        // The agent works on files itself: what went through us would escape its own limits.
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          _meta: TELLS_FAILURES,
        },
      }),
    );
    this.#greet(opened);
    const sessionId = await this.#openSession(at(opened, "agentCapabilities")).catch(async (error: unknown) => {
      if (!(await this.#logIn(error, list(at(opened, "authMethods"))))) throw error;
      return this.#openSession(at(opened, "agentCapabilities"));
    });
    this.#transcript.sessionId = sessionId;
    this.#emit({ type: "session", id: sessionId });
    const mode = this.#quirks.mode?.(this.#request, this.#agent.sandboxed) ?? null;
    if (mode !== null)
      await this.#within("session/set_mode", () =>
        agent.request(methods.agent.session.setMode, { sessionId, modeId: mode }),
      );

    await this.#toolsAreThere();
    this.#live = true;
    // A session that is continued keeps the role it began with, whatever it is sent.
    const isSaid = role === "prompt" || (role === "system" && resume !== undefined);
    const prompt = isSaid ? `${rolePrompt}\n\n${taskPrompt}` : taskPrompt;
    const answer = await agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text: prompt }],
    });
    this.#turn.end(answer);
  }

  /** An agent that says nothing before its turn has not begun to work: its whole time is too long to wait for that. */
  async #within<T>(step: string, ask: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Found("transport", `it did not answer ${step} in ${this.#patienceMs / 1_000} s`)),
        this.#patienceMs,
      );
    });
    try {
      return await Promise.race([ask(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #greet(opened: unknown): void {
    const spoken = at(opened, "protocolVersion");
    if (spoken !== PROTOCOL_VERSION) {
      if (typeof spoken !== "number") throw new Found("transport", "what it answers to initialize cannot be read");
      throw new Found(null, `it speaks version ${spoken} of the protocol; ${PROTOCOL_VERSION} is needed`);
    }
    const command = this.#request.command ?? DEFAULT_ACP_COMMAND;
    const note = untried(this.#quirks, command, text(at(opened, "agentInfo", "version")));
    if (note !== null) this.#emit({ type: "warning", message: note });
  }

  /** Asked to log in, it does so with what was brought into its home: never with a way that needs a person. */
  async #logIn(error: unknown, offered: readonly unknown[]): Promise<boolean> {
    if (at(error, "code") !== AUTH_REQUIRED) return false;
    const ids = offered.map((method) => text(at(method, "id")));
    const id = (this.#quirks.logins?.(this.#request) ?? []).find((known) => ids.includes(known));
    if (id === undefined) return false;
    const { agent } = this.#connection;
    try {
      await this.#within("authenticate", () => agent.request(methods.agent.authenticate, { methodId: id }));
    } catch (refused) {
      throw this.#connection.signal.aborted ? refused : new Found("login", reasonOf(refused));
    }
    return true;
  }

  /** Some agents start our servers after the session is open, and a prompt that comes first meets a model without tools. */
  async #toolsAreThere(): Promise<void> {
    const { hasTools, mcpServers } = this.#request;
    if (hasTools === undefined || mcpServers.length === 0) return;
    for (let waited = 0; !hasTools() && waited < TOOLS_MS; waited += TOOLS_LOOK_MS) {
      await new Promise((resolve) => setTimeout(resolve, TOOLS_LOOK_MS));
      if (this.#connection.signal.aborted) return;
    }
    if (!hasTools()) this.#emit({ type: "warning", message: "the agent did not ask for our tools" });
  }

  async #openSession(capabilities: unknown): Promise<string> {
    const { agent } = this.#connection;
    const { cwd, mcpServers, resume, rolePrompt } = this.#request;
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
      const opened = await this.#within("session/new", () => agent.request(methods.agent.session.new, setup));
      const id = text(at(opened, "sessionId"));
      if (id === "") throw new Found("transport", "it opened a session without a name");
      await this.#chooseModel(id, opened);
      return id;
    }
    const canLoad = at(capabilities, "loadSession") === true;
    const canResume = at(capabilities, "sessionCapabilities", "resume") != null;
    if (!canResume && !canLoad) throw new Error("this agent cannot continue a session");
    const again = { ...setup, sessionId: resume };
    const load = () => this.#within("session/load", () => agent.request(methods.agent.session.load, again));
    const answer = canResume
      ? await this.#within("session/resume", () => agent.request(methods.agent.session.resume, again)).catch(
          (error: unknown) => {
            // Some say that they can and do not know the word.
            if (at(error, "code") !== METHOD_NOT_FOUND || !canLoad) throw error;
            return load();
          },
        )
      : await load();
    await this.#chooseModel(resume, answer);
    return resume;
  }

  async #chooseModel(sessionId: string, opened: unknown): Promise<void> {
    const { model } = this.#request;
    if (model === undefined) return;
    const option = list(at(opened, "configOptions")).find((row) => at(row, "id") === "model");
    if (option === undefined) {
      this.#emit({ type: "warning", message: `the agent lets nobody choose its model: ${model} is not asked for` });
      return;
    }
    if (at(option, "currentValue") === model) return;
    const choice = { sessionId, configId: "model", value: model };
    const { agent } = this.#connection;
    try {
      await this.#within("session/set_config_option", () =>
        agent.request(methods.agent.session.setConfigOption, choice),
      );
    } catch (error) {
      throw typeof at(error, "code") === "number" ? new Found("model", `no model ${model}: ${reasonOf(error)}`) : error;
    }
  }

  #answer(asked: Asked) {
    const { allowed, answer } = permit(asked, this.#request);
    const { title, kind } = asked.toolCall;
    this.#emit({
      type: "question",
      text: `may it ${title ?? kind ?? "use a tool"}?`,
      answer: allowed ? "allowed" : "refused",
    });
    return answer;
  }

  #fail(error: unknown): void {
    const transcript = this.#transcript;
    if (transcript.givenUp) return;
    const isGone = this.#connection.signal.aborted && typeof at(error, "code") !== "number";
    transcript.error = isGone ? goneWith(this.#agent.complaint(), error) : reasonOf(error);
    transcript.trouble = troubleIn(error, transcript.error);
  }

  /** The agent would wait for another turn; there is none. */
  async #finish(): Promise<SessionEnd> {
    const exit = await this.#agent.child.stop();
    this.#connection.close();
    const isOurs = this.#cancelled || this.#request.signal?.aborted === true;
    // We end the process ourselves after its turn; only a limit or a signal that came first is the session's end.
    const isOver = exit.reason === "stopped" || exit.reason === "exited";
    const code = this.#transcript.turnEnded ? 0 : exit.code;
    const shown = isOver ? { ...exit, code, reason: isOurs ? ("stopped" as const) : ("exited" as const) } : exit;
    return { ...sessionEnd(this.#transcript, shown, this.#agent.complaint()), exit };
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

/** What we found out ourselves, and what it is about; null when that is no trouble of the kinds that pass. */
class Found extends Error {
  readonly trouble: Trouble | null;

  constructor(kind: TroubleKind | null, message: string) {
    super(message);
    this.trouble = kind === null ? null : { kind };
  }
}

/** By the protocol's own code first, then by the agent's words. Without an answer to read it is the way there. */
function troubleIn(error: unknown, words: string): Trouble | null {
  if (error instanceof Found) return error.trouble;
  const code = at(error, "code");
  if (code === AUTH_REQUIRED) return { kind: "login" };
  const status = at(error, "data", "statusCode") ?? at(error, "data", "status");
  const known = troubleOf({ words, status: typeof status === "number" ? status : undefined });
  const isUnreadable = typeof code !== "number" || (code === INVALID_REQUEST && at(error, "data", "id") !== undefined);
  return known ?? (isUnreadable ? { kind: "transport" } : null);
}

/** That the connection is closed says little; what it wrote last may say why. */
const goneWith = (complaint: string, error: unknown): string =>
  `it went away: ${complaint === "" ? reasonOf(error) : complaint}`;

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const data = at(error, "data");
  const details = text(data) || text(at(data, "details")) || text(at(data, "message"));
  return (details === "" || details === message ? message : `${message}: ${details}`).slice(0, 500);
}
