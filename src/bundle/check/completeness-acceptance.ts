// What done means must be something that can be found out: tests, criteria, a checklist, hidden checks, the subject.
import { createHash } from "node:crypto";
import {
  CRITERION_TYPES,
  Criteria,
  type Criterion,
  criteriaProblem,
  EXPECTATIONS,
  unknownExpectations,
} from "../../schema/criteria.js";
import { HIDDEN_FILE } from "../../trees/result-tree.js";
import { isBlank } from "../manifest/template.js";
import {
  checkCredentialName,
  checkReference,
  DEFAULT_CRITERIA,
  readDocument,
  readEndpoints,
  resolveReference,
} from "./completeness-references.js";
import type { Report } from "./report.js";

export async function checkAcceptance(report: Report): Promise<void> {
  const { manifest, content, warn, pass, command } = report;
  const { criteria_file: named, test_scripts: scripts = [], checklist: items = [] } = manifest.acceptance ?? {};
  // That an item is empty is told elsewhere.
  const checklist = items.filter((item) => !isBlank(item));
  for (const [index, path] of scripts.entries()) {
    const field = "acceptance.test_scripts";
    await checkReference(report, { field, at: `${field}.${index}`, path, purpose: "a test cannot run", file: "run" });
  }
  if (named !== undefined) await checkReference(report, { field: "acceptance.criteria_file", path: named });
  const path = resolveReference(named ?? DEFAULT_CRITERIA);
  const hasCriteria = path !== null && content.files.has(path) && (await checkCriteria(report, path));
  await checkHidden(report);
  checkSubject(report);
  if (checklist.length > 0)
    pass("acceptance.checklist", checklist.length === 1 ? "1 item" : `${checklist.length} items`);
  if (manifest.acceptance?.hidden !== undefined || scripts.length > 0 || hasCriteria) return;
  // A file that is named but not there is told already.
  if (named !== undefined && (path === null || !content.files.has(path))) return;
  warn({
    code: "NO_ACCEPTANCE",
    path: "acceptance",
    message: `no test scripts${checklist.length > 0 ? ", only a checklist" : " and no checklist"}: the agent cannot verify itself`,
    fix:
      checklist.length > 0
        ? command('set acceptance.test_scripts "tests/scripts/<name>.sh" --append')
        : command('set acceptance.checklist "<what must be true when it is done>" --append'),
  });
}

/** What is named as the work must be able to be some. */
function checkSubject({ manifest, missing, command }: Report): void {
  const path = "acceptance.subject";
  const { subject } = manifest.acceptance ?? {};
  const outside = subject?.find((each) => isBlank(each) || resolveReference(each) === null);
  const unset = command(`set ${path} --unset`);
  if (subject?.length === 0)
    missing({ code: "SUBJECT_EMPTY", path, message: "empty: no change would count as the work", fix: unset });
  else if (outside !== undefined)
    missing({ code: "REFERENCE_OUTSIDE", path, message: `"${outside}" is no path in the tree`, fix: unset });
}

/** Whether there is something to run; what cannot be read is told, and counts. */
async function checkCriteria(report: Report, path: string): Promise<boolean> {
  const { missing, warn, pass, edit } = report;
  const document = await readDocument(report, path, Criteria);
  if (document === null) return true;
  const endpoints = await readEndpoints(report);
  const declared = new Set(endpoints?.document?.endpoints.map((each) => `${each.method} ${each.path}`));
  const known: ReadonlySet<string> = new Set(CRITERION_TYPES);
  const wrong = (code: string, message: string, file = path) => missing({ code, path, message, fix: edit(file) });
  for (const criterion of document.criteria) {
    const { id, type, script, endpoint, credential_ref: credential, auto_verifiable } = criterion;
    // What a person judges needs no program that knows it.
    if ((auto_verifiable ?? document.auto_verifiable) !== false) {
      if (!known.has(type))
        wrong(
          "CRITERION_UNKNOWN",
          `${id} is of type ${type}, which nobody can run; types are ${CRITERION_TYPES.join(", ")}`,
        );
      for (const name of unknownExpectations(criterion.expected)) {
        const message = `${id} expects "${name}", which nobody compares; expectations are ${EXPECTATIONS}`;
        wrong("EXPECTATION_UNKNOWN", message);
      }
      const lacks = whatItLacks(criterion);
      if (lacks !== null) wrong("CRITERION_EMPTY", `${id} has nothing to run: it needs ${lacks}`);
    }
    if (script !== undefined)
      await checkReference(report, { field: path, path: script, purpose: `the script of ${id}`, file: "run" });
    if (endpoint !== undefined && endpoints !== null && !declared.has(endpoint)) {
      wrong("ENDPOINT_UNKNOWN", `${id} calls ${endpoint}, which ${endpoints.path} does not declare`, endpoints.path);
    }
    if (credential !== undefined) await checkCredentialName(report, path, credential);
  }
  const problem = criteriaProblem(document.criteria);
  if (problem !== null) wrong("CRITERIA_INVALID", problem);
  const { length } = document.criteria;
  if (length === 0) warn({ code: "NO_CRITERIA", path, message: "names nothing to run", fix: edit(path) });
  else pass(path, length === 1 ? "1 criterion" : `${length} criteria`);
  return length > 0;
}

/** A check that would be skipped whatever the work is. */
function whatItLacks({ type, script, command, query, endpoint }: Criterion): string | null {
  if (script !== undefined || command !== undefined) return null;
  if (type === "shell" || type === "custom") return "a script or a command";
  if (type === "sql_check") return query === undefined ? "a query" : null;
  return type === "api_test" && endpoint === undefined ? "an endpoint or a script" : null;
}

/** What everybody may know of hidden checks: that they are there, how many, and that nobody swapped them. */
async function checkHidden({ manifest, content, missing, pass, command }: Report): Promise<void> {
  const summary = manifest.acceptance?.hidden;
  const there = content.files.has(HIDDEN_FILE);
  const fix = command('hide --criteria "<file>" --replace');
  const wrong = (message: string) => missing({ code: "HIDDEN_UNFIT", path: HIDDEN_FILE, message, fix });
  if (summary === undefined) {
    if (there) wrong("is there, but acceptance.hidden does not speak of it");
    return;
  }
  if (!there) return wrong("acceptance.hidden speaks of it, but it is missing");
  const digest = createHash("sha256")
    .update(await content.read(HIDDEN_FILE))
    .digest("hex");
  if (summary.digest !== `sha256:${digest}`) return wrong("is not the file acceptance.hidden names");
  const keys = summary.recipients === 1 ? "1 key" : `${summary.recipients} keys`;
  pass(HIDDEN_FILE, `${summary.count} hidden, for ${keys} (${summary.digest})`);
}
