// A run as a trajectory in Harbor's interchange format (ATIF). Every agent session is what it was told, then what it did;
// which session a step is of stands in its `extra`.
import type { JournalRecord } from "../schema/journal.js";
import type { LogLine, TraceInput } from "./trace.js";

export const ATIF_VERSION = "ATIF-v1.7";

export interface TrajectoryInput extends TraceInput {
  /** What an agent was told to do. */
  readonly promptOf: (agent: string) => string;
  /** Of the program. */
  readonly version: string;
}

export function trajectory(input: TrajectoryInput) {
  const { run, driver, model, version, records, title, requestId } = input;
  const ended = records.filter((record) => record.type === "agent_ended");
  const steps = ended.flatMap((end) => stepsOf(input, end)).map((step, at) => ({ step_id: at + 1, ...step }));
  const tokens = ended.reduce((sum, { usage }) => sum + usage.tokens, 0);
  const cost = ended.reduce((sum, { usage }) => sum + usage.costUsd, 0);
  const accepted = records.findLast((record) => record.type === "accepted");
  const delivered = records.findLast((record) => record.type === "delivered");
  return {
    schema_version: ATIF_VERSION,
    session_id: run,
    agent: {
      name: `nexus/${driver}`,
      version,
      ...(model === undefined ? {} : { model_name: model }),
    },
    steps,
    notes: "Steps are as they were seen from outside: arguments and results of tools are not kept.",
    final_metrics: {
      ...(cost > 0 ? { total_cost_usd: cost } : {}),
      total_steps: steps.length,
      extra: { total_tokens: tokens },
    },
    extra: {
      request_id: requestId,
      title,
      outcome: delivered?.status ?? null,
      criteria: (accepted?.report.results ?? []).map(({ id, status, evidence }) => ({
        id,
        status,
        ...(evidence === undefined ? {} : { evidence }),
      })),
    },
  };
}

type Ended = Extract<JournalRecord, { type: "agent_ended" }>;

function stepsOf({ records, logOf, promptOf, content }: TrajectoryInput, end: Ended) {
  const start = records.findLast(
    (record) => record.type === "agent_started" && record.agent === end.agent && record.at <= end.at,
  );
  const extra = { agent: end.agent, task: end.task, outcome: end.outcome };
  const within = (line: LogLine) => start !== undefined && line.at >= start.at && line.at <= end.at;
  const told = { source: "user" as const, message: content ? promptOf(end.agent) : hidden };
  const done = logOf(end.agent).flatMap((line, at) =>
    within(line) ? stepOf(line, `${end.agent}-${at + 1}`, content) : [],
  );
  const last = {
    timestamp: end.at,
    source: "agent" as const,
    message: content ? end.text : hidden,
    ...(end.usage.costUsd > 0 ? { metrics: { cost_usd: end.usage.costUsd } } : {}),
    extra: { ...extra, tokens: end.usage.tokens, files_changed: end.changes.length },
  };
  return [{ timestamp: start?.at ?? end.at, ...told, extra }, ...done.map((step) => ({ ...step, extra })), last];
}

const hidden = "(left out; --content puts it in)";

function stepOf(line: LogLine, id: string, content: boolean) {
  const base = { timestamp: line.at, source: "agent" as const };
  if (line.type === "message") return [{ ...base, message: content ? (line.text ?? "") : hidden }];
  if (line.type !== "tool") return [];
  return [
    {
      ...base,
      message: "",
      tool_calls: [{ tool_call_id: id, function_name: line.name ?? "tool", arguments: {} }],
      observation: { results: [{ source_call_id: id, content: line.ok === false ? "failed" : "finished" }] },
    },
  ];
}
