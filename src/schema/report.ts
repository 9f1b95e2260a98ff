// What an agent hands in at its end, where its program can be held to a shape: by a schema of the program's own, or by the
// tool `report`. Every field is needed and none has bounds, because vendors accept no other schema; readers bound them.
import { z } from "zod";

export const REPORT_KINDS = ["work", "review", "test"] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

const WorkReport = z.strictObject({
  summary: z.string().describe("what you did or found, in a few sentences"),
  decisions: z
    .array(z.strictObject({ decision: z.string(), reason: z.string() }))
    .describe("what you chose that Lead should know; may be empty"),
  issues: z.array(z.string()).describe("what stands in the way or is left to do; may be empty"),
});

const JudgedReport = WorkReport.extend({
  verdict: z.enum(["pass", "fail"]).describe("of the whole"),
  items: z
    .array(
      z.strictObject({
        number: z.number().describe("of the item in the checklist"),
        status: z.enum(["passed", "failed", "unknown"]),
        evidence: z.string().describe('path:line "words that stand there"; for failed what is wrong, and where'),
      }),
    )
    .describe("one for every item of the checklist; empty when there is none"),
});

export type Report = z.infer<typeof WorkReport> & Partial<Pick<z.infer<typeof JudgedReport>, "verdict" | "items">>;

const SCHEMAS: Readonly<Record<ReportKind, typeof WorkReport | typeof JudgedReport>> = {
  work: WorkReport,
  review: JudgedReport,
  test: JudgedReport,
};

export function reportSchema(kind: ReportKind): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(SCHEMAS[kind]);
  return schema;
}

/** null when it is none: then the agent's words are all there is. */
export function parseReport(kind: ReportKind, value: unknown): Report | null {
  return SCHEMAS[kind].safeParse(value).data ?? null;
}

/** What is wrong with it, for whoever handed it in. */
export function reportIssues(kind: ReportKind, value: unknown): readonly z.core.$ZodIssue[] {
  return SCHEMAS[kind].safeParse(value).error?.issues ?? [];
}
