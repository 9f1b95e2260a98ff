// The tree acceptance runs on, and the digests that name it: the base, what the result changed in it and can deliver, and
// the request's own tests as they were.
import { join } from "node:path";
import {
  applyChanges,
  copyTree,
  deliverable,
  entriesDigest,
  HIDDEN_FILE,
  isResult,
  lookAtFiles,
  type ResultChange,
  resultChanges,
  treeDigest,
} from "../trees/result-tree.js";
import type { CheckPlan } from "./model.js";

export interface CleanTreeParts {
  readonly base: string;
  readonly request: string;
  readonly plan: CheckPlan;
  readonly result: string;
  /** An empty folder to build in. */
  readonly target: string;
}

export interface CleanTree {
  /** Everything the result changed. */
  readonly changes: readonly ResultChange[];
  /** The part of it that is under test. */
  readonly kept: readonly ResultChange[];
  readonly digests: { readonly result: string; readonly tests: string };
}

export function buildCleanTree({ base, request, plan, result, target }: CleanTreeParts): CleanTree {
  const changes = base === result ? [] : resultChanges(base, result);
  const kept = deliverable(changes).filter(({ path }) => !plan.isOwnTest(path));
  copyTree(base, target, (path) => path !== ".git" && path !== ".nexus" && path !== HIDDEN_FILE);
  applyChanges(target, kept, (path) => join(result, path));
  // In a repository the request stands beside the tree; its tests are brought along, whatever was there under that name.
  if (base !== request) copyTree(request, target, (path) => plan.isOwnTest(path) || isFolderAbove(path, plan));
  const made = kept.flatMap(({ path, folder }) => (folder === true ? [path] : []));
  const digest = entriesDigest(lookAtFiles(target, counts).entries, made);
  return { changes, kept, digests: { result: digest, tests: testsDigest(request, plan) } };
}

/** Packing computes fields of the manifest, and the request's own digest covers it. */
const counts = (path: string): boolean => isResult(path) && path !== "nutshell.json";

/** Digest of the request's own tests and criteria: what a result may not change. */
export function testsDigest(request: string, plan: CheckPlan): string {
  return treeDigest(request, (path) => isFolderAbove(path, plan) || (plan.isOwnTest(path) && counts(path)));
}

/** A folder is walked into when something below it may be one of the tests. */
export function isFolderAbove(path: string, plan: CheckPlan): boolean {
  return plan.ownFiles.some((file) => file.startsWith(`${path}/`));
}
