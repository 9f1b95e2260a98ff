// What this account published, claimed and paid for on the market. It is kept here and not in a request's folder: a note in
// the manifest would make another request of it, which no delivery answers.
import { z } from "zod";
import type { Context } from "../../operation.js";
import { appendRow, readRows } from "./record-file.js";

const FILE = "market.jsonl";

const Row = z.object({
  kind: z.enum(["claimed", "published", "proven", "waived"]),
  task: z.string(),
  /** Id of the request the task asks for. */
  request: z.string().optional(),
  /** Content digest of the request as published. */
  digest: z.string().optional(),
  /** Where a copy lies that opens here. */
  kept: z.string().optional(),
  /** Hash of the delivery that was judged. */
  delivery: z.string().optional(),
  /** Why somebody paid without proof. */
  reason: z.string().optional(),
});
export type MarketRow = z.infer<typeof Row>;

/** The latest row of a kind that fits. */
export function lastMarketRow(
  env: Context["env"],
  kind: MarketRow["kind"],
  fits: (row: MarketRow) => boolean,
): MarketRow | null {
  return readRows(FILE, Row, env).findLast((row) => row.kind === kind && fits(row)) ?? null;
}

export function recordMarket(row: MarketRow, context: Context): string | null {
  return appendRow(FILE, row, context);
}
