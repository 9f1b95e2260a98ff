// A bundle in a registry: one OCI manifest with the archive as its layer, and what was signed about it as referrers.
import { z } from "zod";
import { NutError } from "../errors.js";
import { type Descriptor, digestOf } from "./blobs.js";
import { fallbackTag, INDEX_TYPE, MANIFEST_TYPE, type Registry } from "./client.js";

export const ARTIFACT_TYPES = {
  request: "application/vnd.nutshell.request.v1",
  delivery: "application/vnd.nutshell.delivery.v1",
} as const;
const OTHER_TYPE = "application/vnd.nutshell.bundle.v1";
const STATEMENT_TYPE = "application/vnd.nutshell.statement.v1";
const ENVELOPE_TYPE = "application/vnd.dsse.envelope.v1+json";
const SIGSTORE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const LAYER = "application/vnd.nutshell.bundle.layer.v1";

const EMPTY = Buffer.from("{}");
const CONFIG: Descriptor = {
  mediaType: "application/vnd.oci.empty.v1+json",
  digest: digestOf(EMPTY),
  size: EMPTY.length,
};

export interface BundleFacts {
  readonly kind: string;
  readonly compression: "gzip" | "zstd" | "none";
  /** Name of the file. */
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export const bundleType = (kind: string): string => ARTIFACT_TYPES[kind as keyof typeof ARTIFACT_TYPES] ?? OTHER_TYPE;
const layerType = (compression: BundleFacts["compression"]) =>
  compression === "none" ? `${LAYER}.tar` : `${LAYER}.tar+${compression}`;

const Row = z.looseObject({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hex digits"),
  size: z.int().nonnegative(),
  annotations: z.record(z.string(), z.string()).optional(),
});
const Manifest = z.looseObject({
  schemaVersion: z.literal(2),
  mediaType: z.literal(MANIFEST_TYPE).optional(),
  artifactType: z.string().optional(),
  layers: z.array(Row).length(1),
  annotations: z.record(z.string(), z.string()).optional(),
});

export interface Artifact {
  readonly digest: string;
  readonly bytes: Buffer;
  readonly layer: Descriptor;
  readonly artifactType: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Enters an archive that is in the registry by now; returns the manifest's digest. */
export async function putBundle(
  registry: Registry,
  tag: string,
  layer: Descriptor,
  facts: BundleFacts,
): Promise<Descriptor> {
  await registry.blobs.putBytes(EMPTY);
  const artifactType = bundleType(facts.kind);
  const named = { ...layer, mediaType: layerType(facts.compression), annotations: { [TITLE]: facts.name } };
  const bytes = manifestBytes({ artifactType, layers: [named], annotations: facts.annotations });
  await registry.putManifest(tag, bytes);
  return { mediaType: MANIFEST_TYPE, digest: digestOf(bytes), size: bytes.length, artifactType };
}

const TITLE = "org.opencontainers.image.title";

const manifestBytes = (fields: object): Buffer =>
  Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST_TYPE, config: CONFIG, ...fields }));

/** Throws REGISTRY_NOT_FOUND, and REGISTRY_BAD_ANSWER for what is no bundle. */
export async function getBundle(registry: Registry, name: string): Promise<Artifact> {
  const found = await registry.manifest(name);
  if (found === null) {
    throw new NutError("REGISTRY_NOT_FOUND", `there is no ${name} in ${registry.host}/${registry.repository}`, {
      hint: `nutshell tags oci://${registry.host}/${registry.repository}`,
    });
  }
  const artifact = await readBundle(registry, found);
  if (artifact !== null) return artifact;
  throw registry.lie(`${registry.repository}:${name} is not a bundle`);
}

/** null for a manifest that is no bundle's. */
async function readBundle(
  registry: Registry,
  { bytes, digest }: { bytes: Buffer; digest: string },
): Promise<Artifact | null> {
  const parsed = Manifest.safeParse(registry.json(bytes));
  const layer = parsed.data?.layers[0];
  if (!parsed.success || layer === undefined || !layer.mediaType.startsWith(LAYER)) return null;
  const { artifactType = OTHER_TYPE, annotations = {} } = parsed.data;
  return { digest, bytes, layer: layer as Descriptor, artifactType, annotations };
}

/** Whether a bundle of this size is there by this name: then it is likely the same. */
export async function holdsSize(registry: Registry, name: string, size: number): Promise<boolean> {
  const found = await registry.manifest(name);
  return found !== null && (await readBundle(registry, found))?.layer.size === size;
}

