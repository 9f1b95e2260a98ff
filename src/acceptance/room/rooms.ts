// A room for every run of a check. On this machine it is a private folder that no sandbox can write to; inside it is a
// tree at a fixed place, an empty home, an empty temporary folder and the system's programs. The tree is an overlay where
// the kernel makes one, else a copy. Without a sandbox it is a copy in plain sight, and the report says so.
import {
  chmodSync,
  constants,
  copyFileSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import {
  type Bwrap,
  type ChildResult,
  type Environment,
  findBwrap,
  findProgram,
  javascriptEngine,
  type Mount,
  overlayPlace,
  placeMounts,
  runChild,
  type Sandbox,
} from "../../process/index.js";
import type { RoomPlaces } from "../../schema/places.js";
import { environmentIn, ownProgram } from "../install/installed.js";
import type { WaysOut } from "../ways-out.js";
import { cargoSources } from "./cargo-sources.js";
import { cacheMounts, type Places, roomEnvironment } from "./environment.js";
import { guardsBefore, isChanged, plantedFiles, plantedLists } from "./guards.js";
import { type Layer, type Layers, placeOf, putFiles, viewOf } from "./layers.js";
import { openAirFolder } from "./open-air.js";
import { keepOutputs } from "./outputs.js";
import { HOME, overlayWorks, removeFolder, TREE } from "./overlay-works.js";
import type { RoomTree } from "./room-tree.js";
import { listWritten, readWritten } from "./written-files.js";

export { HOME, TREE };
export const REPORTS = "/var/tmp/report";
const LINE = "/var/tmp/line";
export const WAYS = "/var/tmp/ways";

/** How much a room's home and temporary folder may hold, each. */
const MEMORY_FOLDER_BYTES = 1024 ** 3;

export interface RoomCommand {
  readonly command: string;
  readonly args?: readonly string[];
  /** From the tree's root. */
  readonly cwd?: string;
  readonly env?: Environment;
  readonly timeoutMs: number;
  readonly stdin?: { readonly text: string };
  readonly signal?: AbortSignal;
  readonly maxOutputBytes?: number;
}

export interface RoomOptions {
  readonly network: Sandbox["network"];
  /** The check is a debugger. */
  readonly ptrace?: boolean;
  /** A folder on this machine that is shared with another room. Our own engine is then there too, to serve or to ask. */
  readonly line?: { readonly folder: string; readonly access: "read-only" | "writable" };
  /** Sockets that lead out, and the names that stand for them. Only with a network of its own. */
  readonly ways?: Pick<WaysOut, "folder" | "hosts" | "listens">;
  /** Folders of this machine it may read, where they are. */
  readonly folders?: readonly string[];
}

export interface Room {
  /** Absolute paths as commands in the room know them. */
  readonly tree: string;
  readonly reports: string;
  /** The folder that is shared with another room. */
  readonly line: string;
  /** The folder with the ways out. */
  readonly ways: string;
  run(command: RoomCommand): Promise<ChildResult>;
  /** What the run wrote, by paths as the room knows them; one that ends with `/` stands for its `.xml` files. */
  written(paths: readonly string[]): Map<string, Uint8Array>;
  /** Tests and steering files that are not as they were. */
  changedGuards(): string[];
  /** Lists of what to leave out that were not there before. */
  plantedLists(): string[];
  /** Copies what was made in the tree to a folder of ours. */
  keep(folder: string, isKept: (path: string) => boolean): Layer;
  close(): void;
}

export interface Rooms {
  readonly sandboxed: boolean;
  /** Whether each room has a network of its own, so that two checks can listen on one port. */
  readonly apart: boolean;
  findProgram(name: string): string | null;
  /** Whether a program ends with 0; asked once. */
  answers(command: string, args: readonly string[]): Promise<boolean>;
  open(tree: RoomTree, options: RoomOptions): Room;
  /** The tree with some files in another version. */
  alter(tree: RoomTree, files: ReadonlyMap<string, Uint8Array>): RoomTree;
  /** A path for a folder of ours that no room can write to. */
  place(): string;
  remove(): void;
}

export interface RoomsOptions {
  /** A folder of our own that no sandbox can write to. */
  readonly folder: string;
  readonly env: Environment;
  /** auto uses bubblewrap when it works here. */
  readonly sandbox: "auto" | "off";
  /** Absolute names the tree is known by besides its own. */
  readonly places?: RoomPlaces | undefined;
}

export async function openRooms({ folder: asked, env, sandbox, places = {} }: RoomsOptions): Promise<Rooms> {
  const found = sandbox === "auto" ? await findBwrap(env) : null;
  // Every room has an account of its own.
  const bwrap = found?.accounts === true ? found : null;
  // In a sandbox no folder above the tree is there to be seen, wherever the room lies.
  const folder = bwrap === null ? openAirFolder(env) : asked;
  // What a killed process left there is nobody's any more.
  if (bwrap !== null) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const layered = bwrap !== null && (await overlayWorks(join(folder, "probe"), env));
  const setting: Setting = { env, bwrap, layered, places };
  let count = 0;
  const next = () => {
    count += 1;
    return join(folder, String(count));
  };
  const answered = new Map<string, Promise<boolean>>();
  const path = roomEnvironment(env, { home: HOME, temporary: "/tmp" }, bwrap !== null);
  const rooms: Rooms = {
    sandboxed: bwrap !== null,
    apart: bwrap?.network === true,
    findProgram: (name) => findProgram(name, path),
    answers: (command, args) => {
      const key = [command, ...args].join("\0");
      const known = answered.get(key) ?? ask(rooms, command, args);
      answered.set(key, known);
      return known;
    },
    open: (tree, options) => openRoom(next(), tree, options, setting),
    alter: (tree, files) => alterTree(tree, files, next()),
    place: next,
    remove: () => removeFolder(folder),
  };
  return rooms;
}

function alterTree(tree: RoomTree, files: ReadonlyMap<string, Uint8Array>, folder: string): RoomTree {
  if (files.size === 0) return tree;
  for (const [path, bytes] of files) {
    const before = tree.layers.entries.get(path);
    const executable = before !== undefined && isExecutable(placeOf(path, before));
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), bytes, { mode: executable ? 0o755 : 0o644 });
  }
  const layers = putFiles(tree.layers, folder, files.keys());
  return { ...tree, layers, view: viewOf(layers, { checkers: tree.view.checkers, isGuarded: tree.view.isGuarded }) };
}

