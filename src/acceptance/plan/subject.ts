// Which changes of a result are the work. Only they are in a room; everything else there is the base's. The request
// declares its subject, or the default holds: all that the constraints allow, except tests, files that steer checks, what
// a compiler made, and the checkers that the request's own commands name.
import { posix } from "node:path";
import type { ResultChange } from "../../trees/result-tree.js";
import type { CheckPlan } from "../model.js";
import { type CheckerFacts, type NamedFiles, namedFiles } from "./checkers.js";
import { readConstraints, violations } from "./constraints.js";
import { mayHoldTests, withTestsOf } from "./inline-tests.js";
import { isHalfWork, localDependencies, locksOf, mergeSettings, sameSettings } from "./merged-settings.js";
import { pathAllowed } from "./paths.js";
import { isBuilt, isLibraryClass, isStandardModule, isSteering, isTestFile } from "./steering.js";

/** A tree, as far as it must be read to tell work from the rest. */
export interface ReadableTree {
  /** null when there is no such file, or it is no text. */
  text(path: string): string | null;
  exists(path: string): boolean;
}

export interface SubjectFacts {
  readonly plan: CheckPlan;
  readonly constraints: readonly string[];
  readonly changes: readonly ResultChange[];
  readonly base: ReadableTree;
  readonly result: ReadableTree & {
    /** The first bytes of a file. */
    head(path: string): Uint8Array;
    /** Where a link leads, as it is written. */
    link(path: string): string;
  };
  /** What the request's own tests and commands name may be part of the check. */
  readonly named: Omit<CheckerFacts, "baseText">;
}

export interface Subject {
  /** Changes that are the work. */
  readonly work: readonly ResultChange[];
  /** Settings that are half work, as the room gets them. */
  readonly merged: ReadonlyMap<string, string>;
  /** Changes that are delivered and shown, but in no room. */
  readonly outside: readonly Outside[];
  /** Whether a file of the base is a checker that the request's own checks name. */
  readonly isChecker: (path: string) => boolean;
}

export interface Outside {
  readonly path: string;
  readonly why: string;
}

export function findSubject(facts: SubjectFacts): Subject {
  const work: ResultChange[] = [];
  const outside: Outside[] = [];
  const merged = new Map<string, string>();
  const asks = questions(facts);
  const locks = new Set<string>();
  for (const change of facts.changes) {
    const why = whyOutside(change, facts, asks);
    if (why === null) {
      work.push(change);
      const text = ownCode(change, facts);
      if (text !== null) merged.set(change.path, text);
      continue;
    }
    const half = facts.plan.subject === null && why === STEERS ? mergedText(change, facts) : null;
    if (half !== null) {
      merged.set(change.path, half);
      for (const lock of locksOf(change.path)) locks.add(lock);
    }
    const whole = half !== null && sameSettings(change.path, half, facts.result.text(change.path) ?? "");
    if (!whole) outside.push({ path: change.path, why });
  }
  // A lock file belongs to the dependencies it locks, and so does the code of a new one that came along.
  const follows = ({ path, why }: Outside) =>
    why === STEERS && (locks.has(path) || isNewDependency(path, facts, merged));
  const following = new Set(outside.filter(follows).map(({ path }) => path));
  return {
    work: [...work, ...facts.changes.filter(({ path }) => following.has(path))],
    merged,
    outside: outside.filter((row) => !follows(row)),
    // Whether it is there first: what a text says of a name takes reading all code.
    isChecker: (path) => facts.plan.subject === null && facts.base.exists(path) && asks.isChecker(path),
  };
}

const STEERS = "it steers checks";

/** New code in a folder that the work's own dependencies name, as `file:vendor/adder` does. */
function isNewDependency(path: string, { base }: SubjectFacts, merged: ReadonlyMap<string, string>): boolean {
  const folders = [...merged].flatMap(([settings, text]) =>
    isHalfWork(settings) ? localDependencies(settings, text) : [],
  );
  return folders.some((folder) => {
    const rest = path.slice(folder.length);
    return path.startsWith(folder) && !base.exists(folder.slice(0, -1)) && !isSteering(rest) && !isTestFile(rest);
  });
}

interface Questions extends NamedFiles {
  readonly forbidden: ReadonlyMap<string, string>;
}

