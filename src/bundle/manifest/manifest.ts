// nutshell.json: read strictly as JSON, leniently as a manifest. Text that two readers could understand differently is
// refused; a date or an enum that does not parse is a finding, because other tools write them and the rest is usable.

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Finding, fromSystemError, NutError, shellWord } from "../../errors.js";
import { type FileWrite, formatJson, JsonError, parseJson, replaceFiles } from "../../files/index.js";
import { sweepLeftovers } from "../../process/leftovers.js";
import { Manifest } from "../../schema/manifest.js";
import { type Mismatch, mismatchLine } from "../../schema/mismatch.js";
import { MAX_JSON_DEPTH, MAX_MANIFEST_BYTES } from "../format/limits.js";
import { MANIFEST_NAME } from "../format/safe-path.js";
import { upgradeManifest } from "./upgrade-manifest.js";

export const FORMAT_VERSION = "0.2.0";
const FORMAT_MAJOR = 0;

export interface ManifestOptions {
  /** Accepts any JSON object: for those who judge or show a manifest rather than rely on its types. */
  readonly lenient?: boolean;
  /** Accepts a newer MAJOR version: for those who only look. */
  readonly newer?: boolean;
  /** Named in errors. */
  readonly path?: string;
}

/**
 * Reads a manifest. Throws MANIFEST_INVALID, MANIFEST_NEWER. What it returns is the document itself, in its own key
 * order and with its unknown fields; field types are checked unless `lenient`, formats (dates, enums) are not:
 * `manifestFindings` tells about those.
 */
export function parseManifest(bytes: Uint8Array | string, options: ManifestOptions = {}): Manifest {
  const name = options.path ?? MANIFEST_NAME;
  if (bytes.length > MAX_MANIFEST_BYTES) {
    throw new NutError("BUNDLE_LIMIT", `${name} is larger than ${MAX_MANIFEST_BYTES} bytes`, { data: { path: name } });
  }
  const value = parseDocument(bytes, name);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(name, "is not a JSON object", {});
  }
  const manifest = upgradeManifest(value as Record<string, unknown>);
  if (options.newer !== true) assertKnownVersion(manifest, name);
  if (options.lenient !== true) assertTypes(manifest, name);
  return manifest as Manifest;
}

function parseDocument(bytes: Uint8Array | string, name: string): unknown {
  try {
    return parseJson(bytes, { maxDepth: MAX_JSON_DEPTH });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const where = error.offset > 0 ? ` (at character ${error.offset})` : "";
    throw invalid(name, `${error.message}${where}`, { offset: error.offset }, error);
  }
}

function assertKnownVersion(manifest: Record<string, unknown>, name: string): void {
  if (!isNewer(manifest)) return;
  throw new NutError("MANIFEST_NEWER", `${name} is of format ${manifest.nutshell_version}, newer than this tool`, {
    hint: isFolderFile(name)
      ? "use a newer nutshell: this one could not write it again"
      : "look at it with: nutshell inspect '<file>'",
    data: { version: manifest.nutshell_version },
  });
}

/** Whether the MAJOR version is beyond what we know: such a bundle may be looked at, not worked on. */
export function isNewer(manifest: Record<string, unknown>): boolean {
  const version = manifest.nutshell_version;
  const major = typeof version === "string" ? /^(\d+)\./.exec(version)?.[1] : undefined;
  return major !== undefined && Number(major) > FORMAT_MAJOR;
}

/** A word that is not among the choices is read as it is; what is no word, or not there at all, is not. */
function isWrongType({ code, path }: Mismatch, manifest: Record<string, unknown>): boolean {
  if (code !== "invalid_value") return code === "invalid_type" || code === "invalid_union";
  const given = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)[key], manifest);
  return typeof given !== "string" && (given !== undefined || path.length === 1);
}

