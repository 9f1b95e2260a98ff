// What must stand in a delivery before anyone should look at it: whose request it answers, its result, every artifact
// and log it names, and an answer to each point of the checklist.

import { createHash } from "node:crypto";
import { shellWord } from "../../errors.js";
import { JsonError, parseJson } from "../../files/index.js";
import { Delivery, RESULT_FILE } from "../../schema/delivery.js";
import { mismatchLine } from "../../schema/mismatch.js";
import { ARTIFACTS } from "../../trees/result-tree.js";
import { MAX_JSON_DEPTH } from "../format/limits.js";
import { isPlaceholder } from "../manifest/template.js";
import { resolveReference } from "./completeness-references.js";
import type { Report } from "./report.js";

export async function checkDelivery(report: Report): Promise<void> {
  const { manifest, missing, pass, command } = report;
  if (manifest.request_id === undefined) {
    missing({
      code: "NO_REQUEST_ID",
      path: "request_id",
      message: "a delivery names the request it answers",
      fix: manifest.parent_id === undefined ? command('set request_id "<id of the request>"') : command("check --fix"),
    });
  } else pass("request_id", manifest.request_id);
  checkIgnore(report);
  const result = await deliveryResult(report);
  await checkUndelivered(report, result);
  if (result === null) return;
  if (isPlaceholder(result.summary)) {
    const fix = report.edit(RESULT_FILE);
    missing({ code: "PLACEHOLDER", path: RESULT_FILE, message: "still an outline to fill in", fix });
  }
  checkArtifacts(report, result);
  checkWork(report, result);
  checkResults(report, result);
}

/** .nutignore is written for requests; one that drops delivery/ would send the request back without the work. */
function checkIgnore({ content, missing, command }: Report): void {
  if (!content.left.some((path) => /^delivery(\/|$)/.test(path))) return;
  missing({
    code: "DELIVERY_IGNORED",
    path: ".nutignore",
    message: "leaves out delivery/, the work itself",
    fix: command("check --fix"),
  });
}

/** The result as it stands in delivery/result.json, else in the manifest. */
async function deliveryResult({ content, manifest, missing, pass, edit, command }: Report): Promise<Delivery | null> {
  const fix = edit(RESULT_FILE);
  if (!content.files.has(RESULT_FILE)) {
    if (manifest.status !== undefined) return manifest as Delivery;
    if (!content.left.some((path) => path.startsWith("delivery"))) {
      missing({
        code: "NO_RESULT",
        path: RESULT_FILE,
        message: "missing: it says what was done",
        fix: command("check --fix"),
      });
    }
    return null;
  }
  const parsed = parseResult(await content.read(RESULT_FILE));
  if (typeof parsed === "string") {
    missing({ code: "FILE_INVALID", path: RESULT_FILE, message: parsed, fix });
    return null;
  }
  pass(RESULT_FILE, `status ${parsed.status}`);
  if (
    manifest.request_id !== undefined &&
    parsed.request_id !== undefined &&
    parsed.request_id !== manifest.request_id
  ) {
    missing({ code: "REQUEST_ID_DIFFERS", path: RESULT_FILE, message: "answers another request_id", fix });
  }
  return parsed;
}

/** The document, or what is wrong with it. */
export function parseResult(bytes: Uint8Array): Delivery | string {
  let value: unknown;
  try {
    value = parseJson(bytes, { maxDepth: MAX_JSON_DEPTH });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return error.message;
  }
  const parsed = Delivery.safeParse(value);
  if (parsed.success) return parsed.data;
  return mismatchLine(parsed.error.issues[0]!);
}

