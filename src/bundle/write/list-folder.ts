// What of a folder goes into a bundle. Nothing is dropped silently: what cannot travel (links, pipes, names) is refused
// by name, what is left out on purpose is left out by a rule a person can read.
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import { byBytes, TEMP_MARK } from "../../files/index.js";
import { folded, MANIFEST_NAME, pathProblem, quoted, REPOSITORY_FOLDERS } from "../format/safe-path.js";
import { isBuildOutput } from "./build-outputs.js";
import { IGNORE_NAME, type IgnoreRules, isIgnored, readRules } from "./ignore-rules.js";
import { recordedRunBits } from "./run-bits.js";

export interface FolderEntry {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly size: number;
  readonly executable: boolean;
}

export interface ListOptions {
  /** Files that are never part of the bundle: the output itself. */
  readonly exclude?: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** False lists what .nutignore, or without one .gitignore and the table of build outputs, would leave out. */
  readonly ignoreRules?: boolean | undefined;
  /** The system the folder lies on; one without run bits takes them from elsewhere. */
  readonly platform?: NodeJS.Platform;
}

export interface Listing {
  /** In archive order, the manifest aside: files, and folders that are empty. */
  readonly entries: readonly FolderEntry[];
  /** Paths left out, folders with a trailing slash, with the reason. */
  readonly left: readonly Left[];
  readonly hasManifest: boolean;
  /** Size of the manifest as it lies there; 0 without one. */
  readonly manifestBytes: number;
}

export const LEFT_REASONS = ["ignored", "never packed", "build output", "earlier bundle", "in .gitignore"] as const;

interface Left {
  readonly path: string;
  readonly reason: (typeof LEFT_REASONS)[number];
}

interface Walk {
  readonly root: string;
  readonly entries: FolderEntry[];
  readonly left: Left[];
  readonly exclude: ReadonlySet<string>;
  readonly signal: AbortSignal | undefined;
  readonly ignoreRules: boolean;
  /** What leaves files out where no .nutignore at the root says: names of rule files, and whether outputs go. */
  readonly unsaid: { readonly gitignore: boolean } | null;
  readonly runBits: ReadonlySet<string> | null;
  hasManifest: boolean;
  manifestBytes: number;
}

