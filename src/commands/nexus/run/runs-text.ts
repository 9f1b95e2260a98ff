// What a person reads at the end of several runs.
import { bold, count, dim, green, red, table, yellow } from "../../../cli/text.js";
import type { RunsResult, RunsRow } from "./run-several.js";
import { runText } from "./run-text.js";

export function runsText({ runs, completed }: RunsResult): string[] {
  if (runs.every(({ status }) => status === "planned")) {
    return runs.flatMap(({ request, result }) => [bold(request), ...runText(result!)]);
  }
  const all = runs.flatMap(({ result }) => (result?.delivery === undefined ? [] : [result.delivery.result.deliverer]));
  const tokens = all.reduce((sum, who) => sum + (who?.total_tokens ?? 0), 0);
  return [
    ...table(runs.map((row) => [mark(row), row.status, row.request, dim(whatNext(row))])),
    "",
    `${completed} of ${runs.length} completed; ${count(tokens, "token")}`,
  ];
}

/** 0 when all are completed, 2 when one could not be run at all. */
export function runsExit({ runs }: RunsResult): number {
  if (runs.some(({ status }) => status === "refused")) return 2;
  return runs.every(({ status }) => status === "completed" || status === "planned") ? 0 : 1;
}

function whatNext({ status, result, error }: RunsRow): string {
  if (result?.delivery !== undefined) return result.delivery.path;
  if (status === "paused")
    return `${result?.paused?.message ?? error?.message ?? ""}; go on with: ${result?.paused?.hint ?? error?.hint ?? ""}`;
  return error === undefined ? "" : `${error.message}; ${error.hint}`;
}

function mark({ status }: RunsRow): string {
  if (status === "completed") return green("✓");
  return status === "failed" || status === "refused" ? red("✗") : yellow("?");
}
