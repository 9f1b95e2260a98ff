// Everything that needs the bundle read to its end: what is really in it, whether the hashes agree, what is missing.
// Made once per bundle, in the background: the head is on the screen before this begins.
import {
  assess,
  type Completeness,
  type ContentEntry,
  contentFindings,
  DEFAULT_CONTEXT_WINDOW,
  estimateTokens,
  isText,
  MANIFEST_NAME,
  type Manifest,
  manifestReferences,
  treeRows,
} from "../../bundle/index.js";
import { type Finding, NutError } from "../../errors.js";
import { checklistRows, criteriaRows, deliveryFacts, endpointRows, jsonOf, timelineRows } from "./acceptance-rows.js";
import type { Details, FileState, Files, FileTuple } from "./model.js";
import { type Loose, object, text, texts } from "./safe-text.js";
import type { ViewSource } from "./source.js";
import { withheldRule } from "./withheld.js";

export interface Survey {
  readonly files: Files;
  readonly details: Details;
}

/** Of a long file the beginning speaks for the rest. */
const SAMPLE_BYTES = 64 * 1024;
/** Documents the tool itself reads: criteria, endpoints, results. */
const MAX_DOCUMENT_BYTES = 1024 ** 2;
/** What is shown of a failed check's log at once, and of how many. */
const TAIL_BYTES = 8 * 1024;
const MAX_LOGS = 300;
/** The findings are a list for a person. */
const MAX_FINDINGS = 500;

/** What the manifest claims, for the time until the archive has been read. */
export function claimedFiles(manifest: Manifest): Files {
  const withheld = withheldRule(manifest);
  const rows = treeRows(manifest).map(
    ({ path, size, role, hash }): FileTuple => [
      cleanPath(path),
      Number(size) || 0,
      "claimed",
      text(role, 60),
      -1,
      text(hash, 80),
      withheld(path) ? 1 : 0,
    ],
  );
  return { complete: false, rows: rows.filter(([path]) => path !== MANIFEST_NAME) };
}

export async function survey(source: ViewSource, now: Date): Promise<Survey> {
  const archive = await source.findings();
  const entries = await realEntries(source);
  if (entries === null) return damaged(source, archive);
  const read = await readThrough(source);
  const files = fileRows(source.manifest, entries, read.tokens, source.side.isFolder);
  const content = {
    manifest: source.manifest,
    files: new Map(entries.filter(({ kind }) => kind === "file").map(({ path, size }) => [path, size])),
    left: [],
    read: async (path: string) => read.documents.get(path) ?? Buffer.alloc(0),
  };
  const contextTokens = tokensOf(files.rows, source.manifestBytes);
  const judged = await assessOrNameFaults(() => assess(content, { now, contextTokens }), archive);
  const findings = unique([...archive, ...(await documentFindings(() => contentFindings(content)))]);
  const digest = await source.contentDigest().catch(() => "");
  return {
    files,
    details: details({ source, files, judged, findings, contextTokens, digest, ...read }),
  };
}

async function realEntries(source: ViewSource): Promise<readonly ContentEntry[] | null> {
  try {
    return await source.entries();
  } catch (error) {
    // Damage is among the findings already; what the manifest claims is still worth showing.
    if (error instanceof NutError && !source.side.isFolder) return null;
    throw error;
  }
}

function damaged(source: ViewSource, archive: readonly Finding[]): Survey {
  const files = claimedFiles(source.manifest);
  const judged: Completeness = { status: "incomplete", missing: [], warnings: [], findings: [], passed: [] };
  const common = {
    source,
    files,
    judged,
    findings: archive,
    contextTokens: 0,
    digest: "",
    documents: new Map(),
    tails: new Map(),
  };
  return { files, details: details(common) };
}

interface Read {
  /** The ends of logs in a delivery. */
  readonly tails: ReadonlyMap<string, Buffer>;
  readonly tokens: ReadonlyMap<string, number>;
  readonly documents: ReadonlyMap<string, Buffer>;
}

/** One pass: a token estimate for every text, the bytes of the few documents the tool understands. */
async function readThrough(source: ViewSource): Promise<Read> {
  const wanted = wantedDocuments(source.manifest);
  const tokens = new Map<string, number>();
  const documents = new Map<string, Buffer>();
  const tails = new Map<string, Buffer>();
  await source.each((path, size) => {
    const isLog = path.startsWith("delivery/") && path.endsWith(".log") && tails.size < MAX_LOGS;
    let tail = Buffer.alloc(0);
    const keep = wanted.has(path) && size <= MAX_DOCUMENT_BYTES;
    const limit = keep ? size : Math.min(size, SAMPLE_BYTES);
    const sample = Buffer.allocUnsafe(limit);
    let at = 0;
    return {
      chunk: (bytes) => {
        if (at < limit) at += bytes.copy(sample, at, 0, limit - at);
        if (isLog) tail = Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES);
      },
      end: () => {
        if (isLog) tails.set(path, tail);
        const seen = sample.subarray(0, at);
        if (keep) documents.set(path, seen);
        if (size > 0 && isText(seen)) tokens.set(path, Math.round(estimateTokens(seen) * (size / at)));
      },
    };
  });
  return { tokens, documents, tails };
}

