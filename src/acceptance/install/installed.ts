// What was installed, as the rooms of a check see it: one more layer, read-only like tests, with its programs first on PATH.
// The untouched tree and the result have their own: dependencies belong to whoever wrote the code.
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { isSystemError, NutError } from "../../errors.js";
import type { Environment } from "../../process/index.js";
import { type InstalledTree, installedEnvironment } from "../../trees/installed.js";
import { pathsIn } from "../../trees/tree.js";
import { ownTests } from "../clean-tree.js";
import type { CheckPlan, Outcome } from "../model.js";
import { failed, skipped } from "../outcome.js";
import type { Trees } from "../room/build-trees.js";
import { type Layers, placeOf, putOver } from "../room/layers.js";
import { type RoomTree, roomTree } from "../room/room-tree.js";
import type { TreeFiles } from "./recipes.js";

export interface Installed extends InstalledTree {
  /** Names what it was made of: two with the same name are the same. */
  readonly key: string;
  /** Folders of ours that each hold a part of a tree. */
  readonly layers: readonly string[];
}

/** Prepares what a tree needs, or finds it prepared. Throws INSTALL_FAILED and INSTALL_NOT_ALLOWED. */
export type Installer = (files: TreeFiles) => Promise<Installed>;

/** The files of the untouched tree: the base, and the request's own tests where it stands beside one. */
export function untouchedFiles(base: string, request: string, plan: CheckPlan): TreeFiles {
  const files = new Map(plainFiles(base, () => true));
  if (base === request) return files;
  const own = ownTests(plan);
  for (const [path, from] of plainFiles(request, own)) files.set(path, from);
  return files;
}

function* plainFiles(root: string, counts: (path: string) => boolean): Generator<[string, string]> {
  for (const path of pathsIn(root, (inner) => !counts(inner) || UNREAD.has(basename(inner)))) {
    const from = join(root, path);
    if (lstatSync(from, { throwIfNoEntry: false })?.isFile() === true) yield [path, from];
  }
}

/** Large, and no part of what anything is installed from. */
const UNREAD: ReadonlySet<string> = new Set([".git", ".nexus", "node_modules", ".venv"]);

/** The trees with what they need in them. What only the work's own dependencies lack is said of the work, check by check. */
export async function withInstalled(trees: Trees, install: Installer | undefined): Promise<Trees> {
  if (install === undefined) return trees;
  const base = await install(filesOf(trees.base.layers));
  const own = await ofTheWork(trees.result.layers, base, install);
  const installed = "status" in own ? base : own;
  const isIn = (path: string) => [...base.folders, ...installed.folders].some((at) => path.startsWith(`${at.path}/`));
  const isGuarded = (path: string) => trees.isGuarded(path) || isIn(path);
  const put = (tree: RoomTree, what: Installed): RoomTree => {
    const checkers = new Set(tree.view.checkers);
    const layers = what.layers.reduce((lower, folder) => putOver(lower, { folder }), tree.layers);
    const guards = { isGuarded, isChecker: (path: string) => checkers.has(path), open: tree.open };
    return { ...roomTree(layers, guards), installed: what };
  };
  const result = put(trees.result, installed);
  return {
    ...trees,
    base: put(trees.base, base),
    result: "status" in own ? { ...result, blocked: own } : result,
    steered: trees.steered === null ? null : put(trees.steered, installed),
    isGuarded,
  };
}

const filesOf = ({ entries }: Layers): TreeFiles =>
  new Map([...entries].flatMap(([path, at]) => (at.type === "file" ? [[path, placeOf(path, at)] as const] : [])));

async function ofTheWork(layers: Layers, base: Installed, install: Installer): Promise<Installed | Outcome> {
  let own: Installed;
  try {
    own = await install(filesOf(layers));
  } catch (error) {
    if (!(error instanceof NutError)) throw error;
    if (error.code === "INSTALL_FAILED") return failed(`what the work needs could not be installed: ${error.message}`);
    if (error.code === "INSTALL_NOT_ALLOWED")
      return skipped(`the work needs other packages than the request: ${error.message}`);
    throw error;
  }
  const hidden = own.key === base.key ? [] : hiddenPrograms(own, base);
  if (hidden.length === 0) return own;
  return failed(`the work's dependencies bring programs that hide the system's: ${hidden.slice(0, 3).join(", ")}`);
}

const SYSTEM_PROGRAMS = ["/usr/bin", "/bin", "/usr/local/bin"];
/** Every virtual environment has these. */
const ITS_OWN = /^(?:python|pip|activate)/i;

/** Programs that stand before the system's on PATH, which the request's own dependencies do not bring. */
function hiddenPrograms(own: Installed, base: Installed): string[] {
  const known = new Set(programsOf(base));
  return programsOf(own).filter(
    (name) =>
      !known.has(name) && !ITS_OWN.test(name) && SYSTEM_PROGRAMS.some((folder) => existsSync(join(folder, name))),
  );
}

const programsOf = ({ bins, layers }: Installed): string[] =>
  bins.flatMap((bin) => layers.flatMap((layer) => namesIn(join(layer, bin))));

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** A program that was installed in a tree, by its name; null when none is called so. */
export function installedProgram({ installed, layers }: RoomTree, name: string): string | null {
  if (installed === undefined || name.includes("/")) return null;
  return installed.bins.map((bin) => `${bin}/${name}`).find((path) => layers.entries.has(path)) ?? null;
}

/** What was installed for a tree comes before what the machine has. */
export function environmentIn({ installed }: RoomTree, place: string, env: Environment): Environment {
  return installed === undefined ? env : { ...env, ...installedEnvironment(installed, place, env.PATH) };
}

export function ownProgram<T extends { readonly command: string }>(command: T, tree: RoomTree, place: string): T {
  const own = installedProgram(tree, command.command);
  return own === null ? command : { ...command, command: posix.join(place, own) };
}
