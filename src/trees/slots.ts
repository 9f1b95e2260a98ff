// A tree of its own for every agent that works at the same time. A slot is a copy of the main tree that is brought up to
// date file by file; whatever an agent leaves in it reaches the main tree only through a merge, so taking a change back
// means not merging it. Only one look per agent walks the whole slot. Where a sandbox holds the agents of a large tree, a slot is
// no copy but a layer over the base (decision 0370): its folder holds the changes alone.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isSystemError, NutError, shellWord } from "../errors.js";
import { removeFolder } from "../files/index.js";
import { isUnnamed } from "./disk-names.js";
import { type GitFacts, gitFacts } from "./git-facts.js";
import { applyToLayers, isLayer, layeredGitFacts, lookAtLayers, makeLayer, removeLayer } from "./layered.js";
import type { Objects } from "./objects.js";
import { HIDDEN_FILE } from "./result-tree.js";
import {
  type Change,
  compareTrees,
  lookAt,
  lookAtCopy,
  parentsAreFolders,
  seeEntry,
  type Tree,
  type TreeEntry,
  withChanges,
  without,
} from "./tree.js";
import { unlock } from "./unlock.js";

export interface Slot {
  readonly name: string;
  /** The tree; of a layer, what was changed in it. */
  readonly path: string;
  /** The folder a layer lies over; null for a copy. */
  readonly over: string | null;
  /** What the agent in it started from. */
  base: Tree;
  /** How many changes of the main tree it holds. */
  version: number;
  /** The latest look at it, when an agent was in it since `base`. */
  after: Tree | null;
  leftovers: readonly string[];
  /** Folders of the latest look that lie too deep to be looked into. */
  tooDeep: readonly string[];
  /** What the latest look met that has no name in UTF-8. */
  unnamed: readonly string[];
  /** The repository's own facts when the slot was made. */
  readonly git: GitFacts | null;
}

/** A slot nobody has looked at since it was taken. */
const UNSEEN = { after: null, leftovers: [], tooDeep: [], unnamed: [] } as const;

export interface SlotsInput {
  readonly folder: string;
  /** The untouched workspace every slot is copied from. */
  readonly base: string;
  readonly objects: Objects;
  /** What counts as part of the work; the rest is thrown away between agents. */
  readonly counts: (path: string) => boolean;
  /** Slots are layers over the base, which is looked at here: every agent is in a sandbox, and nobody in one writes to it. */
  readonly layersOver?: Tree;
}

export type Versions = readonly (readonly Change[])[];

export class Slots {
  readonly #input: SlotsInput;
  readonly #free: Slot[] = [];
  readonly #names = new Set<string>();
  /** What layers lie over; null where slots are copies. */
  readonly #below: Tree | null;

  constructor(input: SlotsInput) {
    this.#input = input;
    this.#below = input.layersOver === undefined ? null : without(input.layersOver, isTooDeep);
    mkdirSync(input.folder, { recursive: true });
  }

