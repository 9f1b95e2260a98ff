// What there is to say about a bundle that was read to its end.
import type { Finding } from "../../errors.js";
import { collisions, portabilityProblem, quoted } from "../format/safe-path.js";
import { type HashedFile, judgeTree, treeRows } from "../manifest/tree.js";
import type { Scan } from "./scan.js";

/** Agreement of tree and archive, names that will not travel, what no hash vouches for. The scan must have hashed. */
export function entryFindings(scan: Scan): Finding[] {
  const files = scan.entries.filter((entry): entry is typeof entry & HashedFile => entry.hash !== undefined);
  const { findings, unverified } = judgeTree(scan.manifest, files);
  return [...scan.findings, ...findings, ...unverifiedFindings(scan, unverified), ...nameFindings(scan)];
}

function unverifiedFindings({ manifest }: Scan, unverified: readonly string[]): Finding[] {
  if (unverified.length === 0) return [];
  if (treeRows(manifest).length === 0) {
    return [
      {
        code: "UNVERIFIED",
        severity: "warning",
        path: "files.tree",
        message: "the manifest has no files.tree, so no file could be verified",
      },
    ];
  }
  return unverified.map((path) => ({
    code: "UNVERIFIED",
    severity: "warning",
    path,
    message: `${path} has no hash in files.tree, so it could not be verified`,
  }));
}

function nameFindings({ entries }: Scan): Finding[] {
  const findings: Finding[] = [];
  for (const { path } of entries) {
    const problem = portabilityProblem(path);
    if (problem !== null) {
      findings.push({ code: "NAME_NOT_PORTABLE", severity: "warning", path, message: `${quoted(path)} ${problem}` });
    }
  }
  for (const group of collisions(entries.map(({ path }) => path))) {
    const names = group.map(quoted).join(" and ");
    findings.push({
      code: "NAME_COLLISION",
      severity: "warning",
      path: group[0]!,
      message: `${names} are one name where case or Unicode form is ignored`,
    });
  }
  return findings;
}
