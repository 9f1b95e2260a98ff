// Whether the code under test runs in the process of its test. Where it does, it could write the report itself.
import { posix } from "node:path";
import { shellCommands } from "../controls/languages/shell-words.js";
import { maskText } from "../controls/text/mask.js";
import { isTestFile } from "../plan/steering.js";
import type { TreeView } from "./runner.js";

const DEPTH = 4;
const SHELL = /\.(?:sh|bash|bats|zsh)$/;

export function sharesProcess(path: string, view: TreeView, depth = 0): boolean {
  const text = view.read(path);
  if (text === null || depth > DEPTH) return true;
  if (/\.[cm]?[jt]sx?$/.test(path)) return javascript(path, text, view, depth);
  if (/\.py$/.test(path)) return python(path, text, view, depth);
  if (!SHELL.test(path) && !/^#!.*\b(?:ba|da|z|k)?sh\b|^(?!#!)/.test(text.slice(0, 200))) return true;
  if (/\.\w+$/.test(path) && !SHELL.test(path)) return true;
  return shellShares(text, view, posix.dirname(path), depth);
}

function javascript(path: string, text: string, view: TreeView, depth: number): boolean {
  const own = packageName(view);
  const mask = maskText(text, "javascript");
  for (const { index, 0: head } of mask.matchAll(/\b(?:from|import|require)\b\s*(\(?)\s*(?=\S)/g)) {
    const at = index + head.length;
    const quote = mask[at]!;
    if (quote !== '"' && quote !== "'") {
      if (head.includes("(") && !head.startsWith("from")) return true;
      continue;
    }
    const module = text.slice(at + 1, mask.indexOf(quote, at + 1));
    if (
      module === own ||
      module.startsWith(`${own}/`) ||
      module.startsWith("#") ||
      module.startsWith("/") ||
      module.startsWith("file:")
    )
      return true;
    if (!module.startsWith(".")) continue;
    const target = posix.join(posix.dirname(path), module);
    if (!isTestFile(target)) return true;
    if (view.read(target) !== null && sharesProcess(target, view, depth + 1)) return true;
  }
  return /\b(?:eval|runInThisContext|runInNewContext)\s*\(/.test(mask);
}

function packageName(view: TreeView): string {
  try {
    const { name } = JSON.parse(view.read("package.json") ?? "{}") as { name?: unknown };
    return typeof name === "string" && name !== "" ? name : "\0";
  } catch {
    return "\0";
  }
}

function python(path: string, text: string, view: TreeView, depth: number): boolean {
  const mask = maskText(text, "python");
  if (/\b(?:importlib|runpy|exec|eval|__import__)\b/.test(mask)) return true;
  const folders = ["", "src", "files", "files/src", "lib", posix.dirname(path)];
  for (const [, from, names] of mask.matchAll(/^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w., \t]+))/gm)) {
    for (const module of (from ?? names ?? "").split(",")) {
      const top = module.trim().split(/[.\s]/)[0]!;
      if (top === "" && from !== undefined) return true;
      for (const folder of folders) {
        const file = posix.join(folder, `${top}.py`);
        if (
          view.exists(posix.join(folder, top, "__init__.py")) ||
          (view.list(posix.join(folder, top)).length > 0 && top !== "tests")
        )
          return true;
        if (view.read(file) !== null && (!isTestFile(file) || sharesProcess(file, view, depth + 1))) return true;
      }
    }
  }
  return false;
}

const IN_PROCESS =
  /^(?:node|python3?|pytest|npx|npm|yarn|pnpm|go|cargo|mvn|gradle|make|ctest|deno|bun|tsx|ruby|perl|php|java|bats)$/;

/** A shell shares its process with what it sources; a program it starts to test the work may share one with the work. */
export function shellShares(text: string, view: TreeView, folder: string, depth = 0): boolean {
  // A test that is compiled is compiled together with the work.
  if ((text.match(/[\w./-]+\.(?:c|cc|cpp|rs|go|java|kt)\b/g) ?? []).some((file) => isTestFile(posix.normalize(file))))
    return true;
  return shellCommands(text).some(({ words }) => {
    const names = words.map((word) => word.text.replace(/^["']|["']$/g, ""));
    const program = names[0]?.split("/").at(-1) ?? "";
    if (program === "." || program === "source") {
      const file = (names[1] ?? "").replace(/^.*\$[^/]*\//, "");
      const path = [posix.normalize(file), posix.join(folder, file)].find((each) => view.read(each) !== null);
      return path === undefined || !isTestFile(path) || sharesProcess(path, view, depth + 1);
    }
    if (program === "eval") return true;
    if (!IN_PROCESS.test(program)) return false;
    // `node src/cli.js 2 3` is the program under test; `node tests/check.mjs`, `node -e`, `make test` test it.
    const file = names.slice(1).find((name) => !name.startsWith("-"));
    if (!/^(?:node|python3?|deno|bun|tsx|ruby|perl|php|java)$/.test(program)) return true;
    if (names.some((name) => /^(?:-e|--eval|-c|-m|-p|--test)$/.test(name))) return true;
    return (
      file !== undefined && isTestFile(posix.normalize(file)) && sharesProcess(posix.normalize(file), view, depth + 1)
    );
  });
}
