// One try, and one contender, as rows of a table.
import { count, dim, green, red, yellow } from "../../../cli/text.js";
import { grouped } from "../../../errors.js";
import type { ScoreRow, Try, TryResult } from "../../../schema/scorecard.js";

export const tryHead = (): string[] => ["who", "outcome", "proven", "review", "tokens", "cost", "time", "change"];

export function tryCells({ contender, trial, result }: Try): string[] {
  const who = trial === 1 ? contender : `${contender} (${trial})`;
  if (result === undefined) return [who, dim("not finished")];
  const { criteria, review, tokens, cost_usd: cost, ms, files, lines } = result;
  return [
    who,
    painted(result.outcome),
    `${criteria.proven}/${criteria.total}`,
    review ?? "–",
    tokens === 0 ? "–" : grouped(Math.round(tokens)),
    cost === 0 ? "–" : dollars(cost),
    seconds(ms),
    files === 0 ? "none" : `${count(files, "file")}, ${count(lines, "line")}`,
  ];
}

function painted(outcome: TryResult["outcome"]): string {
  if (outcome === "completed") return green(outcome);
  return outcome === "failed" || outcome === "refused" ? red(outcome) : yellow(outcome);
}

export const scoreHead = (): string[] => [
  "who",
  "solved",
  "rate",
  "95 %",
  "cost/solved",
  "tokens/solved",
  "median time",
];

export function scoreCells(row: ScoreRow): string[] {
  if (row.rate === null) return [row.contender, "–", "–", "–", "–", "–", "–"];
  return [
    row.contender,
    `${row.solved}/${row.tries}${row.unfinished === 0 ? "" : yellow(` (${row.unfinished} not finished)`)}`,
    percent(row.rate),
    `${percent(row.low!)}–${percent(row.high!)}`,
    row.cost_per_solved_usd === null ? "–" : dollars(row.cost_per_solved_usd),
    row.tokens_per_solved === null ? "–" : grouped(Math.round(row.tokens_per_solved)),
    seconds(row.median_ms ?? 0),
  ];
}

const percent = (rate: number) => `${Math.round(rate * 100)} %`;
const dollars = (value: number) => `$${value < 1 ? value.toFixed(3) : value.toFixed(2)}`;
const seconds = (ms: number) => (ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 1_000)} s`);
