// What is wrong with what an agent left, before any test is run. Pure: changes and rules in, sentences out.
import { posix } from "node:path";
import { type Constraints, pathAllowed, violations } from "../../acceptance/index.js";
import type { RunTask } from "../../schema/run.js";
import type { GitFacts } from "../../trees/git-facts.js";
import { type Change, fileChanges } from "../../trees/tree.js";

export interface RulesInput {
  readonly task: RunTask;
  readonly mayEdit: boolean;
  readonly changes: readonly Change[];
  readonly constraints: Constraints;
  readonly isOwnTest: (path: string) => boolean;
  readonly linkTarget: (change: Change) => string;
  readonly leaks: (change: Change) => boolean;
  /** Folders nobody looked into. */
  readonly tooDeep?: readonly string[];
  /** What has a name no delivery can hold, as it is shown. */
  readonly unnamed?: readonly string[];
  readonly git: { readonly before: GitFacts | null; readonly after: GitFacts | null };
  readonly outcome: "done" | "failed" | "stopped";
  readonly text: string;
  /** Empty when the agent gave none. */
  readonly error: string;
}

export interface BrokenRules {
  /** Each of these fails the task. */
  readonly problems: readonly string[];
  /** Worth telling, but no reason to fail. */
  readonly notes: readonly string[];
}

/** Patterns over a whole report never let white space run across lines: a report of newlines would take for ever. */
export function brokenRules(input: RulesInput): BrokenRules {
  const { task, mayEdit, outcome, text, error, isOwnTest } = input;
  const changes = fileChanges(input.changes);
  const problems: string[] = [];
  const notes: string[] = [];
  if (outcome === "failed") problems.push(`the agent ended with an error: ${error || "no reason was given"}`);
  else if (text.trim() === "") problems.push("the agent ended without a report");
  if (/^[^\S\n]*RESULT:[^\S\n]*blocked\b/im.test(text)) problems.push(`blocked: ${reasonIn(text)}`);
  const verdict = /^[^\S\n]*(?:RESULT:[^\S\n]*(partial)|VERDICT:[^\S\n]*(fail|blocked))\b/im.exec(text);
  if (verdict !== null) notes.push(`the ${task.owner} says ${verdict[1] ?? verdict[2]}: ${reasonIn(text)}`);

  if (!mayEdit && changes.length > 0) {
    problems.push(`the ${task.owner} may not change files, but changed ${namesOf(changes)}; the change was taken back`);
  } else {
    problems.push(...editProblems(changes, input));
    const tests = changes.filter(({ path }) => isOwnTest(path));
    if (tests.length > 0) notes.push(`the request's own tests were changed (${namesOf(tests)}); they are put back`);
  }
  problems.push(...gitProblems(input));
  return { problems, notes };
}

/** The one line of a report that says what it comes to. */
function reasonIn(text: string): string {
  const line = /^[^\S\n]*(?:-[^\S\n]*)?(?:ISSUE|SUMMARY):[^\S\n]*(.+)$/im.exec(text)?.[1] ?? "no reason was given";
  return line.slice(0, 300);
}

/** More than a delivery is meant to carry, and more than can be read at once. */
const LARGEST_FILE_BYTES = 1024 ** 3;

function editProblems(changes: readonly Change[], input: RulesInput): string[] {
  const { task, constraints, linkTarget, leaks, tooDeep = [], unnamed = [] } = input;
  const problems = violations(changes, constraints.rules).map(
    ({ path, constraint }) => `${path} was changed against the constraint "${constraint}"`,
  );
  if (task.files !== undefined) {
    const outside = changes.filter(({ path }) => !pathAllowed(path, task.files!));
    if (outside.length > 0) problems.push(`${namesOf(outside)} lies outside the files of this task`);
  }
  if (tooDeep.length > 0) problems.push(`${tooDeep[0]!.slice(0, 40)}… lies deeper than any delivery can hold`);
  if (unnamed.length > 0) problems.push(`the name of ${unnamed[0]} is not UTF-8, which no delivery can hold`);
  for (const change of changes) {
    if (change.after === null) continue;
    if (change.after.type === "other") problems.push(`${change.path} is neither a file, a folder nor a link`);
    if (change.after.type === "link" && leavesTree(change.path, linkTarget(change))) {
      problems.push(`${change.path} is a link that leaves the working folder`);
    }
    if (change.after.size > LARGEST_FILE_BYTES) problems.push(`${change.path} is larger than 1 GiB`);
    else if (change.after.type === "file" && leaks(change)) problems.push(`${change.path} holds a credential's value`);
  }
  return problems;
}

function gitProblems({ git: { before, after }, mayEdit, task }: RulesInput): string[] {
  if (before === null) return [];
  if (after === null) return ["the repository's .git folder is gone"];
  const problems: string[] = [];
  if (before.trusted !== after.trusted) problems.push("git's configuration or hooks were changed");
  if (!mayEdit && before.refs !== after.refs) problems.push(`the ${task.owner} moved a branch or HEAD`);
  return problems;
}

export function leavesTree(path: string, target: string): boolean {
  if (target.startsWith("/")) return true;
  const resolved = posix.normalize(posix.join(posix.dirname(path), target));
  return resolved === ".." || resolved.startsWith("../");
}

function namesOf(changes: readonly Change[]): string {
  const names = changes.slice(0, 5).map(({ path }) => path);
  return changes.length > names.length
    ? `${names.join(", ")} and ${changes.length - names.length} more`
    : names.join(", ");
}
