// A folder and a bundle, seen alike by those who judge, compare or take apart what they hold.
import { closeSync, constants, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fromSystemError } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import type { Content } from "../check/report.js";
import { MANIFEST_NAME } from "../format/safe-path.js";
import { readManifest } from "../manifest/manifest.js";
import { listFolder } from "../write/list-folder.js";
import { hashEntries } from "../write/pack-folder.js";
import { openBundle } from "./open-bundle.js";

export interface ContentEntry {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly size: number;
  readonly executable: boolean;
  /** `sha256:<hex>`; absent for folders. */
  readonly hash?: string | undefined;
}

export interface OpenedContent extends Content {
  /** Whether it is a folder, which can be written to. */
  readonly isFolder: boolean;
  readonly path: string;
  /** Every entry with its hash, the manifest aside; read at the first call. */
  readonly entries: () => Promise<readonly ContentEntry[]>;
  readonly close: () => Promise<void>;
}

export interface ContentOptions {
  readonly signal?: AbortSignal;
}

/** Opens a folder with a manifest, a .nut file, or a stream of one. The caller closes it. */
export async function openContent(source: string | Readable, options: ContentOptions = {}): Promise<OpenedContent> {
  if (typeof source === "string" && isFolder(source)) return openFolder(source, options);
  return openFile(source, options);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

function openFolder(folder: string, options: ContentOptions): OpenedContent {
  const manifest: Manifest = readManifest(folder);
  const listing = listFolder(folder, options);
  const files = listing.entries.filter(({ kind }) => kind === "file");
  return {
    manifest,
    isFolder: true,
    path: folder,
    files: new Map(files.map(({ path, size }) => [path, size])),
    left: listing.left.map(({ path }) => path),
    read: async (path) => readPlainFile(join(folder, path)),
    entries: async () => hashEntries(folder, listing),
    close: async () => {},
  };
}

/** Listed as a file a moment ago; a link put in its place since is not followed, a pipe not waited for. */
function readPlainFile(path: string): Buffer {
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const file = openSync(path, flags);
    try {
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

async function openFile(source: string | Readable, options: ContentOptions): Promise<OpenedContent> {
  const bundle = await openBundle(source, options);
  try {
    const entries = (await bundle.list()).filter(({ path }) => path !== MANIFEST_NAME);
    const files = entries.filter(({ kind }) => kind === "file");
    return {
      manifest: bundle.manifest,
      isFolder: false,
      path: bundle.path,
      files: new Map(files.map(({ path, size }) => [path, size])),
      left: [],
      read: (path) => bundle.read(path),
      entries: async () => entries,
      close: () => bundle.close(),
    };
  } catch (error) {
    await bundle.close();
    throw error;
  }
}
