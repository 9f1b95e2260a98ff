// Which runner is behind a check: told by its type, by what its script imports, or by a command that is plain enough.
import { posix } from "node:path";
import { shellCommands } from "../controls/languages/shell-words.js";
import type { Check } from "../model.js";
import type { TreeView } from "./runner.js";

export type RunnerKind = "node-test" | "vitest" | "jest" | "pytest" | "go-test" | "cargo-test" | "junit" | "playwright";

export interface Recognised {
  readonly runner: RunnerKind;
  /** The file or folder the check names; null: the runner finds its tests, or `args` says which. */
  readonly target: string | null;
  /** Where it is started, from the tree's root; "" is the root. */
  readonly cwd: string;
  /** What the author's own command says after the runner's name. */
  readonly args: readonly string[];
  /** `python3 -m pytest`: modules are found from the folder it is started in, which `pytest` alone does not do. */
  readonly fromHere?: true;
}

const KINDS: ReadonlySet<string> = new Set<RunnerKind>([
  "node-test",
  "vitest",
  "jest",
  "pytest",
  "go-test",
  "cargo-test",
  "junit",
  "playwright",
]);

/** null: a plain script or command. */
export function recognise(check: Check, view: TreeView): Recognised | null {
  const { script, command, kind } = check;
  const imported = script === undefined ? null : importedRunner(script, view);
  if (kind !== null && KINDS.has(kind)) {
    // A name like add.test.mjs says jest; what the file imports says more.
    const runner = kind === "jest" ? (imported ?? jestOrVitest(view)) : (kind as RunnerKind);
    if (script === undefined && command !== undefined) {
      const told = fromCommand(command, view, "", 0);
      if (told?.runner === runner) return told;
    }
    return { runner, target: script ?? null, cwd: "", args: [] };
  }
  if (kind !== null && kind !== "shell" && kind !== "custom") return null;
  if (script !== undefined) return imported === null ? null : { runner: imported, target: script, cwd: "", args: [] };
  return command === undefined ? null : fromCommand(command, view, "", 0);
}

/** Tests that use globals import nothing; then what is installed tells. */
function jestOrVitest(view: TreeView): "jest" | "vitest" {
  const has = (name: string) => ["", "files/"].some((folder) => view.exists(`${folder}node_modules/.bin/${name}`));
  return has("vitest") && !has("jest") ? "vitest" : "jest";
}

