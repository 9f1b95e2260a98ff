import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { artifactPath, type Change, type Delivered, deliveredFiles } from "../../acceptance/index.js";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import { Delivery, RESULT_FILE } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import { mismatchLine } from "../../schema/mismatch.js";

/**
 * What a delivery says of itself: delivery/result.json, or the manifest where other tools put it. `name` is the delivery as it
 * was typed: a folder of ours is gone when its hint is pasted.
 */
export function readDelivery(dir: string, manifest: Manifest, name: string = dir): Delivery {
  const path = join(dir, RESULT_FILE);
  if (!existsSync(path)) {
    const parsed = Delivery.safeParse(manifest);
    if (parsed.success) return parsed.data;
    throw new NutError(
      "MANIFEST_INVALID",
      `${RESULT_FILE} is missing, and the manifest does not say how the work ended`,
      { hint: `nutshell check ${shellWord(name)}` },
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    const unread = fromSystemError(cause, path);
    if (unread !== null) throw unread;
    throw new NutError("MANIFEST_INVALID", `${RESULT_FILE}: not JSON`, {
      hint: `nutshell check ${shellWord(name)}`,
      cause,
    });
  }
  const parsed = Delivery.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new NutError("MANIFEST_INVALID", `${RESULT_FILE}: ${mismatchLine(parsed.error.issues[0]!)}`, {
    hint: "nutshell schema delivery says what it may hold",
  });
}

export function deliveredPaths({ artifacts = {}, digests }: Delivery): Delivered {
  const paths = (rows: readonly { path: string }[] | undefined) => (rows ?? []).map(({ path }) => path);
  return {
    created: paths(artifacts.files_created),
    modified: paths(artifacts.files_modified),
    deleted: paths(artifacts.files_deleted),
    links: artifacts.links ?? [],
    folders: paths(artifacts.folders),
    exact: digests?.result !== undefined,
  };
}

/** Changes as result.json lists them. */
export function artifactsOf(changes: readonly Change[]): Delivery["artifacts"] {
  const files = deliveredFiles(changes);
  const of = (kind: string) => files.filter((change) => change.kind === kind);
  const links = changes.flatMap(({ path, target }) => (target === undefined ? [] : [{ path, target }]));
  const folders = changes.flatMap(({ path, folder }) => (folder === true ? [{ path }] : []));
  return {
    files_created: of("created").map(({ path, lines }) => ({ path: artifactPath(path), lines })),
    files_modified: of("modified").map(({ path, diffLines }) => ({ path: artifactPath(path), diff_lines: diffLines })),
    files_deleted: of("deleted").map(({ path }) => ({ path })),
    ...(links.length === 0 ? {} : { links }),
    ...(folders.length === 0 ? {} : { folders }),
  };
}
