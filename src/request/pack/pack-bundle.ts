// Packing as every command does it: list, judge, pack. `pack` and `compress` differ in what they tell, not in what
// they let through.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  assess,
  type Completeness,
  type Compression,
  folderTokens,
  type Level,
  type Listing,
  listFolder,
  type Manifest,
  type Packed,
  PLACEHOLDER,
  packFolder,
  readManifest,
} from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { recordPacked } from "../records/consent-record.js";
import { settleFolder } from "../vault/both-or-neither.js";
import { bindVault } from "../vault/vault-binding.js";
import { defaultName } from "./default-name.js";
import { type LookThreads, startThreads, threadsFor } from "./look-apart.js";
import { type GuardRequest, guardPack } from "./pack-guard.js";

export interface PackRequest extends GuardRequest {
  readonly dir: string;
  readonly output?: string | undefined;
  /** Refuses to replace a file that is there when everything is packed. */
  readonly isNew?: boolean;
  readonly compression: Compression;
  readonly level: Level;
  /** Absent where whoever asks cannot say so. */
  readonly force?: boolean | undefined;
  /** Seals the bundle for this peer: 64 hex digits or a peer id. */
  readonly peer?: string | undefined;
  /** Packed instead of the folder's own nutshell.json, which is left alone. */
  readonly manifest?: Manifest | undefined;
}

export interface Prepared {
  readonly folder: string;
  readonly output: string;
  readonly manifest: Manifest;
  readonly listing: Listing;
}

/** What would be packed, and where to. */
export function prepare({ dir, output, ...request }: PackRequest, context: Context): Prepared {
  const folder = resolve(context.cwd, dir);
  settleFolder(folder, context);
  const manifest = request.manifest ?? readManifest(folder);
  const target = resolve(context.cwd, output ?? defaultName(manifest.task?.title ?? ""));
  const listing = listFolder(folder, { exclude: [target], signal: context.signal });
  return { folder, output: target, manifest, listing };
}

export async function packBundle(request: PackRequest, context: Context): Promise<Packed> {
  const packed = await packUnrecorded(request, context);
  recordPacked(resolve(context.cwd, request.dir), packed.contentDigest, context);
  return packed;
}

/** The same for what may still be thrown away: whoever keeps it records it. */
export async function packUnrecorded(request: PackRequest, context: Context): Promise<Packed> {
  const first = prepare(request, context);
  const bytes = first.listing.entries.reduce((sum, { size }) => sum + size, 0);
  const threads = startThreads(threadsFor(bytes));
  try {
    return await packPrepared(first, threads, request, context);
  } finally {
    await threads?.close();
  }
}

async function packPrepared(
  first: Prepared,
  threads: LookThreads | null,
  request: PackRequest,
  context: Context,
): Promise<Packed> {
  const contextTokens = folderTokens(first.folder, first.manifest, first.listing);
  const judged = await assessPrepared(first, contextTokens, request, context);
  if (!request.force && judged.findings.some(({ severity, code }) => severity === "error" && code !== PLACEHOLDER))
    throw incomplete(request, judged);
  // The cryptography of sealing is loaded only for it.
  const seal = request.peer === undefined ? undefined : (await import("./sealing.js")).sealFor(request.peer);
  const bound = await bindVault(first.folder, first.manifest, request.vaultIdentity ?? [], context);
  const prepared = { ...(bound.resealed ? prepare(request, context) : first), manifest: bound.manifest };
  const { guard, manifest } = await guardPack(prepared.folder, prepared.manifest, { ...request, threads }, context);
  return packFolder(prepared.folder, {
    output: prepared.output,
    isNew: request.isNew,
    seal,
    compression: request.compression,
    level: request.level,
    manifest,
    listing: prepared.listing,
    contextTokens,
    completeness: { status: judged.status, missing: [...judged.missing], warnings: [...judged.warnings] },
    signal: context.signal,
    onProgress: ({ done, total }) => context.progress({ type: "entry_packed", message: "packing", done, total }),
    observe: guard.observe,
    look: guard.look,
    approve: guard.approve,
  });
}

function assessPrepared(
  { folder, manifest, listing }: Prepared,
  contextTokens: number,
  request: PackRequest,
  context: Context,
): Promise<Completeness> {
  const files = new Map(listing.entries.filter(({ kind }) => kind === "file").map(({ path, size }) => [path, size]));
  const read = async (path: string) => readFileSync(join(folder, path));
  const left = listing.left.map(({ path }) => path);
  const dir = request.dir === "." ? undefined : request.dir;
  return assess({ manifest, files, left, read }, { now: context.now(), dir, contextTokens });
}

function incomplete({ dir, force }: PackRequest, { findings, missing }: Completeness): NutError {
  const first = findings.find(({ severity, code }) => severity === "error" && code !== PLACEHOLDER);
  const more = missing.length > 1 ? ` (and ${missing.length - 1} more)` : "";
  return new NutError("BUNDLE_INCOMPLETE", `the bundle is incomplete: ${first?.path}: ${first?.message}${more}`, {
    hint: `nutshell check --dir ${shellWord(dir)} says what to do${force === undefined ? "" : "; --force packs it as it is"}`,
    data: { missing, findings: findings.filter(({ severity }) => severity === "error") },
  });
}
