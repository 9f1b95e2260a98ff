import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Delivered } from "../acceptance/index.js";
import { NutError, shellWord } from "../errors.js";
import { Delivery } from "../schema/delivery.js";
import type { Manifest } from "../schema/manifest.js";
import { mismatchLine } from "../schema/mismatch.js";

export const RESULT_FILE = "delivery/result.json";

/** What a delivery says of itself: delivery/result.json, or the manifest where other tools put it. */
export function readDelivery(dir: string, manifest: Manifest): Delivery {
  const path = join(dir, RESULT_FILE);
  if (!existsSync(path)) {
    const parsed = Delivery.safeParse(manifest);
    if (parsed.success) return parsed.data;
    throw new NutError(
      "MANIFEST_INVALID",
      `${RESULT_FILE} is missing, and the manifest does not say how the work ended`,
      { hint: `nutshell check ${shellWord(dir)}` },
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new NutError("MANIFEST_INVALID", `${RESULT_FILE}: not JSON`, {
      hint: `nutshell check ${shellWord(dir)}`,
      cause,
    });
  }
  const parsed = Delivery.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new NutError("MANIFEST_INVALID", `${RESULT_FILE}: ${mismatchLine(parsed.error.issues[0]!)}`, {
    hint: "nutshell schema delivery says what it may hold",
  });
}

export function deliveredPaths({ artifacts = {} }: Delivery): Delivered {
  const paths = (rows: readonly { path: string }[] | undefined) => (rows ?? []).map(({ path }) => path);
  return {
    created: paths(artifacts.files_created),
    modified: paths(artifacts.files_modified),
    deleted: paths(artifacts.files_deleted),
    links: artifacts.links ?? [],
    folders: paths(artifacts.folders),
  };
}
