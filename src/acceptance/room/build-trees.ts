// The trees a check is run on: the base as it was, the base with the work in it, and the base with everything the result
// changed. None of them is a copy of the base: they are layers over it.
import {
  closeSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { isText } from "../../files/index.js";
import type { Manifest } from "../../schema/manifest.js";
import {
  changesBetween,
  copyTree,
  filesIn,
  HIDDEN_FILE,
  isResult,
  lookAtFiles,
  type ResultChange,
  type ResultTree,
} from "../../trees/result-tree.js";
import { parentsAreFolders, type Tree, type TreeEntry } from "../../trees/tree.js";
import { ownTests, resultDigest, testsDigest, underTest } from "../clean-tree.js";
import { testLanguage } from "../controls/assertions.js";
import { decides, filesRunAlone } from "../controls/decides.js";
import { ledLines } from "../controls/lines/led-lines.js";
import { lazily } from "../lazily.js";
import type { CheckPlan } from "../model.js";
import { filesLedTo, leadsSomewhere } from "../plan/led-to.js";
import { isLock } from "../plan/merged-settings.js";
import { isSteering, isTestFile } from "../plan/steering.js";
import { findSubject, type ReadableTree, type Subject, type SubjectFacts } from "../plan/subject.js";
import { type Layers, layersOf, putOver } from "./layers.js";
import { type RoomTree, remembering, roomTree } from "./room-tree.js";

export interface TreeParts {
  readonly request: string;
  readonly manifest: Manifest;
  readonly plan: CheckPlan;
  /** The untouched tree. */
  readonly base: string;
  /** As it was just looked at. */
  readonly looked?: Tree | undefined;
  readonly result: string;
  /** The result holds only what differs from the base, and these files of the base are not in it. */
  readonly deleted?: readonly string[] | undefined;
  /** An empty folder of ours. */
  readonly folder: string;
}

/** What takes long and not everybody asks for is made when it is asked for. */
export interface Trees {
  readonly base: RoomTree;
  readonly result: RoomTree;
  /** With every change, those outside the subject too; null when there are none. */
  readonly steered: RoomTree | null;
  readonly subject: Subject;
  /** Whether a path may not change while a check runs. */
  readonly isGuarded: (path: string) => boolean;
  /** Everything the result changed. */
  readonly changes: readonly ResultChange[];
  readonly digests: { readonly result: string; readonly tests: string };
}

/** Not part of any tree under test. */
const HIDDEN = [".git", ".nexus", HIDDEN_FILE];

export function buildTrees(parts: TreeParts): Trees {
  const { request, plan, base, looked, result, folder } = parts;
  const before = looked === undefined ? lookAtFiles(base, isResult) : filesIn(base, looked, isResult);
  const after = base === result ? before : lookAtFiles(result, isResult);
  const changes = base === result ? [] : changesOf(parts, before, after);
  const known = knownOf(parts, before);
  const subject = findSubject(factsWith(known, parts, changes));
  const untouched = withOwnTests(known.layers(), parts);
  const worked = new Set(subject.work.map(({ path }) => path));
  // Package managers write their lock files while they build; what is in them is the base's at the start.
  const steers = (path: string) => isSteering(path) && !isLock(path);
  // Asked about every path of each of the three trees.
  const isCheck = remembering(
    (path) => plan.isOwnTest(path) || isTestFile(path) || steers(path) || subject.isChecker(path),
    known.guarded,
  );
  const isGuarded = (path: string) => !worked.has(path) && isCheck(path);
  const guards = { isGuarded, isChecker: subject.isChecker, open: writtenFolders(parts, untouched) };
  const layered = (name: string, delta: Delta) => {
    const removed = writeDelta(join(folder, name), result, delta);
    return roomTree(putOver(untouched, { folder: join(folder, name), removed }), guards);
  };
  const everything = underTest(changes, plan);
  const bare = lazily(() => roomTree(untouched, guards));
  const digests = lazily(() => ({
    result: resultDigest({ before, after, changes, request, plan }),
    tests: testsDigest(request, plan),
  }));
  return {
    get base() {
      return bare();
    },
    result: layered("work", { changes: subject.work, texts: subject.merged }),
    steered: subject.outside.length === 0 ? null : layered("everything", { changes: everything, texts: new Map() }),
    subject,
    isGuarded,
    changes,
    get digests() {
      return digests();
    },
  };
}

function changesOf({ base, result, deleted }: TreeParts, before: ResultTree, after: ResultTree): ResultChange[] {
  const roots = { before: base, after: result };
  if (deleted === undefined) return changesBetween(before, after, roots);
  // All else is as it was.
  const entries = new Map<string, TreeEntry>();
  for (const path of [...after.entries.keys(), ...deleted]) {
    const entry = before.entries.get(path);
    if (entry !== undefined) entries.set(path, entry);
  }
  return changesBetween({ ...before, entries }, after, roots);
}

/** In a repository the request stands beside the tree; its tests are brought along, whatever was there under that name. */
function withOwnTests(layers: Layers, { request, base, plan, folder }: TreeParts): Layers {
  if (base === request) return layers;
  const own = join(folder, "own");
  copyTree(request, own, ownTests(plan));
  return putOver(layers, { folder: own });
}

/** What the base and the request alone say. A run asks several times, of a base that may be large. */
interface Known {
  readonly files: Tree["entries"];
  readonly named: SubjectFacts["named"];
  /** Paths, and whether they are part of the checks. */
  readonly guarded: Map<string, boolean>;
  readonly layers: () => Layers;
}

/** By the look at the base, which is another one as soon as anything there was touched. */
const knownBefore = new WeakMap<Tree, { readonly asked: string; readonly known: Known }>();

function knownOf(parts: TreeParts, before: Tree): Known {
  const own = textsIn(parts.request, [...lookAtFiles(parts.request, ownTests(parts.plan)).entries.keys()]);
  const { checks, ownFiles, subject } = parts.plan;
  const asked = JSON.stringify([parts.base, parts.request, own, checks, ownFiles, subject, parts.manifest.task]);
  const earlier = knownBefore.get(before);
  if (earlier?.asked === asked) return earlier.known;
  const layers = lazily(() => layersOf(parts.base, HIDDEN, parts.looked));
  const known: Known = { files: before.entries, named: namedFacts(parts, before, own), guarded: new Map(), layers };
  knownBefore.set(before, { asked, known });
  return known;
}

export const subjectFacts = (parts: TreeParts, changes: readonly ResultChange[], before: Tree): SubjectFacts =>
  factsWith(knownOf(parts, before), parts, changes);

function factsWith({ named, files }: Known, parts: TreeParts, changes: readonly ResultChange[]): SubjectFacts {
  const { plan, manifest, base, result, deleted } = parts;
  const below = readable(base);
  return {
    plan,
    constraints: manifest.harness?.constraints ?? [],
    changes,
    // Asked about every file: the look knows most of them.
    base: { ...below, exists: (path) => files.has(path) || below.exists(path) },
    result: {
      ...(deleted === undefined ? readable(result) : readableDelta(parts, new Set(deleted))),
      head: (path) => firstBytes(join(result, path)),
      link: (path) => readlinkSync(join(result, path)),
    },
    named,
  };
}

/** Larger files are data. */
const TEXT_LIMIT = 4 * 1024 * 1024;

function readable(root: string): ReadableTree {
  const stat = (path: string) =>
    parentsAreFolders(root, path) ? lstatSync(join(root, path), { throwIfNoEntry: false }) : undefined;
  return {
    exists: (path) => stat(path) !== undefined,
    text: (path) => {
      const found = stat(path);
      if (found?.isFile() !== true || found.size > TEXT_LIMIT) return null;
      const bytes = readFileSync(join(root, path));
      return isText(bytes) ? bytes.toString("utf8") : null;
    },
  };
}

/** A path that the delta has, or has something in the way of, is the delta's; any other the base's, unless it was deleted. */
function readableDelta({ base, result }: TreeParts, deleted: ReadonlySet<string>): ReadableTree {
  const [own, below] = [readable(result), readable(base)];
  const isBelow = (path: string) => !deleted.has(path) && !own.exists(path) && isFree(result, path);
  return {
    exists: (path) => own.exists(path) || (isBelow(path) && below.exists(path)),
    text: (path) => (isBelow(path) ? below.text(path) : own.text(path)),
  };
}

/** Nothing but folders stands on the way to a path, as far as the way goes. */
function isFree(root: string, path: string): boolean {
  const parts = path.split("/").slice(0, -1);
  return parts.every((_, index) => {
    const found = lstatSync(join(root, ...parts.slice(0, index + 1)), { throwIfNoEntry: false });
    return found === undefined || found.isDirectory();
  });
}

function firstBytes(path: string): Uint8Array {
  const bytes = new Uint8Array(4);
  const file = openSync(path, "r");
  try {
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** More tests than these are not read for the names in them. */
const MOST_TESTS = 2_000;

interface NamedText {
  readonly path: string;
  readonly words: string;
}

function textsIn(root: string, paths: readonly string[]): NamedText[] {
  const { text } = readable(root);
  return paths.map((path) => ({ path, words: path === "nutshell.json" ? "" : (text(path) ?? "") }));
}

function namedFacts(
  { base, manifest, plan }: TreeParts,
  before: Tree,
  requests: readonly NamedText[],
): SubjectFacts["named"] {
  const commands = plan.checks.flatMap(({ command }) => (command === undefined ? [] : [command]));
  const own = [...requests, ...textsIn(base, [...before.entries.keys()].filter(isTestFile).slice(0, MOST_TESTS))];
  const shell = own.filter(({ path, words }) => testLanguage(path, words) === "shell").map(({ words }) => words);
  const { title = "", summary = "" } = manifest.task ?? {};
  return {
    decides,
    ...filesLedTo(textsIn(base, [...before.entries.keys()].filter(isReadSetting).slice(0, MOST_SETTINGS)), commands),
    checkTexts: [...commands, ...linesCalled(base, commands, before), ...own.map(({ words }) => words)],
    runAlone: new Set([...commands, ...shell].flatMap(filesRunAlone)),
    wholeCommands: new Set(
      commands.flatMap((line) => /^(?:sh|bash|node|python3?) ([\w./@-]+)$/.exec(line.trim())?.[1] ?? []),
    ),
    code: lazily(() => textsIn(base, [...before.entries.keys()].filter(isCode).slice(0, MOST_TESTS))),
    task: `${title}\n${summary}`,
    ownNames: new Set(own.map(({ path }) => posix.basename(path))),
  };
}

/** Lines of the base's own settings that commands run: they ask as the commands do. */
function linesCalled(base: string, commands: readonly string[], { entries }: Tree): string[] {
  const exists = (path: string) => entries.has(path);
  const list = (folder: string) => {
    const head = folder === "" || folder === "." ? "" : `${folder}/`;
    const below = [...entries.keys()].filter((path) => path.startsWith(head));
    return [...new Set(below.map((path) => path.slice(head.length).replace(/\/.*/s, "/")))];
  };
  const view = { exists, read: readable(base).text, list, isGuarded: exists };
  return commands.map((command) => (ledLines(command, view)?.texts ?? []).join("\n"));
}

/** Code that is no test; its language is told by its name alone. */
const isCode = (path: string): boolean =>
  testLanguage(path, "") !== null && !isTestFile(path) && !path.includes("node_modules/");

/** Settings of one project are few; those below node_modules are not its own. */
const MOST_SETTINGS = 200;
const isReadSetting = (path: string): boolean => leadsSomewhere(path) && !path.includes("node_modules/");

/** Folders of tests into which the request's own tests write, told by names in their texts that are not there yet. */
function writtenFolders({ request, plan }: TreeParts, { entries }: Layers): string[] {
  const { text } = readable(request);
  const own = [...lookAtFiles(request, ownTests(plan)).entries.keys()];
  const folders = own.flatMap((path) =>
    pathsNamed(path, text(path) ?? "").flatMap((named) => {
      const folder = posix.dirname(named);
      const made = !entries.has(named) && entries.get(folder)?.type === "folder" && isTestFile(`${folder}/x`);
      return made ? [folder] : [];
    }),
  );
  return [...new Set(folders)].slice(0, MOST_OPEN);
}

const MOST_OPEN = 20;

function pathsNamed(test: string, text: string): string[] {
  const words = text.slice(0, 200_000).match(/[\w.@/-]{3,200}/g) ?? [];
  const beside = /__dirname|__file__|import\.meta|\$0|BASH_SOURCE/.test(text);
  return [...new Set(words)].flatMap((word) => {
    if (word.includes("/")) return [posix.normalize(word), posix.join(posix.dirname(test), word)];
    return beside && /^[\w-]+\.\w+$/.test(word) ? [posix.join(posix.dirname(test), word)] : [];
  });
}

interface Delta {
  readonly changes: readonly ResultChange[];
  /** Files whose content is ours. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Older than any source, so that a build makes anew what somebody delivered ready-made. */
const LONG_AGO = new Date("2001-01-01T00:00:00Z");

/** Writes the changed files to a folder of ours; returns what goes away. */
function writeDelta(folder: string, result: string, { changes, texts }: Delta): string[] {
  mkdirSync(folder, { recursive: true });
  const now = new Date();
  for (const { path, kind, link, folder: isFolder } of changes) {
    if (isFolder === true) mkdirSync(join(folder, path), { recursive: true });
    if (kind === "deleted" || texts.has(path) || isFolder === true) continue;
    const [from, to] = [join(result, path), join(folder, path)];
    mkdirSync(dirname(to), { recursive: true });
    if (link === true) symlinkSync(readlinkSync(from), to);
    else {
      copyFileSync(from, to);
      utimesSync(to, now, kind === "created" ? LONG_AGO : now);
    }
  }
  for (const [path, text] of texts) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return changes.filter(({ kind }) => kind === "deleted").map(({ path }) => path);
}
