import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Bundle, type Compression, contentDigest, openBundle, readManifest } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { RESULT_FILE } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import { unsealed } from "../pack/sealed.js";

export interface Whole {
  readonly manifest: Manifest;
  readonly digest: string;
  /** null for a folder. */
  readonly compression: Compression | null;
  /** A delivery's delivery/result.json as text; null when there is none. */
  readonly result: string | null;
}

/**
 * A bundle read to its end and found whole, or a folder as it is. A sealed one is opened with `identity` or one's own keys;
 * null opens none. Throws for one that is damaged.
 */
export async function readWhole(path: string, identity: readonly string[] | null, context: Context): Promise<Whole> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new NutError("FILE_NOT_FOUND", `${path}: no such file or folder`, { data: { path } });
  if (found.isDirectory()) {
    const file = join(path, RESULT_FILE);
    const result = existsSync(file) ? readFileSync(file, "utf8") : null;
    return { manifest: readManifest(path), digest: contentDigest(path), compression: null, result };
  }
  const source = identity === null ? path : await unsealed(path, identity, context);
  const bundle = await openBundle(source, { signal: context.signal, keep: RESULT_FILE });
  try {
    const wrong = (await bundle.verify()).find(({ severity }) => severity === "error");
    if (wrong !== undefined) throw new NutError("BUNDLE_MISMATCH", `${path}: ${wrong.message}`, { data: { path } });
    const { manifest, compression } = bundle;
    return { manifest, digest: await bundle.contentDigest(), compression, result: await resultOf(path, bundle) };
  } finally {
    await bundle.close();
  }
}

/** Far above what a harness writes; what is larger is not read into memory. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

async function resultOf(path: string, bundle: Bundle): Promise<string | null> {
  if (bundle.manifest.bundle_type !== "delivery") return null;
  const entry = (await bundle.list()).find((one) => one.path === RESULT_FILE);
  if (entry === undefined) return null;
  if (entry.size <= MAX_RESULT_BYTES) return bundle.readText(RESULT_FILE);
  throw new NutError("BUNDLE_LIMIT", `${path}: ${RESULT_FILE} is too large`, { data: { path } });
}