/** Lists what `packFolder` would pack. Throws SOURCE_UNSAFE for what a bundle cannot hold. */
export function listFolder(folder: string, options: ListOptions = {}): Listing {
  const root = resolve(folder);
  const ignoreRules = options.ignoreRules !== false;
  const walk: Walk = {
    root,
    entries: [],
    left: [],
    exclude: new Set((options.exclude ?? []).map((path) => canonical(resolve(path)))),
    signal: options.signal,
    ignoreRules,
    unsaid: ignoreRules && !isThere(join(root, IGNORE_NAME)) ? { gitignore: isThere(join(root, ".git")) } : null,
    runBits: recordedRunBits(root, options.platform ?? process.platform),
    hasManifest: false,
    manifestBytes: 0,
  };
  visit(walk, "", canonical(root), { own: null, git: null });
  walk.entries.sort((a, b) => byBytes(a.path, b.path));
  const { entries, left, hasManifest, manifestBytes } = walk;
  return { entries, left, hasManifest, manifestBytes };
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** A path with its folder's links resolved: the file itself may not exist yet. */
function canonical(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

interface Rules {
  readonly own: IgnoreRules | null;
  readonly git: IgnoreRules | null;
}

/** Returns whether the folder is empty on disk. */
function visit(walk: Walk, base: string, real: string, above: Rules): boolean {
  walk.signal?.throwIfAborted();
  const folder = base === "" ? walk.root : join(walk.root, base);
  let names: Buffer[];
  try {
    names = readdirSync(folder, { encoding: "buffer" });
  } catch (error) {
    throw fromSystemError(error, folder) ?? error;
  }
  const decoded = names.map((name) => decodeName(name, base));
  const hasRules = walk.ignoreRules && decoded.includes(IGNORE_NAME);
  const hasGit = walk.unsaid?.gitignore === true && decoded.includes(".gitignore");
  const rules: Rules = {
    own: hasRules ? readRules(join(folder, IGNORE_NAME), base, above.own) : above.own,
    git: hasGit ? readRules(join(folder, ".gitignore"), base, above.git) : above.git,
  };
  for (const name of decoded) visitName(walk, base, real, name, rules);
  return names.length === 0;
}

function visitName(walk: Walk, base: string, real: string, name: string, rules: Rules): void {
  const path = base + name;
  const full = join(walk.root, path);
  const stats = lstatSync(full);
  const isFolder = stats.isDirectory();
  if (isNeverPacked(path, name) || walk.exclude.has(join(real, name))) {
    walk.left.push({ path: isFolder ? `${path}/` : path, reason: "never packed" });
    return;
  }
  if (path === MANIFEST_NAME && stats.isFile()) {
    walk.hasManifest = true;
    walk.manifestBytes = stats.size;
    return;
  }
  const reason = reasonToLeave(walk, rules, path, isFolder);
  if (reason !== null) {
    walk.left.push({ path: isFolder ? `${path}/` : path, reason });
    return;
  }
  if (!isFolder && !stats.isFile())
    throw cannotTravel(walk.root, path, stats.isSymbolicLink() ? "is a link" : "is not a file");
  const problem = pathProblem(path);
  if (problem !== null) throw cannotTravel(walk.root, path, problem[1]);
  if (!isFolder) {
    const executable = walk.runBits?.has(path) ?? (stats.mode & 0o100) !== 0;
    walk.entries.push({ path, kind: "file", size: stats.size, executable });
  } else if (visit(walk, `${path}/`, join(real, name), rules)) {
    walk.entries.push({ path, kind: "folder", size: 0, executable: false });
  }
}

/** What a rule leaves out. What is delivered was made on purpose, whatever it is called. */
function reasonToLeave(
  { root, unsaid }: Walk,
  { own, git }: Rules,
  path: string,
  isFolder: boolean,
): Left["reason"] | null {
  const named = isFolder ? `${path}/` : path;
  if (isIgnored(own, named)) return "ignored";
  if (unsaid === null || named.startsWith("delivery/")) return null;
  if (isIgnored(git, named)) return "in .gitignore";
  if (!isBuildOutput(path, isFolder, (other) => isThere(join(root, other)))) return null;
  return !isFolder && path.endsWith(".nut") ? "earlier bundle" : "build output";
}

/** Version control, a harness's own state, and what a killed process left of ours. */
function isNeverPacked(path: string, name: string): boolean {
  if (REPOSITORY_FOLDERS.has(folded(name))) return true;
  if (name.startsWith(".") && name.includes(TEMP_MARK)) return true;
  return /(?:^|\/)\.nexus\/state$/i.test(path);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeName(name: Buffer, base: string): string {
  try {
    return decoder.decode(name);
  } catch {
    throw new NutError("SOURCE_UNSAFE", `a name in ${quoted(base === "" ? "." : base)} is not valid UTF-8`, {
      hint: `rename it: ls ${base === "" ? "." : base} | cat -v shows it`,
      data: { path: base, name: name.toString("latin1") },
    });
  }
}

function cannotTravel(root: string, path: string, why: string): NutError {
  return new NutError("SOURCE_UNSAFE", `${quoted(path)} ${why}, which a bundle cannot hold`, {
    // A control character is shown escaped, so no line with it can be pasted.
    hint: /\p{Cc}/u.test(path)
      ? `rename it: ls -b ${shellWord(join(root, path.replace(/[^/]*\p{Cc}.*$/su, "")))}`
      : `leave it out: echo ${shellWord(`/${path}`)} >> ${shellWord(join(root, IGNORE_NAME))}`,
    data: { path },
  });
}
