// A host's payload in, the host's answer out. The gate takes a short way of its own; everything else is loaded when asked.
import { gate } from "../events/index.js";
import { ALL_SETTINGS, type Answer, asksForGate, type Host, NOTHING, PayloadError, toolNames } from "../hosts/index.js";
import type { LifecycleEvent, PreToolUse, Verdict } from "../schema/events.js";
import { recordDenial } from "../session/denials.js";
import { gateFacts } from "../session/gate-facts.js";
import type { ProcessMark } from "../session/sessions.js";

export interface HookSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
  readonly process: () => ProcessMark | null;
  /** What the host's configuration says this hook is for, in case the payload cannot be read. */
  readonly hint?: string | undefined;
}

/** Never throws. Exit 2 only where a gate was asked for and could not be decided. */
export async function answerHook(host: Host, raw: Uint8Array | null, around: HookSurroundings): Promise<Answer> {
  let payload: unknown;
  try {
    payload = parse(raw);
    const events = host.decode(payload);
    const verdicts: Verdict[] = [];
    for (const event of events) verdicts.push(await verdictOf(event, host, around));
    return host.answer(payload, verdicts);
  } catch (error) {
    return undecided(host, payload, error, around.hint);
  }
}

/** For a host that runs us in its own process. Throws when it cannot decide; the caller denies. */
export async function judge(
  event: PreToolUse,
  host: Host,
  { env, now }: Pick<HookSurroundings, "env" | "now">,
): Promise<Verdict> {
  const around = { cwd: event.cwd, env, harnessId: host.harnessId };
  const verdict = gate(event, await gateFacts({ ...around, settings: ALL_SETTINGS }));
  if (verdict.reason !== null) recordDenial(event, verdict.reason, { ...around, now: now() });
  return verdict;
}

async function verdictOf(event: LifecycleEvent, host: Host, around: HookSurroundings): Promise<Verdict> {
  if (event.type === "pre_tool_use") return judge(event, host, around);
  const { fire } = await import("../session/full.js");
  return fire(event, {
    cwd: event.cwd,
    env: around.env,
    now: around.now,
    process: around.process(),
    host: {
      harnessId: host.harnessId,
      toolNames: toolNames(host),
      docs: host.docs,
      settings: ALL_SETTINGS,
      canResume: host.canResume,
    },
  });
}

function parse(raw: Uint8Array | null): unknown {
  if (raw === null) throw new PayloadError("the payload did not come in time, or is too large");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
  } catch (cause) {
    throw new PayloadError("the payload is not JSON", { cause });
  }
}

function undecided(host: Host, payload: unknown, error: unknown, hint: string | undefined): Answer {
  const said = error instanceof Error ? error.message : String(error);
  const line = `nexus: ${error instanceof PayloadError ? said : `could not decide: ${said}`}`
    .replace(/\s+/g, " ")
    .slice(0, 500);
  const gates = host.name === "opencode" ? isGateNote(payload) : asksForGate(payload);
  const known = payload === undefined && hint !== undefined ? hint === "PreToolUse" : gates;
  if (known) return { stdout: "", stderr: `${line}; denied\n`, exit: 2 };
  return host.name === "opencode"
    ? { ...NOTHING, stderr: `${line}\n` }
    : { ...NOTHING, stdout: JSON.stringify({ systemMessage: line }) };
}

function isGateNote(payload: unknown): boolean {
  if (typeof payload !== "object" || payload === null) return true;
  const { hook } = payload as { hook?: unknown };
  return typeof hook !== "string" || hook === "tool.execute.before";
}