function wantedDocuments(manifest: Manifest): Set<string> {
  const named = manifestReferences(manifest).map(({ path }) => cleanPath(path));
  return new Set([...named, "tests/criteria.json", "apis/endpoints.json", "delivery/result.json"]);
}

function fileRows(
  manifest: Manifest,
  entries: readonly ContentEntry[],
  tokens: ReadonlyMap<string, number>,
  isFolder: boolean,
): Files {
  const claims = new Map(treeRows(manifest).map((row) => [cleanPath(row.path), row]));
  const withheld = withheldRule(manifest);
  const there = new Set(entries.map(({ path }) => path));
  const rows: FileTuple[] = [];
  for (const { path, kind, size, hash } of entries) {
    if (kind !== "file") continue;
    const claim = claims.get(path);
    const state = stateOf(claim, { size, hash }, claims.size > 0, isFolder);
    rows.push([
      path,
      size,
      state,
      text(claim?.role, 60),
      withheld(path) ? -1 : (tokens.get(path) ?? -1),
      hash ?? "",
      withheld(path) ? 1 : 0,
    ]);
  }
  for (const [path, { size, role, hash }] of claims) {
    if (there.has(path) || path === MANIFEST_NAME) continue;
    rows.push([path, Number(size) || 0, "missing", text(role, 60), -1, text(hash, 80), 1]);
  }
  rows.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return { complete: true, rows };
}

function stateOf(
  claim: { readonly size: number; readonly hash?: string | undefined } | undefined,
  real: { readonly size: number; readonly hash?: string | undefined },
  hasTree: boolean,
  isFolder: boolean,
): FileState {
  if (claim === undefined) return hasTree && !isFolder ? "unlisted" : "unverified";
  if (claim.size !== real.size) return "differs";
  if (typeof claim.hash !== "string") return "unverified";
  return claim.hash.toLowerCase() === real.hash ? "verified" : "differs";
}

/** As `check` counts them: secrets and earlier deliveries are not for the agent to read. */
function tokensOf(rows: readonly FileTuple[], manifestBytes: Buffer): number {
  const readable = rows.filter(([path, , , , tokens]) => tokens > 0 && !/^(?:credentials|delivery)\//.test(path));
  const manifest = manifestBytes.length > SAMPLE_BYTES ? 0 : estimateTokens(manifestBytes);
  return readable.reduce((sum, row) => sum + row[4], manifest);
}

/** A manifest whose fields have wrong types cannot be judged further than that. */
async function assessOrNameFaults(
  work: () => Promise<Completeness>,
  schema: readonly Finding[],
): Promise<Completeness> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const findings = schema.filter(({ severity }) => severity === "error");
    return { status: "incomplete", missing: findings.map(({ path }) => path), warnings: [], findings, passed: [] };
  }
}

async function documentFindings(work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TypeError) return [];
    throw error;
  }
}

function unique(findings: readonly Finding[]): Finding[] {
  const seen = new Map(findings.map((finding) => [`${finding.code} ${finding.path} ${finding.message}`, finding]));
  const order = { error: 0, warning: 1, info: 2 };
  return [...seen.values()].sort((a, b) => order[a.severity] - order[b.severity]).slice(0, MAX_FINDINGS);
}

interface Found {
  readonly source: ViewSource;
  readonly files: Files;
  readonly judged: Completeness;
  readonly findings: readonly Finding[];
  readonly contextTokens: number;
  readonly digest: string;
  readonly documents: ReadonlyMap<string, Buffer>;
  readonly tails: ReadonlyMap<string, Buffer>;
}

function details({ source, files, judged, findings, contextTokens, digest, documents, tails }: Found): Details {
  const manifest = source.manifest as Loose;
  const acceptance = object(manifest.acceptance);
  const document = (path: unknown, usual: string) => jsonOf(documents.get(cleanPath(text(path) || usual)));
  const result = document(undefined, "delivery/result.json");
  const results = object(result.acceptance_results ?? manifest.acceptance_results);
  const tail = (log: string) => tails.get(cleanPath(log))?.toString("utf8") ?? "";
  const criteria = criteriaRows(document(acceptance.criteria_file, "tests/criteria.json"), results, tail);
  const checklist = checklistRows(texts(acceptance.checklist), results);
  const isDelivery = manifest.bundle_type === "delivery" || result.status !== undefined;
  const count = (...states: FileState[]) => files.rows.filter((row) => states.includes(row[2])).length;
  return {
    completeness: { status: judged.status, findings: judged.findings, passed: judged.passed },
    findings,
    endpoints: endpointRows(document(object(manifest.apis).endpoints_spec, "apis/endpoints.json")),
    criteria,
    checklist,
    delivery: isDelivery ? deliveryFacts({ manifest, result, criteria, checklist, path: source.side.path }) : null,
    timeline: timelineRows(manifest, result),
    contextTokens,
    contextWindow: DEFAULT_CONTEXT_WINDOW,
    contentDigest: digest,
    counts: {
      verified: count("verified"),
      differs: count("differs", "missing", "unlisted"),
      unverified: count("unverified", "claimed"),
    },
  };
}

const cleanPath = (path: string) => path.replace(/^(?:\.\/)+/, "");
