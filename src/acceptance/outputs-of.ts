// Checks that come after others get what those made. Each needed output is made once per tree, by a plain run.
import type { Check, CheckPlan, Outcome, Trial } from "./model.js";
import { installedFolder } from "./plan/steering.js";
import type { Layer } from "./room/layers.js";
import { putOver } from "./room/layers.js";
import { type RoomTree, roomTree } from "./room/room-tree.js";
import type { Room } from "./room/rooms.js";

export interface OutputsOptions {
  readonly plan: CheckPlan;
  readonly trees: Readonly<Record<Trial["tree"], RoomTree | null>>;
  readonly isGuarded: (path: string) => boolean;
  /** Runs a check on a tree and shows its room before it is closed. */
  readonly run: (check: Check, tree: RoomTree, onRan: (room: Room) => void) => Promise<Outcome>;
  /** A fresh folder of ours. */
  readonly folder: () => string;
}

export interface Outputs {
  /** The tree a check runs on: with the outputs of what it comes after. */
  treeFor(check: Check, name: Trial["tree"]): Promise<RoomTree>;
}

export function gatherOutputs({ plan, trees, isGuarded, run, folder }: OutputsOptions): Outputs {
  const made = new Map<string, Promise<Layer | null>>();
  const byId = new Map(plan.checks.map((check) => [check.id, check]));

  const madeBy = (id: string, name: Trial["tree"]): Promise<Layer | null> => {
    const key = `${name}\0${id}`;
    const known = made.get(key) ?? make(byId.get(id)!, name);
    made.set(key, known);
    return known;
  };
  const make = async (check: Check, name: Trial["tree"]): Promise<Layer | null> => {
    if (!check.automatic) return null;
    const tree = await outputs.treeFor(check, name);
    let layer: Layer | null = null;
    await run(check, tree, (room) => {
      layer = room.keep(folder(), (path) => !isGuarded(path) || isInstalled(path, tree));
    });
    return layer;
  };
  const outputs: Outputs = {
    async treeFor(check, name) {
      const tree = trees[name]!;
      const layers = await Promise.all(earlier(check, byId).map((id) => madeBy(id, name)));
      const found = layers.filter((layer) => layer !== null);
      if (found.length === 0) return tree;
      const checkers = new Set(tree.view.checkers);
      const isChecker = (path: string) => checkers.has(path);
      const { installed, blocked } = tree;
      const own = { ...(installed === undefined ? {} : { installed }), ...(blocked === undefined ? {} : { blocked }) };
      return { ...roomTree(found.reduce(putOver, tree.layers), { isGuarded, isChecker, open: tree.open }), ...own };
    },
  };
  return outputs;
}

/** What a check installed where nothing was installed before: the checks after it are there for that. */
function isInstalled(path: string, { layers }: RoomTree): boolean {
  const folder = installedFolder(path);
  return folder !== null && !layers.entries.has(folder);
}

/** Everything a check comes after, what it needs first first. */
function earlier(check: Check, byId: ReadonlyMap<string, Check>, seen = new Set<string>()): string[] {
  return check.after.flatMap((id) => {
    if (seen.has(id)) return [];
    seen.add(id);
    return [...earlier(byId.get(id)!, byId, seen), id];
  });
}
