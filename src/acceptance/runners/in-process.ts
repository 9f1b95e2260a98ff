// Whether the code under test runs in the process of its test. Where it does, it could write the report itself.
import { posix } from "node:path";
import { type Command, shellCommands } from "../controls/languages/shell-words.js";
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

/** Programs that run tests or code, and so may run the work in the process that reports. */
const RUNS_CODE: ReadonlySet<string> = new Set(
  [
    "node nodejs deno bun bunx tsx ts-node vite-node jiti esno electron npx npm yarn pnpm pnpx corepack",
    "mocha ava tape tap uvu jasmine lab qunit jest vitest karma wtr playwright cypress ng nx turbo lerna gulp grunt jake",
    "python python2 python3 pypy pypy3 pytest py.test tox nox nose2 nosetests trial ward coverage hatch pdm poetry uv uvx rye",
    "pipenv go gotestsum cargo rustc mvn mvnw gradle gradlew ant sbt lein clj clojure java kotlin scala groovy",
    "make gmake ninja meson cmake ctest bazel buck2 just task rake ruby rspec minitest cucumber bundle",
    "perl prove php phpunit pest codecept behat phpspec composer bats lua busted luajit Rscript julia elixir mix iex",
    "dotnet zig swift dart flutter nim nimble crystal racket raco gleam rebar3 erl escript ocaml dune opam runghc stack",
    "cabal guile sbcl clisp octave tclsh wasmtime wasmer valgrind gdb lldb parallel xargs",
  ]
    .join(" ")
    .split(" "),
);

/** Programs that start the one named after them. */
const WRAPPERS =
  /^(?:env|timeout|time|nice|ionice|nohup|setsid|stdbuf|command|builtin|exec|sudo|xvfb-run|catchsegv|unshare)$/;
const INTERPRETERS = /^(?:node|nodejs|python[0-9.]*|deno|bun|tsx|ts-node|ruby|perl|php|java|lua|Rscript|julia)$/;
const SHELLS = /^(?:ba|da|z|k|a)?sh$/;

/** Words without assignments and wrappers in front. */
function unwrapped(words: readonly string[]): readonly string[] {
  let rest = words;
  for (;;) {
    while (/^\w+=/.test(rest[0] ?? "")) rest = rest.slice(1);
    if (!WRAPPERS.test(rest[0]?.split("/").at(-1) ?? "")) return rest;
    const next = rest.findIndex((word, at) => at > 0 && !/^-|^[0-9.]+[smhd]?$|^\w+=/.test(word));
    if (next < 0) return [];
    rest = rest.slice(next);
  }
}

