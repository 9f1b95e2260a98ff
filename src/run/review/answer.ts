// What a review says, read by a closed grammar. A yes is one exact form, spoken and not shown; a no is heard in any form
// a person would see; whatever is neither is no verdict. Pure, and linear in the length of the message.
import type { ItemJudgement, ReviewVerdict } from "../../schema/journal.js";
import type { Report } from "../../schema/report.js";
import { type SpokenLine, spokenLines } from "./spoken-lines.js";

export interface ReviewAnswer {
  /** absent: nothing that could be read as one. */
  readonly verdict?: ReviewVerdict;
  readonly judgements: readonly ItemJudgement[];
}

/** What of it reviewers are told; the harness adds it to their task. */
export const ANSWER_FORMAT = [
  "Your answer is read by a program. Where you hand in a report with fields, `verdict` and `items` are your answer: its",
  "number, its status and its evidence for every item of the checklist. Otherwise write these lines in your last message,",
  "each alone on its line, not indented, in no code fence and no quotation:",
  "",
  "VERDICT: pass",
  '[passed] 1: path/of/file:12 "words that stand there"',
  "[failed] 2: what is wrong, and where",
  "[unknown] 3: why it could not be judged",
  "",
  "VERDICT is `pass` or `fail`. Give every item of the checklist one line, with its number. Evidence as",
  "`path:line` and quoted words are looked up in the files you review: what is not there makes the item unknown.",
  "Saying fail anywhere outweighs every pass. An item you say two things about, or nothing, is not passed.",
].join("\n");

const NO_EVIDENCE = "no evidence was given";

/** Bounds the work on a line nobody could have meant. */
const LONGEST_LINE = 4_000;
const LONGEST_NOTE = 1_000;

/** What whoever checks says, in a report with fields or in words. A no in the words outweighs every yes in the fields. */
export function readAnswer(
  kind: "review" | "test",
  { words, report }: { readonly words: string; readonly report: Report | null },
  checklist: readonly string[],
): ReviewAnswer {
  const said = kind === "review" ? readReview(words, checklist) : readTest(words, checklist);
  if (report?.verdict === undefined) return said;
  const found = new Map<string, ItemJudgement>();
  const failedInWords = said.judgements.filter(({ status }) => status === "failed");
  for (const judgement of [...judgementsIn(report, checklist), ...failedInWords]) {
    if (kind === "test" && judgement.status !== "failed") continue;
    found.set(judgement.item, worse(found.get(judgement.item), judgement));
  }
  return { verdict: said.verdict === "fail" ? "fail" : report.verdict, judgements: [...found.values()] };
}

function judgementsIn({ items = [] }: Report, checklist: readonly string[]): ItemJudgement[] {
  return items.flatMap(({ number, status, evidence }) => {
    const item = checklist[number - 1];
    if (item === undefined) return [];
    const note = evidence.replace(/\s+/g, " ").trim();
    if (note === "" && status === "passed") return [{ item, status: "unknown" as const, note: NO_EVIDENCE }];
    return [{ item, status, ...(note === "" ? {} : { note: shorten(note) }) }];
  });
}

/** The words of a reviewer. */
export function readReview(message: string, checklist: readonly string[]): ReviewAnswer {
  const found = new Map<string, ItemJudgement>();
  const say = (judgement: ItemJudgement) => found.set(judgement.item, worse(found.get(judgement.item), judgement));
  let verdict: ReviewVerdict | undefined;
  const lines = cut(message);
  for (const [at, line] of lines.entries()) {
    const judgement = itemLine(line, checklist);
    if (judgement !== null && !(line.doubtful && judgement.status === "passed")) say(judgement);
    if (judgement !== null) continue;
    const plain = plainText(line.text);
    const said = verdictIn(plain);
    const failed = failedItem(plain, checklist);
    if (failed !== null) say({ item: failed, status: "failed", note: shorten(plain) });
    if (said === "fail" || saysFail(line.text, plain, lines[at + 1]?.text)) verdict = "fail";
    if (said === "pass" && !line.doubtful && !isIndented(line.text) && isWrittenOut(line.text)) verdict ??= "pass";
  }
  return { ...(verdict === undefined ? {} : { verdict }), judgements: [...found.values()] };
}

