// What an agent says at its end, read for the two shapes the harness records of anybody. Everything in them stays said,
// never proven; what a reviewer judges is read in review/answer.ts.
export interface AgentReport {
  readonly decisions: readonly { readonly decision: string; readonly reason?: string }[];
  readonly issues: readonly string[];
}

const LIMIT = 200;
const LINE_LIMIT = 500;

export function readReport(text: string): AgentReport {
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

const shorten = (text: string) => (text.length > LINE_LIMIT ? `${text.slice(0, LINE_LIMIT)}…` : text);
