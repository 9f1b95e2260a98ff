// What the files under test declare, so that a test that silently goes missing is missed.
import { readTestText } from "../controls/assertions.js";
import { allTests } from "../controls/named-files.js";
import { sharesProcess } from "./in-process.js";
import { type Declared, testId } from "./outcomes.js";
import { joined, type Recognised } from "./recognise.js";
import type { TreeView } from "./runner.js";

/** Author's words that choose among the tests: then nobody knows how many there should be. */
const CHOOSES =
  /^(?:-k|-m|-t|-g|--grep|--test-name-pattern|--testNamePattern|-run|--test-only|--deselect|--shard|--changed|--lf)\b/;

/** The tests of the files a check names; of all test files, none of them sure, when it names none. */
export function declaredTests(recognised: Recognised, view: TreeView): Declared[] {
  const chosen = recognised.args.some((word) => CHOOSES.test(word) || word.includes("::"));
  const named = namedTargets(recognised, view);
  return (named.length > 0 ? named : allTests(view)).flatMap((file) => {
    const text = view.read(file);
    if (text === null) return [];
    return readTestText(file, text).tests.map(({ names, sure, skips }) => ({
      id: testId(file, names),
      sure: sure && !chosen && named.length > 0,
      skips,
    }));
  });
}

/** Whether any of the tests runs in one process with the work; unknown tests are taken to. */
export function testsShareProcess(recognised: Recognised, view: TreeView): boolean {
  const named = namedTargets(recognised, view);
  return named.length === 0 || named.some((file) => sharesProcess(file, view));
}

/** The files a check names itself: its script, or words of its command that are files. */
function namedTargets({ target, args, cwd }: Recognised, view: TreeView): string[] {
  const words = args.filter((word) => !word.startsWith("-")).map((word) => joined(cwd, word.split("::")[0]!));
  return (target === null ? words : [target]).filter((path) => view.read(path) !== null);
}