/** Whoever tests is heard when saying no. Runners print "failed" for many reasons, so only a verdict counts. */
export function readTest(message: string, checklist: readonly string[]): ReviewAnswer {
  const failed: ItemJudgement[] = [];
  let verdict: ReviewVerdict | undefined;
  for (const line of cut(message)) {
    const judgement = itemLine(line, checklist);
    if (judgement?.status === "failed") failed.push(judgement);
    const said = verdictIn(plainText(line.text));
    if (said === "fail" || (said === "pass" && !line.doubtful)) verdict = verdict === "fail" ? verdict : said;
  }
  return { ...(verdict === undefined ? {} : { verdict }), judgements: failed };
}

const cut = (message: string): SpokenLine[] =>
  spokenLines(message).map(({ text, doubtful }) => ({ text: text.slice(0, LONGEST_LINE), doubtful }));

const RANK = { failed: 0, unknown: 1, passed: 2 } as const;

/** Of two things said about one item the worse is meant. */
const worse = (a: ItemJudgement | undefined, b: ItemJudgement): ItemJudgement =>
  a === undefined || RANK[b.status] <= RANK[a.status] ? b : a;

/** `[passed] 2: evidence`, as a list item or bold if need be; the item by its number or in its own words. */
const ITEM = /^ {0,3}(?:[-*+•] +)?[*_]{0,3}\[(passed|failed|unknown)\][*_:]{0,4}\s*(.*)$/i;
const NUMBER = /^[*_]{0,3}#?(\d{1,6})\b[*_]{0,3}[.:)]?[*_]{0,3}\s*(.*)$/;

function itemLine({ text }: SpokenLine, checklist: readonly string[]): ItemJudgement | null {
  const match = ITEM.exec(text);
  if (match === null) return null;
  const status = match[1]!.toLowerCase() as ItemJudgement["status"];
  const rest = match[2]!;
  const number = NUMBER.exec(rest);
  const item = number === null ? checklist.find((entry) => rest.startsWith(entry)) : checklist[Number(number[1]) - 1];
  if (item === undefined) return null;
  const note = (number === null ? rest.slice(item.length) : number[2]!).replace(/^[\s:,;–—-]+/, "").trim();
  // A judgement without evidence is an opinion about nothing.
  if (note === "" && status === "passed") return { item, status: "unknown", note: NO_EVIDENCE };
  return { item, status, ...(note === "" ? {} : { note: shorten(note) }) };
}

/** In plain letters, and not crossed out again. */
const isWrittenOut = (line: string): boolean =>
  line.search(LOOK_ALIKE) < 0 && !/~~|[\u0335-\u0338]|<(?:del|s|strike)\b/i.test(line);

const isIndented = (line: string): boolean => /^(?: {4}|\t)/.test(line);

const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** Letters of other alphabets that look like ours: a no is heard in them, too. */
const LOOK_ALIKES = "аАеЕоОрРсСтТуУхХіІѕЅԁԛԝвВкКмМнНιΙαΑεΕοΟρΡτΤνΝκΚ";
const LATIN = "aAeEoOpPcCtTyYxXiIsSdqwbBkKmMhHiIaAeEoOpPtTvNkK";
const LOOK_ALIKE = new RegExp(`[${LOOK_ALIKES}]`, "g");

