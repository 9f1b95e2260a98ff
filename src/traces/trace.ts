// A run as spans: one for the whole, one for every agent, one for every tool it called and every message of its model. Pure:
// what the journal and the agents' logs say goes in. Ids follow from the run's, so a part that was sent while the run was at
// work and the same part exported later are one span.
import { createHash } from "node:crypto";
import type { JournalRecord } from "../schema/journal.js";

/** One line of an agent's log, as far as it is understood here. */
export interface LogLine {
  readonly at: string;
  readonly type: string;
  readonly name?: string;
  readonly text?: string;
  readonly ok?: boolean;
  readonly path?: string;
}

export interface TraceInput {
  readonly run: string;
  readonly title: string;
  readonly requestId: string;
  readonly driver: string;
  readonly model?: string;
  readonly records: readonly JournalRecord[];
  readonly logOf: (agent: string) => readonly LogLine[];
  /** What agents and models said goes along: it may hold anything that was in the work. */
  readonly content: boolean;
}

export type Value = string | number | boolean;

export interface SpanEvent {
  readonly at: number;
  readonly name: string;
  readonly attributes: Readonly<Record<string, Value>>;
}

export interface Span {
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly events: readonly SpanEvent[];
  /** One word, when it went wrong. */
  readonly error?: string;
}

export const traceId = (run: string): string => digest(`trace ${run}`).slice(0, 32);
const spanId = (...parts: readonly (string | number)[]): string => digest(["span", ...parts].join("\0")).slice(0, 16);
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

type RecordOf<Type extends JournalRecord["type"]> = Extract<JournalRecord, { type: Type }>;
const all = <Type extends JournalRecord["type"]>(records: readonly JournalRecord[], type: Type) =>
  records.filter((record): record is RecordOf<Type> => record.type === type);

/** Every span that has come to its end; the run's own only when the run has. */
export function spansOf(input: TraceInput): Span[] {
  const { records, run } = input;
  const root = spanId(run);
  const ended = all(records, "agent_ended");
  // A name is used again when a run was killed: the latest start before an end is the one that ended.
  const agents = ended.flatMap((end, at) => {
    const start = all(records, "agent_started").findLast(
      ({ agent, at: when }) => agent === end.agent && Date.parse(when) <= Date.parse(end.at),
    );
    return start === undefined ? [] : agentSpans(input, root, { start, end, at });
  });
  return [...rootSpan(input, root), ...agents];
}

function rootSpan({ records, run, title, requestId, content }: TraceInput, id: string): Span[] {
  const [created] = all(records, "created");
  const delivered = all(records, "delivered").at(-1);
  const paused = all(records, "paused").at(-1);
  const last = records.at(-1);
  const stopped = last?.type === "paused" ? paused : undefined;
  if (created === undefined || last === undefined || (delivered === undefined && stopped === undefined)) return [];
  const accepted = all(records, "accepted").at(-1);
  const outcome = delivered?.status ?? "paused";
  return [
    {
      id,
      name: "invoke_workflow nexus run",
      start: Date.parse(created.at),
      end: Date.parse(last.at),
      attributes: {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "nexus run",
        "nutcracker.run.id": run,
        "nutcracker.request.id": requestId,
        ...(content ? { "nutcracker.request.title": title } : {}),
        "nutcracker.outcome": outcome,
        ...(stopped === undefined ? {} : { "nutcracker.paused.reason": stopped.reason }),
      },
      events: (accepted?.report.results ?? []).map((result) => ({
        at: Date.parse(accepted!.at),
        name: "gen_ai.evaluation.result",
        attributes: {
          "gen_ai.evaluation.name": result.id,
          "gen_ai.evaluation.score.label": result.status,
          ...(result.evidence === undefined ? {} : { "nutcracker.evidence": result.evidence }),
          ...(content && result.reason !== undefined ? { "gen_ai.evaluation.explanation": result.reason } : {}),
        },
      })),
      ...(outcome === "failed" ? { error: "failed" } : {}),
    },
  ];
}

interface Session {
  readonly start: RecordOf<"agent_started">;
  readonly end: RecordOf<"agent_ended">;
  /** Which of the run's sessions. */
  readonly at: number;
}

function agentSpans(input: TraceInput, parent: string, { start, end, at }: Session): Span[] {
  const { run, records, driver } = input;
  const id = spanId(run, end.agent, at);
  const session = all(records, "agent_session").findLast(({ agent }) => agent === end.agent);
  const model = session?.model ?? input.model;
  const provider = providerOf(driver);
  const span: Span = {
    id,
    parent,
    name: `invoke_agent ${start.role}`,
    start: Date.parse(start.at),
    end: Date.parse(end.at),
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": provider,
      "gen_ai.agent.id": `${run}/${end.agent}`,
      "gen_ai.agent.name": start.role,
      ...(session === undefined ? {} : { "gen_ai.conversation.id": session.session }),
      ...(model === undefined ? {} : { "gen_ai.request.model": model }),
      "nutcracker.driver": driver,
      "nutcracker.task.id": end.task,
      "nutcracker.purpose": start.purpose,
      "nutcracker.outcome": end.outcome,
      // Programs tell input and output together, or one of them not at all: only the sum is known to be right.
      "nutcracker.usage.total_tokens": end.usage.tokens,
      "nutcracker.usage.cost_usd": end.usage.costUsd,
      "nutcracker.files_changed": end.changes.length,
    },
    events: [],
    ...(end.outcome === "failed" ? { error: end.trouble?.kind ?? "failed" } : {}),
  };
  return [span, ...stepSpans(input, span, { provider, model, agent: end.agent })];
}

interface Steps {
  readonly provider: string;
  readonly model: string | undefined;
  readonly agent: string;
}

/** Programs are watched from outside: a step is known when it is over, and began at the earliest after the one before. */
function stepSpans({ run, logOf, content }: TraceInput, parent: Span, { provider, model, agent }: Steps): Span[] {
  const spans: Span[] = [];
  let before = parent.start;
  for (const [at, line] of logOf(agent).entries()) {
    const when = Date.parse(line.at);
    // A name that was used again after a kill has older lines in its log.
    if (when < parent.start || when > parent.end) continue;
    const base = { id: spanId(run, parent.id, at), parent: parent.id, start: before, end: when, events: [] };
    if (line.type === "tool") {
      const name = line.name ?? "tool";
      spans.push({
        ...base,
        name: `execute_tool ${name}`,
        attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name },
        ...(line.ok === false ? { error: "tool_error" } : {}),
      });
    }
    if (line.type === "message") {
      const said = JSON.stringify([{ role: "assistant", parts: [{ type: "text", content: line.text ?? "" }] }]);
      spans.push({
        ...base,
        name: model === undefined ? "chat" : `chat ${model}`,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": provider,
          ...(model === undefined ? {} : { "gen_ai.request.model": model }),
          ...(content ? { "gen_ai.output.messages": said } : {}),
        },
      });
    }
    before = when;
  }
  return spans;
}

/** The conventions' own names where they have one. */
const PROVIDERS: Readonly<Record<string, string>> = { codex: "openai", claude: "anthropic" };
export const providerOf = (driver: string): string => PROVIDERS[driver] ?? driver;
