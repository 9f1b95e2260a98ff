// Several deliveries as one. It never claims more than its weakest part: the worst status wins everywhere.
import type { Delivery } from "../../schema/delivery.js";

const STATUS_ORDER = ["completed", "partial", "blocked", "failed"] as const;
const RESULT_ORDER = ["passed", "skipped", "unknown", "failed"] as const;

/** The task the parts were taken from. */
export interface Whole {
  readonly had: (path: string) => boolean;
  readonly digest: string | undefined;
}

const ARTIFACTS = "delivery/artifacts/";

/** The path in the tree that an artifact stands for. */
export const bare = (path: string): string => (path.startsWith(ARTIFACTS) ? path.slice(ARTIFACTS.length) : path);

export function mergeDeliveries(deliveries: readonly Delivery[], whole: Whole | null = null): Delivery {
  const total = (numbers: readonly (number | undefined)[]) =>
    numbers.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const lists = <T>(pick: (delivery: Delivery) => readonly T[] | undefined) =>
    deliveries.flatMap((each) => pick(each) ?? []);
  const tests = deliveries.map((each) => each.acceptance_results);
  const summaries = deliveries.flatMap(({ summary }) => summary ?? []);
  const status = worst(
    deliveries.map((each) => each.status),
    STATUS_ORDER,
  );
  return {
    status,
    ...percentage(status, deliveries),
    ...(summaries.length > 0 ? { summary: summaries.join("\n") } : {}),
    deliverer: {
      name: [...new Set(deliveries.flatMap(({ deliverer }) => deliverer?.name ?? []))].join(", ") || "unknown",
      sessions_used: total(deliveries.map(({ deliverer }) => deliverer?.sessions_used)),
      total_tokens: total(deliveries.map(({ deliverer }) => deliverer?.total_tokens)),
    },
    artifacts: mergeArtifacts(deliveries, whole),
    acceptance_results: {
      tests_passed: total(tests.map((each) => each?.tests_passed)),
      tests_failed: total(tests.map((each) => each?.tests_failed)),
      tests_skipped: total(tests.map((each) => each?.tests_skipped)),
      tests_for_person: total(tests.map((each) => each?.tests_for_person)),
      checklist: worstByKey(
        lists((each) => each.acceptance_results?.checklist),
        "item",
      ),
      // What was proven of a part is on record, and is not proof of the whole.
      criteria: worstByKey(
        lists((each) => each.acceptance_results?.criteria),
        "id",
      ).map((row) => (row.evidence === "proven" ? { ...row, evidence: "recorded" as const } : row)),
    },
    execution_log: {
      checkpoints: lists((each) => each.execution_log?.checkpoints),
      decisions: lists((each) => each.execution_log?.decisions),
      issues_encountered: lists((each) => each.execution_log?.issues_encountered),
      credentials_used: lists((each) => each.execution_log?.credentials_used),
    },
    ...(whole?.digest === undefined ? {} : { digests: { request: whole.digest } }),
  };
}

/** What a part does not tell nobody knows, and what is not completed is not all of it. */
function percentage(status: Delivery["status"], deliveries: readonly Delivery[]): { completion_percentage?: number } {
  const all = deliveries.map((each) => each.completion_percentage ?? (each.status === "completed" ? 100 : null));
  const told = all.filter((each) => each !== null);
  if (told.length < all.length) return {};
  return { completion_percentage: Math.min(status === "completed" ? 100 : 99, ...told) };
}

type Artifacts = NonNullable<Delivery["artifacts"]>;

/** A file is created or modified, never both: what the whole already had was modified, whichever part made it. */
function mergeArtifacts(deliveries: readonly Delivery[], whole: Whole | null): Artifacts {
  const lists = deliveries.map(({ artifacts }) => artifacts ?? {});
  const created = lists.flatMap(({ files_created }) => files_created ?? []);
  const modified = lists.flatMap(({ files_modified }) => files_modified ?? []);
  const changed = new Set(modified.map(({ path }) => bare(path)));
  const existed = (path: string) => (whole === null ? changed.has(bare(path)) : whole.had(bare(path)));
  const links = byKey(
    lists.flatMap((each) => each.links ?? []),
    "path",
  );
  const folders = byKey(
    lists.flatMap((each) => each.folders ?? []),
    "path",
  );
  const all = [...created, ...modified];
  return {
    files_created: byKey(
      all.filter(({ path }) => !existed(path)),
      "path",
    ),
    files_modified: byKey(
      all.filter(({ path }) => existed(path)),
      "path",
    ),
    files_deleted: byKey(
      lists.flatMap(({ files_deleted }) => files_deleted ?? []),
      "path",
    ),
    ...(links.length === 0 ? {} : { links }),
    ...(folders.length === 0 ? {} : { folders }),
  };
}

function worst<T extends string>(values: readonly T[], order: readonly T[]): T {
  return order[Math.max(...values.map((value) => order.indexOf(value)))]!;
}

function byKey<K extends string, T extends Readonly<Record<K, string>>>(rows: readonly T[], key: K): T[] {
  return [...new Map(rows.map((row) => [row[key], row])).values()];
}

type Result = (typeof RESULT_ORDER)[number];

function worstByKey<K extends string, T extends Readonly<Record<K, string>> & { readonly status: Result }>(
  rows: readonly T[],
  key: K,
): T[] {
  const worstRows = new Map<string, T>();
  for (const row of rows) {
    const before = worstRows.get(row[key]);
    if (before === undefined || RESULT_ORDER.indexOf(row.status) > RESULT_ORDER.indexOf(before.status)) {
      worstRows.set(row[key], row);
    }
  }
  return [...worstRows.values()];
}