/** The runner a test file is written for, when running the file by itself would run its tests or nothing at all. */
export function importedRunner(script: string, view: TreeView): RunnerKind | null {
  if (/\.[cm]?[jt]sx?$/.test(script)) {
    const text = view.read(script) ?? "";
    if (/(?:from|require\s*\(|import)\s*["']node:test["']/.test(text)) return "node-test";
    if (/(?:from|require\s*\()\s*["']vitest["']/.test(text)) return "vitest";
    if (/(?:from|require\s*\()\s*["']@playwright\/test["']/.test(text)) return "playwright";
    if (/(?:from|require\s*\()\s*["']@jest\/globals["']/.test(text)) return "jest";
    return null;
  }
  if (!/(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(script)) return null;
  const text = view.read(script) ?? "";
  // A file of bare test functions does nothing when it is run as a script.
  return /^(?:async\s+)?def\s+test|^class\s+Test/m.test(text) && !/__main__|\bunittest\.main\b/.test(text)
    ? "pytest"
    : null;
}

const RUN_DEPTH = 4;

function fromCommand(command: string, view: TreeView, cwd: string, depth: number): Recognised | null {
  if (depth > RUN_DEPTH || /[`$<>~]/.test(command)) return null;
  const commands = shellCommands(command);
  const last = commands.at(-1);
  if (last === undefined || commands.length > 2 || last.negated) return null;
  let folder = cwd;
  if (commands.length === 2) {
    const [first] = commands;
    if (first!.operator !== "&&" || first!.words[0]?.text !== "cd" || first!.words.length !== 2) return null;
    folder = joined(cwd, unquoted(first!.words[1]!.text));
  }
  if (last.operator !== "\n" || folder.startsWith("..") || folder.startsWith("/")) return null;
  const words = last.words.flatMap(({ text }) => expanded(text, view, folder));
  return fromWords(words, view, folder, depth);
}

/** A part of a word, or all of it. */
const QUOTED = /(["'])(.*?)\1/gs;

/** A word as the shell would hand it on: quotes gone, a pattern outside of quotes as the files it matches. */
function expanded(word: string, view: TreeView, cwd: string): readonly string[] {
  if (!/[*?[]/.test(word.replace(QUOTED, ""))) return [word.replace(QUOTED, "$2")];
  let found: string[] = [""];
  for (const part of word.split("/")) {
    const pattern = new RegExp(
      `^${part
        .replace(/[.+^${}()|\\]/g, "\\$&")
        .replace(/\*+/g, "[^/]*")
        .replace(/\?/g, "[^/]")}$`,
    );
    found = found.flatMap((folder) =>
      /[*?[]/.test(part)
        ? view
            .list(joined(cwd, folder))
            .map((name) => name.replace(/\/$/, ""))
            .filter((name) => !name.startsWith(".") && pattern.test(name))
            .map((name) => (folder === "" ? name : `${folder}/${name}`))
        : [folder === "" ? part : `${folder}/${part}`],
    );
  }
  const files = found.filter((path) => view.exists(joined(cwd, path))).sort();
  return files.length === 0 ? [word] : files;
}

function fromWords(words: readonly string[], view: TreeView, cwd: string, depth: number): Recognised | null {
  const [program, ...rest] = words;
  const found = (runner: RunnerKind, args: readonly string[]): Recognised => ({ runner, target: null, cwd, args });
  switch (program) {
    case "npx":
    case "pnpx": {
      const args = rest.slice(rest.findIndex((word) => !/^(?:--no-install|--yes|-y|--no)$/.test(word)));
      return /^(?:vitest|jest|playwright)$/.test(args[0] ?? "") ? fromWords(args, view, cwd, depth) : null;
    }
    case "npm":
    case "yarn":
    case "pnpm":
      return fromPackageScript(rest, view, cwd, depth);
    case "vitest":
      if (rest.some((word) => /^--(?:reporter|outputFile|ui|watch)/.test(word) || word === "watch")) return null;
      return found("vitest", rest[0] === "run" ? rest.slice(1) : rest);
    case "jest":
      return rest.some((word) => /^--(?:json|outputFile|watch)/.test(word)) ? null : found("jest", rest);
    case "playwright":
      return rest[0] === "test" ? found("playwright", rest.slice(1)) : null;
    case "node":
      return fromNode(rest, view, cwd);
    case "pytest":
    case "py.test":
      return found("pytest", rest);
    case "python":
    case "python3":
      return rest[0] === "-m" && rest[1] === "pytest" ? { ...found("pytest", rest.slice(2)), fromHere: true } : null;
    case "go":
      return rest[0] === "test" && !rest.includes("-json") ? found("go-test", rest.slice(1)) : null;
    case "cargo":
      return rest[0] === "test" ? found("cargo-test", rest.slice(1)) : null;
    case "mvn":
    case "gradle":
      return rest.length > 0 && rest.every((word) => /^(?:test|-q|-o|--offline|-B|--quiet)$/.test(word))
        ? found("junit", [])
        : null;
    default:
      return null;
  }
}

function fromNode(rest: readonly string[], view: TreeView, cwd: string): Recognised | null {
  const files = rest.filter((word) => !word.startsWith("-"));
  const options = rest.filter((word) => word.startsWith("-") && word !== "--test");
  if (
    options.some(
      (word) =>
        !/^--test-(?:concurrency|timeout|name-pattern)=|^--(?:import|require|loader)=|^--enable-source-maps$|^--no-warnings$/.test(
          word,
        ),
    )
  )
    return null;
  if (rest.includes("--test")) return { runner: "node-test", target: null, cwd, args: [...options, ...files] };
  const [file] = files;
  if (files.length !== 1 || options.length > 0 || importedRunner(joined(cwd, file!), view) !== "node-test") return null;
  return { runner: "node-test", target: null, cwd, args: [file!] };
}

function fromPackageScript(rest: readonly string[], view: TreeView, cwd: string, depth: number): Recognised | null {
  const quiet = rest.filter((word) => !/^(?:-s|--silent|--quiet)$/.test(word));
  const words = quiet[0] === "run" || quiet[0] === "run-script" ? quiet.slice(1) : quiet;
  const name = words[0] === "t" ? "test" : words[0];
  if (name === undefined || words.length !== 1 || (quiet[0] !== "run" && name !== "test")) return null;
  const scripts = packageScripts(view.read(joined(cwd, "package.json")));
  const script = scripts[name];
  if (script === undefined || scripts[`pre${name}`] !== undefined || scripts[`post${name}`] !== undefined) return null;
  return fromCommand(script, view, cwd, depth + 1);
}

function packageScripts(text: string | null): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    const scripts = typeof value === "object" && value !== null && "scripts" in value ? value.scripts : null;
    if (typeof scripts !== "object" || scripts === null) return {};
    return Object.fromEntries(
      Object.entries(scripts).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
    );
  } catch {
    return {};
  }
}

const unquoted = (word: string): string => (/^(["']).*\1$/s.test(word) ? word.slice(1, -1) : word);

export function joined(folder: string, path: string): string {
  const full = posix.join(folder === "" ? "." : folder, path);
  return full === "." ? "" : full.replace(/\/$/, "");
}
