// Criteria and checklist items, each with the result a delivery gives for it.
import { shellWord } from "../../errors.js";
import { tellingLine } from "../log-lines.js";
import { type Counts, verdictOf } from "../verdict.js";
import type { ChecklistRow, CriterionRow, CriterionState, DeliveryFacts, EndpointRow, TimelineRow } from "./model.js";
import { facts, type Loose, line, list, number, object, text } from "./safe-text.js";

/** `tail`: the end of a log inside the bundle. */
export function criteriaRows(criteria: Loose, results: Loose, tail: (log: string) => string): CriterionRow[] {
  const byId = new Map(list(results.criteria).map((row) => [text(object(row).id, 200), object(row)]));
  const asked = list(criteria.criteria).map(object);
  const rows = asked.map((criterion) => criterionRow(criterion, byId.get(text(criterion.id, 200)), tail));
  const known = new Set(rows.map(({ id }) => id));
  const extra = [...byId].filter(([id]) => !known.has(id)).map(([, result]) => criterionRow(result, result, tail));
  return [...rows, ...extra];
}

function criterionRow(criterion: Loose, result: Loose | undefined, tail: (log: string) => string): CriterionRow {
  const log = text(result?.log, 1_024);
  const how = [criterion.script, criterion.command, criterion.endpoint, criterion.query].map((value) =>
    text(value, 500),
  );
  return {
    id: text(criterion.id, 200),
    description: text(criterion.description, 2_000),
    type: text(criterion.type, 60),
    how: how.find((value) => value !== "") ?? "",
    expected: criterion.expected === undefined ? "" : line(criterion.expected),
    verdict: result === undefined ? "open" : statusWord(result.status),
    evidence: text(result?.evidence, 40),
    note: text(result?.reason, 2_000),
    log,
    tail: result?.status === "failed" ? tail(log) : "",
    provesNothing: result?.proves_nothing === true,
    weakness: text(result?.weakness, 40),
    before: text(result?.before, 40),
    after: text(result?.after, 40),
    durationMs: number(result?.duration_ms),
    judgedBy: text(result?.judged_by, 200),
  };
}

/** What the request asks for; what the delivery answered beyond it is added, never dropped. */
export function checklistRows(items: readonly string[], results: Loose): ChecklistRow[] {
  const answers = list(results.checklist).map(object);
  const answered = new Map(answers.map((row) => [text(row.item), row]));
  const all = [...new Set([...items, ...answered.keys()])].filter((item) => item !== "");
  return all.map((item) => {
    const row = answered.get(item);
    return {
      item,
      verdict: row === undefined ? "open" : statusWord(row.status),
      evidence: text(row?.evidence, 40),
      note: text(row?.note, 2_000),
      judgedBy: text(row?.judged_by, 200),
    };
  });
}

function statusWord(status: unknown): CriterionState {
  return status === "passed" || status === "failed" || status === "skipped" ? status : "unknown";
}

export function endpointRows(document: Loose): EndpointRow[] {
  return list(document.endpoints)
    .map(object)
    .map((row) => ({
      method: text(row.method, 20).toUpperCase(),
      path: text(row.path, 500),
      description: text(row.description, 1_000),
      params: facts(Object.entries(object(row.params)).slice(0, 50)),
      bodySchema: text(row.body_schema, 500),
      responseSchema: text(row.response_schema, 500),
    }));
}

interface Answered {
  readonly manifest: Loose;
  readonly result: Loose;
  readonly criteria: readonly CriterionRow[];
  readonly checklist: readonly ChecklistRow[];
  readonly path: string;
}

/** A delivery's facts from delivery/result.json, or from the manifest where that says them. */
export function deliveryFacts({ manifest, result, criteria, checklist, path }: Answered): DeliveryFacts {
  const said = (field: string): unknown => result[field] ?? manifest[field];
  const log = object(said("execution_log"));
  const results = object(said("acceptance_results"));
  const deliverer = object(said("deliverer"));
  const status = text(said("status"), 40);
  const answered = criteria.filter(({ verdict }) => verdict !== "open");
  const logs = new Map(answered.map(({ id, tail }) => [id, tail]));
  return {
    status,
    summary: text(said("summary")),
    judgedSince: judgedAfter(results, text(said("completed_at"), 40)),
    percentage: shareOf(status, number(said("completion_percentage"))),
    completedAt: text(said("completed_at"), 40),
    deliverer: facts([
      ["by", deliverer.name],
      ["model", deliverer.model],
      ["version", deliverer.version],
      ["sessions", deliverer.sessions_used],
      ["tokens", number(deliverer.total_tokens)?.toLocaleString("en-US")],
    ]),
    strategy: text(log.strategy_used, 100),
    verdict: verdictOf({
      word: status || "without a status",
      criteria: answered.map((row) => ({ ...row, status: row.verdict, reason: row.note })),
      checklist: checklist.map(({ verdict }) => ({ status: verdict })),
      claimed: claimedCounts(results),
      hidden: number(results.tests_hidden) ?? 0,
      next: nextStep(status, [...answered, ...checklist], path),
      log: (id) => logs.get(id) ?? "",
      tellingLine,
    }),
    artifacts: artifactRows(object(said("artifacts"))),
    digests: facts(Object.entries(object(said("digests"))).slice(0, 10)),
    fullLog: text(log.full_log, 1_024),
  };
}