/** The same manifest under another name or in another repository. */
export async function putArtifact(registry: Registry, tag: string, { bytes, digest }: Artifact): Promise<void> {
  await registry.blobs.putBytes(EMPTY);
  if (tag.startsWith("sha256:") && tag !== digest) {
    throw new NutError("REGISTRY_BAD_ADDRESS", `what is copied is ${digest}, not ${tag}`, {
      hint: `nutshell copy '<from>' oci://${registry.host}/${registry.repository}@${digest}`,
    });
  }
  await registry.putManifest(tag, bytes);
}

/** Adds what was signed about a bundle; what is there already is left alone. Returns how many were new. */
export async function putStatements(
  registry: Registry,
  subject: Descriptor,
  lines: readonly { readonly line: string; readonly isSigstore: boolean }[],
): Promise<number> {
  if (lines.length === 0) return 0;
  await registry.blobs.putBytes(EMPTY);
  const known = new Set((await registry.referrers(subject.digest)).map(({ digest }) => digest));
  const added: Descriptor[] = [];
  let isKept = true;
  for (const { line, isSigstore } of lines) {
    const envelope = Buffer.from(line);
    const layer = {
      mediaType: isSigstore ? SIGSTORE_TYPE : ENVELOPE_TYPE,
      digest: digestOf(envelope),
      size: envelope.length,
    };
    const { mediaType, digest: about, size: length } = subject;
    const fields = {
      artifactType: STATEMENT_TYPE,
      layers: [layer],
      subject: { mediaType, digest: about, size: length },
    };
    const bytes = manifestBytes(fields);
    const digest = digestOf(bytes);
    if (known.has(digest)) continue;
    await registry.blobs.putBytes(envelope);
    isKept = (await registry.putManifest(digest, bytes)) && isKept;
    added.push({ mediaType: MANIFEST_TYPE, digest, size: bytes.length, artifactType: STATEMENT_TYPE });
  }
  if (added.length > 0 && !isKept) await enterByTag(registry, subject.digest, added);
  return added.length;
}

const MAX_ROUNDS = 5;

/** Where a registry knows nothing of referrers, a tag lists them. Two writers at once: each looks whether its rows are there. */
async function enterByTag(registry: Registry, digest: string, added: readonly Descriptor[]): Promise<void> {
  const tag = fallbackTag(digest);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const rows = await registry.fallbackRows(digest);
    const missing = added.filter((one) => !rows.some((row) => row.digest === one.digest));
    if (missing.length === 0) return;
    const bytes = Buffer.from(
      JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests: [...rows, ...missing] }),
    );
    await registry.putManifest(tag, bytes, INDEX_TYPE);
  }
  throw registry.lie("the list of signatures changes faster than it can be written");
}

const MAX_STATEMENTS = 64;

/** Far above what a statement needs. */
const MAX_STATEMENT_BYTES = 512 * 1024;

/** What was signed about a bundle, one envelope per line. What cannot be read counts for nothing and is left out. */
export async function getStatements(registry: Registry, digest: string): Promise<string[]> {
  const rows = (await registry.referrers(digest)).filter(({ artifactType }) => artifactType === STATEMENT_TYPE);
  const lines: string[] = [];
  for (const { digest: own } of rows.slice(0, MAX_STATEMENTS)) {
    try {
      const line = await getStatement(registry, own);
      if (line !== null) lines.push(line);
    } catch (error) {
      if (!(error instanceof NutError) || !WORTHLESS.has(error.code)) throw error;
    }
  }
  return lines;
}

const WORTHLESS: ReadonlySet<string> = new Set(["REGISTRY_BAD_ANSWER", "REGISTRY_REFUSED"]);

async function getStatement(registry: Registry, digest: string): Promise<string | null> {
  const found = await registry.manifest(digest);
  const parsed = found === null ? null : Manifest.safeParse(registry.json(found.bytes));
  const layer = parsed?.data?.layers[0];
  const isKnown = layer?.mediaType === ENVELOPE_TYPE || layer?.mediaType === SIGSTORE_TYPE;
  if (layer === undefined || !isKnown || layer.size > MAX_STATEMENT_BYTES) return null;
  const text = (await registry.blobs.getBytes(layer as Descriptor)).toString("utf8");
  // One envelope is one line; what is more could pass for several.
  return text.includes("\n") ? null : text;
}
