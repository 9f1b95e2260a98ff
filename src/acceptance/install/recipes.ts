// How each kind of dependency is installed: which files of the tree it is made of, which programs it takes, what is run. It
// sees those files and nothing else of the tree, so whatever could make a difference is known, and named by one digest.
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { NutError } from "../../errors.js";
import type { InstallKind } from "../../schema/install.js";
import type { InstallStep } from "../plan/install-steps.js";
import { inside, pathAllowed } from "../plan/paths.js";

/** Plain files of a tree, by path from its root, with where each lies on this machine. */
export type TreeFiles = ReadonlyMap<string, string>;

/** What an installation is made of: path from the root of the tree, and content; a text is content of our own. */
export type Inputs = Map<string, { readonly from: string } | { readonly text: string }>;

export interface Recipe {
  /** Programs that must be there. */
  readonly programs: readonly string[];
  /** Shell text, run in the folder of the lock file, whose name is $1; a script is run at the root of the tree. */
  readonly run: string;
  readonly inputs: (lock: string, files: TreeFiles, inputs: Inputs) => void;
  /** Set while it is installed. `{here}` is the folder of the lock file, `{scratch}` a folder that is gone afterwards. */
  readonly env?: Readonly<Record<string, string>>;
  /** Set for everything that uses it. */
  readonly use?: Readonly<Record<string, string>>;
  /** A folder of programs, from the folder of the lock file. */
  readonly bin?: string;
}

const NPM_FLAGS = "--include=dev --no-audit --no-fund --no-update-notifier --loglevel=error";

const PIP_FLAGS = "--disable-pip-version-check --no-input --no-cache-dir --quiet";
/** The machine's own pip where it can install elsewhere; older ones are put into the environment first, which takes longer. */
const PIP = `python3 -m venv --without-pip .venv
own=$(readlink -f .venv/bin/python)
if "$own" -m pip --python .venv/bin/python --version >/dev/null 2>&1
then "$own" -m pip --python .venv/bin/python install ${PIP_FLAGS} -r "$1"
else python3 -m venv .venv; .venv/bin/python -m pip install ${PIP_FLAGS} -r "$1"
fi`;

export const RECIPES: Readonly<Record<InstallKind, Recipe>> = {
  npm: {
    programs: ["node", "npm"],
    run: `npm ci ${NPM_FLAGS}`,
    inputs: npmInputs,
    env: { npm_config_cache: "{scratch}/npm" },
  },
  pnpm: {
    programs: ["node", "pnpm"],
    run: 'pnpm install --frozen-lockfile --prod=false --store-dir "$PNPM_STORE" --package-import-method copy --reporter append-only',
    inputs: pnpmInputs,
    env: {
      PNPM_STORE: "{scratch}/pnpm",
      npm_config_cache: "{scratch}/npm",
      npm_config_manage_package_manager_versions: "false",
    },
  },
  pip: {
    programs: ["python3"],
    run: PIP,
    inputs: pipInputs,
    bin: ".venv/bin",
  },
  uv: {
    programs: ["uv", "python3"],
    run: "uv sync --frozen --no-install-project --no-progress",
    inputs: uvInputs,
    env: { UV_CACHE_DIR: "{scratch}/uv", UV_LINK_MODE: "copy", UV_PYTHON_DOWNLOADS: "never" },
    bin: ".venv/bin",
  },
  cargo: {
    programs: ["cargo"],
    run: "cargo fetch --locked",
    inputs: cargoInputs,
    env: { CARGO_HOME: "{here}/.cache/cargo" },
    use: { CARGO_HOME: "{here}/.cache/cargo", CARGO_NET_OFFLINE: "true" },
  },
  go: {
    programs: ["go"],
    run: "go mod download",
    inputs: goInputs,
    env: { GOMODCACHE: "{here}/.cache/go", GOFLAGS: "-modcacherw", GOPROXY: "" },
    use: { GOMODCACHE: "{here}/.cache/go" },
  },
  script: {
    programs: ["sh"],
    run: 'case "$(head -c 2 "$1")" in "#!") chmod +x "$1"; "./$1" ;; *) sh -e "$1" ;; esac',
    inputs: () => {},
  },
};

/** Everything a step sees of the tree. Throws INSTALL_FAILED for a lock file or script that is not there. */
export function inputsOf({ path, kind, reads }: InstallStep, files: TreeFiles): Inputs {
  const inputs: Inputs = new Map();
  const from = files.get(path);
  if (from === undefined) {
    throw new NutError("INSTALL_FAILED", `${path}: acceptance.install names it, but it is not there`, {
      hint:
        kind === "script"
          ? "ask the publisher for the request again"
          : "work in its repository: --repo '<dir>', or --base '<dir>'",
      data: { path },
    });
  }
  inputs.set(path, { from });
  RECIPES[kind].inputs(path, files, inputs);
  for (const [file, at] of files) if (pathAllowed(file, reads) && !inputs.has(file)) inputs.set(file, { from: at });
  return inputs;
}

const beside = (lock: string, path: string): string => posix.normalize(posix.join(posix.dirname(lock), path));

/** Takes files along that are there. */
function take(inputs: Inputs, files: TreeFiles, paths: readonly string[]): void {
  for (const path of paths) {
    const from = files.get(path);
    if (from !== undefined && inside(path)) inputs.set(path, { from });
  }
}

/** A file, or a folder with all that is in it. */
function takeAll(inputs: Inputs, files: TreeFiles, path: string): void {
  const folder = path === "." ? "" : `${path.replace(/\/+$/, "")}/`;
  take(inputs, files, [path, ...[...files.keys()].filter((file) => file.startsWith(folder))]);
}

