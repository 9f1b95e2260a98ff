// Where the tasks of a corpus lie, each with a digest of what was fetched.
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

export const CORPUS_KINDS = ["exercism", "quixbugs", "terminal-bench"] as const;
export type CorpusKind = (typeof CORPUS_KINDS)[number];

export interface CorpusTask {
  readonly name: string;
  /** Folder of the task; of QuixBugs, the whole repository. */
  readonly path: string;
  readonly digest: string;
}

const MARKS: Readonly<Record<CorpusKind, string>> = {
  exercism: ".meta/config.json",
  quixbugs: "python_testcases",
  "terminal-bench": "task.yaml",
};

export function findTasks(folder: string, kind: CorpusKind): CorpusTask[] {
  if (kind === "quixbugs") return quixbugs(folder);
  const found: CorpusTask[] = [];
  const visit = (path: string, depth: number): void => {
    if (existsSync(join(path, MARKS[kind]))) {
      const track = kind === "exercism" ? `${relative(folder, path).split("/")[0]}-` : "";
      found.push({ name: `${track}${basename(path)}`, path, digest: digestOf(path) });
      return;
    }
    if (depth > 4) return;
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (entry.isDirectory() && !entry.name.startsWith(".")) visit(join(path, entry.name), depth + 1);
  };
  visit(folder, 0);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** One program with a single wrong line, its right twin, and its tests. */
function quixbugs(folder: string): CorpusTask[] {
  const names = readdirSync(join(folder, "python_testcases"))
    .flatMap((name) => /^test_(\w+)\.py$/.exec(name)?.[1] ?? [])
    .filter((name) => existsSync(join(folder, `correct_python_programs/${name}.py`)));
  return names.sort().map((name) => {
    const hash = createHash("sha256");
    for (const part of [`python_programs/${name}.py`, `python_testcases/test_${name}.py`])
      hash.update(readFileSync(join(folder, part)));
    return { name, path: folder, digest: `sha256:${hash.digest("hex")}` };
  });
}

/** Paths and contents of plain files, in order; links by where they lead. */
export function digestOf(folder: string): string {
  const hash = createHash("sha256");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  for (const name of names) {
    const stat = lstatSync(join(folder, name));
    if (stat.isFile()) hash.update(`${name}\0${stat.size}\0`).update(readFileSync(join(folder, name)));
  }
  return `sha256:${hash.digest("hex")}`;
}
