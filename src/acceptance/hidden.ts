// Checks the worker never saw. They run after all others, in rooms of their own: a copy of the request's tests with the
// hidden ones among them stands in for the request, in a folder that no other room is made of. What they print and the
// reasons they give stay here, since whoever reads a report may hand it on to the worker.
import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { NutError } from "../errors.js";
import { foldersAbove } from "../files/index.js";
import type { HiddenChecks } from "../schema/hidden.js";
import { copyTree } from "../trees/result-tree.js";
import type { CheckPlan, Weakness } from "./model.js";
import { planChecks } from "./plan/checks.js";
import { inside } from "./plan/paths.js";
import { type AcceptanceOptions, type AcceptanceReport, type CheckResult, runAcceptance } from "./run-acceptance.js";

export interface HiddenResult {
  /** `hidden 1`: says nothing about the check. */
  readonly id: string;
  /** The criterion's own id, for whoever opened it. */
  readonly name: string;
  readonly status: CheckResult["status"];
  readonly evidence?: CheckResult["evidence"];
  readonly weakness?: Weakness;
}

/** What is known of a request's hidden checks. */
export interface HiddenReport {
  readonly count: number;
  readonly digest: string;
  /** null when they were not run. */
  readonly results: readonly HiddenResult[] | null;
  /** Why they were not run. */
  readonly reason?: string;
}

/** Runs the hidden checks alone. `options` are those of the other checks; its logs are not written to. */
export async function runHidden(options: AcceptanceOptions, hidden: HiddenChecks): Promise<HiddenResult[]> {
  const folder = join(options.workDir, "hidden");
  try {
    const { manifest, ids } = writeStandIn(folder, options, hidden);
    const { logs, onProgress, base = options.request, ...rest } = options;
    const report = await runAcceptance({
      ...rest,
      request: folder,
      manifest,
      base,
      workDir: join(options.workDir, "hidden-rooms"),
      only: ids,
    });
    return ids.map((id, index) => toHidden(report.results.find((row) => row.id === id)!, index));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const toHidden = ({ id, status, evidence, weakness }: CheckResult, index: number): HiddenResult => ({
  id: `hidden ${index + 1}`,
  name: id,
  status,
  ...(evidence === undefined ? {} : { evidence }),
  ...(weakness === undefined ? {} : { weakness }),
});

/** The request's own tests with the hidden ones among them, as a folder and the manifest that goes with it. */
function writeStandIn(folder: string, { request, manifest }: AcceptanceOptions, { criteria, files }: HiddenChecks) {
  const { acceptance = {} } = manifest;
  const plan = planChecks(request, manifest);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  copyTree(request, folder, isNeeded(plan, manifest.apis?.endpoints_spec ?? "apis/endpoints.json"));
  for (const { path, executable, content } of files) {
    if (!inside(path) || leadsAway(folder, path)) throw unfit(`"${path}" leaves the request`);
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    rmSync(target, { recursive: true, force: true });
    writeFileSync(target, Buffer.from(content, "base64"));
    chmodSync(target, executable ? 0o755 : 0o644);
  }
  const file = acceptance.criteria_file ?? "tests/criteria.json";
  const visible = plan.checks.map((check) => ({
    ...check,
    type: check.kind ?? check.type,
    auto_verifiable: check.automatic,
  }));
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  rmSync(join(folder, file), { force: true });
  writeFileSync(join(folder, file), JSON.stringify({ criteria: [...visible, ...criteria] }));
  // Named as test scripts, the files count as the request's own and are mounted as such; none is run for being named.
  const scripts = [...(acceptance.test_scripts ?? []), ...files.map(({ path }) => path)];
  return {
    ids: criteria.map(({ id }) => id),
    manifest: { ...manifest, acceptance: { ...acceptance, criteria_file: file, test_scripts: scripts } },
  };
}

/** Whether something above the path is a link, or a file. */
function leadsAway(folder: string, path: string): boolean {
  return [...foldersAbove([path])].some((above) => {
    const stat = lstatSync(join(folder, above), { throwIfNoEntry: false });
    return stat !== undefined && !stat.isDirectory();
  });
}

/** What of the request a check may be made of: tests, endpoints, wrong tests the publisher supplies. */
function isNeeded({ isOwnTest, ownFiles, controls }: CheckPlan, endpoints: string): (path: string) => boolean {
  const named = [...ownFiles, endpoints, ...controls.flatMap(({ files }) => Object.values(files))];
  return (path) => isOwnTest(path) || named.some((file) => file === path || file.startsWith(`${path}/`));
}

const unfit = (message: string): NutError =>
  new NutError("HIDDEN_UNFIT", `the hidden checks cannot be used: ${message}`, {
    hint: "ask the publisher for the request again",
  });

/** What all checks together come to: passed only when the hidden ones passed too. */
export function verdictWith(
  { verdict, compared }: Pick<AcceptanceReport, "verdict" | "compared">,
  hidden: HiddenReport | null,
): AcceptanceReport["verdict"] {
  if (hidden === null || verdict === "failed") return verdict;
  if (hidden.results === null) return "incomplete";
  if (hidden.results.some(({ status }) => status === "failed")) return "failed";
  const counts = compared ? isBacked : ({ status }: HiddenResult) => status === "passed";
  return hidden.results.every(counts) ? verdict : "incomplete";
}

/** Passed, and proven or guarding. */
export const isBacked = ({ status, evidence }: HiddenResult): boolean => status === "passed" && evidence === "proven";