/** A shell shares its process with what it sources; a program it starts to test the work may share one with the work. */
export function shellShares(text: string, view: TreeView, folder: string, depth = 0): boolean {
  if (depth > DEPTH) return true;
  // A test that is compiled is compiled together with the work.
  if ((text.match(/[\w./-]+\.(?:c|cc|cpp|rs|go|java|kt)\b/g) ?? []).some((file) => isTestFile(posix.normalize(file))))
    return true;
  const own = new Set([...text.matchAll(FUNCTION)].map(([, one, other]) => one ?? other!));
  return shellCommands(text).some(({ words }) => {
    const names = unwrapped(words.map((word) => word.text.replace(/^["']|["']$/g, "")));
    return !own.has(names[0] ?? "") && commandShares(names, view, folder, depth);
  });
}

/** What a shell text calls by a name of its own; what stands inside is read like everything else. */
const FUNCTION = /^[ \t]*(?:function[ \t]+([\w-]+)|([\w-]+)[ \t]*\([ \t]*\))/gm;

/** Whether a shell text starts a program that finds its tests itself. */
export const startsRunner = (text: string): boolean =>
  shellCommands(text).some(({ words }) => {
    const [first = ""] = unwrapped(words.map((word) => word.text));
    const program = first.split("/").at(-1)!;
    return RUNS_CODE.has(program) && !INTERPRETERS.test(program);
  });

/** Words by which a caller says that something is to be tested. */
const TESTS =
  /^(?:tests?|t|checks?|verify|spec|unit|e2e|integration|selftest|pytest|(?:test|check|verify)[:.-][\w:.-]+|[\w.-]+[:.-](?:tests?|check|verify))$/;
const CALLERS =
  /^(?:g?make|npm|npx|yarn|pnpm|just|task|rake|gradlew?|mvnw?|ant|composer|hatch|pdm|poetry|uv|lerna|nx|turbo|gulp|grunt|ninja|meson|bazel|bundle)$/;
const BUILDERS = /^(?:go|cargo|deno|bun|dotnet|swift|zig|mix|dune|stack|cabal|flutter|dart)$/;
const RUNNERS =
  /^(?:mocha|ava|tape|tap|uvu|jasmine|jest|vitest|karma|wtr|playwright|cypress|pytest|py\.test|tox|nox|nose2|nosetests|gotestsum|ctest|rspec|cucumber|prove|phpunit|pest|behat|bats|busted)$/;

/** Commands of a shell text that leave it to another program to test the work, and believe its status. */
export function testingCommands(text: string, view: TreeView): Command[] {
  return shellCommands(text).filter(({ words, operator }) => {
    const [first = "", ...rest] = unwrapped(words.map((word) => word.text.replace(/^["']|["']$/g, "")));
    const program = first.split("/").at(-1)!;
    // Behind a pipe another program decides.
    if (operator === "|" || operator === "|&") return false;
    if (RUNNERS.test(program)) return true;
    const named = rest.find((word) => !word.startsWith("-"));
    if (CALLERS.test(program)) return rest.some((word) => TESTS.test(word));
    if (BUILDERS.test(program) && named === "test") return true;
    if (!INTERPRETERS.test(program) || rest.some((word) => /^(?:-e|--eval|-c|-p)$/.test(word))) return false;
    return rest.includes("--test") || /^(?:unittest|pytest)$/.test(named ?? "") || isTests(named ?? "", view);
  });
}

function commandShares(names: readonly string[], view: TreeView, folder: string, depth: number): boolean {
  const [first = "", ...rest] = names;
  const program = first.split("/").at(-1)!;
  const placed = (word: string) => {
    const file = word.replace(/^.*\$[^/]*\//, "");
    return [posix.normalize(file), posix.join(folder, file)].find((path) => view.read(path) !== null);
  };
  const shares = (path: string | undefined) => path === undefined || sharesProcess(path, view, depth + 1);
  if (program === "." || program === "source") {
    const path = placed(rest[0] ?? "");
    return path === undefined || !isTestFile(path) || shares(path);
  }
  if (program === "eval") return true;
  const file = rest.find((name) => !name.startsWith("-"));
  if (SHELLS.test(program)) {
    if (rest.some((word) => /^-\w*c$/.test(word))) return shellShares(file ?? "", view, folder, depth + 1);
    const path = placed(file ?? "");
    return path !== undefined && isTestFile(path) && shares(path);
  }
  // `node src/cli.js 2 3` is the program under test; `node tests/check.mjs`, `node -e`, `make test` test it.
  if (INTERPRETERS.test(program)) {
    if (rest.some((name) => /^(?:-e|--eval|-c|-m|-p|--test|test)$/.test(name))) return true;
    return file !== undefined && isTestFile(posix.normalize(file)) && shares(posix.normalize(file));
  }
  if (RUNS_CODE.has(program)) return true;
  // A test that is started by its name, and a program nobody knows that is handed tests.
  const own = placed(first);
  if (own !== undefined) return isTestFile(own) && shares(own);
  return !READS_ONLY.has(program) && rest.some((word) => isTests(word, view));
}

const isTests = (word: string, view: TreeView): boolean => {
  const path = posix.normalize(word).replace(/\/$/, "");
  return isTestFile(path) ? /\.\w+$/.test(path) : isTestFile(`${path}/x`) && view.list(path).length > 0;
};

/** Programs that read files and run nothing in them. */
const READS_ONLY: ReadonlySet<string> = new Set(
  [
    "[ [[ test cat cmp diff comm grep egrep fgrep rg sed awk gawk mawk head tail sort uniq wc cut tr paste join tee xxd od",
    "find ls stat file cp mv ln rm mkdir rmdir touch chmod install cd pushd popd echo printf read export set unset local",
    "true false exit return trap shift wait kill sleep date basename dirname realpath readlink mktemp tar gzip gunzip unzip",
    "zip sha256sum md5sum sha1sum cksum base64 jq yq sqlite3 psql curl wget git gcc cc clang g++ c++ ld nm objdump javac",
    "tsc eslint biome prettier stylelint ruff mypy pyright pylint flake8 black isort shellcheck yamllint markdownlint",
    "xmllint tidy golint golangci-lint rustfmt clippy hadolint actionlint terraform kubectl helm",
  ]
    .join(" ")
    .split(" "),
);
