// The chain of a task as people and programs read it. Words of senders are kept to one line each, so that no title can
// look like a line of ours.
import { z } from "zod";
import { bold, count, dim, green, red, table, yellow } from "../../../cli/text.js";
import type { FoundChain } from "../../../request/signatures/chain.js";
import { VoucherShape, voucherRow, voucherWords } from "../../../request/signatures/voucher-text.js";
import {
  type ChainDelivery,
  type ChainTask,
  isOwnVerdict,
  refusedBy,
  type Voucher,
} from "../../../statements/index.js";

const Entry = VoucherShape.extend({
  details: z.array(z.string()).describe("what the signer says of it"),
  own: z.boolean().describe("a verdict by whoever made the delivery, which counts for nothing on its own"),
});
type Entry = z.output<typeof Entry>;

const Made = z.object({
  id: z.string(),
  content_digest: z.string(),
  sources: z.array(z.string()),
  status: z.string().nullable().describe("what the delivery says of itself"),
  made: z.array(Entry),
  checked: z.array(Entry),
  worthless: z.array(Entry).describe("signatures that count for nothing, and why"),
  independent: z.array(z.string()).describe("trusted people, none of them the maker, who signed that it passed"),
  refused: z.array(z.string()).describe("trusted people who signed that it failed"),
  broken: z.array(z.string()).describe("links that do not hold"),
});

type Made = z.output<typeof Made>;

const Task = z.object({
  title: z.string().nullable(),
  id: z.string().nullable(),
  content_digest: z.string().nullable().describe("of the request"),
  sources: z.array(z.string()).describe("where the request lies; empty when it is not among what was read"),
  asked: z.array(Entry),
  worthless: z.array(Entry),
  deliveries: z.array(Made),
  broken: z.array(z.string()),
});

const Source = z.object({ source: z.string(), why: z.string() });

export const LogShape = z.object({
  tasks: z.array(Task),
  unread: z.array(Source).describe("what could not be read, or speaks of nothing that is here"),
});
type Log = z.output<typeof LogShape>;

export function toLog({ tasks, others, orphans, unread }: FoundChain): Log {
  return {
    tasks: tasks.map(toTask),
    unread: [
      ...unread.map((one) => ({ ...one })),
      ...others.flatMap(({ sources }) =>
        sources.map((source) => ({ source, why: "it is neither a request nor a delivery" })),
      ),
      ...orphans.map(({ source, about }) => ({
        source,
        why:
          about === null
            ? "a signature beside no bundle counts for nothing: it does not hold"
            : `a signature about content that is not here: ${about}`,
      })),
    ],
  };
}

function toTask({ request, deliveries, broken }: ChainTask): Log["tasks"][number] {
  const { piece, id, digest, asked, worthless } = request;
  return {
    title: piece?.title ?? deliveries[0]?.piece.title ?? null,
    id,
    content_digest: digest,
    sources: [...(piece?.sources ?? [])],
    asked: asked.map((one) => entryOf(one, [])),
    worthless: worthless.map((one) => entryOf(one, [])),
    deliveries: deliveries.map(toMade),
    broken: [...broken],
  };
}

function toMade({ piece, made, checked, worthless, independent, broken }: ChainDelivery): Made {
  return {
    id: piece.id,
    content_digest: piece.digest,
    sources: [...piece.sources],
    status: piece.delivery?.status ?? null,
    made: made.map((one) => entryOf(one, [])),
    checked: checked.map((one) => entryOf(one, made)),
    worthless: worthless.map((one) => entryOf(one, [])),
    independent: [...independent],
    refused: refusedBy(checked),
    broken: [...broken],
  };
}

const entryOf = (one: Voucher, made: readonly Voucher[]): Entry => ({
  ...voucherRow(one),
  details: detailsOf(one),
  own: one.kind === "verdict" && isOwnVerdict(one, made),
});

function detailsOf({ statement }: Voucher): string[] {
  if (statement?.predicateType === "https://slsa.dev/provenance/v1") {
    const { status, agents, acceptance } = statement.predicate.nutshell;
    const names = agents
      .slice(0, MOST_AGENTS)
      .map(({ driver, version = "", models = [] }) =>
        words(
          [driver, version, models.length === 0 ? "" : `(${models.join(", ")})`]
            .filter((word) => word !== "")
            .join(" "),
        ),
      );
    return [
      status,
      ...countsOf(acceptance),
      ...(names.length === 0 ? [] : [`by ${names.join(", ")}${agents.length > MOST_AGENTS ? " and others" : ""}`]),
    ];
  }
  if (statement?.predicateType !== "https://in-toto.io/attestation/test-result/v0.1") return [];
  const { result, nutshell } = statement.predicate;
  const hidden = nutshell.hidden;
  return [
    result.toLowerCase(),
    ...countsOf(nutshell.acceptance),
    ...(hidden === undefined ? [] : [`${hidden.count} hidden, ${hidden.run ? "run" : "not run"}`]),
    `on ${words(nutshell.platform)}`,
  ];
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly sandboxed?: boolean | undefined;
}