function questions({ changes, constraints, base, named }: SubjectFacts): Questions {
  const forbidden = new Map<string, string>();
  for (const { path, constraint } of violations(changes, readConstraints(constraints).rules)) {
    forbidden.set(path, constraint);
  }
  const files = filesNamedBy.get(named) ?? namedFiles({ ...named, baseText: base.text });
  filesNamedBy.set(named, files);
  return { forbidden, ...files };
}

/** The same facts are about the same base: what was found out of its files stays true. */
const filesNamedBy = new WeakMap<SubjectFacts["named"], NamedFiles>();

/** null when the change is the work. */
function whyOutside(change: ResultChange, facts: SubjectFacts, asks: Questions): string | null {
  const { path, kind } = change;
  const constraint = asks.forbidden.get(path);
  if (constraint !== undefined) return `the request forbids it: ${constraint}`;
  const place = whyPlaceOutside(path, facts);
  if (place !== null) return place;
  if (change.link === true) return whyLinkOutside(change, facts);
  if (facts.plan.subject !== null || change.folder === true) return null;
  if (kind !== "deleted" && isBuilt(path, facts.result.head(path))) return "a compiler made it";
  if (facts.named.isIncluded(path)) return STEERS;
  if (asks.isChecker(path)) return "the request's own checks name it";
  if (kind === "created" && isShadowing(path, facts) && !asks.isNamed(path)) return "it hides a module of Python's own";
  if (kind === "created" && isLibraryClass(path, facts.result.text(path) ?? ""))
    return "it hides a class of the tests' library";
  return null;
}

/** What the place and name alone say. */
function whyPlaceOutside(path: string, { plan }: SubjectFacts): string | null {
  if (plan.isOwnTest(path)) return "it is one of the request's own tests";
  if (plan.subject !== null) return isDeclared(path, plan.subject) ? null : "it is not in the declared subject";
  if (isTestFile(path)) return "it is a test";
  return isSteering(path) ? STEERS : null;
}

/** Whether a file steers checks, so that a change of it is used only when the subject names it. */
export function isOutsideSubject(path: string, subject: readonly string[] | null): boolean {
  return isSteering(path) && (subject === null || !isDeclared(path, subject));
}

/** A folder brings tests and steering files along only when it is a folder of such. */
function isDeclared(path: string, subject: readonly string[]): boolean {
  const special = isTestFile(path) || isSteering(path);
  return subject.some((entry) => {
    if (!pathAllowed(path, [entry])) return false;
    if (!special || !entry.endsWith("/")) return true;
    return isTestFile(`${entry}x`) || isSteering(`${entry}x`);
  });
}

/** A link is the work when what it leads to is. */
function whyLinkOutside({ path }: ResultChange, facts: SubjectFacts): string | null {
  const target = facts.result.link(path);
  const place = posix.normalize(posix.join(posix.dirname(path), target));
  if (target.startsWith("/") || place.startsWith("..")) return "it is a link that leads out of the tree";
  const inside = whyPlaceOutside(place, facts) ?? whyPlaceOutside(`${place}/x`, facts);
  return inside === null ? null : "it is a link to what is not the work";
}

/** A module of Python's own name counts as meant when it stands in a package, new or as the base has it. */
function isShadowing(path: string, { base, result }: SubjectFacts): boolean {
  if (!isStandardModule(path)) return false;
  const own = posix.basename(path) === "__init__.py" ? posix.dirname(path) : path;
  const folder = posix.dirname(own);
  if (folder === "." || folder === "files") return true;
  const isPackage = (tree: ReadableTree) => tree.exists(`${folder}/__init__.py`);
  return base.exists(folder) ? !isPackage(base) : !isPackage(result);
}

/** A file of code that brings tests along: the tests in it are the base's. */
function ownCode({ path, kind, link }: ResultChange, { plan, base, result }: SubjectFacts): string | null {
  if (plan.subject !== null || kind === "deleted" || link === true || !mayHoldTests(path)) return null;
  const now = result.text(path);
  return now === null ? null : withTestsOf(base.text(path), now);
}

function mergedText({ path, kind, link }: ResultChange, { base, result }: SubjectFacts): string | null {
  if (!isHalfWork(path) || kind === "deleted" || link === true) return null;
  const now = result.text(path);
  return now === null ? null : mergeSettings(path, base.text(path), now);
}
