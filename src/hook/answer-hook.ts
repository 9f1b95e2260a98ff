// A host's payload in, the host's answer out. The gate takes a short way of its own; everything else is loaded when asked.
import { gate } from "../events/index.js";
import {
  allSettings,
  allWatched,
  asksForGate,
  type HookAnswer,
  type Host,
  PayloadError,
  toolNames,
} from "../hosts/index.js";
import type { LifecycleEvent, PreToolUse, Verdict } from "../schema/events.js";
import { agentsAtWork, gateFacts, lookoutAt } from "../session/gate-facts.js";
import { forgetFormer, projectOf, takeFormer } from "../session/lookout.js";
import type { HostFace, Surroundings } from "../session/surroundings.js";
import { recordDenial } from "../session/tool-log.js";

/** What a door knows of its surroundings before it has read an event. */
export type HookSurroundings = Omit<Surroundings, "cwd" | "host" | "looksOut">;

/**
 * Never throws. Exit 2 only where a gate was asked for and could not be decided. `hint` is the event the host's configuration
 * says this hook is for, in case the payload cannot be read.
 */
export async function answerHook(
  host: Host,
  raw: Uint8Array | null,
  around: HookSurroundings,
  hint?: string,
): Promise<HookAnswer> {
  let payload: unknown;
  try {
    payload = parse(raw);
    const verdicts: Verdict[] = [];
    for (const event of host.decode(payload)) {
      const verdict = await verdictOn(event, host, around);
      verdicts.push(verdict);
      // What would follow does not happen.
      if (verdict.outcome === "deny") break;
    }
    return host.answer(payload, verdicts);
  } catch (error) {
    const line = oneLine(error);
    const event = payload === undefined ? hint : host.eventOf(payload);
    return asksForGate(host, event) ? { stdout: "", stderr: `${line}; denied\n`, exit: 2 } : host.complain(line);
  }
}

/** Throws when it cannot be decided; the caller denies. */
export async function gateVerdict(event: PreToolUse, host: Host, given: HookSurroundings): Promise<Verdict> {
  const around = surroundings(event, host, given);
  const decision = gate(event, await gateFacts(around));
  if (decision.outcome === "deny") recordDenial(decision, around);
  return decision;
}

async function verdictOn(given: LifecycleEvent, host: Host, around: HookSurroundings): Promise<Verdict> {
  const event = host.namesCallers === false ? withCaller(given, host, around) : given;
  if (event.type === "pre_tool_use") {
    if (host.announcesResumed === false) await announceAgain(event, host, around);
    return gateVerdict(event, host, around);
  }
  const { fire } = await import("../session/full.js");
  const untold = await untoldBefore(event, host, around, fire);
  const verdict = await fire(event, surroundings(event, host, around));
  return {
    ...verdict,
    context: [...untold.flatMap(({ context }) => context), ...verdict.context],
    warnings: [...untold.flatMap(({ warnings }) => warnings), ...verdict.warnings],
  };
}

/** Where nobody says who calls, it is whoever is at work. Only one who is waited for can be: Lead does nothing meanwhile. */
function withCaller(event: LifecycleEvent, host: Host, around: HookSurroundings): LifecycleEvent {
  if ((event.type !== "pre_tool_use" && event.type !== "post_tool_use") || event.caller.agentId !== undefined)
    return event;
  const [first, ...others] = agentsAtWork(surroundings(event, host, around));
  if (first === undefined) return event;
  const { agentId, agentName } = first;
  return { ...event, caller: { agentId, agentName, beside: others.map((other) => other.agentName) } };
}

/** An agent that goes on after its end begins anew with the first call that may change something: it is held before that runs. */
async function announceAgain(
  { caller: { agentId }, tool, sessionId, cwd }: PreToolUse,
  host: Host,
  given: HookSurroundings,
): Promise<void> {
  if (agentId === undefined || tool.access === "read") return;
  const around = surroundings({ sessionId, cwd }, host, given);
  const lookout = lookoutAt(around);
  if (lookout === null) return;
  for (;;) {
    const former = takeFormer(lookout, agentId, sessionId);
    if (former === null) return;
    if (former !== "busy") {
      const { fire } = await import("../session/full.js");
      const { agentName } = former;
      await fire({ type: "subagent_spawn", agentId, agentName, sessionId, cwd }, around);
      return forgetFormer(lookout, agentId);
    }
    // Another call of it is at it; whoever waits too long is denied.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What a host that tells less would have told by now: that a session began, and that agents nobody waits for have ended. */
async function untoldBefore(
  event: LifecycleEvent,
  host: Host,
  around: HookSurroundings,
  fire: typeof import("../session/full.js").fire,
): Promise<Verdict[]> {
  const { sessionId, cwd } = event;
  const tell = (untold: LifecycleEvent) => fire(untold, surroundings(untold, host, around));
  const isMessage = event.type === "user_message";
  if (isMessage && host.announcesSessions === false && projectOf(sessionId, host.harnessId, around.env) === null)
    return [await tell({ type: "session_start", source: "startup", sessionId, cwd })];
  // Where a host says who goes on behind Lead's turn, whoever else is on record was stopped.
  const background = event.type === "turn_end" ? event.background : null;
  if (!(isMessage && host.namesCallers === false) && background === null) return [];
  const verdicts: Verdict[] = [];
  const atWork = agentsAtWork(surroundings(event, host, around));
  // Another session's are that one's to tell of.
  const isStopped = (agent: (typeof atWork)[number]) =>
    background === null || (agent.sessionId === sessionId && !background.includes(agent.agentId));
  for (const { agentId, agentName } of atWork.filter(isStopped))
    verdicts.push(await tell({ type: "subagent_complete", agentId, agentName, sessionId, cwd, interrupted: true }));
  return verdicts;
}

/** Agents may go anywhere; the project stays the one the session began in. */
function surroundings(
  { sessionId, cwd }: Pick<LifecycleEvent, "sessionId" | "cwd">,
  host: Host,
  given: HookSurroundings,
): Surroundings {
  const root = projectOf(sessionId, host.harnessId, given.env);
  const env = root === null ? given.env : { ...given.env, NEXUS_PROJECT_DIR: root };
  return { ...given, env, cwd, host: faceOf(host, env, cwd), looksOut: true };
}

function faceOf(host: Host, env: HookSurroundings["env"], cwd: string): HostFace {
  const { harnessId, docs, canResume, ownSandbox = false, rewrites = true } = host;
  return {
    harnessId,
    docs,
    canResume,
    ownSandbox,
    rewrites,
    toolNames: toolNames(host),
    settings: allSettings(env, cwd),
    watched: allWatched(env, cwd),
  };
}

function parse(raw: Uint8Array | null): unknown {
  if (raw === null) throw new PayloadError("the payload did not come in time, or is too large");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
  } catch (cause) {
    throw new PayloadError("the payload is not JSON", { cause });
  }
}

function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = error instanceof PayloadError ? message : `could not decide: ${message}`;
  return `nexus: ${line}`.replace(/\s+/g, " ").slice(0, 500);
}
