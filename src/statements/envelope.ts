// DSSE envelopes and lists of them (one per line, as in-toto's attestation bundles). What is signed is the payload's bytes
// with their type and length, so no second way to write the JSON can differ from what was signed.
import { NutError } from "../errors.js";
import { JsonError, parseJson } from "../files/index.js";
import { Envelope, NAMESPACE, PAYLOAD_TYPE, PREDICATES, Statement, type StatementKind } from "../schema/statement.js";
import { fingerprint, type SshKey } from "./ssh-key.js";
import { decodeSignature, verifySignature } from "./sshsig.js";

/** Far above what a statement needs; anything larger is refused before it is read. */
export const MAX_PAYLOAD_BYTES = 256 * 1024;
export const MAX_LIST_BYTES = 1024 * 1024;
export const MAX_ENVELOPES = 64;

/** What can sign: gives a whole SSHSIG blob over a message, in our namespace. */
export type Signer = (message: Uint8Array) => Promise<Uint8Array>;

/** DSSE's pre-authentication encoding. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType, "utf8");
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} `), type, Buffer.from(` ${payload.length} `), payload]);
}

/** Throws SIGNATURE_UNFIT when what came back from the signer is not a signature over just this, by a key we believe. */
export async function signStatement(statement: Statement, sign: Signer): Promise<Envelope> {
  const payload = Buffer.from(JSON.stringify(statement), "utf8");
  const message = preAuthEncoding(PAYLOAD_TYPE, payload);
  const sig = Buffer.from(await sign(message));
  const signature = decodeSignature(sig);
  if (signature === null || !verifySignature(signature, message, NAMESPACE)) {
    throw new NutError("SIGNATURE_UNFIT", "the key made a signature that cannot be verified", {
      hint: "use a key of kind ed25519, ecdsa or rsa (2,048 bits or more): nutshell sign '<file>' --key '<key>'",
    });
  }
  return {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString("base64"),
    signatures: [{ keyid: fingerprint(signature.key), sig: sig.toString("base64") }],
  };
}

/** One signature on one statement, the mathematics checked. Whose key it is, is for `judge` to say. */
export type Vouched = {
  readonly kind: StatementKind;
  readonly statement: Statement;
} & (
  | { readonly key: SshKey; readonly identity?: never }
  /** `who issuer=by whose word`, from a Sigstore certificate. */
  | { readonly key: null; readonly identity: string }
);

/** Why an envelope, or one signature in it, counts for nothing. */
export interface Rejected {
  readonly why: string;
  /** Of the key that claims to have signed, when one can be read. */
  readonly fingerprint?: string;
}

export type Opened = { readonly vouched: Vouched } | { readonly rejected: Rejected };

/** Every signature of an envelope, each by itself. Never throws over what it was given. */
export function openEnvelope(envelope: Envelope): Opened[] {
  const payload = fromBase64(envelope.payload);
  if (payload === null) return [reject("its payload is not base64")];
  if (payload.length > MAX_PAYLOAD_BYTES) return [reject("its payload is too large")];
  const signed = preAuthEncoding(envelope.payloadType, payload);
  const statement = parseStatement(payload);
  return envelope.signatures.map(({ sig }) => {
    const blob = fromBase64(sig);
    const signature = blob === null ? null : decodeSignature(blob);
    if (signature === null) return reject("its signature is not an SSH signature of a kind we know");
    const { key } = signature;
    if (signature.namespace !== NAMESPACE) return reject("it was signed for another purpose (namespace)", key);
    if (!verifySignature(signature, signed, NAMESPACE)) return reject("its signature does not fit its content", key);
    if (typeof statement === "string") return reject(statement, key);
    return { vouched: { kind: kindOf(statement), statement, key } };
  });
}

export const reject = (why: string, key?: SshKey): Opened => ({
  rejected: { why, ...(key === undefined ? {} : { fingerprint: fingerprint(key) }) },
});

