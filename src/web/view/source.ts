// A bundle or a folder as the viewer reads it: the manifest at once, files one at a time, nothing held that is large.
import { constants, createReadStream, openSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { Readable } from "node:stream";
import {
  type ContentEntry,
  contentDigest,
  hashEntries,
  listFolder,
  MANIFEST_NAME,
  type Manifest,
  openBundle,
  parseManifest,
} from "../../bundle/index.js";
import { type Finding, fromSystemError, NutError } from "../../errors.js";
import type { Side } from "./model.js";

export interface ViewSource {
  readonly side: Side;
  readonly manifest: Manifest;
  readonly manifestBytes: Buffer;
  readonly compression: string;
  /** Every entry with the hash it really has, the manifest aside. Reads everything once. */
  entries(): Promise<readonly ContentEntry[]>;
  /** What is wrong with the archive, damage included. */
  findings(): Promise<readonly Finding[]>;
  contentDigest(): Promise<string>;
  /** Shows the bytes of every file to `visit`, one after the other. */
  each(visit: (path: string, size: number) => FileVisitor | null): Promise<void>;
  /** Only for paths that `entries` or the manifest's tree list. */
  stream(path: string): Readable;
  close(): Promise<void>;
}

export interface FileVisitor {
  chunk(bytes: Buffer): void;
  end(): void;
}

export interface SourceOptions {
  readonly signal?: AbortSignal;
  /** Opens a sealed bundle; anything else it gives back as it is. */
  readonly unseal?: (path: string) => Promise<string | Readable>;
}

/** Opens what a person wants to look at; damaged and newer things too, as far as they can be read. */
export async function openSource(path: string, cwd: string, options: SourceOptions = {}): Promise<ViewSource> {
  const full = resolve(cwd, path);
  let isFolder: boolean;
  try {
    isFolder = statSync(full).isDirectory();
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  const side: Side = { label: basename(full), path, isFolder };
  return isFolder ? folderSource(full, side, options) : bundleSource(full, side, options);
}

async function bundleSource(path: string, side: Side, { unseal, ...options }: SourceOptions): Promise<ViewSource> {
  const bundle = await openBundle((await unseal?.(path)) ?? path, { ...options, lenient: true, newer: true });
  return {
    side,
    manifest: bundle.manifest,
    manifestBytes: bundle.manifestBytes,
    compression: bundle.compression,
    entries: async () => (await bundle.list()).filter((entry) => entry.path !== MANIFEST_NAME),
    findings: () => bundle.verify(),
    contentDigest: () => bundle.contentDigest(),
    each: (visit) => bundle.each((entry) => (entry.kind === "folder" ? null : visit(entry.path, entry.size))),
    stream: (name) => bundle.stream(name),
    close: () => bundle.close(),
  };
}

async function folderSource(folder: string, side: Side, { signal }: SourceOptions): Promise<ViewSource> {
  const manifestBytes = await manifestOf(folder);
  const manifest = parseManifest(manifestBytes, { lenient: true, newer: true });
  const list = () => listFolder(folder, signal === undefined ? {} : { signal });
  let hashed: Promise<readonly ContentEntry[]> | null = null;
  const entries = () => {
    hashed ??= Promise.resolve(hashEntries(folder, list()));
    return hashed;
  };
  return {
    side,
    manifest,
    manifestBytes,
    compression: "none",
    entries,
    findings: async () => [],
    contentDigest: async () => contentDigest(folder, { manifest }),
    each: async (visit) => {
      for (const { path, kind, size } of list().entries) {
        const visitor = kind === "folder" ? null : visit(path, size);
        if (visitor === null) continue;
        for await (const piece of openInside(folder, path)) visitor.chunk(piece as Buffer);
        visitor.end();
      }
    },
    stream: (path) => openInside(folder, path),
    close: async () => {},
  };
}

/** Opens a listed file again; a link that has since taken the place of the file or of a folder above it is not followed. */
function openInside(folder: string, path: string): Readable {
  const full = join(folder, path);
  try {
    const root = realpathSync(folder);
    const parent = realpathSync(dirname(full));
    if (parent !== root && !parent.startsWith(root + sep)) throw left(path);
    const fd = openSync(full, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    return createReadStream(full, { fd });
  } catch (error) {
    throw fromSystemError(error, full) ?? error;
  }
}

function left(path: string): NutError {
  return new NutError("SOURCE_UNSAFE", `${path} leads out of the folder`, {
    hint: "take the link away, or show another folder",
    data: { path },
  });
}

async function manifestOf(folder: string): Promise<Buffer> {
  try {
    return await bytesOf(openInside(folder, MANIFEST_NAME));
  } catch (error) {
    if (!(error instanceof NutError) || error.code !== "FILE_NOT_FOUND") throw error;
    throw new NutError("MANIFEST_MISSING", `${folder} has no ${MANIFEST_NAME}`, {
      hint: "nutshell init",
      data: { path: folder },
    });
  }
}

async function bytesOf(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
