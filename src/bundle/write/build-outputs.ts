// What programs make out of a tree and can make again: installed packages, virtual environments, build outputs, caches,
// earlier bundles. One table, for what is packed and for what counts as work. Names that are also used for sources (dist,
// build, target) count only beside the file of the program that makes them.
import { posix } from "node:path";

const FOLDERS: ReadonlySet<string> = new Set([
  ...["node_modules", "bower_components", ".pnpm-store", ".yarn", ".npm", ".turbo", ".parcel-cache", ".next", ".nuxt"],
  ...[".svelte-kit", ".angular", ".vite", ".nyc_output", ".eslintcache"],
  ...["__pycache__", ".venv", ".virtualenv", ".tox", ".nox", ".eggs", ".pytest_cache", ".mypy_cache", ".ruff_cache"],
  ...[".hypothesis", ".ipynb_checkpoints", ".gradle", ".cache", ".terraform"],
]);

/** A folder of this name is an output when one of these files lies beside it. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  target: ["Cargo.toml", "pom.xml", "build.sbt"],
  dist: ["package.json", "pyproject.toml", "setup.py"],
  build: ["package.json", "pyproject.toml", "setup.py", "CMakeLists.txt", "build.gradle", "build.gradle.kts"],
  out: ["package.json", "build.gradle", "build.gradle.kts"],
  coverage: ["package.json", "pyproject.toml"],
  htmlcov: ["pyproject.toml", "setup.py", ".coveragerc"],
};

/** A folder that holds one of these was made by a program, whatever it is called. */
const INSIDE: readonly string[] = ["pyvenv.cfg", "CACHEDIR.TAG"];

const FILES = /\.(?:pyc|pyo|nut)$|^(?:\.DS_Store|Thumbs\.db|\.coverage|npm-debug\.log|yarn-error\.log)$/;

/** Whether a path, a folder without its slash, is what a program made. `has` is asked about other paths of the tree. */
export function isBuildOutput(path: string, isFolder: boolean, has: (path: string) => boolean): boolean {
  const name = posix.basename(path);
  if (!isFolder) return FILES.test(name);
  if (FOLDERS.has(name) || name.endsWith(".egg-info") || INSIDE.some((file) => has(`${path}/${file}`))) return true;
  const beside = Object.hasOwn(BESIDE, name) ? BESIDE[name]! : [];
  return beside.some((file) => has(posix.join(posix.dirname(path), file)));
}
