// What an entry may be called. Pure functions over strings: what needs the disk (links, case-folding file systems) is
// the unpacker's business.
import { NutError } from "../../errors.js";
import { MAX_COMPONENT_BYTES, MAX_DEPTH, MAX_PATH_BYTES } from "./limits.js";

export const MANIFEST_NAME = "nutshell.json";

// Control characters (C0, DEL, C1) move cursors and break line-based tools; no honest name holds them.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const DRIVE = /^[A-Za-z]:/;

/** Refuses a name that could leave the folder or means different things to different systems. Returns nothing. */
export function assertSafePath(path: string): void {
  const problem = pathProblem(path);
  if (problem === null) return;
  const [code, message] = problem;
  throw new NutError(code, `entry ${quoted(path)} ${message}`, {
    data: { path },
  });
}

type Problem = readonly ["BUNDLE_UNSAFE_PATH" | "BUNDLE_LIMIT", string];
const unsafe = (message: string): Problem => ["BUNDLE_UNSAFE_PATH", message];
const limit = (message: string): Problem => ["BUNDLE_LIMIT", message];

/** Why a path is refused, or null. Directories are given without their trailing slash. */
export function pathProblem(path: string): Problem | null {
  if (path === "") return unsafe("has no name");
  if (CONTROL.test(path)) return unsafe("has a control character in its name");
  if (path.includes("\\")) return unsafe("has a backslash in its name, which is a separator on some systems");
  if (path.startsWith("/")) return unsafe("is an absolute path");
  if (DRIVE.test(path)) return unsafe("starts with a drive letter");
  if (LONE_SURROGATE.test(path)) return unsafe("is not valid Unicode");
  if (path.length * 3 > MAX_PATH_BYTES && Buffer.byteLength(path) > MAX_PATH_BYTES) {
    return limit(`is longer than ${MAX_PATH_BYTES} bytes`);
  }
  const components = path.split("/");
  if (components.length > MAX_DEPTH) return limit(`is nested deeper than ${MAX_DEPTH} levels`);
  for (const component of components) {
    const problem = componentProblem(component);
    if (problem !== null) return problem;
  }
  return repositoryProblem(components);
}

function componentProblem(component: string): Problem | null {
  if (component === "..") return unsafe("climbs out of its folder");
  if (component === "." || component === "") return unsafe("has an empty step in its path");
  if (component.length * 3 > MAX_COMPONENT_BYTES && Buffer.byteLength(component) > MAX_COMPONENT_BYTES) {
    return limit(`has a name longer than ${MAX_COMPONENT_BYTES} bytes`);
  }
  return null;
}

/** Version control folders: never packed, and refused on the way in, because programs run what they find there. */
export const REPOSITORY_FOLDERS: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".bzr", ".jj", "_darcs"]);

// Code points that HFS+, or Linux in folders that ignore case, drop when they compare names.
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** A component as the most forgiving file systems compare it. */
export function folded(component: string): string {
  return component
    .normalize("NFKC")
    .replace(IGNORABLE, "")
    .toLowerCase()
    .replace(/[. ]+$/, "");
}

function repositoryProblem(components: readonly string[]): Problem | null {
  for (const [index, component] of components.entries()) {
    if (!SUSPECT.test(component)) continue;
    const name = folded(component);
    if (REPOSITORY_FOLDERS.has(name)) return unsafe(`is inside ${name}/, which programs obey`);
    if (name === "git~1") return unsafe("is another spelling of .git on some systems");
    if (name === ".nexus" && folded(components[index + 1] ?? "") === "state") {
      return unsafe("is inside .nexus/state/, which belongs to a harness");
    }
  }
  return null;
}

// Only names that could fold to one of ours are folded: this runs for every entry.
const SUSPECT = /^[._gG]|[^\u0000-\u007f]/;

const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
const INVISIBLE = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/;

// Whatever could be one of them; most names are not, and this runs for every entry.
const MAY_NOT_TRAVEL = /[^\w./-]|\.(?:\/|$)|(?:^|\/)(?:con|prn|aux|nul|com|lpt)/i;

/** Why a legal name will not travel to every system, or null. A warning here, a refusal where the system is that one. */
export function portabilityProblem(path: string): string | null {
  if (!MAY_NOT_TRAVEL.test(path)) return null;
  for (const component of path.split("/")) {
    if (DEVICE.test(component)) return "is a device name on Windows";
    if (/[. ]$/.test(component)) return "ends in a dot or space, which Windows drops";
    if (/[<>:"|?*]/.test(component)) return "has a character Windows does not allow in names";
    if (/~[0-9]+(?:\.|$)/.test(component)) return "looks like a Windows short name";
    if (INVISIBLE.test(component)) return "has invisible characters in its name";
  }
  return null;
}

/** Groups of paths that become one on file systems that ignore case or Unicode form. */
export function collisions(paths: Iterable<string>): string[][] {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const key = ASCII.test(path)
      ? path.toLowerCase()
      : path.normalize("NFKC").toLowerCase().toUpperCase().toLowerCase();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [path]);
    else group.push(path);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

const ASCII = /^[\x20-\x7e]*$/;

/** A name inside an error: cut, since it may be as long as its sender likes; escaping is the terminal's business. */
export function quoted(path: string): string {
  return `"${path.length > 120 ? `${path.slice(0, 117)}…` : path}"`;
}
