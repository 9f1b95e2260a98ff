// What this account handed in, outside every server: a server that loses power may forget what it had acknowledged. An
// entry is written before anything is sent, and `nexus fleet reconcile` reads it.
import { z } from "zod";
import type { Context } from "../operation.js";
import { appendRow, readRows } from "../request/records/record-file.js";
import { Priority } from "../schema/fleet.js";

const FILE = "fleet.jsonl";

export const LedgerEntry = z.object({
  server: z.string(),
  job: z.string(),
  /** Where the request lies, or its address. */
  path: z.string(),
  /** Of the request as the submitter has it. */
  sha256: z.string(),
  title: z.string(),
  labels: z.array(z.string()),
  priority: Priority,
  driver: z.string().optional(),
  budget: z.array(z.string()),
  again: z.string().optional(),
  in_place: z.boolean().optional(),
  seal_for: z.string().optional(),
  reply_to: z.string().optional(),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;

const Row = z.union([
  z.object({ submitted: LedgerEntry }),
  z.object({ settled: z.object({ server: z.string(), job: z.string() }) }),
]);

/** Says why it could not be kept; null when it was. */
export function noteSubmitted(entry: LedgerEntry, context: Context): string | null {
  return appendRow(FILE, { submitted: entry }, context);
}

/** The delivery is here, or nobody wants it any more. */
export function noteSettled(server: string, job: string, context: Context): void {
  appendRow(FILE, { settled: { server, job } }, context);
}

/** What was handed in to this server and is not settled; the latest word of each job. */
export function openEntries(server: string, context: Context): LedgerEntry[] {
  const open = new Map<string, LedgerEntry>();
  for (const row of readRows(FILE, Row, context.env)) {
    if ("submitted" in row) {
      if (row.submitted.server === server) open.set(row.submitted.job, row.submitted);
    } else if (row.settled.server === server) open.delete(row.settled.job);
  }
  return [...open.values()];
}

/** The job that a request became when it was last handed in from here, settled or not. */
export function submittedAs(server: string, sha256: string, context: Context): string | null {
  const rows = readRows(FILE, Row, context.env).flatMap((row) => ("submitted" in row ? [row.submitted] : []));
  return rows.findLast((entry) => entry.server === server && entry.sha256 === sha256)?.job ?? null;
}
