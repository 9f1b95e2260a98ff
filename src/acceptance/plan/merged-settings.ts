// Settings files that are half work, half steering. Dependencies belong to whoever wrote the code; scripts, runners and
// their options belong to whoever asks. The room gets the base's file with the work's dependencies in it.
import { posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse as parseToml, stringify as stringifyToml } from "@decimalturn/toml-patch";
import { parseGoMod, stringifyGoMod } from "./go-mod.js";

type Table = Record<string, unknown>;

/** Paths of fields that come from the work, by file name. `*` stands for any key. */
const FROM_THE_WORK: Readonly<Record<string, readonly string[]>> = {
  "package.json": [
    "dependencies",
    "devDependencies",
    "peerDependencies",
    "optionalDependencies",
    "overrides",
    "resolutions",
    "packageManager",
  ],
  "pyproject.toml": [
    "project.dependencies",
    "project.optional-dependencies",
    "dependency-groups",
    "build-system.requires",
    "tool.poetry.dependencies",
    "tool.poetry.group.*.dependencies",
  ],
  "Cargo.toml": [
    "dependencies",
    "dev-dependencies",
    "build-dependencies",
    "workspace.dependencies",
    "target.*.dependencies",
    "target.*.dev-dependencies",
    "target.*.build-dependencies",
  ],
  "go.mod": ["require"],
};

/** Of a file the base does not have, also what says how the code is loaded. */
const OF_A_NEW_FILE: Readonly<Record<string, readonly string[]>> = {
  "package.json": ["name", "version", "type", "main", "module", "exports", "imports", "bin", "files", "private"],
  "pyproject.toml": ["project"],
  "Cargo.toml": ["package", "lib", "bin", "workspace"],
  "go.mod": ["module", "go"],
};

/** What even a new file may not bring: it would be loaded by a runner instead of by the code. */
const NEVER: Readonly<Record<string, readonly string[]>> = { "pyproject.toml": ["project.entry-points.pytest11"] };

/** A package of such a name is found before the library that tests import by it. */
const TEST_PACKAGES =
  /^(?:vitest|jest|expect|mocha|chai|ava|tape|tap|uvu|jasmine|sinon|should|supertest|assert|qunit|testdouble|fast-check|zora|@(?:jest|vitest|playwright|testing-library|ava|tapjs|cucumber)\/.*)$/;

/** Lock files that follow the dependencies of a settings file in the same folder. */
const LOCKS: Readonly<Record<string, readonly string[]>> = {
  "package.json": ["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"],
  "pyproject.toml": ["uv.lock", "poetry.lock", "pdm.lock"],
  "Cargo.toml": ["Cargo.lock"],
  "go.mod": ["go.sum"],
};

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Whether a file is one whose dependencies come from the work. */
export const isHalfWork = (path: string): boolean => Object.hasOwn(FROM_THE_WORK, nameOf(path));

/** The lock files that belong to a settings file, by path. */
export function locksOf(path: string): string[] {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const name = nameOf(path);
  return (Object.hasOwn(LOCKS, name) ? LOCKS[name]! : []).map((lock) => `${folder}${lock}`);
}

/** Whether package managers write a file themselves while they build. */
export const isLock = (path: string): boolean => Object.values(LOCKS).some((names) => names.includes(nameOf(path)));

/** Folders of the tree that a settings file names as dependencies. */
export function localDependencies(path: string, text: string): string[] {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const named = nameOf(path) === "package.json" ? /"file:([^"]+)"/g : /\bpath\s*=\s*"([^"]+)"/g;
  return [...text.matchAll(named)].map(([, place]) => `${posix.join(folder, place!)}/`);
}

/** The base's file with the work's dependencies; null when nothing of it comes from the work or one cannot be read. */
export function mergeSettings(path: string, base: string | null, work: string): string | null {
  const name = nameOf(path);
  const [before, after] = [base === null ? {} : read(name, base), read(name, work)];
  if (before === null || after === null) return null;
  const fields = [...(FROM_THE_WORK[name] ?? []), ...(base === null ? (OF_A_NEW_FILE[name] ?? []) : [])];
  const merged = structuredClone(before);
  let changed = base === null;
  for (const field of fields) {
    for (const place of expand(field, [before, after])) {
      const value = get(after, place);
      if (JSON.stringify(get(before, place)) === JSON.stringify(value)) continue;
      put(merged, place, value);
      changed = true;
    }
  }
  for (const place of (NEVER[name] ?? []).map((field) => field.split(".")))
    if (base === null && get(merged, place) !== undefined) put(merged, place, undefined);
  if (base === null && TEST_PACKAGES.test(String(merged.name))) delete merged.name;
  return changed ? write(name, merged) : null;
}

/** Whether two texts of a settings file say the same. */
export function sameSettings(path: string, one: string, other: string): boolean {
  const [a, b] = [read(nameOf(path), one), read(nameOf(path), other)];
  return a !== null && b !== null && isDeepStrictEqual(a, b);
}

function read(name: string, text: string): Table | null {
  try {
    if (name === "go.mod") return parseGoMod(text);
    const value: unknown = name.endsWith(".json") ? JSON.parse(text) : parseToml(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Table) : null;
  } catch {
    return null;
  }
}

function write(name: string, table: Table): string {
  if (name === "go.mod") return stringifyGoMod(table);
  return name.endsWith(".json") ? `${JSON.stringify(table, null, 2)}\n` : stringifyToml(table);
}

/** `target.*.dependencies` → one path per key that either side has there. */
function expand(field: string, sides: readonly Table[]): string[][] {
  let places: string[][] = [[]];
  for (const part of field.split(".")) {
    places = places.flatMap((place) => {
      if (part !== "*") return [[...place, part]];
      const keys = new Set(sides.flatMap((side) => Object.keys(asTable(get(side, place)))));
      return [...keys].map((key) => [...place, key]);
    });
  }
  return places;
}

const asTable = (value: unknown): Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Table) : {};

function get(table: Table, place: readonly string[]): unknown {
  return place.reduce<unknown>((value, key) => {
    const inner = asTable(value);
    return Object.hasOwn(inner, key) ? inner[key] : undefined;
  }, table);
}

function put(table: Table, place: readonly string[], value: unknown): void {
  let holder = table;
  for (const key of place.slice(0, -1)) {
    if (!Object.hasOwn(holder, key)) Object.defineProperty(holder, key, own({}));
    holder = asTable(holder[key]);
  }
  const last = place.at(-1)!;
  if (value === undefined) delete holder[last];
  else Object.defineProperty(holder, last, own(value));
}

const own = (value: unknown): PropertyDescriptor => ({ value, writable: true, enumerable: true, configurable: true });
