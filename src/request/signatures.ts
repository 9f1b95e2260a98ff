// The signatures of a bundle: in the file after its archive, or beside it in x.nut.sigs; read, judged and added.
import { existsSync, readFileSync, statSync } from "node:fs";
import { canAttach, readAttached, writeAttached } from "../bundle/index.js";
import { fromSystemError } from "../errors.js";
import { atomicWrite } from "../files/index.js";
import type { Context } from "../operation.js";
import type { Manifest } from "../schema/manifest.js";
import {
  type EnvelopeList,
  formatSignatures,
  joinSignatures,
  judgeSignatures,
  MAX_LIST_BYTES,
  NO_SIGNATURES,
  parseEnvelopes,
  type Signatures,
  type SigstoreTrust,
  type Subject,
  type Voucher,
} from "../statements/index.js";
import { readTrust } from "./trust-files.js";

/** Beside a bundle, or beside a folder. */
export const sidecarOf = (path: string): string => `${path.replace(/\/+$/, "")}.sigs`;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Everything that was signed about a bundle or a folder, wherever it lies. */
export function readSignatures(path: string): EnvelopeList {
  const lists = [
    ...(isFile(path) ? [parseEnvelopes(readAttached(path).bytes)] : []),
    ...(isFile(sidecarOf(path)) ? [readSidecar(sidecarOf(path))] : []),
  ];
  return { ...joinSignatures(...lists), rejected: lists.flatMap(({ rejected }) => rejected) };
}

function readSidecar(path: string): EnvelopeList {
  try {
    if (statSync(path).size > MAX_LIST_BYTES) return { ...NO_SIGNATURES, rejected: [{ why: `${path} is too large` }] };
    return parseEnvelopes(readFileSync(path));
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

/** Adds what was signed; says where it now lies. In the file where it has a place for it, unless it is wanted beside it. */
export function addSignatures(path: string, added: Signatures, { sidecar }: { readonly sidecar: boolean }): string {
  if (!sidecar && isFile(path) && canAttach(path)) {
    const held = parseEnvelopes(readAttached(path).bytes);
    writeAttached(path, Buffer.from(formatSignatures(joinSignatures(held, added)), "utf8"));
    return path;
  }
  const beside = sidecarOf(path);
  const held = existsSync(beside) ? readSidecar(beside) : NO_SIGNATURES;
  try {
    atomicWrite(beside, formatSignatures(joinSignatures(held, added)));
  } catch (error) {
    throw fromSystemError(error, beside) ?? error;
  }
  return beside;
}

/** What a statement about this bundle must speak of. */
export function subjectOf(manifest: Manifest, digest: string, more: Pick<Subject, "request" | "result"> = {}): Subject {
  const kind =
    manifest.bundle_type === "request" || manifest.bundle_type === "delivery" ? manifest.bundle_type : "other";
  return { digest, kind, ...more };
}

/** Who vouches for it, by the trust of this account. `at` is the time that counts: now, unless the person says another. */
export function vouchersOf(
  path: string,
  subject: Subject,
  context: Context,
  { at = context.now(), sigstoreTrust = null }: { at?: Date; sigstoreTrust?: SigstoreTrust | null } = {},
): Voucher[] {
  const list = readSignatures(path);
  if (list.envelopes.length + list.sigstore.length + list.rejected.length === 0) return [];
  return judgeSignatures({ ...list, subject, trust: readTrust(context), at, sigstoreTrust });
}

/** Whether the manifest names somebody else as its publisher than the one who signed. A name that is left out names nobody. */
export function contradicts({ publisher }: Manifest, { principals }: Pick<Voucher, "principals">): boolean {
  const contact = publisher?.contact;
  return contact?.includes("@") === true && !principals.includes(contact);
}
