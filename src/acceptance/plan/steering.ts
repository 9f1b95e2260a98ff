// Files that decide what a check means without being one: settings of runners and package managers, build files, what a
// shell or an interpreter reads before it starts. One table; a result that changes them is delivered, but in the room they
// are the base's. Files that are tests by their place or name are known here too.

/** Names that steer in whichever folder they stand. */
const NAMES: ReadonlySet<string> = new Set(
  [
    // JavaScript
    "package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb .npmrc .yarnrc",
    ".yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml lerna.json nx.json turbo.json .babelrc .swcrc .nycrc",
    ".c8rc.json tsconfig.json jsconfig.json deno.json deno.jsonc import_map.json .node-version .nvmrc .pnp.cjs .pnp.js",
    ".pnp.loader.mjs pnpmfile.cjs .pnpmfile.mjs yarn.config.cjs node.config.json mocha.opts jasmine.json .labrc.js",
    ".testcaferc.json rush.json moon.yml gulpfile.js Gruntfile.js Jakefile setupTests.js",
    "setupTests.ts setupTests.jsx setupTests.tsx project.json workspace.json angular.json cypress.json cypress.env.json",
    "jasmine.mjs wallaby.js testem.js nodemon.json",
    // Python
    "conftest.py pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini tox.toml setup.cfg setup.py pyproject.toml",
    "noxfile.py sitecustomize.py usercustomize.py .coveragerc Pipfile Pipfile.lock uv.lock uv.toml poetry.lock pdm.lock requirements.txt",
    "hatch.toml pixi.toml buildout.cfg nose.cfg .noserc .pdbrc pip.conf distutils.cfg",
    // Make and other builders
    "Makefile makefile GNUmakefile BSDmakefile CMakeLists.txt CMakePresets.json meson.build meson_options.txt justfile",
    "Justfile Taskfile.yml Taskfile.yaml Rakefile Gemfile Gemfile.lock SConstruct BUILD BUILD.bazel WORKSPACE",
    "MODULE.bazel .bazelrc build.ninja configure configure.ac CMakeCache.txt CMakeUserPresets.json CTestTestfile.cmake",
    "DartConfiguration.tcl Makefile.PL Build.PL cpanfile .proverc .rspec .rspec-local .simplecov .irbrc dub.json",
    "Makefile.inc Makefile.am Makefile.in SConscript wscript meson.options CTestCustom.ctest WORKSPACE.bazel .bazelversion",
    ".bazelignore .pryrc .minitest.rb .busted .luacov .shellspec config.nims nim.cfg dune dune-project dune-workspace",
    // Rust, Go, JVM, .NET, PHP
    "Cargo.toml Cargo.lock rust-toolchain rust-toolchain.toml clippy.toml go.mod go.sum go.work go.work.sum pom.xml",
    "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradlew mvnw build.xml",
    "build.sbt Directory.Build.props Directory.Build.targets nuget.config global.json composer.json composer.lock",
    "phpunit.xml phpunit.xml.dist phpunit.dist.xml Pest.php php.ini .php.ini .user.ini nextest.toml mix.exs mix.lock",
    "junit-platform.properties testng.xml xunit.runner.json NuGet.Config Directory.Packages.props Directory.Build.rsp",
    "Directory.Solution.props MSBuild.rsp .phpunit.result.cache lombok.config .jvmopts .sbtopts build.sc build.mill",
    "gradlew.bat mvnw.cmd gradle-wrapper.properties gradle-daemon-jvm.properties libs.versions.toml .java-version .sdkmanrc",
    "testng.yaml cucumber.properties allure.properties archunit.properties kotest.properties SpockConfig.groovy",
    "dart_test.yaml rebar.config stack.yaml cabal.project deps.edn project.clj Package.swift pubspec.yaml build.zig.zon",
    // Linters and type checkers: a check may be nothing else
    ".eslintrc .eslintignore biome.json biome.jsonc .prettierrc .prettierignore .stylelintrc .stylelintignore tslint.json",
    ".jshintrc .jscsrc ruff.toml .ruff.toml mypy.ini .mypy.ini .flake8 .pylintrc pylintrc .pydocstyle .isort.cfg",
    ".bandit pyrightconfig.json pytype.cfg rustfmt.toml .rustfmt.toml .clippy.toml deny.toml .golangci.yml .golangci.yaml",
    ".golangci.toml .clang-format .clang-tidy .shellcheckrc .yamllint .yamllint.yml .yamllint.yaml .markdownlint.json",
    ".markdownlint.jsonc .markdownlint.yaml .markdownlintrc .markdownlintignore .rubocop.yml phpstan.neon",
    "phpstan.neon.dist phpstan-baseline.neon psalm.xml .php-cs-fixer.php checkstyle.xml detekt.yml .editorconfig",
    ".codespellrc .hadolint.yaml .vale.ini lychee.toml knip.json .jscpd.json .gitleaks.toml cspell.json",
    ".oxlintrc.json oxlint.json dprint.json rome.json ty.toml pyrefly.toml basedpyright.json pylintrc.toml .luacheckrc",
    ".rubocop_todo.yml .swiftlint.yml analysis_options.yaml .formatter.exs .sqlfluff",
    ".semgrepignore .dependency-cruiser.js .dependency-cruiser.cjs .perlcriticrc .ameba.yml .credo.exs .scalafmt.conf",
    // Shells, environments, version control
    ".bash_login .zprofile .login .kshrc .shrc",
    ".env .envrc .bashrc .bash_profile .profile .zshenv .zshrc .inputrc .tool-versions mise.toml .mise.toml",
    // `HEAD` makes a folder a repository of its own; what git leaves out, linters and searches leave out, too.
    "HEAD .gitignore .mailmap .lfsconfig .git-blame-ignore-revs .hgignore .ignore .rgignore .fdignore .agignore .ripgreprc",
    ".python-version .ruby-version .gitmodules .gitconfig .gitattributes .curlrc .wgetrc .sqliterc .psqlrc .gdbinit",
  ]
    .join(" ")
    .split(" "),
);