function assertTypes(manifest: Record<string, unknown>, name: string): void {
  const parsed = Manifest.safeParse(manifest);
  const wrong = parsed.success ? undefined : parsed.error.issues.find((issue) => isWrongType(issue, manifest));
  if (wrong === undefined) return;
  const field = wrong.path.join(".");
  throw invalid(name, `field ${mismatchLine(wrong)}`, { field });
}

/** Everything the schema has to say about a manifest. */
export function manifestFindings(manifest: unknown): Finding[] {
  const parsed = Manifest.safeParse(manifest);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => {
    const path = issue.path.join(".");
    // Other tools leave it empty, and nobody needs it to begin.
    const isUnsaid = path === "created_at" && (manifest as Manifest).created_at === "";
    const message = isUnsaid ? "created_at: is empty" : mismatchLine(issue, "manifest");
    return { code: "MANIFEST_INVALID", severity: isUnsaid ? "warning" : "error", path, message };
  });
}

/** Reads the manifest of a folder. Throws MANIFEST_MISSING when there is none. */
export function readManifest(folder: string, options: ManifestOptions = {}): Manifest {
  const path = join(folder, MANIFEST_NAME);
  return parseManifest(readSmallFile(path), { ...options, path });
}

/** O_NOFOLLOW and O_NONBLOCK: neither a link nor a pipe in the manifest's place is read. */
function readSmallFile(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const refusal = fromSystemError(error, path);
    if (refusal?.code !== "FILE_NOT_FOUND") throw refusal ?? error;
    const folder = dirname(path);
    if (!existsSync(folder))
      throw new NutError("FILE_NOT_FOUND", `${folder}: no such folder`, { data: { path: folder } });
    if (!statSync(folder).isDirectory())
      throw new NutError("FILE_NOT_FOUND", `${folder}: not a folder`, {
        hint: folder.endsWith(".nut") ? `nutshell unpack ${shellWord(folder)}` : `ls -ld ${shellWord(folder)}`,
        data: { path: folder },
      });
    throw new NutError("MANIFEST_MISSING", `${path}: no manifest here`, {
      hint: `nutshell init --dir ${shellWord(folder)}`,
      data: { path },
    });
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw invalid(path, "is not a regular file", {});
    if (stats.size > MAX_MANIFEST_BYTES) throw new NutError("BUNDLE_LIMIT", `${path} is too large`, { data: { path } });
    return readFileSync(file);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  } finally {
    closeSync(file);
  }
}

/** Replaces a folder's manifest. Unknown fields, key order and the spelling of untouched values are kept. */
export function writeManifest(folder: string, manifest: Manifest): void {
  sweepLeftovers(folder);
  replaceFiles([manifestFile(folder, manifest)]);
}

/** What `writeManifest` writes, for those who write more than that at once. */
export function manifestFile(folder: string, manifest: Manifest): FileWrite {
  return { path: join(folder, MANIFEST_NAME), data: formatManifest(manifest) };
}

/** How a manifest is written everywhere: two spaces; rows of the tree on one line each. */
export function formatManifest(manifest: Manifest): string {
  return `${formatJson(manifest, { indent: 2, inlineFrom: 3 })}\n`;
}

/** Whether it lies in a folder whose name we know; a bundle's does not say where the bundle is. */
const isFolderFile = (name: string): boolean => name !== MANIFEST_NAME && basename(name) === MANIFEST_NAME;

function invalid(name: string, message: string, data: Record<string, unknown>, cause?: unknown): NutError {
  const all = `nutshell validate ${isFolderFile(name) ? shellWord(dirname(name)) : "'<file>'"} lists everything`;
  // Of what cannot be read at all there is no more to list.
  const hint = cause instanceof JsonError && isFolderFile(name) ? `\${EDITOR:-vi} ${shellWord(name)}` : all;
  return new NutError("MANIFEST_INVALID", `${name}: ${message}`, {
    hint,
    data: { path: name, ...data },
    ...(cause === undefined ? {} : { cause }),
  });
}