const textOf = (files: TreeFiles, path: string): string => {
  const from = files.get(path);
  return from === undefined ? "" : readFileSync(from, "utf8");
};

/** Below a folder, by its last name; what is installed already is nobody's source. */
const named = (files: TreeFiles, lock: string, names: RegExp): string[] => {
  const folder = posix.dirname(lock) === "." ? "" : `${posix.dirname(lock)}/`;
  return [...files.keys()].filter(
    (path) =>
      path.startsWith(folder) &&
      names.test(posix.basename(path)) &&
      !/(?:^|\/)(?:node_modules|target|\.venv)\//.test(path),
  );
};

/** Scripts of the project's own are for the project's own files, which are not here. */
function takePackage(inputs: Inputs, files: TreeFiles, path: string): void {
  const table = jsonTable(textOf(files, path));
  if (table === null) {
    take(inputs, files, [path]);
    return;
  }
  const { scripts: _, ...rest } = table;
  inputs.set(path, { text: `${JSON.stringify(rest, null, 2)}\n` });
  const { bin } = table;
  const programs =
    typeof bin === "string" ? [bin] : Object.values((bin ?? {}) as object).filter((one) => typeof one === "string");
  take(
    inputs,
    files,
    programs.map((program) => beside(path, program)),
  );
}

function jsonTable(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Every `file:` in a text, as paths from the root of the tree. */
const localFiles = (lock: string, text: string): string[] =>
  [...text.matchAll(/\bfile:(?!\/\/)([^\s"'(),{}]+)/g)].map(([, path]) => beside(lock, path!));

function npmInputs(lock: string, files: TreeFiles, inputs: Inputs): void {
  takePackage(inputs, files, beside(lock, "package.json"));
  take(inputs, files, [beside(lock, ".npmrc")]);
  const text = textOf(files, lock);
  take(inputs, files, localFiles(lock, text));
  const packages = (jsonTable(text)?.packages ?? {}) as object;
  const own = Object.keys(packages).filter((key) => key !== "" && !/(?:^|\/)node_modules\//.test(key));
  for (const folder of own) {
    const path = beside(lock, `${folder}/package.json`);
    if (inside(path) && files.has(path)) takePackage(inputs, files, path);
  }
}

function pnpmInputs(lock: string, files: TreeFiles, inputs: Inputs): void {
  for (const path of named(files, lock, /^package\.json$/)) takePackage(inputs, files, path);
  take(
    inputs,
    files,
    ["pnpm-workspace.yaml", ".npmrc", ".pnpmfile.cjs"].map((name) => beside(lock, name)),
  );
  for (const path of [...localFiles(lock, textOf(files, lock)), beside(lock, "patches")]) takeAll(inputs, files, path);
}

/** `-r` and `-c` lead to further files; wheels and folders of them are named by paths. */
function pipInputs(lock: string, files: TreeFiles, inputs: Inputs, seen = new Set<string>()): void {
  if (seen.has(lock)) return;
  seen.add(lock);
  take(inputs, files, [lock]);
  for (const line of textOf(files, lock).split("\n")) {
    const words = line.replace(/(?:^|\s)#.*$/, "").trim();
    const more = /^(?:-r|--requirement|-c|--constraint)(?:\s+|=)?(\S+)$/.exec(words)?.[1];
    if (more !== undefined) pipInputs(beside(lock, more), files, inputs, seen);
    const place =
      /^(?:-f|--find-links)(?:\s+|=)?(\S+)$/.exec(words)?.[1] ??
      /(?:^|@\s*(?:file:)?)(\.{0,2}\/?[\w./+-]+\.(?:whl|tar\.gz|zip))\b/.exec(words)?.[1];
    if (place !== undefined && inside(beside(lock, place))) takeAll(inputs, files, beside(lock, place));
  }
}

function uvInputs(lock: string, files: TreeFiles, inputs: Inputs): void {
  take(
    inputs,
    files,
    ["pyproject.toml", "uv.toml", ".python-version"].map((name) => beside(lock, name)),
  );
  const local = [...textOf(files, lock).matchAll(/\b(?:path|editable|directory|virtual|url) = "([^":]+)"/g)];
  for (const [, path] of local)
    if (path !== "." && inside(beside(lock, path!))) takeAll(inputs, files, beside(lock, path!));
}

function cargoInputs(lock: string, files: TreeFiles, inputs: Inputs): void {
  take(inputs, files, named(files, lock, /^(?:Cargo\.toml|rust-toolchain(?:\.toml)?)$/));
  for (const config of [beside(lock, ".cargo/config.toml"), beside(lock, ".cargo/config")]) {
    take(inputs, files, [config]);
    // Crates that lie in the tree itself: `cargo vendor`, or a registry in a folder.
    const local = textOf(files, config).matchAll(/^\s*(?:directory|local-registry)\s*=\s*"([^"]+)"/gm);
    for (const [, path] of local) if (inside(beside(lock, path!))) takeAll(inputs, files, beside(lock, path!));
  }
  // A crate without a source is none to cargo; what is in it makes no difference here.
  for (const path of named(files, lock, /\.rs$/)) if (!inputs.has(path)) inputs.set(path, { text: "" });
}

function goInputs(lock: string, files: TreeFiles, inputs: Inputs): void {
  take(inputs, files, named(files, lock, /^go\.(?:mod|sum|work|work\.sum)$/));
}
