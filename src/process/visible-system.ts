// What of this machine a sandbox shows: the system's own folders, and where the programs on PATH are installed. Everything
// else is not there: no home, no other project, no daemon's socket. Among what is shown, files that hold credentials are
// covered. Read-only, all of it.
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { credentialCovers } from "./credential-covers.js";
import type { Environment } from "./find-program.js";
import type { Mount } from "./sandbox.js";

const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/** What programs need to know about the machine. None of it is secret on any distribution. */
const SYSTEM_FILES = [
  ..."alternatives ca-certificates ca-certificates.conf chromium chromium.d crypto-policies debian_version fonts gai.conf group".split(
    " ",
  ),
  ..."host.conf hosts java-11-openjdk java-17-openjdk java-21-openjdk ld.so.cache ld.so.conf ld.so.conf.d".split(" "),
  ..."locale.alias locale.conf localtime lsb-release magic magic.mime mime.types nsswitch.conf".split(" "),
  ..."os-release passwd perl php pki/ca-trust pki/tls/certs pki/tls/cert.pem pki/java postgresql-common profile".split(
    " ",
  ),
  ..."protocols python3 python3.11 python3.12 python3.13 rpc services shells ssl/certs ssl/openssl.cnf terminfo".split(
    " ",
  ),
  // Not its settings, which are where passwords of repositories stand.
  ..."maven/logging maven/m2.conf timezone".split(" "),
].map((name) => `/etc/${name}`);

const NETWORK_FILES = ["/etc/resolv.conf", "/etc/hostname"];

/** Read by runtimes that ask how many processors there are. */
const MACHINE_FACTS = ["/sys/devices/system/cpu", "/sys/devices/system/node"];

/** Below a home, where package managers keep what they fetched; programs read it and nobody else's business is in it. */
const FETCHED = [
  ".rustup",
  ".cargo/registry",
  ".cargo/git",
  ".m2/repository",
  ".local/lib",
  ".local/share/pipx",
  ".local/share/uv",
  ".cache/ms-playwright",
  "go/pkg/mod",
];

export interface VisibleSystem {
  /** PATH says which programs there are; HOME where their caches may be. */
  readonly env: Environment;
  /** More programs and files that must be readable, such as our own server. */
  readonly programs?: readonly string[];
}

export const systemFolders = (): Mount[] => SYSTEM_FOLDERS.flatMap(asItIs);

/** What a machine tells everybody about itself. */
export function systemFiles(network: boolean): Mount[] {
  return [...SYSTEM_FILES, ...MACHINE_FACTS, ...(network ? NETWORK_FILES : [])].flatMap((path): Mount[] => {
    const real = realPath(path);
    if (real === null) return [];
    // A link in /etc leads to where a distribution keeps the file; its content appears under the name programs know.
    const isShown = real !== path && isSystem(real);
    return [isShown ? { access: "link", path, to: real } : { access: "read-only", path, from: real }];
  });
}

/** Where programs are installed, with what lies there and is nobody else's business covered. In the order they must be made. */
export function programMounts({ env, programs = [] }: VisibleSystem): Mount[] {
  const prefixes = installPrefixes(env, programs);
  const shown = prefixes.map((path): Mount => ({ access: "read-only", path }));
  return [...shown, ...coversNow(env.HOME, ["/usr", ...prefixes])];
}

/** What was found to cover a moment ago holds for sandboxes that start together. */
const LOOKED_MS = 1_000;
let latest: { readonly key: string; readonly atMs: number; readonly covers: Mount[] } | null = null;

function coversNow(home: string | undefined, shown: readonly string[]): Mount[] {
  const key = JSON.stringify([home, shown, [...keys]]);
  const nowMs = performance.now();
  if (latest === null || latest.key !== key || nowMs - latest.atMs > LOOKED_MS)
    latest = { key, atMs: nowMs, covers: credentialCovers(home, shown, keys) };
  return latest.covers;
}

