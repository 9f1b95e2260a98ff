// Bundles on their way to a registry and back. The archive goes as it is, without what was signed about it: that travels as
// referrers, so that a verdict can be added later without sending the bundle again.
import { existsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { canAttach, MAX_TOTAL_BYTES, openBundle, readAttached } from "../../bundle/index.js";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import { clearAway, syncFolder, takeName, temporaryName } from "../../files/index.js";
import type { Context } from "../../operation.js";
import {
  findLogin,
  getBundle,
  getStatements,
  hashFile,
  holdsSize,
  MANIFEST_TYPE,
  parseReference,
  putArtifact,
  putBundle,
  putStatements,
  type Reference,
  Registry,
} from "../../registry/index.js";
import type { Manifest } from "../../schema/manifest.js";
import {
  formatSignatures,
  joinSignatures,
  MAX_ENVELOPES,
  MAX_LIST_BYTES,
  NO_SIGNATURES,
  parseEnvelopes,
  type Signatures,
  signatureLines,
} from "../../statements/index.js";
import { readWhole, type Whole } from "../open/read-whole.js";
import { addSignatures, readSignatures, sidecarOf } from "./signatures.js";

export function openRegistry({ host, repository }: Reference, context: Context): Registry {
  const { env, cwd, signal } = context;
  return new Registry({ host, repository, signal, login: () => findLogin(host, { env, cwd, signal }) });
}

export interface Pushed {
  /** Of the manifest in the registry. */
  readonly digest: string;
  readonly bytes: number;
  /** false: the registry had the archive already. */
  readonly uploaded: boolean;
  /** null for a large bundle, whose content was not read. */
  readonly contentDigest: string | null;
  readonly signatures: number;
}

export async function pushBundle(path: string, target: string, context: Context): Promise<Pushed> {
  const reference = parseReference(target);
  if (reference.name.startsWith("sha256:")) {
    throw new NutError("REGISTRY_BAD_ADDRESS", "what is pushed gets a tag; its digest follows from its content", {
      hint: `nutshell push ${shellWord(path)} oci://${reference.host}/${reference.repository}:'<tag>'`,
    });
  }
  const head = await readHead(path, context);
  const { archiveBytes } = readAttached(path);
  // Sent while it is read: a blob without a manifest is nobody's, and one is entered only for what was found whole. A large
  // one is sent as it is: reading it would take longer than sending it, and every reader finds damage.
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const registry = openRegistry(reference, { ...context, signal });
  const hashed = hashFile(path, archiveBytes, signal);
  hashed.catch(() => {});
  const isLikelyThere = await holdsSize(registry, reference.name, archiveBytes).catch((error) => {
    stop.abort();
    throw error;
  });
  const named = isLikelyThere ? await hashed : hashed;
  const content = archiveBytes > CHECKED_BYTES ? { ...head, digest: null } : readWhole(path, null, context);
  const all = [content, registry.blobs.putFile(path, named, archiveBytes), hashed] as const;
  const [{ manifest, compression, digest: contentDigest }, uploaded, digest] = await Promise.all(all).catch(
    async (error) => {
      stop.abort();
      await Promise.allSettled(all);
      throw error;
    },
  );
  const layer = { mediaType: "", digest, size: archiveBytes };
  const facts = {
    kind: manifest.bundle_type,
    compression: compression!,
    name: basename(path),
    annotations: annotationsOf(manifest, contentDigest),
  };
  const subject = await putBundle(registry, reference.name, layer, facts);
  const lines = signatureLines(readSignatures(path));
  await putStatements(registry, subject, lines.map(typed));
  return { digest: subject.digest, bytes: archiveBytes, uploaded, contentDigest, signatures: lines.length };
}

/** More than nearly every bundle has. */
const CHECKED_BYTES = 64 * 1024 ** 2;

/** Nothing is sent of what is no bundle at all. */
async function readHead(path: string, { signal }: Context): Promise<Pick<Whole, "manifest" | "compression">> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    const hint = `nutshell pack --dir ${shellWord(path)} -o task.nut`;
    throw new NutError("USAGE", `${path} is a folder: a registry holds packed bundles`, { hint });
  }
  const bundle = await openBundle(path, { signal });
  await bundle.close();
  return { manifest: bundle.manifest, compression: bundle.compression };
}

const LONGEST = 1_000;

