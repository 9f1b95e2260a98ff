// What an agent says at its end, read for what the harness records of anybody: from the report it handed in, else from its
// words. Everything in it stays said, never proven; what a reviewer judges is read in review/answer.ts.
import type { Report } from "../../schema/report.js";

export interface AgentReport {
  readonly decisions: readonly { readonly decision: string; readonly reason?: string }[];
  readonly issues: readonly string[];
}

const LIMIT = 200;
const LINE_LIMIT = 500;

export function readReport(text: string, report: Report | null = null): AgentReport {
  if (report !== null) {
    const decisions = report.decisions.filter(({ decision }) => decision.trim() !== "").slice(0, LIMIT);
    const issues = report.issues.filter((issue) => issue.trim() !== "").slice(0, LIMIT);
    return {
      decisions: decisions.map(({ decision, reason }) => ({
        decision: oneLine(decision),
        ...(reason.trim() === "" ? {} : { reason: oneLine(reason) }),
      })),
      issues: issues.map(oneLine),
    };
  }
  const decisions: { decision: string; reason?: string }[] = [];
  const issues: string[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim().replace(/^[-*]\s+/, "");
    const decision = /^DECISION:\s*(.+)$/i.exec(line)?.[1];
    const issue = /^ISSUE:\s*(.+)$/i.exec(line)?.[1];
    if (decision !== undefined && decisions.length < LIMIT) decisions.push(splitReason(shorten(decision)));
    if (issue !== undefined && issues.length < LIMIT) issues.push(shorten(issue));
  }
  return { decisions, issues };
}

function splitReason(text: string): { decision: string; reason?: string } {
  const [decision = text, reason] = text.split(/\s+(?:because|—)\s+/, 2);
  return reason === undefined ? { decision } : { decision, reason };
}

const oneLine = (text: string) => shorten(text.replace(/\s+/g, " ").trim());
const shorten = (text: string) => (text.length > LINE_LIMIT ? `${text.slice(0, LINE_LIMIT)}…` : text);

/** What an agent handed in, as a person reads it. Its words come first, where there are any. */
export function reportText(words: string, report: Report | null): string {
  if (report === null) return words;
  const { decisions, issues } = readReport("", report);
  const lines = [
    ...decisions.map(
      ({ decision, reason }) => `DECISION: ${decision}${reason === undefined ? "" : ` because ${reason}`}`,
    ),
    ...issues.map((issue) => `ISSUE: ${issue}`),
    ...(report.verdict === undefined ? [] : [`VERDICT: ${report.verdict}`]),
    ...(report.items ?? [])
      .slice(0, LIMIT)
      .map(({ number, status, evidence }) => `[${status}] ${number}: ${oneLine(evidence)}`),
  ];
  return [words.trim(), report.summary.trim(), lines.join("\n")].filter((part) => part !== "").join("\n\n");
}
