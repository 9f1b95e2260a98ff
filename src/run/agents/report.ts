// What an agent says at its end, read for the parts the harness records. Agents write prose; three shapes are picked
// out of it, and everything they claim stays marked as said or judged, never as proven.
import type { ItemJudgement } from "../../schema/journal.js";

export interface AgentReport {
  readonly decisions: readonly { readonly decision: string; readonly reason?: string }[];
  readonly issues: readonly string[];
  readonly judgements: readonly ItemJudgement[];
}

const LIMIT = 200;
const LINE_LIMIT = 500;

export function readReport(text: string, checklist: readonly string[]): AgentReport {
  const decisions: { decision: string; reason?: string }[] = [];
  const issues: string[] = [];
  const judgements = new Map<string, ItemJudgement>();
  for (const raw of text.split("\n")) {
    const line = raw.trim().replace(/^[-*]\s+/, "");
    const decision = /^DECISION:\s*(.+)$/i.exec(line)?.[1];
    const issue = /^ISSUE:\s*(.+)$/i.exec(line)?.[1];
    if (decision !== undefined && decisions.length < LIMIT) decisions.push(splitReason(cut(decision)));
    if (issue !== undefined && issues.length < LIMIT) issues.push(cut(issue));
    const judgement = readJudgement(line, checklist);
    if (judgement !== null) judgements.set(judgement.item, judgement);
  }
  return { decisions, issues, judgements: [...judgements.values()] };
}

function splitReason(text: string): { decision: string; reason?: string } {
  const [decision = text, reason] = text.split(/\s+(?:because|—)\s+/, 2);
  return reason === undefined ? { decision } : { decision, reason };
}

const cut = (text: string) => (text.length > LINE_LIMIT ? `${text.slice(0, LINE_LIMIT)}…` : text);

/** `[passed] 2: evidence` or `PASSED: <the item>: evidence`; only items that are on the list count. */
function readJudgement(line: string, checklist: readonly string[]): ItemJudgement | null {
  const found = /^\[?(passed|failed|unknown)\]?[:\s]+(.+)$/i.exec(line);
  if (found === null) return null;
  const status = found[1]!.toLowerCase() as ItemJudgement["status"];
  const rest = found[2]!;
  const number = /^#?(\d+)[.:)]?\s*(.*)$/.exec(rest);
  const item = number === null ? checklist.find((entry) => rest.startsWith(entry)) : checklist[Number(number[1]) - 1];
  if (item === undefined) return null;
  const note = (number === null ? rest.slice(item.length) : number[2]!).replace(/^[\s:,;–—-]+/, "");
  // A judgement without evidence is an opinion about nothing.
  if (note === "") return { item, status: "unknown", note: "no evidence was given" };
  return { item, status, note: cut(note) };
}
