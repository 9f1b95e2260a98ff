import { z } from "zod";
import type { AcceptanceEvent, AcceptanceReport } from "../acceptance/index.js";
import type { Context } from "../operation.js";
import { CriterionResult } from "../schema/delivery.js";

export const ResultShape = CriterionResult.extend({ type: z.string(), output: z.string() });

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
  digests: z.object({ result: z.string(), tests: z.string() }),
  compared: z.boolean().describe("whether the untouched request was asked too; otherwise nothing is proven"),
  credentials_used: z.array(z.string()).describe("names of what checks were handed"),
  sandboxed: z.boolean(),
  warnings: z.array(z.string()),
});

export function toShape(report: AcceptanceReport, credentialsUsed: string[]): z.infer<typeof ReportShape> {
  const { verdict, counts, results, digests, compared, sandboxed, warnings } = report;
  return {
    verdict,
    counts,
    results: [...results],
    digests,
    compared,
    credentials_used: credentialsUsed,
    sandboxed,
    warnings: [...warnings],
  };
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
