// `npm run corpus -- <folder> --kind exercism --with oracle,noop`: other people's tasks through our acceptance. Of each task
// the example solution must be completed, and doing nothing must not. Results are kept, so a run that was stopped goes on.
//   --kind <kind>       what the tasks are: exercism, quixbugs or terminal-bench
//   --with <list>       oracle, noop, plain (the task's own runner, for comparison)
//   --results <file>    where results are kept; tasks that are known are not run again (--fresh runs them)
//   --only <text>       tasks whose name holds this text, or begins with it where it ends with a dash (may be given again)
//   --part <k/n>        every n-th task, beginning with the k-th
//   --trials <n>        as `nutshell accept --trials`; 3 unless given
//   --run <label>       results of this run stand beside those of others, to compare verdicts
//   --allow-install     what tests need may be installed, with your network
//   --report            print the table by language from what is known, and run nothing
//   --digests <file>    write name and digest of every task that was run
// Exit: 0 when everything that was asked for is known, 1 when a no-op was completed or verdicts differ, 2 for wrong usage.
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CORPUS_KINDS, type CorpusKind, findTasks } from "./corpus/find-tasks.js";
import { reportOf } from "./corpus/report.js";
import { type CorpusRow, MODES, type Mode, Rows } from "./corpus/rows.js";
import { prepareTask, tryTask } from "./corpus/try-task.js";

async function main(): Promise<number> {
  const own = fileURLToPath(new URL("..", import.meta.url));
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kind: { type: "string", default: "exercism" },
      with: { type: "string", default: "oracle,noop" },
      results: { type: "string" },
      only: { type: "string", multiple: true, default: [] },
      part: { type: "string", default: "1/1" },
      trials: { type: "string", default: "3" },
      run: { type: "string", default: "1" },
      "allow-install": { type: "boolean", default: false },
      fresh: { type: "boolean", default: false },
      report: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      digests: { type: "string" },
    },
  });
  const [folder] = positionals;
  if (folder === undefined || !existsSync(folder)) throw new Error("name the folder the tasks lie in");
  const kind = oneOf(values.kind, CORPUS_KINDS, "--kind");
  const modes = values.with.split(",").map((mode) => oneOf(mode, MODES, "--with"));
  const trials = Number(values.trials);
  const [part = NaN, parts = NaN] = values.part.split("/").map(Number);
  if (!(Number.isInteger(trials) && trials > 0)) throw new Error("--trials is a number from 1");
  if (!(Number.isInteger(part) && part >= 1 && part <= parts)) throw new Error("--part is such as 1/4");
  const all = findTasks(resolve(folder), kind).filter(
    ({ name }) =>
      values.only.length === 0 ||
      values.only.some((text) => (text.endsWith("-") ? name.startsWith(text) : name.includes(text))),
  );
  if (all.length === 0) throw new Error(`there are no ${kind} tasks in ${folder}`);
  const chosen = all.filter((_, index) => index % parts === part - 1);
  const rows = new Rows(resolve(values.results ?? join(own, "node_modules/.cache/nutcracker/corpus.jsonl")));
  if (!values.report) {
    const stop = new AbortController();
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
    const plan = { kind, modes, trials, run: values.run, own, install: values["allow-install"], fresh: values.fresh };
    await runAll(chosen, plan, rows, stop.signal);
  }
  const names = new Set(all.map(({ name }) => name));
  const known = rows.all().filter(({ task, kind: of }) => of === kind && names.has(task));
  if (values.digests !== undefined) writeFileSync(values.digests, digestList(known));
  const report = reportOf(all, known);
  console.log(values.json ? JSON.stringify(report.data, null, 2) : report.text.join("\n"));
  return report.bad ? 1 : 0;
}

interface Plan {
  readonly kind: CorpusKind;
  readonly modes: readonly Mode[];
  readonly trials: number;
  readonly run: string;
  readonly own: string;
  readonly install: boolean;
  readonly fresh: boolean;
}

async function runAll(tasks: ReturnType<typeof findTasks>, plan: Plan, rows: Rows, signal: AbortSignal): Promise<void> {
  for (const [index, task] of tasks.entries()) {
    const left = plan.modes.filter((mode) => plan.fresh || !rows.has(task.name, mode, plan.run, task.digest));
    if (left.length === 0) continue;
    const place = realpathSync(mkdtempSync(join(tmpdir(), "corpus-")));
    try {
      const prepared = await prepareTask(task, { place, own: plan.own, kind: plan.kind, signal });
      for (const mode of left) {
        if (signal.aborted) return;
        const outcome = await tryTask(prepared, mode, { ...plan, place, signal });
        if (signal.aborted) return;
        const row: CorpusRow = {
          kind: plan.kind,
          task: task.name,
          language: prepared.language,
          digest: task.digest,
          mode,
          run: plan.run,
          ...outcome,
        };
        rows.add(row);
        const reason = outcome.reason === null ? "" : `: ${outcome.reason.split("\n")[0]!.slice(0, 160)}`;
        console.error(
          `${index + 1}/${tasks.length} ${task.name} ${mode} ${outcome.verdict} ${Math.round(outcome.ms / 100) / 10} s${reason}`,
        );
      }
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  }
}

const digestList = (rows: readonly CorpusRow[]): string =>
  [...new Map(rows.map(({ task, digest }) => [task, digest]))]
    .sort()
    .map(([task, digest]) => `${digest}  ${task}\n`)
    .join("");

function oneOf<T extends string>(word: string, words: readonly T[], flag: string): T {
  const found = words.find((each) => each === word);
  if (found === undefined) throw new Error(`${flag} is one of ${words.join(", ")}, not "${word}"`);
  return found;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`corpus: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 2;
}