/** What registries show of a task. The sender's own words; nothing is believed because of them. */
function annotationsOf(manifest: Manifest, contentDigest: string | null): Record<string, string> {
  const rows: [string, string | undefined][] = [
    ["org.opencontainers.image.title", manifest.task?.title],
    ["org.opencontainers.image.description", manifest.task?.summary],
    ["org.opencontainers.image.created", manifest.created_at],
    ["org.opencontainers.image.authors", manifest.publisher?.name],
    ["nutshell.content", contentDigest ?? undefined],
    ["nutshell.id", manifest.id],
    ["nutshell.request", manifest.request_id],
    ["nutshell.status", manifest.status],
  ];
  return Object.fromEntries(
    rows.flatMap(([key, value]) => (value === undefined ? [] : [[key, value.slice(0, LONGEST)]])),
  );
}

export interface Pulled {
  readonly path: string;
  readonly digest: string;
  readonly bytes: number;
  readonly signatures: number;
}

/** Downloads beside the output under another name; the file appears when all of it is there and right. */
export async function pullBundle(
  source: string,
  output: string,
  { sidecar, maxBytes }: { readonly sidecar: boolean; readonly maxBytes?: number | undefined },
  context: Context,
): Promise<Pulled> {
  for (const path of [output, sidecarOf(output)]) if (existsSync(path)) throw taken(path);
  const reference = parseReference(source);
  const registry = openRegistry(reference, context);
  const { digest, layer } = await getBundle(registry, reference.name);
  assertSize(layer.size, source, maxBytes);
  const temporary = temporaryName(output);
  try {
    await registry.blobs.getFile(layer, temporary);
    const lines = await getStatements(registry, digest);
    const signatures = fitting(lines);
    const count = signatureLines(signatures).length;
    const isBeside = sidecar || !canHold(temporary, count);
    if (count > 0 && !isBeside) await addSignatures(temporary, signatures, { sidecar: false }, context);
    // Another download of the same name may have been quicker.
    if (!takeName(temporary, output)) throw taken(output);
    syncFolder(dirname(output));
    if (count > 0 && isBeside) await addSignatures(output, signatures, { sidecar: true }, context);
    return { path: output, digest, bytes: statSync(output).size, signatures: count };
  } catch (error) {
    throw fromSystemError(error, output) ?? error;
  } finally {
    clearAway(temporary);
  }
}

/** A registry may claim any size, and the disk is not its own. */
export function assertSize(size: number, source: string, maxBytes: number = MAX_TOTAL_BYTES): void {
  if (size <= maxBytes) return;
  throw new NutError("BUNDLE_LIMIT", `${source} holds ${size} bytes, and ${maxBytes} are accepted`, {
    hint: `nutshell pull ${shellWord(source)} --max-size ${size}`,
    data: { size, limit: maxBytes },
  });
}

/** Signatures as far as a bundle may carry them: what is none, or too much, takes nothing away from the others. */
export function fitting(lines: readonly string[]): Signatures {
  let kept: Signatures = NO_SIGNATURES;
  for (const line of lines) {
    const more = joinSignatures(kept, parseEnvelopes(Buffer.from(line)));
    if (formatSignatures(more).length <= MAX_LIST_BYTES && signatureLines(more).length <= MAX_ENVELOPES) kept = more;
  }
  return kept;
}

/** What kind of signature a line is, as a registry is told. */
const typed = (line: string) => ({
  line,
  isSigstore: parseEnvelopes(Buffer.from(line)).sigstore.length > 0,
});

function taken(path: string): NutError {
  return new NutError("FILE_EXISTS", `${path}: already exists`, {
    hint: `mv ${shellWord(path)} ${shellWord(path)}.old`,
  });
}

function canHold(path: string, count: number): boolean {
  return count > 0 && canAttach(path);
}

export interface Copied {
  readonly digest: string;
  /** mounted: the registry shares it between repositories; present: it was there; sent: it went over the wire. */
  readonly how: "mounted" | "present" | "sent";
  readonly signatures: number;
}

export async function copyBundle(from: string, to: string, scratch: string, context: Context): Promise<Copied> {
  const [source, target] = [parseReference(from), parseReference(to)];
  const [left, right] = [openRegistry(source, context), openRegistry(target, context)];
  const artifact = await getBundle(left, source.name);
  const { layer } = artifact;
  assertSize(layer.size, from);
  let how: Copied["how"] = "present";
  if (!(await right.blobs.has(layer.digest))) {
    const isMounted = source.host === target.host && (await right.blobs.mount(layer.digest, source.repository));
    how = isMounted ? "mounted" : "sent";
    if (!isMounted) {
      await left.blobs.getFile(layer, scratch);
      await right.blobs.putFile(scratch, layer.digest, layer.size);
    }
  }
  await putArtifact(right, target.name, artifact);
  const lines = await getStatements(left, artifact.digest);
  const subject = { mediaType: MANIFEST_TYPE, digest: artifact.digest, size: artifact.bytes.length };
  await putStatements(right, subject, lines.map(typed));
  return { digest: artifact.digest, how, signatures: lines.length };
}
