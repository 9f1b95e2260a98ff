// An agent at work: its events are logged, counted and passed on, and a breaker ends it when its signs say so.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentUsage } from "../../schema/journal.js";
import { type Run, record, spentSoFar } from "../run.js";
import type { AgentEvent, AgentOutcome, AgentRequest, AgentRunner } from "./agent.js";
import { toolUse } from "./agent-events.js";
import { type AgentSigns, agentBreaker, nextDeadline, runBreaker } from "./breakers.js";

/** A session from its start to its end, as far as it can be seen from outside. */
export interface WatchedSession extends AgentOutcome {
  readonly usage: AgentUsage;
  readonly tools: readonly string[];
  readonly ms: number;
  /** By the run's clock: since when its program had been trying again by itself when it ended; null when it had not. */
  readonly waitedFromMs: number | null;
}

/** Runs one session to its end. */
export async function watchAgent(run: Run, runner: AgentRunner, request: AgentRequest): Promise<WatchedSession> {
  const watch = new Watch(run, request);
  const stopped: AgentOutcome = { outcome: "stopped", text: "" };
  watch.check();
  try {
    // Halted before it began: nothing is started that would only be stopped.
    if (run.halt.signal.aborted) return watch.end(stopped);
    return watch.end(await runner.run(request, (event) => watch.hear(event)));
  } catch (error) {
    if (run.halt.signal.aborted) return watch.end(stopped);
    throw error;
  } finally {
    watch.close();
  }
}

/** Signs that its vendor answers. */
const WORK: ReadonlySet<AgentEvent["type"]> = new Set(["message", "tool", "file"]);

class Watch {
  readonly #run: Run;
  readonly #request: AgentRequest;
  readonly #tools = new Set<string>();
  #signs: AgentSigns;
  #lastKey = "";
  #usage: AgentUsage = { tokens: 0, costUsd: 0 };
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;
  #waitingFromMs: number | null = null;

  constructor(run: Run, request: AgentRequest) {
    this.#run = run;
    this.#request = request;
    const startedMs = this.#nowMs();
    this.#signs = { startedMs, lastEventMs: startedMs, repeats: 0, lastCall: "" };
  }

  /** Trips a breaker, or comes back when the next one could trip. */
  check(): void {
    clearTimeout(this.#timer);
    const { halt, budget } = this.#run;
    if (halt.signal.aborted) return;
    const spent = spentSoFar(this.#run);
    const trip = agentBreaker(this.#signs, this.#nowMs(), budget) ?? runBreaker(spent, budget);
    if (trip !== null) halt.abort({ ...trip, agent: this.#request.agent });
    else this.#timer = setTimeout(() => this.check(), nextDeadline(this.#signs, spent, this.#nowMs(), budget));
  }

  hear(told: AgentEvent): void {
    // Whatever comes after the end is nobody's.
    if (!this.#isOpen) return;
    const { agent } = this.#request;
    const { context, folder, live, secrets } = this.#run;
    // Nothing an agent tells goes anywhere before its secrets are out.
    const event = JSON.parse(secrets.scrub(JSON.stringify(told))) as AgentEvent;
    const line = JSON.stringify({ at: context.now().toISOString(), ...event });
    appendFileSync(join(folder.agents, agent, "log.jsonl"), `${line}\n`);
    this.#signs = { ...this.#signs, lastEventMs: this.#nowMs() };
    if (event.type === "waiting") this.#waitingFromMs ??= this.#nowMs();
    if (WORK.has(event.type)) this.#waitingFromMs = null;
    if (event.type === "session") record(this.#run, { ...event, type: "agent_session", agent, session: event.id });
    if (event.type === "tool") this.#hearTool(event);
    if (event.type === "usage") {
      this.#usage = this.#own(event);
      live.set(agent, this.#usage);
      context.progress({ type: "agent_usage", agent, tokens: this.#usage.tokens, cost_usd: this.#usage.costUsd });
    } else if (event.type === "waiting") {
      const message = `${agent}: its program is kept from its work (${event.message})`;
      context.progress({ type: "agent_waiting", agent, why: event.why, message });
    } else if (event.type !== "message") context.progress({ ...event, agent, type: `agent_${event.type}` });
    this.check();
  }

  end(outcome: AgentOutcome): WatchedSession {
    const ms = this.#nowMs() - this.#signs.startedMs;
    return { ...outcome, usage: this.#usage, tools: [...this.#tools], ms, waitedFromMs: this.#waitingFromMs };
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  /** What this agent used itself: a session that goes on may count what others used in it before. */
  #own({ tokens, costUsd, wholeSession = [] }: Extract<AgentEvent, { type: "usage" }>): AgentUsage {
    const { resume } = this.#request;
    const before = { tokens: 0, costUsd: 0 };
    for (const { session, end } of resume === undefined ? [] : this.#run.state.agents.values()) {
      if (session !== resume || end === undefined) continue;
      before.tokens += end.usage.tokens;
      before.costUsd += end.usage.costUsd;
    }
    return {
      tokens: wholeSession.includes("tokens") ? Math.max(0, tokens - before.tokens) : tokens,
      costUsd: wholeSession.includes("cost") ? Math.max(0, costUsd - before.costUsd) : costUsd,
    };
  }

  #hearTool({ name, key, path, ok = true }: Extract<AgentEvent, { type: "tool" }>): void {
    const { agent, role } = this.#request;
    this.#tools.add(name);
    const repeats = key === this.#lastKey ? this.#signs.repeats + 1 : 1;
    this.#signs = { ...this.#signs, repeats, lastCall: name };
    this.#lastKey = key;
    const caller = { agentId: agent, agentName: role };
    void this.#run.events.fire({ type: "post_tool_use", caller, tool: toolUse(name, path), ok });
  }

  #nowMs(): number {
    return this.#run.clock();
  }
}
