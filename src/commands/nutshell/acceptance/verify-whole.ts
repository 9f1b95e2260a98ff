// Whether a delivery is whole, answers that request, and brings what it lists: what can be said before any claim is weighed.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ARTIFACTS, artifactPath, isResult, listTree } from "../../../acceptance/index.js";
import { openBundle } from "../../../bundle/index.js";
import { type ErrorCode, type Finding, NutError } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { deliveredPaths } from "../../../request/apply/delivered.js";
import type { OpenedFolder } from "../../../request/open/work-folder.js";
import { unsealed } from "../../../request/pack/sealed.js";
import type { Delivery } from "../../../schema/delivery.js";

const DAMAGE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "BUNDLE_BAD_MAGIC",
  "BUNDLE_CORRUPT",
  "BUNDLE_MISMATCH",
  "BUNDLE_UNSAFE_ENTRY",
  "BUNDLE_UNSAFE_PATH",
]);

/** Damage is an answer here, not a failure. */
export async function archiveFindings(path: string, identity: readonly string[], context: Context): Promise<Finding[]> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return [];
  try {
    const bundle = await openBundle(await unsealed(path, identity, context), {
      signal: context.signal,
      lenient: true,
    });
    try {
      return [...(await bundle.verify())];
    } finally {
      await bundle.close();
    }
  } catch (error) {
    if (!(error instanceof NutError) || !DAMAGE.has(error.code)) throw error;
    return [{ code: error.code, severity: "error", path, message: error.message }];
  }
}

export const requestId = ({ manifest }: OpenedFolder, delivery: Delivery): string | undefined =>
  delivery.request_id ?? manifest.request_id;

/** `again` is the command with a request, for when there was none. */
export function linkFindings(
  target: OpenedFolder,
  delivery: Delivery,
  request: OpenedFolder | null,
  again: string,
): Finding[] {
  const findings: Finding[] = [];
  const error = (code: string, path: string, message: string) =>
    findings.push({ code, severity: "error", path, message });
  const named = requestId(target, delivery);
  if (named === undefined) error("REQUEST_UNNAMED", "request_id", "the delivery does not say which request it answers");
  for (const [key, said] of [
    ["request_id", target.manifest.request_id],
    ["status", target.manifest.status],
  ] as const) {
    if (said !== undefined && delivery[key] !== undefined && said !== delivery[key]) {
      error("MANIFEST_DISAGREES", key, `nutshell.json says ${said}, delivery/result.json says ${delivery[key]}`);
    }
  }
  if (request !== null) {
    const { id } = request.manifest;
    if (named !== undefined && named !== id)
      error(
        "REQUEST_MISMATCH",
        "request_id",
        `it answers ${named}, not ${id}: name the request it was made from, --request <request>`,
      );
    const parent = delivery.parent_id ?? target.manifest.parent_id;
    if (parent !== undefined && parent !== id)
      error("REQUEST_MISMATCH", "parent_id", `it follows from ${parent}, not ${id}`);
  } else {
    findings.push({
      code: "REQUEST_ABSENT",
      severity: "warning",
      path: "request_id",
      message: "without the request, links and digests cannot be compared",
      fix: again,
    });
  }
  const { created, modified } = deliveredPaths(delivery);
  for (const path of [...created, ...modified]) {
    const places = [path, `delivery/artifacts/${path}`, `quarantine/delivery/artifacts/${path}`];
    if (!places.some((place) => isFile(target.dir, place)))
      error("ARTIFACT_MISSING", path, `${path} is listed, but not delivered`);
  }
  findings.push(...artifactFindings(target.dir, [...created, ...modified]));
  const log = delivery.execution_log?.full_log;
  if (log !== undefined && !isFile(target.dir, log))
    error("ARTIFACT_MISSING", log, `${log} is named as the full log, but not delivered`);
  return findings;
}

/** What is delivered must be named, and must be where acceptance looks: anything else would come along untested. */
function artifactFindings(dir: string, listed: readonly string[]): Finding[] {
  const bare = (path: string) => (path.startsWith(`${ARTIFACTS}/`) ? path.slice(ARTIFACTS.length + 1) : path);
  const named = new Set(listed.map(bare));
  // Unpacking sets aside what programs obey; it is delivered all the same.
  const folders = [ARTIFACTS, `quarantine/${ARTIFACTS}`]
    .map((path) => join(dir, path))
    .filter((path) => existsSync(path));
  return folders.flatMap((folder) => [...listTree(folder).keys()].flatMap((path) => artifactFinding(path, named)));
}

function artifactFinding(path: string, named: ReadonlySet<string>): Finding[] {
  const where = artifactPath(path);
  if (!isResult(path)) {
    return [{ code: "ARTIFACT_UNTESTED", severity: "error", path: where, message: `${where} is in no digest` }];
  }
  if (named.has(path)) return [];
  return [{ code: "ARTIFACT_UNLISTED", severity: "error", path: where, message: `${where} is not listed` }];
}

export function isFile(dir: string, path: string): boolean {
  if (path.startsWith("/") || path.split("/").includes("..")) return false;
  return existsSync(join(dir, path)) && statSync(join(dir, path)).isFile();
}