/** PATH without the folders a sandbox does not show. */
export function visiblePath(env: Environment): string {
  const prefixes = installPrefixes(env, []);
  const shown = (folder: string) =>
    isAbsolute(folder) && (isSystem(folder) || prefixes.some((at) => folder === at || folder.startsWith(`${at}/`)));
  return [...new Set((env.PATH ?? "").split(delimiter).filter(shown))].join(delimiter);
}

/** Whether a path lies where every sandbox shows the system's programs. Settings and secrets of the system lie elsewhere. */
export function isProgramPlace(path: string, env: Environment = {}): boolean {
  return isSystem(path) || installPrefixes(env, []).some((at) => path === at || path.startsWith(`${at}/`));
}

/** A folder, or the link that stands for one since distributions merged /bin into /usr. */
function asItIs(path: string): Mount[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (stat.isSymbolicLink()) return [{ access: "link", path, to: readlinkSync(path) }];
  return [{ access: "read-only", path }];
}

const known = new Map<string, string[]>();

/** Folders outside the system's own in which programs are installed, none inside another. Looked for once. */
export function installPrefixes(env: Environment, programs: readonly string[]): string[] {
  const key = JSON.stringify([env.PATH, env.HOME, ...TOOLCHAINS.map((name) => env[name]), programs]);
  const found = known.get(key) ?? findPrefixes(env, programs);
  known.set(key, found);
  return found;
}

/** Variables that say where a toolchain is. */
const TOOLCHAINS = ["RUSTUP_HOME", "CARGO_HOME", "GOROOT", "GOMODCACHE", "JAVA_HOME"];

function findPrefixes(env: Environment, programs: readonly string[]): string[] {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder) && existsSync(folder));
  const home = env.HOME === undefined ? null : realPath(env.HOME);
  const found = new Set<string>();
  const add = (path: string) => {
    if (!isSystem(path) && !isTooWide(path, home)) found.add(path);
  };
  for (const folder of folders) add(prefixOf(folder, home));
  // /bin is /usr/bin on most machines, and looking through either takes as long.
  for (const folder of new Set(folders.map(realPath))) {
    if (folder === null) continue;
    add(prefixOf(folder, home));
    for (const target of linkTargets(folder)) add(installOf(target, home));
  }
  for (const program of programs) {
    for (const path of [program, realPath(program)]) {
      if (path !== null && isAbsolute(path) && existsSync(path)) add(installOf(path, home));
    }
  }
  if (home !== null) for (const name of FETCHED) if (existsSync(join(home, name))) found.add(join(home, name));
  for (const name of TOOLCHAINS) {
    const path = env[name] === undefined ? null : realPath(env[name]);
    if (path !== null) add(path);
  }
  const all = [...found].sort();
  return all.filter((path) => !all.some((other) => other !== path && path.startsWith(`${other}/`)));
}

/**
 * `/opt/node/bin` → `/opt/node`, when the folder beside `bin` looks like an installation. A project has a `bin`, too, and
 * some programs keep a login beside theirs: then only `bin` is shown.
 */
function prefixOf(folder: string, home: string | null): string {
  if (!/\/(?:s?bin|shims|\.bin|Scripts)$/.test(folder)) return folder;
  const parent = dirname(folder);
  return isTooWide(parent, home) || !looksInstalled(parent) ? folder : parent;
}

const INSTALLED = "lib lib64 libexec include share versions toolchains installs pyvenv.cfg release node_modules".split(
  " ",
);
const MANAGED = ["versions", "installs", "toolchains", "shims"];
const PROJECT = [".git", ".hg", ".env"];

function looksInstalled(folder: string): boolean {
  if (folder.endsWith("/node_modules")) return true;
  if (!INSTALLED.some((name) => existsSync(join(folder, name)))) return false;
  // Version managers are clones: they lie in a home, whoever's, under a name with a dot, and hold what they installed.
  const isHidden = basename(folder).startsWith(".");
  const isManager = isHidden && MANAGED.some((name) => existsSync(join(folder, name)));
  return isManager || !PROJECT.some((name) => existsSync(join(folder, name)));
}

