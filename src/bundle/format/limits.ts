// Every ceiling a bundle is held to, with its reason. Flags raise entries and size; the rest is fixed.

/** A bundle holds a task, not a disk: more files than this is a mistake or an attack until someone says otherwise. */
export const MAX_ENTRIES = 50_000;
/** Unpacked bytes accepted without being asked. */
export const MAX_TOTAL_BYTES = 2 * 1024 ** 3;
/** Longer paths fail on some system or other. */
export const MAX_PATH_BYTES = 1024;
/** NAME_MAX nearly everywhere. */
export const MAX_COMPONENT_BYTES = 255;
/** Deeper trees overflow recursive tools. */
export const MAX_DEPTH = 64;
/** 20,000 files make 3.4 MB of tree; the manifest is held in memory whole. */
export const MAX_MANIFEST_BYTES = 16 * 1024 ** 2;
/** An extended header holds a path and a few numbers; it is held in memory whole. */
export const MAX_PAX_BYTES = 64 * 1024;
/** What readers of JSON recurse into. */
export const MAX_JSON_DEPTH = 64;
/** Tar writers pad to 10 KiB, a few to 1 MiB; more zeros after the end is a bomb. */
export const MAX_TRAILING_ZEROS = 1024 ** 2;
/** Below this much output a high ratio harms nobody. */
export const RATIO_FREE_BYTES = 64 * 1024 ** 2;
/** Text and code stay under 20; beyond this the archive is built to expand. */
export const MAX_RATIO = 250;

/** What a reader may be asked to accept. */
export interface Limits {
  readonly maxEntries: number;
  readonly maxTotalBytes: number;
  /** Off once a person has named a size of their own. */
  readonly ratioGuard: boolean;
}

export const DEFAULT_LIMITS: Limits = { maxEntries: MAX_ENTRIES, maxTotalBytes: MAX_TOTAL_BYTES, ratioGuard: true };

export function withLimits(given: Partial<Limits> = {}): Limits {
  return {
    maxEntries: given.maxEntries ?? MAX_ENTRIES,
    maxTotalBytes: given.maxTotalBytes ?? MAX_TOTAL_BYTES,
    ratioGuard: given.ratioGuard ?? given.maxTotalBytes === undefined,
  };
}
