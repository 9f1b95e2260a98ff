// The chain of a task: who asked, who made, who checked. Pure. Bundles are linked by content digests alone; a name or an id
// that anybody can write links nothing without being called that. Every signature is judged against the content it lies on.
import type { Envelope } from "../schema/statement.js";
import type { Trust } from "./allowed-signers.js";
import { openEnvelope, type Rejected } from "./envelope.js";
import { contentOf, judgeSignatures, type Voucher } from "./judge.js";
import { independentVerdicts, statedVerdict } from "./policy.js";

/** One bundle, read whole, wherever copies of it lie. */
export interface Piece {
  readonly kind: "request" | "delivery" | "other";
  readonly id: string;
  /** The sender's own words. */
  readonly title: string | null;
  /** Content digest, of the bytes that are there. */
  readonly digest: string;
  readonly sources: readonly string[];
  readonly envelopes: readonly Envelope[];
  readonly sigstore: readonly string[];
  readonly rejected: readonly Rejected[];
  /** What a delivery says of itself; null for everything else, and for a delivery that says nothing. */
  readonly delivery: {
    readonly status: string;
    readonly requestId?: string | undefined;
    readonly request?: string | undefined;
    readonly result?: string | undefined;
  } | null;
}

export interface ChainRequest {
  /** null: it is not among what was read. */
  readonly piece: Piece | null;
  readonly id: string | null;
  readonly digest: string | null;
  readonly asked: readonly Voucher[];
  readonly worthless: readonly Voucher[];
}

export interface ChainDelivery {
  readonly piece: Piece;
  readonly made: readonly Voucher[];
  readonly checked: readonly Voucher[];
  readonly worthless: readonly Voucher[];
  /** Who, apart from the maker, is trusted and signed that it passed. */
  readonly independent: readonly string[];
  /** Links that do not hold, in sentences. */
  readonly broken: readonly string[];
}

export interface ChainTask {
  readonly request: ChainRequest;
  readonly deliveries: readonly ChainDelivery[];
  readonly broken: readonly string[];
}

export interface Chain {
  readonly tasks: readonly ChainTask[];
  /** Bundles that are neither request nor delivery. */
  readonly others: readonly Piece[];
  /** Content that signatures without a bundle speak of. */
  readonly orphans: readonly { readonly source: string; readonly about: string | null }[];
}

export interface ChainInput {
  readonly pieces: readonly Piece[];
  /** Signatures that lie beside no bundle. */
  readonly loose: readonly { readonly source: string; readonly envelope: Envelope }[];
  readonly trust: Trust;
  readonly at: Date;
}

export function chainOf({ pieces, loose, trust, at }: ChainInput): Chain {
  const merged = mergeCopies(pieces, loose);
  const judge = (piece: Piece): Voucher[] => {
    const { digest, kind, envelopes, sigstore, rejected, delivery } = piece;
    const subject = { digest, kind, request: delivery?.request, result: delivery?.result };
    return judgeSignatures({ envelopes, sigstore, rejected, subject, trust, at }).sort(byTime);
  };
  const requests = merged.filter(({ kind }) => kind === "request");
  const deliveries = merged.filter(({ kind }) => kind === "delivery");
  const groups = new Map<string, { request: Piece | null; deliveries: Piece[] }>();
  for (const request of requests) groups.set(request.digest, { request, deliveries: [] });
  for (const delivery of deliveries) {
    const key = groupOf(delivery, requests);
    const group = groups.get(key) ?? { request: null, deliveries: [] };
    groups.set(key, { ...group, deliveries: [...group.deliveries, delivery] });
  }
  const known = new Set(merged.map(({ digest }) => digest));
  return {
    tasks: [...groups.values()].map((group) => taskOf(group, requests, judge)).sort(byFirstTime),
    others: merged.filter(({ kind }) => kind === "other"),
    orphans: loose
      .map(({ source, envelope }) => ({ source, about: aboutOf(envelope) }))
      .filter(({ about }) => about === null || !known.has(about)),
  };
}

/** Copies of the same content are one piece; what lies beside no bundle goes to the content it speaks of. */
function mergeCopies(pieces: readonly Piece[], loose: ChainInput["loose"]): Piece[] {
  const found = new Map<string, Piece>();
  for (const piece of pieces) {
    const held = found.get(piece.digest);
    found.set(piece.digest, held === undefined ? piece : joined(held, piece));
  }
  for (const { envelope } of loose) {
    const held = found.get(aboutOf(envelope) ?? "");
    if (held !== undefined)
      found.set(held.digest, joined(held, { sources: [], envelopes: [envelope], sigstore: [], rejected: [] }));
  }
  return [...found.values()];
}

function joined(held: Piece, more: Pick<Piece, "sources" | "envelopes" | "sigstore" | "rejected">): Piece {
  const envelopes = [...held.envelopes, ...more.envelopes];
  return {
    ...held,
    sources: [...new Set([...held.sources, ...more.sources])],
    envelopes: [...new Map(envelopes.map((one) => [JSON.stringify(one), one])).values()],
    sigstore: [...new Set([...held.sigstore, ...more.sigstore])],
    rejected: [...held.rejected, ...more.rejected],
  };
}

