// The settings that start our hooks, watched while an agent is at work: copies are taken when it starts, every gate looks
// whether they are still the same, and when it ends they are put back. No role may change them, whichever way.
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { atomicWrite, makeFolder } from "../files/index.js";

/** A file, or with a `/` at its end a folder of files; relative to the project, starting with `~/`, or absolute. */
export interface Watch {
  readonly path: string;
  /** The host writes there by itself, so only what starts or stops hooks counts. */
  readonly shared?: boolean;
}

export interface WatchedFile {
  /** Absolute; a folder keeps its `/`. */
  readonly path: string;
  /** The project or the home it lies in. */
  readonly base: string;
  /** Whether a folder on the way is a link, as people who keep their settings elsewhere have it. */
  readonly linked: boolean;
  readonly shared: boolean;
  /** What the file system changes with the file; null when there was none. */
  readonly stamp: string | null;
  /** Digest of what counts; null when there was nothing. */
  readonly hash: string | null;
  readonly mode: number;
}

export interface WatchPlace {
  /** The project, and the linked work tree at work where there is one. */
  readonly roots: readonly string[];
  readonly home: string | null;
}

/** More files than any host's folder of settings holds. */
const MAX_FILES = 500;
/** Larger than any of them. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Looks at everything that is watched and keeps copies in `folder`. */
export function watchSettings(watches: readonly Watch[], place: WatchPlace, folder: string): WatchedFile[] {
  const files = watches.flatMap(({ path, shared = false }) => {
    const bases = isAbsolute(path) ? [dirname(path)] : path.startsWith("~/") ? [place.home] : place.roots;
    return bases.flatMap((base) => {
      if (base === null) return [];
      const one = isAbsolute(path) ? path : join(base, path.replace(/^~\//, ""));
      return (one.endsWith("/") ? [one, ...filesIn(one)] : [one]).map((file) => ({ file, base, shared }));
    });
  });
  rmSync(folder, { recursive: true, force: true });
  makeFolder(folder, 0o700);
  return files.slice(0, MAX_FILES).map(({ file, base, shared }, index) => {
    const { hash, bytes, mode } = look(file, shared);
    if (bytes !== null) writeFileSync(join(folder, String(index)), bytes, { mode: 0o600 });
    return { path: file, base, shared, linked: linkOnTheWay(base, file) !== null, stamp: stampOf(file), hash, mode };
  });
}

/** The first folder between `base` and a path that is a link. */
function linkOnTheWay(base: string, path: string): string | null {
  const parts = path.slice(base.length).split("/").slice(0, -1).filter(Boolean);
  const folders = parts.map((_, index) => join(base, ...parts.slice(0, index + 1)));
  return folders.find((one) => lstatSync(one, { throwIfNoEntry: false })?.isSymbolicLink()) ?? null;
}

/** The first that is no longer what it was, or null. Bytes are read only where the file system saw a change. */
export function changedSetting(watched: readonly WatchedFile[]): string | null {
  const changed = watched.find(
    ({ path, shared, stamp, hash }) => stampOf(path) !== stamp && look(path, shared).hash !== hash,
  );
  return changed?.path ?? null;
}

/** The same with one file as it is now; null when it is not watched. */
export function acceptChange(watched: readonly WatchedFile[], path: string, folder: string): WatchedFile[] | null {
  const concerned = (one: WatchedFile) => one.path === path || one.path === `${dirname(path)}/`;
  if (!watched.some(concerned)) return null;
  return watched.map((one, index) => {
    if (!concerned(one)) return one;
    const { hash, mode, bytes } = look(one.path, one.shared);
    if (bytes !== null) writeFileSync(join(folder, String(index)), bytes, { mode: 0o600 });
    return { ...one, stamp: stampOf(one.path), hash, mode };
  });
}

/** Makes every watched file what it was. Returns what had been changed; that version is kept in `copies`. */
export function putSettingsBack(watched: readonly WatchedFile[], folder: string, copies: string): string[] {
  const changed: string[] = [];
  watched.forEach(({ path, base, linked, shared, hash, mode }, index) => {
    // A link that took a folder's place goes first: what it leads to is not ours to put in order.
    const link = linked ? null : linkOnTheWay(base, path);
    if (link !== null) rmSync(link, { force: true });
    const now = look(path, shared);
    if (now.hash === hash) return;
    if (path.endsWith("/")) {
      const known = new Set(watched.map((file) => file.path));
      for (const file of filesIn(path).filter((one) => !known.has(one))) {
        setAside(file, copies);
        rmSync(file, { force: true });
        changed.push(file);
      }
      return;
    }
    setAside(path, copies);
    changed.push(path);
    const copy = join(folder, String(index));
    restore(path, existsSync(copy) ? readFileSync(copy) : null, mode);
  });
  return changed;
}

/** Whatever took the file's place goes, a link too: it may lead anywhere. */
function restore(path: string, bytes: Uint8Array | null, mode: number): void {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry !== undefined && (bytes === null || !entry.isFile())) rmSync(path, { recursive: true, force: true });
  if (bytes === null) return;
  makeFolder(dirname(path));
  atomicWrite(path, bytes, { mode });
}

function setAside(path: string, copies: string): void {
  const { bytes } = look(path, false);
  if (bytes === null) return;
  makeFolder(copies, 0o700);
  writeFileSync(join(copies, basename(path)), bytes, { mode: 0o600 });
}

interface Seen {
  readonly hash: string | null;
  readonly bytes: Uint8Array | null;
  readonly mode: number;
}

/** Taken when it is needed: a gate that watches nothing does without. */
const digest = (data: string | Uint8Array): string =>
  process.getBuiltinModule("node:crypto").createHash("sha256").update(data).digest("hex");

function look(path: string, shared: boolean): Seen {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { hash: shared ? digest("") : null, bytes: null, mode: 0o644 };
  const mode = stat.mode & 0o777;
  if (path.endsWith("/"))
    return { hash: stat.isDirectory() ? digest(filesIn(path).join("\0")) : "other", bytes: null, mode };
  // Reading a pipe would wait for ever.
  if (!stat.isFile() || stat.size > MAX_BYTES) return { hash: "other", bytes: null, mode };
  const bytes = readFileSync(path);
  return { hash: digest(shared ? switches(bytes.toString("utf8")) : bytes), bytes, mode };
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((item) => !item.isDirectory())
      .map(({ name }) => join(folder, name))
      .sort();
  } catch {
    return [];
  }
}

/** What in a text starts our hooks, or stops all hooks. */
const SWITCHES =
  /(?:hook\.js|nexus)'? (?:hook )?(?:claude|codex|qwen|gemini) \w+|"disableAllHooks"\s{0,9}:\s{0,9}\w+|"hooksConfig"\s{0,9}:[^}]{0,999}|\bhooks\s{0,9}=\s{0,9}\w+/g;
const switches = (text: string): string => (text.match(SWITCHES) ?? []).sort().join("\n");

function stampOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? null : `${stat.size}:${stat.ino}:${stat.ctimeNs}:${stat.mode}`;
}
