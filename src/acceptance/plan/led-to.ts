// Files that the base's own settings lead a runner to: `"test": "node scripts/verify.js"` in package.json, a recipe of make,
// `spec: "checks/**/*.js"` of mocha. They are tests, whatever they are called. Pure.
import { posix } from "node:path";
import { pathAllowed } from "./paths.js";

export interface Setting {
  readonly path: string;
  readonly words: string;
}

const MAKE = /^(?:GNUm|BSDm|M|m)akefile$|\.mk$/;
const RUNNER =
  /^(?:\.mocharc|\.taprc|\.jasmine|jasmine\.|ava\.config|jest\.config|vitest\.config|playwright\.config|karma\.conf|web-test-runner\.config)/;

const PYTEST = /^\.?pytest\.(?:ini|toml)$|^(?:tox\.ini|setup\.cfg|pyproject\.toml)$/;

/** Documents whose examples pytest tries, by their names. */
const examplesIn = (text: string): string[] =>
  [...text.slice(0, 100_000).matchAll(/--doctest-glob[=\s"',]+([\w.*?-]+)/g)].flatMap(([, name]) => [
    name!,
    `**/${name}`,
  ]);

/** Whether a settings file is one that says which files are run. */
export const leadsSomewhere = (path: string): boolean => {
  const name = posix.basename(path);
  return name === "package.json" || MAKE.test(name) || RUNNER.test(name) || PYTEST.test(name);
};

export interface LedTo {
  readonly isLedTo: (path: string) => boolean;
  /** Files that are named one by one. */
  readonly ledTo: readonly string[];
  /** Whether a file is a part of those settings: what make includes. */
  readonly isIncluded: (path: string) => boolean;
}

export function filesLedTo(settings: readonly Setting[], commands: readonly string[]): LedTo {
  const files = new Set<string>();
  const patterns = new Set<string>(commands.flatMap(examplesIn));
  const included = new Set<string>();
  for (const { path, words } of settings) {
    const name = posix.basename(path);
    const folder = posix.dirname(path);
    const lines = name === "package.json" ? scriptsOf(words) : MAKE.test(name) ? recipesOf(words) : [];
    if (PYTEST.test(name)) for (const glob of examplesIn(words)) patterns.add(glob);
    if (MAKE.test(name)) for (const file of includesOf(words)) included.add(posix.join(folder, file));
    for (const file of lines.flatMap(filesRun)) files.add(posix.join(folder, file));
    const globs = [...lines.flatMap((line) => line.split(/\s+/)), ...(RUNNER.test(name) ? quotedIn(words) : [])];
    for (const glob of globs)
      if (isPattern(glob)) for (const each of withoutBraces(glob)) patterns.add(posix.join(folder, each));
  }
  const isLedTo = (path: string) => files.has(path) || pathAllowed(path, [...patterns]);
  return { isLedTo, ledTo: [...files], isIncluded: (path) => included.has(path) };
}

function scriptsOf(text: string): string[] {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: unknown };
    return typeof scripts === "object" && scripts !== null
      ? Object.values(scripts).filter((line) => typeof line === "string")
      : [];
  } catch {
    return [];
  }
}

/** Files a makefile includes, whether they are there or not. */
const includesOf = (text: string): string[] =>
  [...text.matchAll(/^[ ]*[-s]?include[ \t]+([^#\n]+)$/gm)].flatMap(([, names]) =>
    names!.split(/\s+/).filter((file) => file !== "" && !/[$*?]/.test(file)),
  );

const recipesOf = (text: string): string[] =>
  text.match(/^\t.*$/gm)?.map((line) => line.replace(/^\t[@+-]*/, "")) ?? [];

const RUN =
  /(?:^|&&|\|\||;)\s*(?:(?:sh|bash|node|nodejs|python3?|tsx|ts-node|deno run|bun(?: run)?|ruby|perl|php)\s+)?((?:\.{0,2}\/)?[\w@-][\w./@-]*)\s*(?=$|&&|\|\||;|>)/g;

/** What a line runs without arguments: with arguments it is asked something, and is more likely the work. */
const filesRun = (line: string): string[] =>
  [...line.slice(0, 4000).matchAll(RUN)].map(([, file]) => file!).filter((file) => /[./]/.test(file));

const quotedIn = (text: string): string[] =>
  [...text.slice(0, 100_000).matchAll(/["'`]([^"'`\n]{2,200})["'`]/g)].map(([, word]) => word!);

const isPattern = (word: string): boolean => /[*]/.test(word) && !word.startsWith("!") && !word.startsWith("-");

/** `*.{js,ts}` as `*.js` and `*.ts`. */
function withoutBraces(pattern: string): string[] {
  const plain = pattern.replace(/^["']|["']$/g, "").replace(/^<rootDir>\//, "");
  const [whole, inner] = /\{([^{}]*)\}/.exec(plain) ?? [];
  if (whole === undefined) return [plain];
  return inner!.split(",").map((each) => plain.replace(whole, each));
}