function countsOf(acceptance: Counts | undefined): string[] {
  if (acceptance === undefined) return [];
  const { passed, failed, sandboxed } = acceptance;
  const walls = sandboxed === undefined ? [] : [sandboxed ? "sandboxed" : "without a sandbox"];
  return [`${passed} passed, ${failed} failed`, ...walls];
}

const LONGEST = 80;
const MOST_AGENTS = 3;

/** A sender's words on one line, of a length that cannot push ours away. */
function words(text: string): string {
  const line = flat(text);
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

const flat = (text: string): string => text.replace(/\s+/g, " ").trim();

const MARK = { trusted: green("✓"), unknown: yellow("?"), invalid: red("✗") } as const;

export function logLines({ tasks, unread }: Log): string[] {
  return [
    ...tasks.flatMap((task, index) => [...(index === 0 ? [] : [""]), ...aligned(taskLines(task))]),
    ...(tasks.length > 0 && unread.length > 0 ? [""] : []),
    ...unread.map(({ source, why }) => `${yellow("⚠")} ${words(source)}: ${why}`),
    ...(tasks.length === 0 ? [] : [dim("who: by your allowed_signers; when and with what: as the signers say")]),
  ];
}

/** A sentence, or the cells of a row. */
type Line = string | readonly string[];

/** Rows in columns of one width, sentences where they stand between them. */
function aligned(lines: readonly Line[]): string[] {
  const rows = table(lines.filter((line) => typeof line !== "string"));
  return lines.map((line) => (typeof line === "string" ? line : rows.shift()!));
}

function taskLines(task: Log["tasks"][number]): Line[] {
  const { title, id, content_digest: digest, sources, asked, worthless, deliveries, broken } = task;
  return [
    `${bold(title === null ? "(no title)" : words(title))} ${dim([id, digest].filter((part) => part !== null).join(" "))}`,
    ...steps("asked", asked, sources, sources.length === 0 ? null : "nobody signed the request"),
    ...worthlessLines(worthless),
    ...broken.map(brokenLine),
    ...deliveries.flatMap((one) => madeLines(one)),
    ...(deliveries.length === 0 ? [dim("    nothing was made of it here")] : []),
  ];
}

function madeLines({ sources, status, made, checked, worthless, independent, refused, broken }: Made): Line[] {
  const unsigned = `nobody signed the delivery${status === null ? "" : `, which says ${status}`}`;
  const verdicts = `${count(independent.length, "independent verdict")} that it passed: ${independent.join(", ")}`;
  return [
    ...steps("made", made, sources, unsigned),
    ...steps("checked", checked, [], "nobody signed a verdict"),
    ...worthlessLines(worthless),
    ...broken.map(brokenLine),
    ...(refused.length === 0 ? [] : [`  ${red("✗")} ${refused.join(", ")} found that it does not hold`]),
    ...(independent.length === 0 ? [] : [`  ${green("✓")} ${verdicts}`]),
  ];
}

const brokenLine = (text: string): string => `  ${red("✗")} ${flat(text)}`;

const worthlessLines = (rows: readonly Entry[]): string[] =>
  rows.map((row) => `  ${MARK[row.standing]} ${voucherWords(row)}`);

/** One row per signature; a sentence where there is none. */
function steps(step: string, entries: readonly Entry[], sources: readonly string[], none: string | null): Line[] {
  const where = sources.length === 0 ? "" : dim(sources.map(words).join(", "));
  if (entries.length === 0) {
    return none === null ? [] : [`  ${yellow("?")} ${step.padEnd(7)}  ${none}  ${where}`.trimEnd()];
  }
  return entries.map(({ standing, principals, key, signed_on: when, details, why, own }, index) => [
    `  ${MARK[standing]} ${step.padEnd(7)}`,
    standing === "trusted" ? principals.join(", ") : `key ${key}`,
    when ?? "",
    index === 0 ? where : "",
    [...details, ...(own ? ["by whoever made it"] : []), ...(why === null ? [] : [why])].join("; "),
  ]);
}