  /** A tree equal to the base with every version in it. */
  take(versions: Versions): Slot {
    if (this.#below !== null) return this.#makeLayer(versions, this.#below);
    const slot = this.#free.pop() ?? this.#make();
    for (const changes of versions.slice(slot.version)) this.#apply(slot, changes);
    slot.version = versions.length;
    return slot;
  }

  /** The same in a folder nobody was in before; for whoever must not meet what another left. Ended by `discard`. */
  takeNew(versions: Versions): Slot {
    if (this.#below !== null) return this.#makeLayer(versions, this.#below);
    const slot = this.#make();
    for (const changes of versions) this.#apply(slot, changes);
    slot.version = versions.length;
    return slot;
  }

  /** Removes a slot that is not to be used again. */
  discard(slot: Slot): void {
    if (slot.over === null) removeFolder(slot.path);
    else removeLayer(slot.path);
  }

  /** Leaves a slot as it is, edits and all, for whoever adopts it. */
  leave(slot: Slot): void {
    this.#names.delete(slot.name);
  }

  /** The slot a killed process left, with the edits of its agent still in it; null when it is gone or taken. */
  adopt(name: string, versions: Versions, start: Tree): Slot | null {
    const path = join(this.#input.folder, name);
    if (!/^slot-\d+$/.test(name) || this.#names.has(name) || !existsSync(path)) return null;
    // A copy is no layer, and a layer no tree.
    const over = isLayer(path) ? this.#input.base : null;
    if ((over === null) !== (this.#below === null)) return null;
    this.#names.add(name);
    const base = withChanges(start, versions.flat());
    const git = slotGitFacts({ path, over });
    return { name, path, over, base, version: versions.length, git, ...UNSEEN };
  }

  /** Removes what earlier processes left and nobody took up. */
  sweep(): void {
    for (const name of readdirSync(this.#input.folder)) {
      if (!this.#names.has(name.replace(/\..*$/, ""))) removeFolder(join(this.#input.folder, name));
    }
  }

  /** Brings changes into a slot before its agent starts, as part of the agent's own change. */
  seed(slot: Slot, changes: readonly Change[]): void {
    if (slot.over === null) this.#input.objects.apply(slot.path, changes);
    else applyToLayers({ base: slot.over, changes: slot.path }, slot.base, changes, this.#input.objects);
  }

  /** What the agent changed since the slot was taken. What it shut is opened. */
  changes(slot: Slot): readonly Change[] {
    const [leftovers, tooDeep, unnamed]: [string[], string[], string[]] = [[], [], []];
    const skip = (path: string) => {
      const counts = this.#input.counts(path);
      if (counts && !isTooDeep(path) && !isUnnamed(path)) return false;
      (!counts ? leftovers : isTooDeep(path) ? tooDeep : unnamed).push(path);
      return true;
    };
    const look = { skip, unlock: (path: string) => unlock(join(slot.path, path)) };
    slot.after =
      slot.over === null
        ? lookAt(slot.path, { before: slot.base, ...look })
        : lookAtLayers({ base: slot.over, changes: slot.path }, this.#below!, look);
    slot.leftovers = [...leftovers, ...tooDeep];
    slot.tooDeep = tooDeep;
    slot.unnamed = unnamed;
    return compareTrees(slot.base, slot.after);
  }

  /** Files of the base that a layer has not, or has as something else; undefined for a copy, which says so itself. */
  deleted(slot: Slot): string[] | undefined {
    if (slot.over === null) return undefined;
    if (slot.after === null) this.changes(slot);
    return deletedFrom(this.#below!, slot.after!);
  }

  /** Takes back whatever the agent left and offers the slot to the next one. */
  release(slot: Slot): void {
    // A new layer costs nothing.
    if (slot.over !== null) {
      this.discard(slot);
      return;
    }
    const git = gitFacts(slot.path);
    if (slot.after === null) this.changes(slot);
    if (git?.refs !== slot.git?.refs || git?.trusted !== slot.git?.trusted || slot.unnamed.length > 0) {
      // A hook, a moved branch or what cannot be named would meet the next agent; a new copy meets nobody.
      removeFolder(slot.path);
      return;
    }
    for (const path of slot.leftovers) {
      if (!path.split("/").includes(".git")) removeFolder(join(slot.path, path));
    }
    const undo = compareTrees(slot.after!, slot.base);
    slot.base = slot.after!;
    this.#apply(slot, undo);
    slot.after = null;
    this.#free.push(slot);
  }

  /** Applies changes and learns the new stamps, without looking at anything else. */
  #apply(slot: Slot, changes: readonly Change[]): void {
    if (changes.length === 0) return;
    this.#input.objects.apply(slot.path, changes);
    const entries = slot.base.entries as Map<string, TreeEntry>;
    for (const { path, after } of changes) {
      const entry = after === null ? null : seeEntry(join(slot.path, path));
      if (entry === null) entries.delete(path);
      else entries.set(path, entry);
    }
  }

  #newName(): string {
    let number = 1;
    // A folder a killed process left may still have a writer in it: a new agent gets a new name.
    while (this.#names.has(`slot-${number}`) || existsSync(join(this.#input.folder, `slot-${number}`))) number += 1;
    const name = `slot-${number}`;
    this.#names.add(name);
    return name;
  }

  #makeLayer(versions: Versions, below: Tree): Slot {
    const name = this.#newName();
    const [path, over] = [join(this.#input.folder, name), this.#input.base];
    makeLayer(path);
    const base = versions.length === 0 ? below : withChanges(below, versions.flat());
    applyToLayers({ base: over, changes: path }, below, compareTrees(below, base), this.#input.objects);
    const git = gitFacts(over);
    return { name, path, over, base, version: versions.length, git, ...UNSEEN };
  }

  #make(): Slot {
    const name = this.#newName();
    const path = join(this.#input.folder, name);
    copyFolder(this.#input.base, path);
    const skip = (inside: string) => !this.#input.counts(inside) || isTooDeep(inside);
    return {
      name,
      path,
      over: null,
      // As the workspace is now, not as it should be: what was changed in it is no edit of whoever comes here.
      base: lookAtCopy(path, lookAt(this.#input.base, { skip })),
      version: 0,
      git: gitFacts(path),
      ...UNSEEN,
    };
  }
}

/** What a repository in a slot says of itself. */
export const slotGitFacts = ({ path, over }: Pick<Slot, "path" | "over">): GitFacts | null =>
  over === null ? gitFacts(path) : layeredGitFacts({ base: over, changes: path });

/** Files and links of one tree that another has not, or has as something else. */
export function deletedFrom(before: Tree, after: Tree): string[] {
  const isFile = (entry: TreeEntry | undefined) => entry?.type === "file" || entry?.type === "link";
  const deleted: string[] = [];
  for (const [path, entry] of before.entries) {
    if (isFile(entry) && !isFile(after.entries.get(path))) deleted.push(path);
  }
  return deleted;
}

/** No bundle holds more than 64 folders in one another; what is far below that is only there to be in the way. */
const DEEPEST = 100;

/** A name has a letter at least, so what is short is not asked. */
const isTooDeep = (path: string): boolean => path.length > 2 * DEEPEST && path.split("/", DEEPEST + 1).length > DEEPEST;

/** Hidden checks stay behind: who works never has them, not even sealed. */
export function copyFolder(from: string, to: string): void {
  const hidden = join(from, HIDDEN_FILE);
  if (copiedBySystem(from, to)) {
    // Not through a link, which may lead anywhere.
    if (parentsAreFolders(to, HIDDEN_FILE)) rmSync(join(to, HIDDEN_FILE), { force: true });
    return;
  }
  try {
    (isNew(to) ? copyNew : copyOver)(from, to, hidden);
  } catch (error) {
    const isDeep = error instanceof RangeError || (isSystemError(error) && error.code === "ENAMETOOLONG");
    if (!isDeep) throw error;
    removeFolder(to);
    throw new NutError("SOURCE_UNSAFE", `${from}: its folders lie too deep in one another to be copied`, {
      hint: `find ${shellWord(from)} -mindepth ${DEEPEST} -type d`,
      data: { path: from },
    });
  }
}

/** Into a place of its own. Node's copy looks at every folder above each file, which takes longer than copying it. */
function copyNew(from: string, to: string, hidden: string): void {
  if (from === hidden) return;
  const stat = lstatSync(from);
  if (stat.isFile()) copyFileSync(from, to);
  else if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (stat.isDirectory()) {
    mkdirSync(to);
    for (const name of readdirSync(from)) copyNew(join(from, name), join(to, name), hidden);
    chmodSync(to, stat.mode);
  } else copyOver(from, to, hidden);
}

/** Over what is there already. Refuses what is neither file, folder nor link. */
function copyOver(from: string, to: string, hidden: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: (path) => path !== hidden });
}

const isNew = (path: string): boolean =>
  existsSync(dirname(path)) && lstatSync(path, { throwIfNoEntry: false }) === undefined;

/**
 * By `cp`, which takes a fraction of our own time and shares blocks where the disk can; false when it is not GNU's or failed, or when
 * starting it takes longer than the copy.
 */
function copiedBySystem(from: string, to: string): boolean {
  if (process.platform !== "linux" || existsSync(to) || !lstatSync(from).isDirectory()) return false;
  if (holdsAtMost(from, FEW)) return false;
  const args = ["-R", "-P", "--preserve=mode", "--reflink=auto", "--", from, to];
  const { status } = spawnSync("cp", args, { stdio: "ignore" });
  if (status !== 0) removeFolder(to);
  return status === 0;
}

/** As many as are copied in the time a program takes to start. */
const FEW = 30;

/** Whether there are no more files and folders in it; looks no further than that. */
export function holdsAtMost(folder: string, most: number): boolean {
  const left = [folder];
  let count = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      count += 1;
      if (count > most) return false;
      if (entry.isDirectory()) left.push(join(next, entry.name));
    }
  }
  return true;
}