/** All of something that is not completed is no share anybody can mean. */
const shareOf = (status: string, percentage: number | null): number | null =>
  percentage === 100 && status !== "completed" ? null : percentage;

/** Who judged something after the summary was written. */
function judgedAfter(results: Loose, written: string): string[] {
  const rows = [...list(results.criteria), ...list(results.checklist)].map(object);
  const later = rows.filter(({ judged_at: at }) => Date.parse(text(at, 40)) > Date.parse(written));
  return [...new Set(later.map(({ judged_by: by }) => text(by, 200)))].filter((name) => name !== "");
}

/** What a delivery counts without naming its criteria. */
function claimedCounts(results: Loose): Counts | null {
  const names = ["tests_passed", "tests_failed", "tests_skipped", "tests_for_person", "tests_hidden"] as const;
  const counts = names.map((name) => number(results[name]));
  if (counts.every((count) => count === null)) return null;
  const [hold = 0, fail = 0, notRun = 0, person = 0, hidden = 0] = counts.map((count) => count ?? 0);
  return { hold, fail, notRun, person, hidden };
}

function nextStep(
  status: string,
  rows: readonly { readonly verdict: CriterionState }[],
  path: string,
): { words: string; command: string } {
  const [file, request] = [shellWord(path), "--request '<request>'"];
  const isOpen = rows.some(({ verdict }) => verdict === "unknown" || verdict === "open");
  if (status === "partial" && isOpen && !rows.some(({ verdict }) => verdict === "failed")) {
    const judge = `nutshell judge ${file} ${request} --all --status passed`;
    return { words: "A person judges the rest", command: `${judge} --by "your name" --why "what you looked at"` };
  }
  return { words: "Check it here", command: `nutshell verify ${file} ${request} --rerun` };
}

function artifactRows(artifacts: Loose): DeliveryFacts["artifacts"] {
  const rows = (value: unknown, change: "created" | "modified" | "deleted", lines: string) =>
    list(value)
      .map(object)
      .map((row) => ({ change, path: text(row.path, 1_024), lines: line(row[lines]) }));
  return [
    ...rows(artifacts.files_created, "created", "lines"),
    ...rows(artifacts.files_modified, "modified", "diff_lines"),
    ...rows(artifacts.files_deleted, "deleted", "lines"),
  ];
}

/** What happened, in order; what has no time of its own comes before the end. */
export function timelineRows(manifest: Loose, result: Loose): TimelineRow[] {
  const log = object(result.execution_log ?? manifest.execution_log);
  const rows: TimelineRow[] = [
    { at: text(manifest.created_at, 40), kind: "created", text: "bundle created", detail: "" },
    ...list(log.checkpoints).map((row): TimelineRow => {
      const { at, description } = object(row);
      return { at: text(at, 40), kind: "checkpoint", text: text(description, 2_000), detail: "" };
    }),
    ...list(log.decisions).map((row): TimelineRow => {
      const { at, decision, reason } = object(row);
      return { at: text(at, 40), kind: "decision", text: text(decision, 4_000), detail: text(reason, 4_000) };
    }),
    ...list(log.issues_encountered).map((row): TimelineRow => issueRow(row)),
    ...list(log.credentials_used).map((row): TimelineRow => {
      const { name, at, purpose } = typeof row === "string" ? { name: row } : (object(row) as Record<string, unknown>);
      return { at: text(at, 40), kind: "credential", text: `used ${text(name, 200)}`, detail: text(purpose, 500) };
    }),
    {
      at: text(result.completed_at ?? manifest.completed_at, 40),
      kind: "completed",
      text: text(result.status ?? manifest.status, 40),
      detail: "",
    },
  ];
  // A delivery is packed when the work is over: that it was created tells nothing.
  const isEmpty = ({ at, kind, text: said }: TimelineRow) =>
    said === "" ||
    (kind === "created" && (at === "" || manifest.bundle_type === "delivery")) ||
    (kind === "completed" && at === "");
  const end = Date.parse(rows.at(-1)!.at);
  return rows.filter((row) => !isEmpty(row)).sort((a, b) => timeOf(a, end) - timeOf(b, end));
}

function issueRow(row: unknown): TimelineRow {
  if (typeof row === "string") return { at: "", kind: "issue", text: text(row, 4_000), detail: "" };
  const { at, issue, message, description, resolution, ...rest } = object(row);
  const said = [issue, message, description].map((value) => text(value, 4_000)).find((value) => value !== "");
  return { at: text(at, 40), kind: "issue", text: said ?? line(rest), detail: text(resolution, 2_000) };
}

function timeOf({ at, kind }: TimelineRow, end: number): number {
  const time = Date.parse(at);
  if (!Number.isNaN(time)) return time;
  if (kind === "created") return Number.MIN_SAFE_INTEGER;
  return Number.isNaN(end) ? Number.MAX_SAFE_INTEGER : end - 1;
}

export function jsonOf(bytes: Uint8Array | undefined): Loose {
  if (bytes === undefined) return {};
  try {
    return object(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch {
    return {}; // The findings say what is wrong with it; here it only has nothing to show.
  }
}
