// A tree that rooms are made of, as often as a check is run: its layers, and what of it may not change meanwhile.
import { basename } from "node:path";
import type { Installed } from "../install/installed.js";
import type { Outcome } from "../model.js";
import type { TreeView } from "../runners/index.js";
import { type Cover, coverOf } from "./cover.js";
import { type Layers, viewOf } from "./layers.js";

export interface RoomTree {
  readonly layers: Layers;
  readonly view: TreeView;
  readonly cover: Cover;
  /** Folders that are empty and writable in every room, wherever they stand: runners keep caches in them. */
  readonly caches: readonly string[];
  /** Folders of tests in which the tests make files of their own. */
  readonly open: readonly string[];
  /** Every file that may not change while a check runs. */
  readonly guarded: readonly string[];
  /** Whether a file of that name is somewhere in it. */
  readonly has: (name: string) => boolean;
  /** What was installed for it. */
  readonly installed?: Installed;
  /** Why no check can be run on it. */
  readonly blocked?: Outcome;
}

export interface Guards {
  readonly isGuarded: (path: string) => boolean;
  readonly isChecker?: (path: string) => boolean;
  /** Folders of tests in which the tests make files of their own. */
  readonly open?: readonly string[];
}

export function roomTree(layers: Layers, { isGuarded, isChecker = () => false, open: asked = [] }: Guards): RoomTree {
  const files: string[] = [];
  for (const [path, { type }] of layers.entries) if (type === "file" || type === "link") files.push(path);
  const guarded = files.filter(isGuarded);
  const guards = new Set(guarded);
  const open = asked.filter((path) => layers.entries.get(path)?.type === "folder");
  return {
    layers,
    view: viewOf(layers, { checkers: guarded.filter(isChecker), isGuarded: (path) => guards.has(path) }),
    cover: withoutLinks(
      coverOf(files, (path) => guards.has(path), { open }),
      layers,
    ),
    caches: cachesOf(layers),
    open,
    guarded,
    has: remembering((name) => files.some((path) => path.endsWith(name) && basename(path) === name)),
  };
}

/** Asks once about each. */
export function remembering(
  decide: (path: string) => boolean,
  decided: Map<string, boolean> = new Map(),
): (path: string) => boolean {
  return (path) => {
    const known = decided.get(path) ?? decide(path);
    decided.set(path, known);
    return known;
  };
}

/** Names below node_modules that vite, vitest and others write to. */
export const CACHES = [".vite", ".vite-temp", ".vitest", ".cache"];

function cachesOf({ entries }: Layers): string[] {
  const modules: string[] = [];
  for (const [path, { type }] of entries) {
    if (type !== "folder" || !path.endsWith("node_modules")) continue;
    const parts = path.split("/");
    if (parts.indexOf("node_modules") === parts.length - 1) modules.push(path);
  }
  return modules.flatMap((path) => CACHES.map((name) => `${path}/${name}`));
}

/** A mount lands where a link leads, so a link of its own is compared instead. */
function withoutLinks({ anchors, frozen, compared }: Cover, { entries }: Layers): Cover {
  const isLink = (path: string) => entries.get(path)?.type === "link";
  return {
    anchors,
    frozen: frozen.filter((path) => !isLink(path)),
    compared: [...compared, ...frozen.filter(isLink)],
  };
}
