// The signatures of a bundle: in the file after its archive, or beside it in x.nut.sigs; read, judged and added.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { canAttach, type EarlyCopy, readAttached, writeAttached } from "../../bundle/index.js";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import { atomicWrite } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { sweepLeftovers } from "../../process/index.js";
import type { Manifest } from "../../schema/manifest.js";
import {
  type EnvelopeList,
  joinSignatures,
  judgeSignatures,
  MAX_ENVELOPES,
  MAX_LIST_BYTES,
  NO_SIGNATURES,
  parseEnvelopes,
  type Signatures,
  type SigstoreTrust,
  type Subject,
  signatureLines,
  type Voucher,
} from "../../statements/index.js";
import { inTurn } from "../records/in-turn.js";
import { readTrust } from "./trust-files.js";

/** Beside a bundle, or beside a folder. */
export const sidecarOf = (path: string): string => `${path.replace(/\/+$/, "")}.sigs`;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Whether signatures can lie in the file itself. */
export const hasPlaceInside = (path: string): boolean => isFile(path) && canAttach(path);

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

/**
 * Adds what was signed; says where it now lies. In the file where it has a place for it, unless it is wanted beside it. Lines
 * that are there stay as they are, whatever they are. One at a time: of two who sign at once, neither loses its signature.
 * `copy` is a copy of the file that is ready, to be used instead of making one.
 */
export function addSignatures(
  path: string,
  added: Signatures,
  { sidecar, copy = null }: { readonly sidecar: boolean; readonly copy?: EarlyCopy | null },
  context: Context,
): Promise<string> {
  return inTurn("signing", context, () => {
    const isInside = !sidecar && hasPlaceInside(path);
    const target = isInside ? path : sidecarOf(path);
    const held = isInside ? readAttached(path).bytes : existsSync(target) ? readRegular(target) : Buffer.alloc(0);
    const lines = held.toString("utf8").split("\n").filter(isLine);
    const text = [...lines, ...signatureLines(added).filter((line) => !lines.includes(line))];
    const bytes = Buffer.from(`${text.join("\n")}\n`, "utf8");
    if (text.length > MAX_ENVELOPES || bytes.length > MAX_LIST_BYTES) throw tooMany(target);
    if (isInside) writeAttached(path, bytes, copy);
    else writeBeside(target, bytes);
    return target;
  });
}

const isLine = (line: string): boolean => line.trim() !== "";

function readRegular(path: string): Buffer {
  try {
    if (statSync(path).size > MAX_LIST_BYTES) throw tooMany(path);
    return readFileSync(path);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

function writeBeside(path: string, bytes: Buffer): void {
  sweepLeftovers(dirname(path));
  try {
    atomicWrite(path, bytes.toString("utf8"));
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

/** Nobody reads more than so many, so one more would make all of them worthless. */
function tooMany(path: string): NutError {
  return new NutError("SIGNATURE_UNFIT", `${path}: there is no room for another signature`, {
    hint: `of ${MAX_ENVELOPES} signatures and ${MAX_LIST_BYTES} bytes; those that count for nothing can go: nutshell inspect ${shellWord(path)}`,
    data: { path },
  });
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
