// What many tries add up to, one row for each contender.
import type { ScoreRow, Try, TryResult } from "../schema/scorecard.js";
import { wilson } from "./wilson.js";

export interface Contestant {
  readonly label: string;
  readonly standIn: boolean;
}

/** Nobody judges a checklist for what is no agent: there, every criterion passing is all that can be had. */
export function isSolved(standIn: boolean, { outcome, criteria }: TryResult): boolean {
  if (outcome === "completed") return true;
  return standIn && criteria.total > 0 && criteria.passed === criteria.total;
}

export const rowsOf = (contestants: readonly Contestant[], tries: readonly Try[]): ScoreRow[] =>
  contestants.map(({ label, standIn }) => {
    const results = tries.flatMap(({ contender, result }) => (contender === label && result ? [result] : []));
    return rowOf(label, standIn, results);
  });

/** What was refused, and what can still go on, says nothing about the contender yet. */
function rowOf(contender: string, standIn: boolean, results: readonly TryResult[]): ScoreRow {
  const ended = results.filter(({ final }) => final);
  const solved = ended.filter((result) => isSolved(standIn, result)).length;
  const sum = (of: (result: TryResult) => number) => ended.reduce((total, result) => total + of(result), 0);
  const [tokens, cost] = [sum((result) => result.tokens), sum((result) => result.cost_usd)];
  const { low, high } = wilson(solved, ended.length);
  const known = ended.length > 0;
  return {
    contender,
    stand_in: standIn,
    tries: ended.length,
    solved,
    rate: known ? solved / ended.length : null,
    low: known ? low : null,
    high: known ? high : null,
    tokens,
    cost_usd: cost,
    cost_per_solved_usd: solved > 0 && cost > 0 ? cost / solved : null,
    tokens_per_solved: solved > 0 && tokens > 0 ? tokens / solved : null,
    median_ms: median(ended.map(({ ms }) => ms)),
    unfinished: results.length - ended.length,
  };
}

export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
