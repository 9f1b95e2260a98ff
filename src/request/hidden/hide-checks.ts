// Sealing checks for whoever verifies: criteria and the scripts they name become one encrypted file of the bundle. The
// clear ones leave the folder last, when everything else is on the disk.
import { existsSync, lstatSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { HIDDEN_FILE, planChecks } from "../../acceptance/index.js";
import { manifestFile, readManifest, resolveReference } from "../../bundle/index.js";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import { writeInFolder } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { CRITERION_TYPES, Criteria, type Criterion, EXPECTATIONS, unknownExpectations } from "../../schema/criteria.js";
import type { HiddenChecks } from "../../schema/hidden.js";
import type { Manifest } from "../../schema/manifest.js";
import { mismatchLine } from "../../schema/mismatch.js";
import { ageEncrypt } from "../../vault/index.js";
import { recordHidden } from "../records/consent-record.js";
import { digestOf } from "./sealed-checks.js";

export interface HideRequest {
  readonly dir: string;
  /** Files of criteria, absolute. */
  readonly criteria: readonly string[];
  /** Further files or folders of the request to seal with them. */
  readonly files: readonly string[];
  readonly recipients: readonly string[];
  /** Takes the place of checks that were hidden before. */
  readonly replace: boolean;
}

export interface Hidden {
  readonly file: string;
  readonly count: number;
  readonly digest: string;
  readonly recipients: number;
  /** What was sealed, by path in the request. */
  readonly sealed: readonly string[];
  /** What was taken out of the folder. */
  readonly removed: readonly string[];
}

interface Gathered {
  readonly path: string;
  /** Where it lies now. */
  readonly from: string;
}

export async function hideChecks(request: HideRequest, context: Context): Promise<Hidden> {
  const { dir } = request;
  const manifest = readManifest(dir);
  assertMayHide(manifest, request);
  const criteria = request.criteria.flatMap(readCriteria);
  const files = gather(request, manifest, criteria);
  assertFits(criteria, manifest, dir);
  const checks: HiddenChecks = { hidden_version: "1", request: manifest.id, criteria, files: files.map(toSealed) };
  const bytes = await ageEncrypt(Buffer.from(JSON.stringify(checks)), { recipients: request.recipients });
  const summary = { count: criteria.length, digest: digestOf(bytes), recipients: new Set(request.recipients).size };
  const clear = [...files.map(({ from }) => from), ...request.criteria].filter((path) => isBelow(dir, path));
  recordHidden(
    manifest.id,
    [...new Set(clear)].map((path) => digestOf(readFileSync(path))),
    context,
  );
  const acceptance = { ...manifest.acceptance, hidden: summary };
  writeInFolder([{ path: join(dir, HIDDEN_FILE), data: bytes }, manifestFile(dir, { ...manifest, acceptance })]);
  const removed = [...new Set(clear)].map((path) => removeClear(dir, path)).sort();
  return { file: HIDDEN_FILE, ...summary, sealed: files.map(({ path }) => path).sort(), removed };
}

function assertMayHide({ bundle_type: kind, acceptance }: Manifest, { dir, criteria, replace }: HideRequest): void {
  if (kind !== "request") {
    throw new NutError("USAGE", `checks are hidden in a request; this is a ${kind}`, { hint: "nutshell hide --help" });
  }
  if (replace || (acceptance?.hidden === undefined && !existsSync(join(dir, HIDDEN_FILE)))) return;
  throw new NutError("FILE_EXISTS", `${join(dir, HIDDEN_FILE)}: checks are hidden here already`, {
    hint: `nutshell hide ${shellWord(dir)}${criteria.map((file) => ` --criteria ${shellWord(file)}`).join("")} --replace`,
  });
}

const invalid = (message: string): NutError =>
  new NutError("CRITERIA_INVALID", message, { hint: "nutshell schema criteria says what it may hold" });

/** Each row says for itself what its document said for all. */
function readCriteria(file: string): Criterion[] {
  const parsed = Criteria.safeParse(readJson(file));
  if (!parsed.success) throw invalid(`${file}: ${mismatchLine(parsed.error.issues[0]!)}`);
  const { criteria, test_framework: framework = "shell", auto_verifiable: automatic } = parsed.data;
  if (criteria.length === 0) throw invalid(`${file}: it holds no criteria`);
  return criteria.map((criterion) => {
    if ((criterion.auto_verifiable ?? automatic) === false) {
      throw invalid(`${file}: "${criterion.id}" is for a person to judge, and cannot be hidden`);
    }
    const known = CRITERION_TYPES.some((type) => type === criterion.type);
    const runs = criterion.script !== undefined || criterion.command !== undefined;
    if (!known && !runs) throw invalid(`${file}: "${criterion.id}" is of type ${criterion.type}, which nobody can run`);
    const [unknown] = unknownExpectations(criterion.expected);
    if (unknown !== undefined) {
      throw invalid(
        `${file}: "${criterion.id}" expects "${unknown}", which nobody compares; expectations are ${EXPECTATIONS}`,
      );
    }
    return { ...criterion, type: known ? criterion.type : framework, auto_verifiable: true };
  });
}

function readJson(file: string): unknown {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new NutError("FILE_NOT_FOUND", `${file}: no such file`, { data: { path: file } });
  }
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw fromSystemError(error, file) ?? invalid(`${file}: not JSON`);
  }
}

