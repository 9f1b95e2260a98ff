// Tags a person types in a message: [plan], [plan:auto], [d] text … They count anywhere in prose, but not inside code,
// quotations, links or words, because people also write *about* tags and paste code with brackets.
import { blankQuoted } from "./quoted-text.js";

export interface TagRule {
  readonly id: string;
  readonly type: "skill" | "inline_action";
  readonly skill?: string;
  readonly handler?: string;
  /** Suffixes allowed after `:`; `*` allows any word. */
  readonly variants: readonly string[];
}

export interface TagUse {
  readonly rule: TagRule;
  readonly variant: string | null;
  /** What follows, up to the next tag. */
  readonly text: string;
  readonly index: number;
}

const TAG = /\[([a-z][a-z0-9_-]*)(?::([\p{L}\p{N}][\p{L}\p{N}_-]{0,63}))?\]/giu;

export function findTags(message: string, rules: readonly TagRule[]): TagUse[] {
  const prose = blankQuoted(message);
  const uses: { rule: TagRule; variant: string | null; start: number; end: number }[] = [];
  for (const match of prose.matchAll(TAG)) {
    const start = match.index;
    const end = start + match[0].length;
    const rule = ruleFor(rules, match[1]!.toLowerCase(), match[2]);
    const follows = uses.at(-1)?.end === start;
    if (rule === null || !standsAlone(prose, start, end, follows, rules)) continue;
    uses.push({ rule, variant: match[2]?.toLowerCase() ?? null, start, end });
  }
  return uses.map(({ rule, variant, start, end }, i) => ({
    rule,
    variant,
    text: following(message, end, uses[i + 1]?.start ?? message.length),
    index: start,
  }));
}

/** A handler that differs by variant (`[m:gc]`) is its own row in some vocabularies and a variant in others. */
function ruleFor(rules: readonly TagRule[], id: string, variant: string | undefined): TagRule | null {
  if (variant !== undefined) {
    const exact = rules.find((rule) => rule.id === `${id}:${variant.toLowerCase()}`);
    if (exact !== undefined) return exact;
  }
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined || variant === undefined) return rule ?? null;
  return rule.variants.includes("*") || rule.variants.includes(variant.toLowerCase()) ? rule : null;
}

function standsAlone(text: string, start: number, end: number, follows: boolean, rules: readonly TagRule[]): boolean {
  const before = text[start - 1];
  const after = text.slice(end);
  // A word, an index (`a[d]`), an escape (`\[d]`) or an image (`![d]`) in front.
  if (before !== undefined && !follows && !/[\s([{,;:.?>*_~—–\-/|]/u.test(before)) return false;
  if (after === "" || /^\s/.test(after)) return true;
  if (after.startsWith("[")) {
    const next = new RegExp(TAG.source, "iuy").exec(after);
    return next !== null && ruleFor(rules, next[1]!.toLowerCase(), next[2]) !== null;
  }
  if (/^:\s*<?[a-z]+:\/\//i.test(after)) return false; // a link definition
  return /^[.,;:!?)\]}*_~—–\-/|]/u.test(after);
}

/** Text after a tag without the colon or dash a person puts between. */
function following(message: string, from: number, to: number): string {
  return message
    .slice(from, to)
    .replace(/^\s*(?:[:—–-]\s+|[:—–]\s*)/u, "")
    .replace(/^[\s.,;!?)\]}*_~|/]+$/u, "")
    .trim();
}