/** Names with a part that varies. */
const NAME_PATTERNS: readonly RegExp[] = [
  /^(?:vitest|vite|jest|babel|rollup|rolldown|rspack|webpack|esbuild|tsup|ava|karma|playwright|playwright-ct|cypress|wdio|nyc|cucumber|nightwatch|protractor|codecept|web-test-runner|stryker|metro|postcss|eslint|prettier|stylelint|commitlint|lint-staged|jasmine|tap|gulpfile|Gruntfile)(?:[.-][\w-]+)?[.-](?:config|workspace|projects|setup|conf|preset)\b[^/]*$/,
  /^(?:setup-?(?:tests?|jest|vitest|mocha)|(?:tests?|jest|vitest|mocha)[.-]?setup|(?:global|auth)[-.]?(?:setup|teardown))\.[cm]?[jt]sx?$/i,
  /^\.(?:mocharc|babelrc|swcrc|nycrc|taprc|jestrc|c8rc|eslintrc|prettierrc|stylelintrc|lintstagedrc|commitlintrc|markdownlint-cli2|remarkrc|labrc|borp)(?:\.[^/]+)?$/,
  /^(?:ts|js)config\.[^/]*json$/,
  /^\.env\.[^/]+$/,
  /\.(?:mk|mak|make|rake|bzl|runsettings|gradle|gradle\.kts|sbt|pth|cmake|egg-link|csproj|fsproj|vbproj|sln|cabal|gemspec|opam)$/,
  /^requirements[^/]*\.txt$/,
];

/** Folders whose whole content steers. */
const FOLDERS: ReadonlySet<string> = new Set([
  ".cargo",
  ".bundle",
  "buildSrc",
  "rakelib",
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

/** Folders that a package manager fills. */
const INSTALLED = /^((?:.*?\/)?(?:node_modules|\.venv|venv|site-packages|vendor|\.yarn))\//;

/** The outermost folder of installed packages that a path lies in. */
export const installedFolder = (path: string): string | null => INSTALLED.exec(path)?.[1] ?? null;

/** Metadata of an installed package names plug-ins that runners load by themselves. */
const PACKAGE_METADATA = /\.(?:dist-info|egg-info)$/;

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
  ...["testdata", "test-data", "test_data", "testcases", "test-cases", "test_cases", "fixtures", "__fixtures__"],
  ...["golden", "goldens", "testutil", "testutils", "test-utils", "test_utils", "test-helpers", "test_helpers"],
]);