function checkArtifacts(
  { content, missing, pass, edit, options }: Report,
  { artifacts, execution_log: log }: Delivery,
): void {
  const artifactPaths = [...(artifacts?.files_created ?? []), ...(artifacts?.files_modified ?? [])].map(
    ({ path }) => path,
  );
  // Only what lies there is seen by whoever rebuilds the tree.
  const isThere = (path: string) => content.files.has(`${ARTIFACTS}/${bare(path)}`);
  const missingPaths = artifactPaths.filter((path) => !isThere(path));
  for (const path of missingPaths) {
    const isElsewhere = content.files.has(resolveReference(path) ?? "");
    const message = isElsewhere
      ? `names the artifact ${path}, which lies outside ${ARTIFACTS}/, where nobody looks for work`
      : `names the artifact ${path}, which is not in the bundle`;
    const fix = isElsewhere ? finishing(options.dir) : edit(RESULT_FILE);
    missing({ code: "ARTIFACT_MISSING", path: RESULT_FILE, message, fix });
  }
  if (artifactPaths.length > 0 && missingPaths.length === 0)
    pass("artifacts", artifactPaths.length === 1 ? "1 file" : `${artifactPaths.length} files`);
  const full = log?.full_log;
  if (full === undefined) return;
  const path = resolveReference(full);
  if (path !== null && content.files.has(path)) pass(path, "the full log");
  else {
    const message = `names the log ${full}, which is not in the bundle`;
    missing({ code: "LOG_MISSING", path: RESULT_FILE, message, fix: edit(RESULT_FILE) });
  }
}

const bare = (path: string): string => (path.startsWith(`${ARTIFACTS}/`) ? path.slice(ARTIFACTS.length + 1) : path);

/** The command that puts the work where it belongs. */
const finishing = (dir: string | undefined): string =>
  `nutshell finish ${shellWord(dir ?? ".")} --request "<the request it was unpacked from>"`;

/**
 * A folder that was unpacked from a request still says what it held. What was changed in place since and is not among the
 * artifacts would stay here.
 */
async function checkUndelivered(
  { content, manifest, missing, options }: Report,
  result: Delivery | null,
): Promise<void> {
  const rows = (manifest.files?.tree ?? []).filter(
    ({ path, hash }) => hash !== undefined && !/^(?:delivery|tests)\//.test(path),
  );
  const deleted = new Set((result?.artifacts?.files_deleted ?? []).map(({ path }) => bare(path)));
  const changed: string[] = [];
  for (const { path, hash } of rows) {
    if (content.files.has(`${ARTIFACTS}/${path}`) || deleted.has(path)) continue;
    if (!content.files.has(path) || digestOf(await content.read(path)) !== hash) changed.push(path);
  }
  const known = new Set((manifest.files?.tree ?? []).map(({ path }) => path));
  const fresh =
    rows.length === 0 ? [] : [...content.files.keys()].filter((path) => /^files\//.test(path) && !known.has(path));
  changed.push(...fresh.filter((path) => !content.files.has(`${ARTIFACTS}/${path}`)));
  if (changed.length === 0) return;
  const more = changed.length > 3 ? `, and ${changed.length - 3} more` : "";
  const message = `changed here, but not delivered: ${changed.slice(0, 3).join(", ")}${more}`;
  missing({ code: "WORK_NOT_DELIVERED", path: ARTIFACTS, message, fix: finishing(options.dir) });
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** A delivery that says it did something and brings nothing would verify as nothing. */
function checkWork({ missing, edit }: Report, { status, artifacts = {} }: Delivery): void {
  const {
    files_created: created = [],
    files_modified: modified = [],
    files_deleted: deleted = [],
    links = [],
  } = artifacts;
  if (status === "failed" || created.length + modified.length + deleted.length + links.length > 0) return;
  const message = `says ${status}, but names no file that was made, changed or deleted`;
  missing({ code: "DELIVERS_NOTHING", path: RESULT_FILE, message, fix: edit(RESULT_FILE) });
}

function checkResults({ manifest, missing, pass, edit }: Report, delivery: Delivery): void {
  const items = manifest.acceptance?.checklist ?? [];
  if (items.length === 0) return;
  const results = new Map((delivery.acceptance_results?.checklist ?? []).map((each) => [each.item, each.status]));
  const fix = edit(RESULT_FILE);
  let passed = 0;
  for (const item of items) {
    const status = results.get(item);
    if (status === "passed") passed += 1;
    else if (status === undefined) {
      missing({ code: "ITEM_UNANSWERED", path: `acceptance.${item}`, message: "no result for this item", fix });
    } else if (delivery.status === "completed") {
      const message = `${status}, although the delivery says completed`;
      missing({ code: "ITEM_NOT_PASSED", path: `acceptance.${item}`, message, fix });
    }
  }
  pass("acceptance.checklist", `${passed} of ${items.length} passed`);
}