/** Ids are told apart from those everybody sees, and what comes after something must find it. */
function assertFits(criteria: readonly Criterion[], manifest: Manifest, dir: string): void {
  const seen = new Set(planChecks(dir, manifest).checks.map(({ id }) => id));
  for (const { id } of criteria) {
    if (seen.has(id)) throw invalid(`two criteria are called "${id}"`);
    seen.add(id);
  }
  for (const { id, after = [] } of criteria) {
    const lost = after.find((earlier) => !seen.has(earlier) || earlier === id);
    if (lost !== undefined) throw invalid(`"${id}" comes after "${lost}", which is no other criterion`);
  }
}

/** Scripts the criteria name, tests their commands name, and what was asked for; never what a visible check uses. */
function gather(request: HideRequest, manifest: Manifest, criteria: readonly Criterion[]): Gathered[] {
  const { dir } = request;
  const roots = [dir, ...request.criteria.map((file) => dirname(file))];
  const plan = planChecks(dir, manifest);
  const shown = new Set([
    ...plan.checks.flatMap(({ script, start, setup }) => [script, start, setup]),
    ...plan.checks.flatMap(({ command = "" }) => wordsOf(command)),
  ]);
  const found = new Map<string, string>();
  const add = (path: string, from: string) => {
    if (!shown.has(path)) found.set(path, from);
  };
  for (const { id, script, start, setup, command = "" } of criteria) {
    for (const named of [script, start, setup]) {
      if (named !== undefined) add(...place(named, roots, `"${id}" names ${named}`));
    }
    for (const word of wordsOf(command)) {
      const from = plan.isOwnTest(word) ? find(word, roots) : null;
      if (from !== null) add(word, from);
    }
  }
  for (const asked of request.files) {
    const [path, from] = place(asked, [dir], `--file ${asked}`);
    for (const below of filesBelow(from)) add(below === "" ? path : `${path}/${below}`, join(from, below));
  }
  return [...found].map(([path, from]) => ({ path, from })).sort((a, b) => (a.path < b.path ? -1 : 1));
}

const wordsOf = (command: string): string[] =>
  command
    .split(/[\s'"`;|&()<>=]+/)
    .map((word) => word.replace(/^\.\//, ""))
    .filter((word) => word !== "");

function place(named: string, roots: readonly string[], who: string): [string, string] {
  const path = resolveReference(named);
  const from = path === null ? null : find(path, roots);
  if (path !== null && from !== null) return [path, from];
  throw new NutError("FILE_NOT_FOUND", `${who}, which is not in the request's folder`, {
    hint: `ls ${shellWord(roots[0]!)}`,
    data: { path: named },
  });
}

/** In the request first, else beside the criteria. */
function find(path: string, roots: readonly string[]): string | null {
  for (const root of roots) {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stat?.isFile() === true || stat?.isDirectory() === true) return join(root, path);
  }
  return null;
}

/** Paths below a folder; the file itself is "". Links are left alone. */
function filesBelow(from: string): string[] {
  if (lstatSync(from).isFile()) return [""];
  return readdirSync(from, { recursive: true, encoding: "utf8" })
    .filter((name) => lstatSync(join(from, name)).isFile())
    .map((name) => name.split(sep).join("/"));
}

function toSealed({ path, from }: Gathered): HiddenChecks["files"][number] {
  return {
    path,
    executable: (lstatSync(from).mode & 0o111) !== 0,
    content: readFileSync(from).toString("base64"),
  };
}

function isBelow(dir: string, path: string): boolean {
  const inside = relative(resolve(dir), resolve(path));
  return inside !== "" && !inside.startsWith("..") && !inside.startsWith(sep);
}

/** Takes a file out of the folder, and the folders it leaves empty. */
function removeClear(dir: string, path: string): string {
  rmSync(path, { force: true });
  for (let at = dirname(path); isBelow(dir, at) && readdirSync(at).length === 0; at = dirname(at)) rmdirSync(at);
  return relative(dir, path).split(sep).join("/");
}