const isExecutable = (path: string): boolean => (statSync(path).mode & 0o111) !== 0;

/** What all rooms of one acceptance have in common. */
interface Setting {
  readonly env: Environment;
  readonly bwrap: Bwrap | null;
  readonly layered: boolean;
  readonly places: RoomPlaces;
}

const EMPTY: RoomTree = {
  layers: { folders: [], removed: [], entries: new Map() },
  view: { exists: () => false, read: () => null, list: () => [] },
  cover: { anchors: [], frozen: [], compared: [] },
  caches: [],
  open: [],
  guarded: [],
  has: () => false,
};

async function ask(rooms: Rooms, command: string, args: readonly string[]): Promise<boolean> {
  if (rooms.findProgram(command) === null) return false;
  const room = rooms.open(EMPTY, { network: "none" });
  try {
    return (await room.run({ command, args, timeoutMs: 30_000 })).code === 0;
  } finally {
    room.close();
  }
}

function openRoom(folder: string, tree: RoomTree, options: RoomOptions, setting: Setting): Room {
  const [copy, home, temporary, reports] = ["tree", "home", "tmp", "reports"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  mkdirSync(reports, { recursive: true });
  const layered = setting.layered && canLayer(tree);
  if (!layered) copyLayers(tree.layers, copy);
  const sandboxed = setting.bwrap !== null;
  if (!sandboxed) for (const path of [home, temporary]) mkdirSync(path);
  const places: Places = sandboxed ? { home: HOME, temporary: "/tmp" } : { home, temporary };
  const inside = sandboxed ? { tree: TREE, reports: REPORTS } : { tree: copy, reports };
  const outside = { tree: layered ? join(folder, "changes") : copy, reports };
  const sandbox = sandboxed ? sandboxOf({ folder, tree, options, setting, layered, outside }) : null;
  const before = guardsBefore(tree, sandboxed, layered ? null : copy);
  return {
    ...inside,
    line: sandboxed ? LINE : (options.line?.folder ?? ""),
    ways: WAYS,
    run: ({ cwd = "", env, ...command }) => {
      const own = ownProgram(command, tree, inside.tree);
      return runChild({
        ...(sandboxed ? startedInside(own) : own),
        cwd: posix.join(inside.tree, cwd),
        env: { ...environmentIn(tree, inside.tree, roomEnvironment(setting.env, places, sandboxed)), ...env },
        sandbox,
      });
    },
    written: (paths) => new Map(paths.flatMap((path) => writtenBelow(path, inside, outside))),
    changedGuards: () => [
      ...[...before]
        .filter(([path, entry]) => isChanged(join(outside.tree, path), entry, layered))
        .map(([path]) => path),
      ...plantedFiles(outside.tree, tree),
    ],
    plantedLists: () => plantedLists(outside.tree, tree),
    keep: (target, isKept) => keepOutputs({ folder: outside.tree, layered }, tree.layers, target, isKept),
    close: () => removeFolder(folder),
  };
}

/** A program of the tree itself is nowhere outside the room, so it is looked for inside. */
function startedInside(command: Omit<RoomCommand, "cwd" | "env">): Omit<RoomCommand, "cwd" | "env"> {
  if (!command.command.startsWith(`${TREE}/`)) return command;
  return { ...command, command: "sh", args: ["-c", 'exec "$0" "$@"', command.command, ...(command.args ?? [])] };
}

/** An overlay does not show all that happened in it; what must be compared afterwards needs a copy, links excepted. */
const canLayer = ({ layers, cover }: RoomTree): boolean =>
  layers.folders.length > 0 && cover.compared.every((path) => layers.entries.get(path)?.type === "link");

interface Outside {
  readonly tree: string;
  readonly reports: string;
}

interface SandboxParts {
  readonly folder: string;
  readonly tree: RoomTree;
  readonly options: RoomOptions;
  readonly setting: Setting;
  readonly layered: boolean;
  readonly outside: Outside;
}

function sandboxOf({ folder, tree, options, setting, layered, outside }: SandboxParts): Sandbox {
  const { layers, cover, caches, has } = tree;
  for (const path of caches) mkdirSync(join(outside.tree, path), { recursive: true });
  const accounts = join(folder, "etc");
  mkdirSync(accounts);
  const source = layered ? overlayPlace(outside.tree) : outside.tree;
  const root: Mount = layered
    ? {
        access: "overlay",
        path: TREE,
        layers: layers.folders,
        changes: outside.tree,
        removed: removedList(folder, tree),
      }
    : { access: "writable", path: TREE, from: outside.tree };
  const bound = (access: "writable" | "read-only") => (path: string) =>
    ({ access, path: `${TREE}/${path}`, from: `${source}/${path}` }) as const;
  return {
    root: "system",
    env: setting.env,
    network: setting.bwrap!.network ? options.network : "host",
    neutral: {
      home: HOME,
      folder: accounts,
      maxBytes: MEMORY_FOLDER_BYTES,
      ...(options.ptrace === true ? { ptrace: true } : {}),
    },
    ...(options.ways?.listens.some(({ port }) => port < 1024) === true ? { lowPorts: true } : {}),
    mounts: [
      root,
      ...cover.anchors.map(bound("writable")),
      ...cover.frozen.map(bound("read-only")),
      ...caches.map((path): Mount => ({ access: "hidden", path: `${TREE}/${path}`, maxBytes: MEMORY_FOLDER_BYTES })),
      ...(setting.layered ? cacheMounts(setting.env, { home: HOME, changes: join(folder, "cache"), has }) : []),
      ...cargoSettings(folder, tree, setting),
      ...placeMounts(setting.places, TREE, MEMORY_FOLDER_BYTES),
      { access: "writable", path: REPORTS, from: outside.reports },
      ...(options.line === undefined ? [] : lineMounts(options.line)),
      ...(options.ways === undefined ? [] : wayMounts(options.ways)),
      ...(options.folders ?? []).map((path): Mount => ({ access: "read-only", path })),
    ],
  };
}

/** What was installed for the tree comes from where its lock file says. */
function cargoSettings(folder: string, tree: RoomTree, { env }: Setting): Mount[] {
  if (!tree.has("Cargo.toml") || environmentIn(tree, TREE, {}).CARGO_HOME !== undefined) return [];
  const text = cargoSources(env);
  if (text === null) return [];
  const file = join(folder, "cargo.toml");
  writeFileSync(file, text);
  return [{ access: "read-only", path: `${HOME}/.cargo/config.toml`, from: file }];
}

function lineMounts({ folder, access }: NonNullable<RoomOptions["line"]>): Mount[] {
  return [
    { access: "read-only", path: javascriptEngine().command },
    { access, path: LINE, from: folder },
  ];
}

function wayMounts({ folder, hosts }: Pick<NonNullable<RoomOptions["ways"]>, "folder" | "hosts">): Mount[] {
  return [
    { access: "read-only", path: javascriptEngine().command },
    { access: "read-only", path: WAYS, from: folder },
    { access: "read-only", path: "/etc/hosts", from: hosts },
  ];
}

/** What of the layers is not there, as the overlay's maker reads it. */
function removedList(folder: string, { layers }: RoomTree): string {
  const file = join(folder, "removed");
  const place = overlayPlace(join(folder, "changes"));
  writeFileSync(file, layers.removed.map((path) => `${place}/${path}\0`).join(""));
  return file;
}

/** A copy, where layers cannot be. Contents are shared where the file system can. */
function copyLayers({ entries }: Layers, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const [path, placed] of entries) {
    const [type, from, to] = [placed.type, placeOf(path, placed), join(target, path)];
    if (type === "folder") mkdirSync(to, { recursive: true });
    else if (type === "link") symlinkSync(readlinkSync(from), to);
    else if (type === "file") {
      copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      const { mode, atime, mtime } = statSync(from);
      chmodSync(to, (mode & 0o111) === 0 ? 0o644 : 0o755);
      utimesSync(to, atime, mtime);
    }
  }
}

function writtenBelow(path: string, inside: Outside, outside: Outside): [string, Uint8Array][] {
  const key = (["reports", "tree"] as const).find((name) => path.startsWith(`${inside[name]}/`));
  if (key === undefined) return [];
  const below = path.slice(inside[key].length + 1).replace(/\/$/, "");
  if (path.endsWith("/")) {
    return listWritten(outside[key], below, ".xml").flatMap((name) => writtenBelow(`${path}${name}`, inside, outside));
  }
  const bytes = readWritten(outside[key], below);
  return bytes === null ? [] : [[path, bytes]];
}
