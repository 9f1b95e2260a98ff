// Test files that a plain script leads to: those it names, those they name, and all there are when it calls a runner
// without saying which.
import { posix } from "node:path";
import { isTestFile } from "../plan/steering.js";
import { startsRunner } from "../runners/in-process.js";
import type { TreeView } from "../runners/runner.js";
import { testLanguage } from "./assertions.js";
import { moduleFiles, startedModules } from "./python-modules.js";

const DEPTH = 3;
const MOST_FILES = 200;
const MOST_FOLDERS = 10;
const RUNNER =
  /\b(?:make|npm|yarn|pnpm|npx|pytest|unittest|vitest|jest|mocha|ava|ctest|mvn|gradle|bats)\b|\b(?:go|cargo|bun|deno)\s+test\b|--test\b/;

const runsTests = (text: string): boolean => RUNNER.test(text) || startsRunner(text);

/** `start` is the script, null for a command. */
export function namedTests(text: string, start: string | null, view: TreeView): string[] {
  const found = new Set<string>();
  const follow = (content: string, folder: string, depth: number): void => {
    for (const path of [...wordsAsPaths(content, folder, view), ...patternsAsPaths(content, folder, view)]) {
      if (path === start || found.has(path) || found.size >= MOST_FILES || !isPartOfTests(path, view)) continue;
      const inner = view.read(path);
      if (inner === null || testLanguage(path, inner) === null || isFramework(path, inner)) continue;
      found.add(path);
      if (depth < DEPTH) follow(inner, posix.dirname(path), depth + 1);
    }
    // Settings may give a checker another name to import it by.
    for (const path of view.checkers ?? []) {
      const name = posix.basename(path).replace(/\.[^.]+$/, "");
      const inner = view.read(path);
      if (found.has(path) || inner === null || testLanguage(path, inner) === null) continue;
      if (content.includes(`"${name}"`) || content.includes(`'${name}'`)) found.add(path);
    }
  };
  follow(text, start === null ? "" : posix.dirname(start), 0);
  if (found.size === 0 && runsTests(text)) for (const path of allTests(view)) if (path !== start) found.add(path);
  return [...found];
}

/** A whole test framework in one header, beside the tests that include it: what stands in it expects nothing of the work. */
const isFramework = (path: string, text: string): boolean =>
  /\.(?:h|hh|hpp|hxx)$/.test(path) && /^[ \t]*#[ \t]*define[ \t]+(?:CATCH_|DOCTEST_)TEST_CASE\b/m.test(text);

const isPartOfTests = (path: string, { checkers = [] }: TreeView): boolean =>
  isTestFile(path) || checkers.includes(path);

/** Files a script compares with: goldens, which are text and no code. */
export function goldenFiles(text: string, start: string | null, view: TreeView): string[] {
  const lines = text.split("\n").filter((line) => /\b(?:diff|cmp|comm)\b/.test(line.slice(0, 2000)));
  const folder = start === null ? "" : posix.dirname(start);
  const compared = lines.join("\n");
  const named = [...wordsAsPaths(compared, folder, view), ...globbed(text, compared, folder, view)];
  return [...new Set(named)].filter((path) => {
    const inner = view.read(path);
    if (path === start || inner === null || !isPartOfTests(path, view)) return false;
    const language = testLanguage(path, inner);
    return language === null || language === "doctest";
  });
}

/** `for f in samples/*.in` compared with `"${f%.in}.expected"`: files of that ending in a folder the script goes through. */
function globbed(text: string, compared: string, folder: string, view: TreeView): string[] {
  const endings = new Set([...compared.matchAll(/\}(\.[a-z]{2,9})\b/g)].map(([, ending]) => ending!));
  const folders = [...text.matchAll(/([\w./-]*)\/\*/g)].flatMap(([, place]) => [
    posix.normalize(place!),
    posix.join(folder, place!),
  ]);
  return [...new Set(folders)]
    .filter((place) => !place.startsWith(".."))
    .flatMap((place) => view.list(place).map((name) => posix.join(place, name)))
    .filter((path) => endings.has(posix.extname(path)))
    .slice(0, MOST_FILES);
}

