// The tree acceptance runs on, and the digests that name it: the base, what the result changed in it and can deliver, and
// the request's own tests as they were. It is known from looks at these; nobody needs to build it for its name.
import {
  changesBetween,
  deliverable,
  digestOver,
  isResult,
  lookAtFiles,
  type ResultChange,
  treeDigest,
} from "../trees/result-tree.js";
import type { Tree, TreeEntry } from "../trees/tree.js";
import type { CheckPlan } from "./model.js";

export interface CleanTreeParts {
  readonly base: string;
  readonly request: string;
  readonly plan: CheckPlan;
  readonly result: string;
}

export interface CleanTree {
  /** Everything the result changed. */
  readonly changes: readonly ResultChange[];
  readonly digests: { readonly result: string; readonly tests: string };
}

export function cleanTreeOf({ base, request, plan, result }: CleanTreeParts): CleanTree {
  const before = lookAtFiles(base, isResult);
  const after = base === result ? before : lookAtFiles(result, isResult);
  const changes = base === result ? [] : changesBetween(before, after, { before: base, after: result });
  const digest = resultDigest({ before, after, changes, request, plan });
  return { changes, digests: { result: digest, tests: testsDigest(request, plan) } };
}

/** What of the changes is under test: all that can be delivered, and none of the request's own tests. */
export const underTest = (changes: readonly ResultChange[], plan: CheckPlan): ResultChange[] =>
  deliverable(changes).filter(({ path }) => !plan.isOwnTest(path));

export interface LookedAt {
  readonly before: Tree;
  readonly after: Tree;
  readonly changes: readonly ResultChange[];
  readonly request: string;
  readonly plan: CheckPlan;
}

/** The digest a copy of the tree would have: the base, what the result can deliver, the request's own tests. */
export function resultDigest({ before, after, changes, request, plan }: LookedAt): string {
  // What is not the base's own; null for what is not there. The base is not copied for a few changes.
  const own = new Map<string, TreeEntry | null>();
  const made: string[] = [];
  for (const { path, kind, folder } of underTest(changes, plan)) {
    if (folder === true) made.push(path);
    else own.set(path, kind === "deleted" ? null : after.entries.get(path)!);
  }
  const tests = lookAtFiles(request, ownTests(plan));
  for (const [path, entry] of tests.entries) if (plan.isOwnTest(path) && isResult(path)) own.set(path, entry);
  // Packing computes fields of the manifest, and the request's own digest covers it.
  own.set("nutshell.json", null);
  return digestOver(before.entries, own, made);
}

/** Packing computes fields of the manifest, and the request's own digest covers it. */
const counts = (path: string): boolean => isResult(path) && path !== "nutshell.json";

/** Digest of the request's own tests and criteria: what a result may not change. */
export function testsDigest(request: string, plan: CheckPlan): string {
  return treeDigest(request, (path) => isFolderAbove(path, plan) || (plan.isOwnTest(path) && counts(path)));
}

/** The request's own tests, with the folders they lie in. */
export const ownTests = (plan: CheckPlan) => (path: string) => plan.isOwnTest(path) || isFolderAbove(path, plan);

/** A folder is walked into when something below it may be one of the tests. */
function isFolderAbove(path: string, plan: CheckPlan): boolean {
  return plan.ownFiles.some((file) => file.startsWith(`${path}/`));
}
