// One expectation altered alone. Work that runs inside its test may answer the first expectation rightly and lead the test
// past the others: an object that equals everything, an exit that looks well. With all of them altered at once the first one
// fails and hides that.
import { randomInt } from "node:crypto";
import type { Control, TestResult, Unread } from "../model.js";
import { declares, ID_SEPARATOR, testId } from "../runners/outcomes.js";
import { type TestLanguage, testLanguage } from "./assertions.js";
import { type Straight, straightAssertions } from "./straight.js";
import { applyEdits } from "./text/edit.js";
import { newWord } from "./text/marks.js";

/** As many runs more at most: the last expectation, and others that nobody can foretell. */
const ROUNDS = 3;

const bytes = (text: string): Uint8Array => Buffer.from(text, "utf8");

export interface AloneFile {
  readonly path: string;
  readonly text: string;
  /** What its tests' ids begin with, where a runner tells them. */
  readonly prefix?: string;
  readonly language?: TestLanguage | null;
}

/** Of each test one expectation a round: tests are reported one by one, and none hides another. */
export function aloneInTests(files: readonly AloneFile[], seen: readonly TestResult[]): Control[] {
  const rounds = Array.from({ length: ROUNDS }, () => ({
    files: new Map<string, Uint8Array>(),
    mustFail: new Set<string>(),
  }));
  for (const file of files) {
    const chosen = groupsOf(file).flatMap(({ test, assertions }) => {
      const ids = test === null ? idsOfDocument(file, seen) : idsOf(testId(file.prefix ?? "", test.names), seen);
      return ids.length === 0 ? [] : [{ ids, order: inOrder(assertions.slice(1)) }];
    });
    rounds.forEach((round, index) => {
      const edits = chosen.flatMap(({ order }) => order[index]?.edits ?? []);
      if (edits.length === 0) return;
      round.files.set(file.path, bytes(applyEdits(file.text, edits)));
      for (const { ids, order } of chosen) if (order[index] !== undefined) for (const id of ids) round.mustFail.add(id);
    });
  }
  return rounds
    .filter(({ mustFail }) => mustFail.size > 0)
    .map(({ files: altered, mustFail }) => ({
      name: `${mustFail.size === 1 ? "one later expectation" : "one later expectation of each test"} altered alone`,
      files: altered,
      mustFail: [...mustFail],
    }));
}

/** A document is one test, whatever it is called. */
const idsOfDocument = ({ path, text, prefix = "" }: AloneFile, seen: readonly TestResult[]): string[] =>
  testLanguage(path, text) === "doctest"
    ? seen.map(({ id }) => id).filter((id) => id.startsWith(`${prefix}${ID_SEPARATOR}`))
    : [];

const idsOf = (id: string, seen: readonly TestResult[]): string[] =>
  seen.filter((test) => test.status === "passed" && declares({ id }, test.id)).map((test) => test.id);

/** Where there are more files, one of each is altered alone, as far as this goes: a file that is never run fails by nothing. */
const MOST_ALONE = 6;

/** Where only the end of the whole is told, one expectation a run, wherever it stands; the very first needs no run. */
export function aloneInScripts(files: readonly AloneFile[], isSure: (path: string) => boolean): Control[] {
  const ofEach = files
    .map((file) => groupsOf(file).flatMap(({ assertions }) => assertions.map((assertion) => ({ file, assertion }))))
    .filter((rows) => rows.length > 0);
  const [first, ...rest] = ofEach.flat();
  const lasts = ofEach.map((rows) => rows.at(-1)!).filter((row) => row !== first);
  const chosen = [...inOrder(lasts).slice(0, MOST_ALONE), ...inOrder(rest)];
  return [...new Set(chosen)]
    .slice(0, Math.max(ROUNDS, Math.min(lasts.length, MOST_ALONE)))
    .map(({ file: { path, text }, assertion: { line, edits } }) => ({
      name: `the expectation in line ${line} of ${path} altered alone`,
      files: new Map([[path, bytes(applyEdits(text, edits))]]),
      mustFail: null,
      ...(isSure(path) ? {} : { unlessUnread: unreadable(path) }),
    }));
}

/** No test in any language: whoever passes with it did not read the file, and whoever reads it shows the line. */
function unreadable(path: string): Unread {
  const word = newWord();
  return { files: new Map([[path, bytes(`)( ${word}\n`)]]), word };
}

function groupsOf({ path, text, language }: AloneFile): Straight[] {
  const known = language ?? testLanguage(path, text);
  return known === null ? [] : straightAssertions(path, text, known);
}

/** The last one first, because nothing comes after it that could still fail; then the others in any order. */
function inOrder<T>(rows: readonly T[]): T[] {
  const rest = rows.slice(0, -1);
  for (let at = rest.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1);
    [rest[at], rest[other]] = [rest[other]!, rest[at]!];
  }
  return rows.length === 0 ? [] : [rows.at(-1)!, ...rest];
}