/** Files that are tests by their name. */
const TEST_NAMES =
  /(?:^test_[^/]*\.py|_test\.(?:py|go|rb|exs|cc|cpp|c|rs|dart)|^tests?\.rs|_tests\.rs|\.(?:test|spec|e2e|cy)\.[cm]?[jt]sx?|(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|cs|php|swift)|^test-[^/]*\.[cm]?js|_spec\.rb|_test\.[cm]?[jt]sx?|\.snap|\.bats|\.t|\.feature|\.golden|\.approved(?:\.\w+)?)$/;

/** Test libraries of Python: a module of that name is found before the one that was meant. */
const TEST_LIBRARIES: ReadonlySet<string> = new Set(
  [
    "pytest _pytest pluggy iniconfig unittest nose doctest hypothesis assertpy mock py tox coverage parameterized ddt nose2",
    "behave freezegun responses requests_mock pytest_asyncio pytest_mock testtools subunit asynctest time_machine respx",
  ]
    .join(" ")
    .split(" "),
);

/** The same of Perl, Ruby and Java, and what Java's runners load by themselves, by the end of the path. */
const LIBRARY_PATHS =
  /(?:^|\/)(?:META-INF\/services\/(?:org\.junit|org\.testng|org\.spockframework|org\.mockito|io\.kotest|io\.cucumber|org\.apache\.maven|javax\.annotation\.processing)[^/]*|mockito-extensions\/[^/]+|(?:org\/(?:junit|hamcrest|assertj|opentest4j|testng|mockito|spockframework)|junit\/framework)\/.*\.(?:java|kt|groovy|scala)|cypress\/(?:support|plugins)\/.+|Test\/(?:More|Simple|Builder|Harness|Most|Deep|Exception|Fatal|Differences|Tester)\.pm|Test2\/.*\.pm|Test\/.*Builder.*\.pm|TAP\/.*\.pm|minitest(?:\/.*)?\.rb|rspec(?:\/.*)?\.rb|test\/unit(?:\/.*)?\.rb)$/;

/** Packages of Java's test libraries: a class of the same name comes before the one that was meant, in whichever file it stands. */
const LIBRARY_PACKAGE =
  /^\s*package\s+(?:org\.(?:junit|hamcrest|assertj|opentest4j|testng|mockito|spockframework)|junit\.framework)\b/m;

/** Whether a file of Java says that it belongs to a test library. */
export const isLibraryClass = (path: string, text: string): boolean =>
  /\.(?:java|kt|groovy|scala)$/.test(path) && LIBRARY_PACKAGE.test(text.slice(0, 100_000));

/** Python's own modules, which its runners import. */
const STANDARD_MODULES: ReadonlySet<string> = new Set(
  (
    "abc argparse ast asyncio base64 bisect builtins codecs collections concurrent configparser contextlib contextvars copy " +
    "copyreg csv ctypes dataclasses datetime decimal difflib dis email encodings enum getopt getpass gettext gzip keyword " +
    "linecache marshal mimetypes ntpath opcode optparse posixpath reprlib sched smtplib socketserver sre_compile sre_parse " +
    "tarfile trace tracemalloc zipimport " +
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
  if (parts.slice(0, -1).some((part) => FOLDERS.has(part) || PACKAGE_METADATA.test(part))) return true;
  // `grep word *` takes such a name for an option.
  if (parts.some((part) => part.startsWith("-"))) return true;
  if (NAMES.has(name) || NAME_PATTERNS.some((pattern) => pattern.test(name))) return true;
  return LIBRARY_PATHS.test(path) || moduleOf(parts).some((module) => TEST_LIBRARIES.has(module));
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
