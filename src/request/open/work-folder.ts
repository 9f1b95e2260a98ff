import { mkdtempSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { contentDigest, readManifest, unpackBundle } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import { clearAway } from "../../files/index.js";
import type { Context } from "../../operation.js";
import type { Manifest } from "../../schema/manifest.js";
import { copyTree } from "../../trees/result-tree.js";
import { unsealed } from "../pack/sealed.js";
import { settleFolder } from "../vault/both-or-neither.js";

/** Runs `work` with a private folder that is gone afterwards, whatever happens. */
export async function withWorkFolder<T>({ env }: Context, work: (folder: string) => Promise<T>): Promise<T> {
  const base = env.TMPDIR !== undefined && isAbsolute(env.TMPDIR) ? env.TMPDIR : "/tmp";
  const folder = mkdtempSync(join(base, "nutshell-accept-"));
  try {
    return await work(folder);
  } finally {
    clearAway(folder);
  }
}

export interface OpenedFolder {
  readonly dir: string;
  readonly manifest: Manifest;
  digest(): Promise<string>;
}

/** A folder as it is, or a bundle unpacked into `target`; a sealed one with a named key or one's own. */
export async function openFolder(
  typed: string,
  context: Context,
  target: string,
  identity: readonly string[] = [],
): Promise<OpenedFolder> {
  const path = resolve(context.cwd, typed);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new NutError("FILE_NOT_FOUND", `${path}: no such file or folder`, { data: { path } });
  if (found.isDirectory()) {
    // Another account could change it while it is asked about and run.
    if (isForeign(found.uid) && path !== resolve(target)) return copied(path, target);
    settleFolder(path, context);
    return { dir: path, manifest: readManifest(path), digest: async () => contentDigest(path) };
  }
  const {
    dir,
    manifest,
    contentDigest: digest,
  } = await unpackBundle(await unsealed(path, identity, context), target, {
    signal: context.signal,
  });
  return { dir, manifest, digest: async () => digest };
}

const isForeign = (owner: number): boolean => process.getuid !== undefined && owner !== process.getuid();

function copied(path: string, target: string): OpenedFolder {
  copyTree(path, target);
  return { dir: target, manifest: readManifest(target), digest: async () => contentDigest(target) };
}