/** The content a signature that holds speaks of; null for one that does not hold. */
function aboutOf(envelope: Envelope): string | null {
  const opened = openEnvelope(envelope).find((one) => "vouched" in one);
  return opened !== undefined && "vouched" in opened ? contentOf(opened.vouched.statement) : null;
}

/** By content; by id where the delivery names no content and one request alone has that id. */
function groupOf({ digest, delivery }: Piece, requests: readonly Piece[]): string {
  if (delivery?.request !== undefined) return delivery.request;
  const named = requests.filter(({ id }) => id === delivery?.requestId);
  return named.length === 1 ? named[0]!.digest : `delivery ${digest}`;
}

type Judge = (piece: Piece) => Voucher[];

function taskOf(
  { request, deliveries }: { request: Piece | null; deliveries: readonly Piece[] },
  requests: readonly Piece[],
  judge: Judge,
): ChainTask {
  const vouchers = request === null ? [] : judge(request);
  const first = deliveries[0]?.delivery;
  const id = request?.id ?? first?.requestId ?? null;
  const twins = requests.filter((one) => one.id === id && one.digest !== request?.digest);
  return {
    request: {
      piece: request,
      id,
      digest: request?.digest ?? first?.request ?? null,
      asked: vouchers.filter(isWorth),
      worthless: vouchers.filter((one) => !isWorth(one)),
    },
    deliveries: deliveries.map((piece) => deliveryOf(piece, request, judge)),
    broken: [
      ...(request === null && first?.request !== undefined ? ["the request is not here"] : []),
      ...(twins.length === 0 ? [] : [`a request with the same id but other content is here: ${sourcesOf(twins)}`]),
    ],
  };
}

const sourcesOf = (pieces: readonly Piece[]): string => pieces.flatMap(({ sources }) => sources).join(", ");
/** What was not looked at says nothing, whatever it is worth. */
const isWorth = ({ standing, kind }: Voucher): boolean => standing !== "invalid" && kind !== null;

function deliveryOf(piece: Piece, request: Piece | null, judge: Judge): ChainDelivery {
  const vouchers = judge(piece);
  const made = vouchers.filter((one) => isWorth(one) && one.kind === "delivery");
  return {
    piece,
    made,
    checked: vouchers.filter((one) => isWorth(one) && one.kind === "verdict"),
    worthless: vouchers.filter((one) => !isWorth(one)),
    independent: independentVerdicts(vouchers, null),
    broken: brokenLinks(piece, request, made),
  };
}

function brokenLinks({ delivery }: Piece, request: Piece | null, made: readonly Voucher[]): string[] {
  if (delivery === null) return ["it does not say how the work ended, nor which request it answers"];
  const { status, requestId, request: answered } = delivery;
  const said = new Set(made.flatMap(({ statement }) => statusOf(statement)));
  const byIdAlone = answered === undefined && requestId !== undefined;
  return [
    ...(answered === undefined && requestId === undefined ? ["it does not say which request it answers"] : []),
    ...(byIdAlone ? [`it names its request by id alone (${requestId}), which ties it to no content`] : []),
    ...(request !== null && requestId !== undefined && requestId !== request.id && answered !== undefined
      ? [`it answers this content, but calls it ${requestId}`]
      : []),
    ...[...said].filter((one) => one !== status).map((one) => `signed as ${one}, but it says itself: ${status}`),
  ];
}

function statusOf(statement: Voucher["statement"]): string[] {
  return statement?.predicateType === "https://slsa.dev/provenance/v1" ? [statement.predicate.nutshell.status] : [];
}

const timeOf = ({ signedOn }: Voucher): number => (signedOn === null ? Number.POSITIVE_INFINITY : Date.parse(signedOn));
const byTime = (left: Voucher, right: Voucher): number => compare(timeOf(left), timeOf(right));
const compare = (left: number, right: number): number => (left === right ? 0 : left < right ? -1 : 1);

/** As the signers say; what nobody signed comes last, in the order it was read. */
function byFirstTime(left: ChainTask, right: ChainTask): number {
  const first = ({ request, deliveries }: ChainTask) =>
    Math.min(...[...request.asked, ...deliveries.flatMap(({ made, checked }) => [...made, ...checked])].map(timeOf));
  return compare(first(left), first(right));
}

/** Whether whoever checked is also among those who made it, by name or key. */
export function isOwnVerdict(one: Voucher, made: readonly Voucher[]): boolean {
  return made.some(
    ({ fingerprint, principals }) =>
      fingerprint === one.fingerprint || principals.some((principal) => one.principals.includes(principal)),
  );
}

/** Trusted people who signed that it failed. */
export const refusedBy = (checked: readonly Voucher[]): string[] => [
  ...new Set(
    checked
      .filter((one) => one.standing === "trusted" && statedVerdict(one) === "FAILED")
      .flatMap(({ principals }) => principals),
  ),
];
