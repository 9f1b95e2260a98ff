// What is wrong with what an agent left, before any test is run. Pure: changes and rules in, sentences out.
import { posix } from "node:path";
import type { RunTask } from "../../schema/run.js";
import type { GitFacts } from "../../trees/git-facts.js";
import { type Change, fileChanges } from "../../trees/tree.js";
import { type Constraints, violations } from "../plan/constraints.js";
import { pathAllowed } from "../plan/paths.js";

export interface JudgeInput {
  readonly task: RunTask;
  readonly mayEdit: boolean;
  readonly changes: readonly Change[];
  readonly constraints: Constraints;
  readonly isOwnTest: (path: string) => boolean;
  readonly linkTarget: (change: Change) => string;
  readonly leaks: (change: Change) => boolean;
  readonly git: { readonly before: GitFacts | null; readonly after: GitFacts | null };
  readonly outcome: "done" | "failed" | "stopped";
  readonly text: string;
  /** Empty when the agent gave none. */
  readonly error: string;
}

export interface Judgement {
  /** Each of these fails the task. */
  readonly problems: readonly string[];
  /** Worth telling, but no reason to fail. */
  readonly notes: readonly string[];
}

export function judgeChanges(input: JudgeInput): Judgement {
  const { task, mayEdit, outcome, text, error, isOwnTest } = input;
  const changes = fileChanges(input.changes);
  const problems: string[] = [];
  const notes: string[] = [];
  if (outcome === "failed") problems.push(`the agent ended with an error: ${error || "no reason was given"}`);
  else if (text.trim() === "") problems.push("the agent ended without a report");
  if (/^\s*RESULT:\s*blocked\b/im.test(text)) problems.push(`blocked: ${reasonIn(text)}`);
  const no = /^\s*(?:RESULT:\s*(partial)|VERDICT:\s*(fail|blocked))\b/im.exec(text);
  if (no !== null) notes.push(`the ${task.owner} says ${no[1] ?? no[2]}: ${reasonIn(text)}`);

  if (!mayEdit && changes.length > 0) {
    problems.push(`the ${task.owner} may not change files, but changed ${some(changes)}; the change was taken back`);
  } else {
    problems.push(...editProblems(changes, input));
    const tests = changes.filter(({ path }) => isOwnTest(path));
    if (tests.length > 0) notes.push(`the request's own tests were changed (${some(tests)}); they are put back`);
  }
  problems.push(...gitProblems(input));
  return { problems, notes };
}

/** The one line of a report that says what it comes to. */
function reasonIn(text: string): string {
  const line = /^\s*(?:-\s*)?(?:ISSUE|SUMMARY):\s*(.+)$/im.exec(text)?.[1] ?? "no reason was given";
  return line.slice(0, 300);
}

function editProblems(changes: readonly Change[], { task, constraints, linkTarget, leaks }: JudgeInput): string[] {
  const problems = violations(changes, constraints.rules).map(
    ({ path, constraint }) => `${path} was changed against the constraint "${constraint}"`,
  );
  if (task.files !== undefined) {
    const outside = changes.filter(({ path }) => !pathAllowed(path, task.files!));
    if (outside.length > 0) problems.push(`${some(outside)} lies outside the files of this task`);
  }
  for (const change of changes) {
    if (change.after === null) continue;
    if (change.after.type === "other") problems.push(`${change.path} is neither a file, a folder nor a link`);
    if (change.after.type === "link" && leavesTree(change.path, linkTarget(change))) {
      problems.push(`${change.path} is a link that leaves the working folder`);
    }
    if (change.after.type === "file" && leaks(change)) problems.push(`${change.path} holds a credential's value`);
  }
  return problems;
}

function gitProblems({ git: { before, after }, mayEdit, task }: JudgeInput): string[] {
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

function some(changes: readonly Change[]): string {
  const names = changes.slice(0, 5).map(({ path }) => path);
  return changes.length > names.length
    ? `${names.join(", ")} and ${changes.length - names.length} more`
    : names.join(", ");
}
