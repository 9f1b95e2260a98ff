// What is known of a corpus, as a table by language with every miss explained.
import type { CorpusTask } from "./find-tasks.js";
import type { CorpusRow } from "./rows.js";

export interface CorpusReport {
  readonly text: readonly string[];
  readonly data: {
    readonly languages: readonly LanguageRow[];
    readonly misses: readonly Miss[];
    readonly unlike: readonly string[];
  };
  readonly bad: boolean;
}

interface LanguageRow {
  readonly language: string;
  readonly tasks: number;
  readonly tried: number;
  readonly completed: number;
  readonly proves_nothing: number;
  readonly other: number;
  readonly noop_tried: number;
  readonly noop_completed: number;
  readonly plain_tried: number;
  /** Passes with the example and fails without, by its own runner. */
  readonly plain_tells: number;
  /** Median over tasks of our processor time by the plain runner's: other work on the machine does not show in it. */
  readonly overhead: number | null;
  readonly plain_cpu_ms: number | null;
  readonly accept_cpu_ms: number | null;
}

interface Miss {
  readonly task: string;
  readonly verdict: string;
  readonly why: string;
}

export function reportOf(tasks: readonly CorpusTask[], rows: readonly CorpusRow[]): CorpusReport {
  const first = rows.filter(({ run }) => run === "1");
  const languages = [...new Set(first.map(({ language }) => language))].sort();
  const table = languages.map((language) =>
    languageRow(
      language,
      first.filter((row) => row.language === language),
    ),
  );
  const total = sum(table);
  const misses = first
    .filter(({ mode, verdict }) => mode === "oracle" && verdict !== "completed")
    .map((row) => missOf(row, first));
  const unlike = unlikeVerdicts(rows);
  const fooled = first
    .filter(({ mode, verdict }) => mode === "noop" && verdict === "completed")
    .map(({ task }) => task);
  const text = [
    "| language | tasks | oracle completed | proves nothing | other | no-op completed | plain runner tells | plain cpu s | accept cpu s | ratio |",
    "|---|---|---|---|---|---|---|---|---|---|",
    ...[...table, total].map(tableLine),
    "",
    `${tasks.length} tasks in the folder, ${new Set(first.map(({ task }) => task)).size} tried`,
    ...(misses.length === 0 ? [] : ["", "Not completed:"]),
    ...misses.map(({ task, verdict, why }) => `- ${task}: ${verdict}; ${why}`),
    ...fooled.map((task) => `- ${task}: doing nothing was completed`),
    "",
    comparedWords(rows, unlike),
  ];
  return { text, data: { languages: [...table, total], misses, unlike }, bad: fooled.length > 0 || unlike.length > 0 };
}

const median = (values: readonly number[]): number | null => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.floor((sorted.length - 1) / 2)]!;
};

function languageRow(language: string, rows: readonly CorpusRow[]): LanguageRow {
  const of = (mode: CorpusRow["mode"]) => rows.filter((row) => row.mode === mode);
  const oracle = of("oracle");
  const noop = of("noop");
  const plain = new Map(of("plain").map((row) => [row.task, row]));
  const completed = oracle.filter(({ verdict }) => verdict === "completed");
  const nothing = oracle.filter(({ verdict }) => verdict === "proves nothing").length;
  const timed = completed.flatMap(({ task, cpu_ms: ours }) => {
    const { verdict, cpu_ms: theirs } = plain.get(task) ?? {};
    return verdict === "passes" && ours !== null && theirs ? [{ ours, theirs }] : [];
  });
  return {
    language,
    tasks: new Set(rows.map(({ task }) => task)).size,
    tried: oracle.length,
    completed: completed.length,
    proves_nothing: nothing,
    other: oracle.length - completed.length - nothing,
    noop_tried: noop.length,
    noop_completed: noop.filter(({ verdict }) => verdict === "completed").length,
    plain_tried: plain.size,
    plain_tells: [...plain.values()].filter(({ verdict }) => verdict === "passes").length,
    overhead: median(timed.map(({ ours, theirs }) => ours / theirs)),
    plain_cpu_ms: median(timed.map(({ theirs }) => theirs)),
    accept_cpu_ms: median(timed.map(({ ours }) => ours)),
  };
}

function sum(table: readonly LanguageRow[]): LanguageRow {
  const add = (key: keyof LanguageRow) => table.reduce((all, row) => all + ((row[key] as number | null) ?? 0), 0);
  return {
    language: "all",
    tasks: add("tasks"),
    tried: add("tried"),
    completed: add("completed"),
    proves_nothing: add("proves_nothing"),
    other: add("other"),
    noop_tried: add("noop_tried"),
    noop_completed: add("noop_completed"),
    plain_tried: add("plain_tried"),
    plain_tells: add("plain_tells"),
    overhead: null,
    plain_cpu_ms: null,
    accept_cpu_ms: null,
  };
}

const seconds = (ms: number | null): string => (ms === null ? "" : (ms / 1000).toFixed(1));

const tableLine = (row: LanguageRow): string =>
  `| ${[
    row.language,
    row.tasks,
    `${row.completed} of ${row.tried}`,
    row.proves_nothing,
    row.other,
    `${row.noop_completed} of ${row.noop_tried}`,
    row.plain_tried === 0 ? "" : `${row.plain_tells} of ${row.plain_tried}`,
    seconds(row.plain_cpu_ms),
    seconds(row.accept_cpu_ms),
    row.overhead === null ? "" : row.overhead.toFixed(1),
  ].join(" | ")} |`;

/** In the runner's own words; that the plain runner fails as well is said first, since then the task is to blame. */
function missOf({ task, verdict, reason }: CorpusRow, rows: readonly CorpusRow[]): Miss {
  const plain = rows.find((row) => row.task === task && row.mode === "plain");
  const lines = (reason ?? "").split("\n").map((line) => line.trim());
  const telling = lines.find((line) => TELLING.test(line)) ?? lines[0] ?? "";
  const also =
    plain?.verdict === "fails"
      ? "its own runner fails too: "
      : plain?.verdict === "passes untouched"
        ? "its own runner passes untouched: "
        : "";
  return { task, verdict, why: `${also}${telling.slice(0, 200)}` };
}

const TELLING =
  /no matching package|is not in GOROOT|cannot find package|cannot find symbol|package .* does not exist|is not installed|could not be installed|undefined: |error(?:\[|:)|Error:|fatal/;

function unlikeVerdicts(rows: readonly CorpusRow[]): string[] {
  const byTask = new Map<string, Set<string>>();
  for (const { task, mode, verdict } of rows) {
    if (mode === "plain") continue;
    const key = `${task} ${mode}`;
    byTask.set(key, (byTask.get(key) ?? new Set()).add(verdict));
  }
  return [...byTask]
    .filter(([, verdicts]) => verdicts.size > 1)
    .map(([key, verdicts]) => `${key}: ${[...verdicts].join(", ")}`);
}

function comparedWords(rows: readonly CorpusRow[], unlike: readonly string[]): string {
  const again = new Set(
    rows.filter(({ run, mode }) => run !== "1" && mode !== "plain").map(({ task, mode }) => `${task} ${mode}`),
  );
  if (again.size === 0) return "Run once.";
  return unlike.length === 0
    ? `${again.size} verdicts were asked for again: all the same.`
    : `Verdicts that differ between runs: ${unlike.join("; ")}`;
}