/** Folders that a text goes to, or sends Python to. */
const goesTo = (text: string): string[] =>
  [...text.matchAll(/(?:\bcd\s+|\bPYTHONPATH=)["']?([\w./-]+)/g)].map(([, place]) => posix.normalize(place!));

/** Where Python looks for modules, as far as a text says so: beside, in the usual folders, where it goes or is sent. */
function modulesAsPaths(text: string, view: TreeView): string[] {
  const modules = startedModules(text);
  if (modules.length === 0) return [];
  const folders = ["", "src", "files", "files/src", "lib", ...goesTo(text)];
  const paths = modules.flatMap(moduleFiles).flatMap((file) => folders.map((place) => posix.join(place, file)));
  return [...new Set(paths)].filter((path) => !path.startsWith("..") && view.read(path) !== null);
}

function wordsAsPaths(text: string, folder: string, view: TreeView): string[] {
  const head = text.slice(0, 200_000);
  const quoted = [...head.matchAll(/(["'])([^"'\n]{3,200})\1/g)].map((found) => found[2]!);
  const words = new Set([...(head.match(/[\w.@/-]{3,200}/g) ?? []), ...quoted]);
  const folders = [folder, ...goesTo(head).slice(0, MOST_FOLDERS)];
  const named = [...words]
    .filter((word) => /[./]/.test(word) && !word.startsWith("-"))
    .flatMap((word) => {
      const bare = word.replace(/^\/+/, "");
      const candidates = [posix.normalize(bare), ...folders.map((place) => posix.join(place, bare))].filter(
        (path) => !path.startsWith(".."),
      );
      return [...new Set(candidates)].filter((path) => view.read(path) !== null);
    });
  return [...named, ...modulesAsPaths(head, view)];
}

/** `tests/cases/*.sh`, `"tests/cases/$name.sh"`: files of that ending in that folder. */
function patternsAsPaths(text: string, folder: string, view: TreeView): string[] {
  const found = text.slice(0, 200_000).matchAll(/([\w.@/-]+\/)(?:\*|\$\{?\w+\}?)(\.\w+)(?![\w*])/g);
  return [...found].slice(0, MOST_FOLDERS).flatMap(([, head, ending]) =>
    [...new Set([posix.normalize(head!), posix.join(folder, head!)])]
      .map((place) => place.replace(/\/$/, ""))
      .filter((place) => !place.startsWith("..") && !place.startsWith("/"))
      .flatMap((place) =>
        view
          .list(place)
          .filter((name) => name.endsWith(ending!))
          .map((name) => `${place}/${name}`),
      ),
  );
}

export function allTests(view: TreeView): string[] {
  const found = allFiles(view, (path) => isTestFile(path) && isReadable(path, view));
  const checkers = (view.checkers ?? []).filter((path) => !isTestFile(path) && isReadable(path, view));
  return [...found, ...checkers].slice(0, MOST_FILES);
}

/** Files of the tree as its author wrote them, as far as one wants them. */
export function allFiles(view: TreeView, isWanted: (path: string) => boolean): string[] {
  const found: string[] = [];
  const visit = (folder: string, depth: number): void => {
    for (const name of view.list(folder)) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (found.length >= MOST_FILES) return;
      if (name.endsWith("/")) {
        if (depth < 12 && !/^(?:node_modules|\.git|target|vendor|\.venv)\/$/.test(name))
          visit(path.slice(0, -1), depth + 1);
      } else if (isWanted(path)) found.push(path);
    }
  };
  visit("", 0);
  return found;
}

/** Whether its language is one whose expectations can be altered; the name does not tell Perl from other things. */
const isReadable = (path: string, view: TreeView): boolean =>
  testLanguage(path, "") !== null || (/\.(?:t|pl)$/.test(path) && testLanguage(path, view.read(path) ?? "") !== null);
