// Files that decide what a check means without being one: settings of runners and package managers, build files, what a
// shell or an interpreter reads before it starts. One table; a result that changes them is delivered, but in the room they
// are the base's. Files that are tests by their place or name are known here too.

/** Names that steer in whichever folder they stand. */
const NAMES: ReadonlySet<string> = new Set(
  [
    // JavaScript
    "package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb .npmrc .yarnrc",
    ".yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml lerna.json nx.json turbo.json .babelrc .swcrc .nycrc",
    ".c8rc.json tsconfig.json jsconfig.json deno.json deno.jsonc import_map.json .node-version .nvmrc",
    // Python
    "conftest.py pytest.ini .pytest.ini tox.ini setup.cfg setup.py pyproject.toml noxfile.py sitecustomize.py",
    "usercustomize.py .coveragerc Pipfile Pipfile.lock uv.lock uv.toml poetry.lock pdm.lock requirements.txt",
    // Make and other builders
    "Makefile makefile GNUmakefile BSDmakefile CMakeLists.txt CMakePresets.json meson.build meson_options.txt justfile",
    "Justfile Taskfile.yml Taskfile.yaml Rakefile Gemfile Gemfile.lock SConstruct BUILD BUILD.bazel WORKSPACE",
    "MODULE.bazel .bazelrc build.ninja configure configure.ac",
    // Rust, Go, JVM, .NET, PHP
    "Cargo.toml Cargo.lock rust-toolchain rust-toolchain.toml clippy.toml go.mod go.sum go.work go.work.sum pom.xml",
    "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradlew mvnw build.xml",
    "build.sbt Directory.Build.props Directory.Build.targets nuget.config global.json composer.json composer.lock",
    "phpunit.xml phpunit.xml.dist",
    // Shells, environments, version control
    ".env .envrc .bashrc .bash_profile .profile .zshenv .zshrc .inputrc .tool-versions mise.toml .mise.toml",
    ".python-version .ruby-version .gitmodules .gitconfig",
  ]
    .join(" ")
    .split(" "),
);

/** Names with a part that varies. */
const NAME_PATTERNS: readonly RegExp[] = [
  /^(?:vitest|vite|jest|babel|rollup|webpack|esbuild|tsup|ava|karma|playwright|cypress|wdio|nyc|cucumber)\.(?:config|workspace|setup|conf)\b[^/]*$/,
  /^\.(?:mocharc|babelrc|swcrc|nycrc|taprc|jestrc|c8rc)(?:\.[^/]+)?$/,
  /^(?:ts|js)config\.[^/]*json$/,
  /^\.env\.[^/]+$/,
  /\.(?:mk|pth|cmake)$/,
  /^requirements[^/]*\.txt$/,
];

/** Folders whose whole content steers. */
const FOLDERS: ReadonlySet<string> = new Set([
  ".cargo",
  ".config",
  ".mvn",
  ".git",
  ".husky",
  "node_modules",
  ".yarn",
  ".venv",
  "venv",
  "site-packages",
  "vendor",
]);

/** Folders that hold tests, by the habits of their languages. */
const TEST_FOLDERS: ReadonlySet<string> = new Set([
  "test",
  "tests",
  "__tests__",
  "__mocks__",
  "__snapshots__",
  "spec",
  "specs",
  "e2e",
  "testdata",
  "test-data",
  "test_data",
]);

/** Files that are tests by their name. */
const TEST_NAMES =
  /(?:^test_[^/]*\.py|_test\.(?:py|go|rb|exs|cc|cpp|c|rs|dart)|\.(?:test|spec|e2e|cy)\.[cm]?[jt]sx?|(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|cs|php|swift)|^test-[^/]*\.[cm]?js|_spec\.rb|\.snap|\.bats|\.t|\.feature)$/;

/** Test libraries of Python: a module of that name is found before the one that was meant. */
const TEST_LIBRARIES: ReadonlySet<string> = new Set(
  "pytest _pytest pluggy iniconfig unittest nose doctest hypothesis assertpy mock py tox coverage".split(" "),
);

/** Python's own modules, which its runners import. */
const STANDARD_MODULES: ReadonlySet<string> = new Set(
  (
    "abc argparse ast asyncio base64 builtins codecs collections contextlib copy csv dataclasses datetime decimal enum " +
    "errno filecmp fnmatch fractions functools gc glob hashlib heapq hmac html http importlib inspect io itertools json " +
    "locale logging math multiprocessing numbers operator os pathlib pdb pickle pkgutil platform pprint queue random re " +
    "runpy secrets select selectors shlex shutil signal site socket sqlite3 ssl stat statistics string struct subprocess " +
    "sys sysconfig tempfile textwrap threading time timeit token tokenize traceback types typing urllib uuid warnings " +
    "weakref xml zipfile zlib"
  ).split(" "),
);

/** Whether a file steers checks, by its place and name alone. */
export function isSteering(path: string): boolean {
  const parts = path.split("/");
  const name = parts.at(-1)!;
  if (parts.slice(0, -1).some((part) => FOLDERS.has(part))) return true;
  if (NAMES.has(name) || NAME_PATTERNS.some((pattern) => pattern.test(name))) return true;
  return moduleOf(parts).some((module) => TEST_LIBRARIES.has(module));
}

/** Whether a file is a test, a fixture or a snapshot by its place and name alone. */
export function isTestFile(path: string): boolean {
  const parts = path.split("/");
  return parts.slice(0, -1).some((part) => TEST_FOLDERS.has(part)) || TEST_NAMES.test(parts.at(-1)!);
}

/** `json.py`, `json/__init__.py`: outside a package it is found before the module that was meant. */
export const isStandardModule = (path: string): boolean =>
  moduleOf(path.split("/")).some((module) => STANDARD_MODULES.has(module));

/** The names under which Python would import a file. */
function moduleOf(parts: readonly string[]): string[] {
  const name = parts.at(-1)!;
  if (!/\.(?:py|so|pyd)$/.test(name)) return [];
  const module = name.replace(/\..*$/, "");
  return module === "__init__" ? [parts.at(-2) ?? ""] : [module];
}

/** Bytes that a compiler made: a build would take them for fresh, and nobody can read what they do. */
export function isBuilt(path: string, head: Uint8Array): boolean {
  if (/\.(?:o|a|so|dylib|dll|exe|class|jar|war|pyc|pyo|pyd|wasm|node|rlib|rmeta|beam|elc)$/i.test(path)) return true;
  const magic = Buffer.from(head.subarray(0, 4)).toString("hex");
  return ["7f454c46", "cafebabe", "feedface", "feedfacf", "cefaedfe", "cffaedfe", "0061736d"].includes(magic);
}
