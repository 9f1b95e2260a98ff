// Rows of SWE-bench: an issue of a repository at a commit, a patch that mends it, and the tests that tell. The repository is
// a local clone, which the work is done in (`nexus run --repo`); the tests of the row are the request's.
import { z } from "zod";
import { isObeyed } from "../bundle/index.js";
import { NutError } from "../errors.js";
import { JsonError, parseJson } from "../files/index.js";
import { findLicence } from "./licence.js";
import { type ImportedTask, type LeftOut, textFile } from "./model.js";
import { nameOf, plainTask } from "./plain-task.js";
import type { SourceFolder } from "./source-folder.js";

const Names = z.union([z.array(z.string()), z.string()]);
const Row = z.looseObject({
  instance_id: z.string().min(1),
  repo: z.string().min(1),
  base_commit: z.string().regex(/^[0-9a-f]{7,64}$/),
  problem_statement: z.string(),
  hints_text: z.string().nullish(),
  patch: z.string().nullish(),
  test_patch: z.string().nullish(),
  FAIL_TO_PASS: Names.nullish(),
  PASS_TO_PASS: Names.nullish(),
  version: z.string().nullish(),
});
type Row = z.infer<typeof Row>;

const MAX_ROWS_BYTES = 256 * 1024 * 1024;

export interface SwebenchRow extends ImportedTask {
  /** What of the repository it starts from. */
  readonly wants: { readonly commit: string; readonly patch: string | null };
}

/** One row, a list of rows, or one row a line. `only` chooses by instance_id. Throws IMPORT_UNFIT. */
export function readSwebench(text: string, only: readonly string[] = []): SwebenchRow[] {
  if (text.length > MAX_ROWS_BYTES) throw unfit("the file is larger than 256 MiB");
  const rows = rowsOf(text).filter(({ instance_id: id }) => only.length === 0 || only.includes(id));
  if (rows.length === 0)
    throw unfit(only.length === 0 ? "it holds no rows" : `it holds no row called ${only.join(", ")}`);
  return rows.map(toTask);
}

function rowsOf(text: string): Row[] {
  const clean = text.replace(/^\uFEFF/, "").trim();
  const values = clean.startsWith("[")
    ? parsed(clean, "the file")
    : clean
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line, index) => parsed(line, `line ${index + 1}`));
  if (!Array.isArray(values)) throw unfit("it is no list of rows");
  return values.map((value, index) => {
    const row = Row.safeParse(value);
    if (row.success) return row.data;
    const [issue] = row.error.issues;
    throw unfit(`row ${index + 1}: ${issue!.path.join(".")}: ${issue!.message}`);
  });
}

function parsed(text: string, where: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) throw unfit(`${where} is not JSON`);
    throw error;
  }
}

const unfit = (why: string): NutError =>
  new NutError("IMPORT_UNFIT", `this is no row of SWE-bench: ${why}`, {
    hint: "give a row as JSON, a list of them, or one a line, with instance_id, repo, base_commit and problem_statement",
  });

/** The data set writes its lists as text. */
function namesOf(value: Row["FAIL_TO_PASS"]): string[] {
  if (Array.isArray(value)) return value;
  if (value == null || value === "") return [];
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? list.filter((name): name is string => typeof name === "string") : [];
  } catch {
    return [];
  }
}

/** A name that a shell and pytest take as it stands. */
const PLAIN = /^[\w./-]+\.py(?:::[\w.[\]() ,:=+*%@!<>-]+)?$/;

function toTask(row: Row): SwebenchRow {
  const { instance_id: id, repo, base_commit: commit } = row;
  const leftOut: LeftOut[] = [];
  const files = new Map([["context/requirements.md", textFile(`${row.problem_statement.trim()}\n`)]]);
  if (row.hints_text) files.set("context/hints.md", textFile(`${row.hints_text.trim()}\n`));
  const broken = usable(namesOf(row.FAIL_TO_PASS), "FAIL_TO_PASS", leftOut);
  const kept = usable(namesOf(row.PASS_TO_PASS), "PASS_TO_PASS", leftOut);
  const criteria = [
    ...(broken.length === 0 ? [] : [criterion("fail-to-pass", "tests that fail before and pass after", broken)]),
    ...(kept.length === 0 ? [] : [criterion("pass-to-pass", "tests that pass before and after", kept)]),
  ];
  if (row.version)
    leftOut.push({
      what: `environment of ${repo} ${row.version}`,
      why: "the row does not hold it: name what its tests need in acceptance.install",
    });
  const oracle = row.patch
    ? {
        files: new Map([["swebench-solution.patch", textFile(ended(row.patch))]]),
        script: textFile(
          '#!/bin/sh\nset -e\ngit apply --whitespace=nowarn "$(dirname "$0")/files/swebench-solution.patch"\n',
          true,
        ),
      }
    : null;
  const [title = id] = row.problem_statement.trim().split("\n");
  const task = plainTask("swebench", nameOf(id), {
    title: title.slice(0, 200),
    summary: `${repo} at ${commit.slice(0, 12)}: ${title.slice(0, 300)}`,
    language: "python",
    files,
    criteria,
    constraints: ["Do not change tests"],
    skills: ["python"],
    domains: ["swebench"],
    additional: row.hints_text ? ["context/hints.md"] : [],
    oracle,
    url: /^[\w.-]+\/[\w.-]+$/.test(repo) ? `https://github.com/${repo}` : null,
    base: { repository: repo, commit },
    leftOut,
  });
  return { ...task, wants: { commit, patch: row.test_patch ? ended(row.test_patch) : null } };
}

/** The row with the repository's files, as far as they can travel. */
export function withTree(row: SwebenchRow, tree: SourceFolder): ImportedTask {
  const { wants: _, ...task } = row;
  const leftOut: LeftOut[] = [...task.leftOut, ...tree.unread];
  const files = new Map(task.files);
  for (const [path, file] of tree.files) {
    if (isObeyed(path)) leftOut.push({ what: path, why: "programs obey it merely because it lies there" });
    else if (path === "nutshell.json" || files.has(path) || path === "tests/criteria.json")
      leftOut.push({ what: path, why: "the request keeps its own there" });
    else files.set(path, file);
  }
  const { licence, files: texts } = findLicence(tree);
  for (const [path, file] of texts) if (!files.has(path)) files.set(path, file);
  return { ...task, files, licence, leftOut };
}

const ended = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

function usable(names: readonly string[], list: string, leftOut: LeftOut[]): string[] {
  const odd = names.filter((name) => !PLAIN.test(name));
  if (odd.length > 0)
    leftOut.push({
      what: `${odd.length} names of ${list}, such as ${odd[0]!.slice(0, 80)}`,
      why: "they are no names that pytest knows by file",
    });
  return names.filter((name) => PLAIN.test(name));
}

const criterion = (id: string, description: string, names: readonly string[]) => ({
  id,
  description,
  type: "shell",
  command: `python3 -m pytest -q ${names.map((name) => (/^[\w./:-]+$/.test(name) ? name : `'${name}'`)).join(" ")}`,
  timeout_seconds: 1800,
});