/** The folder a program needs: its package, its prefix, the folder it lies in, or where that holds more, itself alone. */
function installOf(file: string, home: string | null): string {
  const folder = packageOf(file) ?? prefixOf(dirname(file), home);
  return isTooWide(folder, home) ? file : folder;
}

/** The npm package a file belongs to, with the packages beside it; null when it belongs to none. */
function packageOf(file: string): string | null {
  const modules = file.lastIndexOf("/node_modules/");
  if (modules >= 0) return file.slice(0, file.indexOf("/node_modules/") + "/node_modules".length);
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json")) && existsSync(join(folder, "dist"))) return folder;
  }
  return null;
}

const MOST_LINKS = 2_000;

const targets = new Map<string, string[]>();

/** What lies outside the system's folders and a link in this one leads to. Looked for once. */
function linkTargets(folder: string): string[] {
  const found = targets.get(folder) ?? findTargets(folder);
  targets.set(folder, found);
  return found;
}

function findTargets(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).slice(0, MOST_LINKS);
  return entries.flatMap((entry) => {
    if (!entry.isSymbolicLink()) return [];
    const path = join(folder, entry.name);
    const real = leadsToNeighbour(path) ? null : realPath(path);
    return real === null || isSystem(real) ? [] : [real];
  });
}

/** Most links do, and the neighbour is looked at by itself; following each of a thousand takes long. */
function leadsToNeighbour(link: string): boolean {
  try {
    return !readlinkSync(link).includes("/");
  } catch {
    return false;
  }
}

const isSystem = (path: string): boolean =>
  SYSTEM_FOLDERS.some((folder) => path === folder || path.startsWith(`${folder}/`));

const SHARED = ["/", "/home", "/root", "/opt", "/var", "/var/tmp", "/tmp", "/srv", "/mnt", "/media", "/etc", "/run"];
/** One of these is in every home, whoever's, and in no installation. */
const HOME_MARKS = ".ssh .gnupg .bashrc .zshrc .profile .bash_history .aws .kube .docker".split(" ");
const SHARED_IN_HOMES = /\/(?:\.config|\.local|\.local\/share|\.local\/state|\.cache)$/;

/** A folder that holds more than one installation: a home, or anything above one. */
function isTooWide(path: string, home: string | null): boolean {
  if (SHARED.includes(path) || SHARED_IN_HOMES.test(path)) return true;
  if (home !== null && (path === home || home.startsWith(`${path}/`))) return true;
  return /^\/(?:home|Users)\/[^/]+$/.test(path) || HOME_MARKS.some((name) => existsSync(join(path, name)));
}

const keys = new Set<string>();

/** A key this process was given. No sandbox it makes shows the file, wherever it lies. */
export function neverShow(path: string): void {
  keys.add(path);
  const real = realPath(path);
  if (real !== null) keys.add(real);
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** The machine's own accounts without the people on it, and the one a sandbox runs as. */
export function neutralPasswd(uid: number, home: string): string {
  const system = systemRows("/etc/passwd", uid).map((line) => line.replace(/:[^:]*:([^:]*)$/, ":/:$1"));
  return `${[...system, `user:x:${uid}:${uid}:user:${home}:/bin/sh`].join("\n")}\n`;
}

export function neutralGroup(gid: number): string {
  const system = systemRows("/etc/group", gid).map((line) => line.replace(/:[^:]*$/, ":"));
  return `${[...system, `user:x:${gid}:`].join("\n")}\n`;
}

/** Accounts below 1000 belong to the system. */
function systemRows(file: string, taken: number): string[] {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text.split("\n").filter((line) => {
    const id = Number(line.split(":")[2]);
    return line !== "" && id < 1000 && id !== taken;
  });
}
