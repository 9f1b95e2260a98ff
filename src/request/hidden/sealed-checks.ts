// The sealed file of a request's hidden checks, compared with what the manifest says of it and opened by whoever has a key. Runs
// nothing, so that packing does not load what runs checks.
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HIDDEN_FILE } from "../../acceptance/index.js";
import { listFolder } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { HiddenChecks, type HiddenSummary } from "../../schema/hidden.js";
import type { Manifest } from "../../schema/manifest.js";
import { ageDecrypt } from "../../vault/index.js";
import { readConsentRecord } from "../records/consent-record.js";
import { collectKeys } from "../vault/keys.js";

/** Far above any set of checks; a device or a huge file in its place is refused instead of read. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface Sealed {
  readonly bytes: Uint8Array;
  readonly summary: HiddenSummary;
}

export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

const unfit = (message: string): NutError =>
  new NutError("HIDDEN_UNFIT", message, { hint: "ask the publisher for the request again" });

/** The sealed file, null when the request has none. Throws HIDDEN_UNFIT when it was swapped, dropped or put there. */
export function readSealed(dir: string, { acceptance }: Manifest): Sealed | null {
  const summary = acceptance?.hidden;
  const path = join(dir, HIDDEN_FILE);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (summary === undefined) {
    if (stat === undefined) return null;
    throw unfit(`${HIDDEN_FILE} is there, but the manifest does not speak of hidden checks`);
  }
  if (stat === undefined) throw unfit(`the manifest speaks of hidden checks, but ${HIDDEN_FILE} is missing`);
  if (!stat.isFile() || stat.size > MAX_BYTES) throw unfit(`${HIDDEN_FILE} is not a file of hidden checks`);
  const bytes = readFileSync(path);
  if (digestOf(bytes) !== summary.digest) throw unfit(`${HIDDEN_FILE} is not the one the manifest names`);
  return { bytes, summary };
}

/** What is inside, or in a sentence why it stays closed. */
export async function openSealed(
  { bytes, summary }: Sealed,
  manifest: Manifest,
  identity: readonly string[],
  context: Context,
): Promise<HiddenChecks | string> {
  const { identities } = collectKeys(identity, context);
  if (identities.length === 0) return "no key is at hand";
  let plain: Uint8Array;
  try {
    plain = await ageDecrypt(bytes, { identities });
  } catch (error) {
    if (error instanceof NutError && error.code === "VAULT_NO_MATCHING_KEY") return "no key at hand opens them";
    if (error instanceof NutError && error.code === "VAULT_DAMAGED") throw unfit(`${HIDDEN_FILE} is damaged`);
    throw error;
  }
  const checks = parseChecks(plain);
  if (checks.request !== manifest.id) throw unfit(`the hidden checks belong to ${checks.request}, not to this request`);
  if (checks.criteria.length !== summary.count) throw unfit("the manifest names another number of hidden checks");
  return checks;
}

function parseChecks(plain: Uint8Array): HiddenChecks {
  try {
    return HiddenChecks.parse(JSON.parse(Buffer.from(plain).toString("utf8")));
  } catch {
    // The parser's own words would repeat what is hidden.
    throw unfit(`${HIDDEN_FILE} does not hold checks`);
  }
}

/** Throws HIDDEN_IN_CLEAR when a folder about to be packed still holds what was hidden, as far as that is known here. */
export async function assertNothingClear(dir: string, manifest: Manifest, context: Context): Promise<void> {
  const sealed = readSealed(dir, manifest);
  if (sealed === null) return;
  const opened = await openSealed(sealed, manifest, [], { ...context, ask: null }).catch(() => "");
  const files = typeof opened === "string" ? [] : opened.files;
  const paths = new Set(files.map(({ path }) => path));
  const known = new Set([
    ...files.map(({ content }) => digestOf(Buffer.from(content, "base64"))),
    ...(readConsentRecord(context.env).hidden.get(manifest.id) ?? []),
  ]);
  const clear = listFolder(dir).entries.find(({ path, kind, size }) => {
    if (kind !== "file" || size === 0 || size > MAX_BYTES) return false;
    return paths.has(path) || known.has(digestOf(readFileSync(join(dir, path))));
  });
  if (clear === undefined || !existsSync(join(dir, clear.path))) return;
  throw new NutError("HIDDEN_IN_CLEAR", `${clear.path} is hidden, but lies in clear beside it`, {
    hint: `take it out of the folder: rm ${shellWord(join(dir, clear.path))}`,
    data: { path: clear.path },
  });
}
