import { z } from "zod";
import type { AcceptanceEvent, HiddenReport } from "../../acceptance/index.js";
import type { Context } from "../../operation.js";
import { CriterionResult } from "../../schema/delivery.js";
import type { Accepted } from "../hidden/hidden.js";

export const ResultShape = CriterionResult.extend({ type: z.string(), output: z.string() });

const HiddenShape = z
  .object({
    count: z.int(),
    digest: z.string().describe("of the sealed file"),
    run: z.boolean(),
    reason: z.string().optional().describe("why they were not run"),
    results: z.array(
      CriterionResult.pick({ id: true, status: true, evidence: true }).extend({
        name: z.string().describe("the criterion's own id, which only who opened it sees"),
        weakness: z.string().optional(),
      }),
    ),
  })
  .describe("checks sealed for whoever verifies");

export const ReportShape = z.object({
  verdict: z.enum(["passed", "failed", "incomplete"]),
  counts: z.object({
    passed: z.int(),
    failed: z.int(),
    skipped: z.int(),
    unknown: z.int(),
    proven: z.int(),
  }),
  results: z.array(ResultShape),
  hidden: HiddenShape.nullable().describe("null when the request has none"),
  digests: z.object({ result: z.string(), tests: z.string() }),
  compared: z.boolean().describe("whether the untouched request was asked too; otherwise nothing is proven"),
  credentials_used: z.array(z.string()).describe("names of what checks were handed"),
  sandboxed: z.boolean(),
  warnings: z.array(z.string()),
});

export function toShape({ report, hidden }: Accepted, credentialsUsed: string[]): z.infer<typeof ReportShape> {
  const { verdict, counts, results, digests, compared, sandboxed, warnings } = report;
  return {
    verdict,
    counts,
    results: [...results],
    hidden: hidden === null ? null : hiddenShape(hidden),
    digests,
    compared,
    credentials_used: credentialsUsed,
    sandboxed,
    warnings: [...warnings],
  };
}

function hiddenShape({ count, digest, results, reason }: HiddenReport): z.infer<typeof HiddenShape> {
  const why = reason === undefined ? {} : { reason };
  return { count, digest, run: results !== null, ...why, results: (results ?? []).map((row) => ({ ...row })) };
}

/** Acceptance events as a person reads them. */
export function tell(context: Context): (event: AcceptanceEvent) => void {
  return (event) => {
    if (event.type === "check_started") {
      context.progress({ ...event, message: `running ${event.id}`, done: event.index, total: event.total });
    } else if (event.type === "network_reached") {
      context.progress({ ...event, message: `asking ${event.url}` });
    } else context.progress({ ...event });
  };
}