/** The line without what Markdown dresses it in. */
function plainText(line: string): string {
  return line
    .normalize("NFKC")
    .replace(INVISIBLE, "")
    .replace(LOOK_ALIKE, (letter) => LATIN[LOOK_ALIKES.indexOf(letter)]!)
    .replace(/[*`~]+|__+/g, "")
    .replace(/^[\s|]*(?:[-+•][ \t]+)?(?:#{1,6}[ \t]*)?/, "")
    .trim();
}

const LABEL =
  /^(?:(?:my|our|the|final|overall|reviewer's|review)\s+){0,3}(verdict|result|conclusion|decision|outcome|judge?ment|assessment)\b(?:\s+is\b)?[\s:=|–—>("'-]*(.*)$/i;
const NO =
  /^(?:a |an |clear |still )?(?:fail(?:ed|s|ure)?|block(?:ed)?|reject(?:ed)?)\b(?!\s+to\b|[\s:=]*(?:0|none|no)\b)/i;
const NOT = /^(?:no\b[\s.!]*$|not? (?:a )?(?:pass|ok|accept|approv|done|met)|(?:does|do|did|can) ?not pass)/i;
const NO_WORD = /\b(?:fail(?:ed|s)?|reject(?:ed)?|blocked)\b/i;

/** A yes with a condition, a question or a no behind it. */
const DOUBT =
  /\?|\b(?:not?|never|none|nothing|cannot|can't|won't|isn't|doesn't|didn't|wasn't|unless|if|only|but|except|however|although|though|would|could|should|might|may|wrong|broken|missing|unclear|unsure|provided|pending|until|once|later|incomplete|partial(?:ly)?)\b/i;
const QUOTED = /`[^`]*`|"[^"]*"|“[^“”]*”/g;

function verdictIn(plain: string): ReviewVerdict | null {
  const [, label, said] = LABEL.exec(plain) ?? [];
  if (label === undefined) return null;
  if (NO.test(said!) || NOT.test(said!)) return "fail";
  if (label.toLowerCase() !== "verdict" || !/^pass(?:ed)?\b/i.test(said!)) return null;
  // "pass | fail" is a form nobody filled in, and "pass, but it fails" is no pass; "pass, if …" is neither.
  if (NO_WORD.test(said!)) return "fail";
  return DOUBT.test(said!.replace(QUOTED, "")) ? null : "pass";
}

const CROSS = "[✗✘❌⛔🚫]\\ufe0f?";
const ENDS = "(?=$|[.!:;,\\]|]|\\s*[–—|-]|\\s+#?\\d)(?![\\s:=]*(?:0|none|no)\\b)";
const FAIL_FIRST = new RegExp(`^\\[?(?:${CROSS}|(?:fail(?:ed|s)?|reject(?:ed)?|blocked)\\b)${ENDS}`, "iu");
const CROSS_FIRST = new RegExp(`^${CROSS}`, "u");
const FAIL_NEXT = new RegExp(
  `^[\\s.:)\\]|–—-]{0,8}\\[?(?:${CROSS}|(?:fail(?:ed|s)?|rejected|blocked)\\b${ENDS})`,
  "iu",
);
const DRESSED = /(?:\*\*|__)\s{0,3}(?:fail(?:ed|s)?|reject(?:ed)?|blocked)\s{0,3}[.!:]?\s{0,3}(?:\*\*|__)/i;
const IN_PERSON = /\b(?:i|we)(?: (?:must|have to|need to|would|will|can only|therefore))? (?:fail|reject)\b/i;

/** A no that names no item: a heading, a line of its own, a cell of a table, bold words, a sentence. */
function saysFail(raw: string, plain: string, next: string | undefined): boolean {
  if (FAIL_FIRST.test(plain) || CROSS_FIRST.test(plain) || DRESSED.test(raw)) return true;
  if (raw.includes("|")) return isFailRow(plain) && !/^[\s|:-]+$/.test(next ?? "");
  return IN_PERSON.test(withoutQuotes(raw));
}

const withoutQuotes = (line: string): string => line.replace(/`[^`]*`|"[^"]*"|“[^“”]*”/g, "");

function isFailRow(plain: string): boolean {
  const cells = plain.split("|").map((cell) => cell.trim());
  return cells.some((cell, at) => NO_CELL.test(cell) && !/^(?:0|none)$/i.test(cells[at + 1] ?? ""));
}
const NO_CELL = new RegExp(`^(?:${CROSS}|(?:fail(?:ed|s)?|rejected|blocked))$`, "iu");

/** An item with its no beside it: `2: failed`, `failed 2`, `the item: failed`. */
function failedItem(plain: string, checklist: readonly string[]): string | null {
  if (!MAY_FAIL.test(plain)) return null;
  const first = /^(?:item |point |no\. ?)?#?(\d{1,6})\b(.*)$/i.exec(plain);
  if (first !== null && FAIL_NEXT.test(first[2]!)) return checklist[Number(first[1]) - 1] ?? null;
  const after = FAIL_FIRST.test(plain) ? /^\[?\S+?\]?[\s:]+#?(\d{1,6})\b/.exec(plain) : null;
  if (after !== null) return checklist[Number(after[1]) - 1] ?? null;
  return checklist.find((entry) => plain.startsWith(entry) && FAIL_NEXT.test(plain.slice(entry.length))) ?? null;
}
const MAY_FAIL = new RegExp(`fail|reject|blocked|${CROSS}`, "iu");

const shorten = (text: string): string => (text.length > LONGEST_NOTE ? `${text.slice(0, LONGEST_NOTE)}…` : text);
