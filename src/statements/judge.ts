// Who vouches for a bundle: signatures that hold, about this content, by people who are trusted. Pure.
// The time that counts is the verifier's own, never the one a statement claims: whoever steals a key can write any date.
import type { Envelope, Statement, StatementKind } from "../schema/statement.js";
import { NAMESPACE } from "../schema/statement.js";
import { type KeyStanding, keyStanding, type Trust } from "./allowed-signers.js";
import { type Opened, openEnvelope, type Rejected, type Vouched } from "./envelope.js";
import { identityWords, type SigstoreVerifier } from "./sigstore.js";
import { fingerprint } from "./ssh-key.js";

/** One signature, judged. */
export interface Voucher {
  /** trusted: by somebody you know; unknown: it holds, but whose key it is nobody said; invalid: it counts for nothing. */
  readonly standing: "trusted" | "unknown" | "invalid";
  readonly kind: StatementKind | null;
  /** Who, by your own allowed_signers; empty unless trusted. */
  readonly principals: readonly string[];
  readonly fingerprint: string | null;
  /** When, as the signer says. */
  readonly signedOn: string | null;
  /** Why it is not trusted, or counts for nothing. */
  readonly why: string | null;
  readonly statement: Statement | null;
}

/** What a statement is compared with. */
export interface Subject {
  /** `sha256:<hex>`. */
  readonly digest: string;
  readonly kind: "request" | "delivery" | "other";
  /** Content digest of the request a delivery answers, as far as it is known. */
  readonly request?: string | undefined;
  /** What the delivery says of its result tree. */
  readonly result?: string | undefined;
}

/** Whose Sigstore bundles count: none without a root, and nobody who was not named. */
export interface SigstoreTrust {
  readonly verify: SigstoreVerifier;
  /** `who issuer=by whose word`, as --require and one's own policies name them. */
  readonly isNamed: (identity: string) => boolean;
}

export interface JudgeInput {
  readonly envelopes: readonly Envelope[];
  readonly sigstore?: readonly string[];
  /** null: no root was given. */
  readonly sigstoreTrust?: SigstoreTrust | null;
  readonly rejected: readonly Rejected[];
  readonly subject: Subject;
  readonly trust: Trust;
  readonly at: Date;
}

export function judgeSignatures(input: JudgeInput): Voucher[] {
  const { envelopes, sigstore = [], sigstoreTrust = null, rejected } = input;
  const judge = (one: Opened) => ("vouched" in one ? judgeOne(one.vouched, input) : invalid(one.rejected, null));
  return [
    ...envelopes.flatMap(openEnvelope).map(judge),
    ...sigstore.map((line) => (sigstoreTrust === null ? UNREAD_SIGSTORE : judge(sigstoreTrust.verify(line)))),
    ...rejected.map((one) => invalid(one, null)),
  ];
}

/** Nothing is said of what was not looked at. */
const UNREAD_SIGSTORE: Voucher = {
  standing: "unknown",
  kind: null,
  principals: [],
  fingerprint: null,
  signedOn: null,
  why: "nutshell verify --sigstore-root '<trusted_root.json>' looks at it",
  statement: null,
};

function judgeOne(vouched: Vouched, { subject, trust, at, sigstoreTrust }: JudgeInput): Voucher {
  const { kind, statement, key } = vouched;
  const own = key === null ? `sigstore:${vouched.identity.replace(" ", ",")}` : fingerprint(key);
  const wrong = subjectProblem(vouched, subject);
  if (wrong !== null) return invalid({ why: wrong, fingerprint: own }, kind);
  const standing =
    key === null ? identityStanding(vouched.identity, sigstoreTrust ?? null) : keyStanding(key, trust, NAMESPACE, at);
  const common = { kind, fingerprint: own, signedOn: signedOn(statement), statement };
  return standing.trusted
    ? { ...common, standing: "trusted", principals: standing.principals, why: null }
    : { ...common, standing: "unknown", principals: [], why: standing.why };
}

/** Anybody can get a certificate; who is trusted was named, with who vouches for the name. */
function identityStanding(identity: string, trust: SigstoreTrust | null): KeyStanding {
  if (trust?.isNamed(identity) === true) return { trusted: true, principals: [identity] };
  const { who, issuer } = identityWords(identity)!;
  return { trusted: false, why: `${issuer} says it was ${who}, whom neither --require nor your policy names` };
}

const invalid = ({ why, fingerprint: own }: Rejected, kind: StatementKind | null): Voucher => ({
  standing: "invalid",
  kind,
  principals: [],
  fingerprint: own ?? null,
  signedOn: null,
  why,
  statement: null,
});

/** A signature that holds still says nothing about content it was not made for. */
function subjectProblem({ kind, statement }: Vouched, subject: Subject): string | null {
  if (contentOf(statement) !== subject.digest) return "it is about other content";
  if (kind === "request" ? subject.kind !== "request" : subject.kind !== "delivery") {
    return `it is a ${kind} statement, and this is a ${subject.kind === "other" ? "bundle of another kind" : subject.kind}`;
  }
  const request = requestOf(statement);
  if (request !== null && subject.request !== undefined && request !== subject.request) {
    return "it speaks of another request than the delivery answers";
  }
  // A no is heard whatever tree it found: a delivery that lies about its result would otherwise be safe from every no.
  const result = isNo(statement) ? null : resultOf(statement);
  if (result !== null && subject.result !== undefined && result !== subject.result) {
    return kind === "verdict" ? "it is about a rerun of another result" : "it speaks of another result";
  }
  return null;
}

const isNo = (statement: Statement): boolean =>
  statement.predicateType === "https://in-toto.io/attestation/test-result/v0.1" &&
  statement.predicate.result === "FAILED";

const prefixed = (hex: string): string => `sha256:${hex}`;

export const contentOf = ({ subject }: Statement): string => prefixed(subject[0]!.digest.nutshellContent);

/** The request a statement about a delivery names; null for one about a request. */
export function requestOf(statement: Statement): string | null {
  if (statement.predicateType === "urn:nutshell:request:1") return null;
  const named =
    statement.predicateType === "https://slsa.dev/provenance/v1"
      ? statement.predicate.buildDefinition.externalParameters.request
      : statement.predicate.configuration[0]!;
  return prefixed(named.digest.nutshellContent);
}

function resultOf(statement: Statement): string | null {
  if (statement.predicateType === "urn:nutshell:request:1") return null;
  return statement.predicate.nutshell.digests.result ?? null;
}

export function signedOn(statement: Statement): string {
  return statement.predicateType === "urn:nutshell:request:1"
    ? statement.predicate.signedOn
    : statement.predicate.nutshell.signedOn;
}
