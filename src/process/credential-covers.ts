// Files that hold credentials and lie among what a sandbox shows of the machine: beside an installation, in its settings, or
// where package managers keep theirs. Each is covered by something empty.
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Mount } from "./sandbox.js";

/** Files that hold credentials, wherever a shown folder may bring them in. Relative to a home. */
const CREDENTIAL_FILES = [
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".m2/settings.xml",
  ".m2/settings-security.xml",
  ".gradle/gradle.properties",
  ".npmrc",
  ".yarnrc.yml",
  ".pypirc",
  ".netrc",
  ".config/pip/pip.conf",
  ".bunfig.toml",
  ".composer/auth.json",
  ".gem/credentials",
  ".nuget/NuGet/NuGet.Config",
];

/** What people keep beside an installation and nobody else should read. */
const CREDENTIAL_NAMES = [
  /^\.env(?:\..+)?$/,
  /^\.(?:npm|yarn|pypi|net|conda)rc(?:\.yml)?$/,
  /^\.git-credentials$/,
  /(?:credentials?|secrets?|(?:access|auth|refresh)[-_]?tokens?)(?:\.\w+)?$/i,
  /^auth\.json$/i,
  /^(?:keystores?|keyrings?|wallets?)$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)/,
  /\.(?:pem|key|p12|pfx|age|kdbx)$/i,
  // Databases and spools, never programs.
  /^var$/,
];

/** Settings of programs, in which a login may stand beside what everybody needs: a mirror, whom to trust. */
const SETTINGS = /^(?:npmrc|condarc|gemrc|gitconfig|pip\.conf|my\.cnf|settings\.xml)$/;
const SETTING_FOLDERS = ["", "etc", "conf"];
const LOGIN = /_auth|token|passw|secret|credential|private.?key|:\/\/[^\s/@]+@/i;
const MOST_SETTING_BYTES = 256 * 1024;

/** Maven does not start with empty settings, so they must not be there at all. */
const MUST_BE_GONE = "settings.xml";

/** Where version managers keep installations, one or two folders further down. */
const VERSIONS = ["versions", "installs", "toolchains", "candidates", "envs"];
const MOST_INSTALLATIONS = 200;

/** `shown` are folders a sandbox shows; `keys` files it must not show wherever they lie. */
export function credentialCovers(
  home: string | undefined,
  shown: readonly string[],
  keys: ReadonlySet<string>,
): Mount[] {
  const known = home === undefined ? [] : CREDENTIAL_FILES.map((name) => join(home, name));
  // Names in node_modules are names of packages.
  const places = shown.filter((folder) => !folder.endsWith("/node_modules")).flatMap(installationsIn);
  const beside = places.flatMap((folder) => matching(folder, (name) => isCredential(name, folder)));
  const settings = places.flatMap(settingsIn);
  const isShown = (path: string) => shown.some((folder) => path === folder || path.startsWith(`${folder}/`));
  const named = [...new Set([...known, ...beside, ...settings, ...keys])].map(whereItIs);
  return named.filter((path) => path !== null && isShown(path)).flatMap((path) => cover(path!));
}

/** Programs may be called anything, and the system's own folders hold no more than settings of programs. */
const isCredential = (name: string, folder: string): boolean =>
  !isSystemPlace(folder) &&
  !(OF_PROGRAMS.test(folder) && !name.startsWith(".")) &&
  (CREDENTIAL_NAMES.some((pattern) => pattern.test(name)) || isHistory(name, folder));

const OF_PROGRAMS = /\/(?:s?bin|shims|\.bin|Scripts)$/;
const isSystemPlace = (folder: string): boolean => folder === "/usr" || folder === "/usr/local";

/** Of what is linked from a project; addresses with passwords stand in its settings. Version managers are everybody's clones. */
const isHistory = (name: string, folder: string): boolean => name === ".git" && !basename(folder).startsWith(".");

const settingsIn = (folder: string): string[] =>
  SETTING_FOLDERS.flatMap((below) => matching(join(folder, below), (name) => SETTINGS.test(name))).filter(holdsLogin);

function holdsLogin(path: string): boolean {
  const real = whereItIs(path);
  const stat = real === null ? null : lookAt(real);
  if (stat?.isFile() !== true) return false;
  if (stat.size > MOST_SETTING_BYTES) return true;
  try {
    return LOGIN.test(withoutComments(readFileSync(real!, "utf8")));
  } catch {
    // Not for us to read: then nobody we start can either.
    return false;
  }
}

/** A sample that comes with a program speaks of passwords in comments. */
function withoutComments(text: string): string {
  return text
    .split("<!--")
    .map((part, index) => (index === 0 ? part : part.slice(part.indexOf("-->") + 1)))
    .join("");
}

/** A folder that is shown, and what version managers installed below it. */
function installationsIn(folder: string): string[] {
  if (folder === "/usr") return ["/usr", "/usr/local"];
  const below = VERSIONS.flatMap((name) => foldersIn(join(folder, name)));
  const isWhole = (path: string) => existsSync(join(path, "bin"));
  const further = below.flatMap((path) => (isWhole(path) ? [path] : foldersIn(path)));
  return [folder, ...further].slice(0, MOST_INSTALLATIONS);
}

const foldersIn = (folder: string): string[] => matching(folder, (name) => isFolder(join(folder, name)));

const matching = (folder: string, isWanted: (name: string) => boolean): string[] =>
  namesIn(folder)
    .filter(isWanted)
    .map((name) => join(folder, name));

function namesIn(folder: string): string[] {
  if (!isFolder(folder)) return [];
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const isFolder = (path: string): boolean => lookAt(path)?.isDirectory() === true;

/** null where there is nothing, or a file where a folder would have to be. */
function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

/** A mount lands where a link leads. */
function whereItIs(path: string): string | null {
  if (lookAt(path)?.isSymbolicLink() !== true) return path;
  return existsSync(path) ? realpathSync(path) : null;
}

function cover(path: string): Mount[] {
  if (isFolder(path)) return [{ access: "hidden", path }];
  if (lookAt(path)?.isFile() !== true) return [];
  return basename(path) === MUST_BE_GONE ? without(path) : [{ access: "hidden-file", path }];
}

/** The folder of the file without it: an empty one with all else in it. */
function without(file: string): Mount[] {
  const folder = dirname(file);
  const others = matching(folder, (name) => join(folder, name) !== file && !SETTINGS.test(name));
  return [{ access: "hidden", path: folder }, ...others.map((path): Mount => ({ access: "read-only", path }))];
}