/** The statement, or in a sentence why it is none. A key given twice would let two readers see two statements. */
export function parseStatement(payload: Buffer): Statement | string {
  let value: unknown;
  try {
    value = parseJson(payload, { maxDepth: 32 });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return `its payload ${error.message}`;
  }
  const parsed = Statement.safeParse(value);
  return parsed.success ? parsed.data : "its payload is not a statement we know";
}

export function kindOf({ predicateType }: Statement): StatementKind {
  return (Object.keys(PREDICATES) as StatementKind[]).find((kind) => PREDICATES[kind] === predicateType)!;
}

/** Canonical base64 only: a second way to write the same bytes would be a second envelope. */
function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : null;
}

export interface EnvelopeList {
  readonly envelopes: readonly Envelope[];
  /** Sigstore bundles, each as its line. */
  readonly sigstore: readonly string[];
  /** A sentence for every line that is no envelope. */
  readonly rejected: readonly Rejected[];
}

/** Reads the lines of x.nut.sigs, or what lies after an archive. Never throws over what it was given. */
export function parseEnvelopes(bytes: Uint8Array): EnvelopeList {
  if (bytes.length > MAX_LIST_BYTES)
    return { ...NO_SIGNATURES, rejected: [{ why: "the list of signatures is too large" }] };
  const lines = Buffer.from(bytes)
    .toString("utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  if (lines.length > MAX_ENVELOPES) return { ...NO_SIGNATURES, rejected: [{ why: "there are too many signatures" }] };
  const envelopes: Envelope[] = [];
  const sigstore: string[] = [];
  const rejected: Rejected[] = [];
  for (const line of lines) {
    const envelope = parseEnvelope(line);
    if (envelope === SIGSTORE) sigstore.push(line.trim());
    else if (typeof envelope === "string") rejected.push({ why: envelope });
    else envelopes.push(envelope as Envelope);
  }
  return { envelopes, sigstore, rejected };
}

export const NO_SIGNATURES: EnvelopeList = { envelopes: [], sigstore: [], rejected: [] };

const SIGSTORE = Symbol("a Sigstore bundle");

/** Whether a line of signatures is a Sigstore bundle. */
const isSigstore = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as { mediaType?: unknown }).mediaType === "string" &&
  (value as { mediaType: string }).mediaType.startsWith("application/vnd.dev.sigstore.bundle");

function parseEnvelope(line: string): Envelope | typeof SIGSTORE | string {
  try {
    const value = parseJson(line, { maxDepth: 16 });
    if (isSigstore(value)) return SIGSTORE;
    const parsed = Envelope.safeParse(value);
    return parsed.success ? parsed.data : "a line is not an envelope we know";
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return `a line ${error.message}`;
  }
}

/** What can be kept and sent on: every kind of signature, whatever it is worth. */
export type Signatures = Pick<EnvelopeList, "envelopes" | "sigstore">;

export const formatEnvelopes = (envelopes: readonly Envelope[]): string =>
  formatSignatures({ envelopes, sigstore: [] });

export const signatureLines = ({ envelopes, sigstore }: Signatures): string[] => [
  ...envelopes.map((envelope) => JSON.stringify(envelope)),
  ...sigstore,
];

export const formatSignatures = (signatures: Signatures): string =>
  signatureLines(signatures)
    .map((line) => `${line}\n`)
    .join("");

/** All of the lists, each signature once. */
export function joinSignatures(...lists: readonly Signatures[]): Signatures {
  const envelopes = lists.flatMap((list) => list.envelopes);
  return {
    envelopes: [...new Map(envelopes.map((envelope) => [JSON.stringify(envelope), envelope])).values()],
    sigstore: [...new Set(lists.flatMap(({ sigstore }) => sigstore))],
  };
}

/** Keys whose signatures hold, each once. Says nothing about whose they are. */
export function signingKeys(envelopes: readonly Envelope[]): SshKey[] {
  const found = envelopes.flatMap(openEnvelope).flatMap((one) => ("vouched" in one ? (one.vouched.key ?? []) : []));
  return [...new Map(found.map((key) => [fingerprint(key), key])).values()];
}
