// The report of an agent in a run, for programs that can be held to no shape of their own. Its place and kind come from the
// environment of the server, never from an argument, and where they are not set there is no such tool.
import { NutError } from "../errors.js";
import { atomicWrite } from "../files/index.js";
import type { Context } from "../operation.js";
import { mismatchLine } from "../schema/mismatch.js";
import { parseReport, REPORT_KINDS, type ReportKind, reportIssues, reportSchema } from "../schema/report.js";
import { REPORT_FILE, REPORT_KIND, REPORT_TOOL } from "../schema/tools.js";

type Environment = Context["env"];

function awaited(env: Environment): { readonly kind: ReportKind; readonly file: string } | null {
  const kind = REPORT_KINDS.find((one) => one === env[REPORT_KIND]);
  const file = env[REPORT_FILE];
  return kind === undefined || file === undefined ? null : { kind, file };
}

/** As a server lists it, where it is awaited. */
export function reportListing(env: Environment): Record<string, unknown>[] {
  const report = awaited(env);
  if (report === null) return [];
  return [
    {
      name: `nx_${REPORT_TOOL}`,
      description: "hand in your report. Call it last; a later call replaces an earlier one.",
      inputSchema: reportSchema(report.kind),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
  ];
}

const MOST_REASONS = 10;
const MOST_CHARS = 200_000;

/** The last one handed in counts. */
export function handIn(env: Environment, value: unknown): { readonly received: true } {
  const report = awaited(env);
  if (report === null) throw refused("nobody awaits one here", "say it in your last message");
  const { kind, file } = report;
  if (parseReport(kind, value) === null) {
    const reasons = reportIssues(kind, value).slice(0, MOST_REASONS);
    const lines = reasons.map((issue) => mismatchLine(issue, "arguments"));
    throw refused(lines.join("; "), "hand it in again with every field");
  }
  const text = JSON.stringify(value);
  if (text.length > MOST_CHARS) throw refused("it is too long", `keep it below ${MOST_CHARS} characters`);
  atomicWrite(file, text, { mode: 0o600, durable: false });
  return { received: true };
}

const refused = (why: string, hint: string): NutError =>
  new NutError("USAGE", `report: ${why}`, { hint, data: { tool: REPORT_TOOL } });
