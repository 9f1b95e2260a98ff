// `npm run mutate`: breaks the product on purpose, one line at a time, and sees whether the tests notice. The breakages are
// kept in tests/mutations/*.json; results are kept too, so a run that was stopped goes on.
//   --only <text>     breakages whose id or file holds this text (may be given again)
//   --jobs <n>        so many at once, each in its own copy of the tree
//   --list            what there is and what is known of it; runs nothing
//   --json            the same, or the results, as JSON
//   --results <file>  where results are kept; --fresh tries again what is known
//   --root <folder>   another tree than this one
// Exit: 0 when at least 95 % are caught and every one could be tried, 1 otherwise, 2 for wrong usage, 130 interrupted.
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Breakage, readLists } from "./mutate/lists.js";
import { type Outcome, type Result, Results } from "./mutate/results.js";
import { tryBreakages } from "./mutate/try-breakages.js";

const ENOUGH = 0.95;
interface Row {
  readonly breakage: Breakage;
  readonly result: Result | undefined;
}

async function main(): Promise<number> {
  const own = fileURLToPath(new URL("..", import.meta.url));
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true, default: [] },
      jobs: { type: "string", default: String(Math.min(2, availableParallelism())) },
      list: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      fresh: { type: "boolean", default: false },
      root: { type: "string", default: own },
      results: { type: "string" },
    },
  });
  const root = resolve(values.root);
  const kept = resolve(values.results ?? join(root, "node_modules/.cache/nutcracker/mutations.jsonl"));
  const jobs = Number(values.jobs);
  if (!Number.isInteger(jobs) || jobs < 1) throw new Error(`--jobs is a number from 1, not "${values.jobs}"`);
  const all = readLists(root);
  const chosen = all.filter(
    ({ id, file }) => values.only.length === 0 || values.only.some((part) => id.includes(part) || file.includes(part)),
  );
  if (chosen.length === 0) throw new Error(`none of ${all.length} breakages is called ${values.only.join(" or ")}`);
  const results = new Results(kept, root);
  const known = new Map(chosen.map((breakage) => [breakage.id, values.fresh ? undefined : results.of(breakage)]));
  const rows = (): Row[] => chosen.map((breakage) => ({ breakage, result: known.get(breakage.id) }));
  if (values.list) return list(rows(), values.json);

  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
  const left = chosen.filter(({ id }) => known.get(id) === undefined);
  console.error(`${chosen.length} breakages, ${chosen.length - left.length} known already`);
  try {
    await tryBreakages(left, {
      root,
      jobs,
      signal: stop.signal,
      onResult: (breakage, result) => {
        known.set(breakage.id, result);
        results.keep(breakage, result);
        console.error(`${result.outcome}  ${breakage.id}  ${Math.round(result.ms / 100) / 10} s  ${result.by ?? ""}`);
      },
    });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  if (stop.signal.aborted) {
    console.error("stopped; the same command goes on from here");
    return 130;
  }
  return report(rows(), values.json);
}

function list(rows: readonly Row[], json: boolean): number {
  if (json) console.log(JSON.stringify(rows.map(({ breakage, result }) => ({ ...breakage, known: result ?? null }))));
  else
    for (const { breakage, result } of rows)
      console.log(`${breakage.id}  ${breakage.file}  ${breakage.promise ?? "-"}  ${result?.outcome ?? "not tried"}`);
  return 0;
}

function report(rows: readonly Row[], json: boolean): number {
  const of = (outcome: Outcome) => rows.filter(({ result }) => result?.outcome === outcome);
  const untried = [...of("could not apply"), ...of("broken before")];
  const tried = rows.length - untried.length;
  const share = tried === 0 ? 0 : of("caught").length / tried;
  const summary = { breakages: rows.length, caught: of("caught").length, percent: Math.floor(share * 1000) / 10 };
  if (json) {
    const results = rows.map(({ breakage, result }) => ({ ...result, survives: breakage.survives ?? null }));
    console.log(JSON.stringify({ ...summary, results }));
  } else {
    for (const { breakage, result } of [...of("survived"), ...untried])
      console.log(
        `${result!.outcome}: ${breakage.id} in ${breakage.file}: ${breakage.survives ?? result!.by ?? "no test noticed"}`,
      );
    for (const { breakage } of of("caught"))
      if (breakage.survives !== undefined) console.log(`caught after all, so it needs no excuse: ${breakage.id}`);
    console.log(`${summary.caught} of ${tried} caught (${summary.percent} %), ${untried.length} could not be tried`);
  }
  return share >= ENOUGH && untried.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`mutate: ${(error as Error).message}`);
  process.exitCode = 2;
}
