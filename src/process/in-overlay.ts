// A tree of two folders: one that is only read, and over it one that takes every change. The kernel puts it together in a mount
// namespace that ends with the command, so nothing stays mounted, whoever is killed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { NutError } from "../errors.js";
import { removeFolder } from "../files/index.js";

export interface LayeredTree {
  /** Read, and never written to while anybody looks at the tree. */
  readonly base: string;
  /** Takes every change. Beside it lie two folders of the kernel's own: see layerFolders. */
  readonly changes: string;
}

/** Where an overlay is put together before it is bound to its place. Only the sandbox's own mounts may start from there. */
export const overlayPlace = (changes: string): string => `${changes}.merged`;

/** Overlay options end at a comma, layers at a colon. */
const escapeLayer = (path: string): string => path.replace(/[\\:,]/g, "\\$&");

/** What an overlay needs on disk. They go together. */
export const layerFolders = (changes: string): readonly string[] => [changes, `${changes}.work`, overlayPlace(changes)];

/** Where a mount of these words is to be made: the kernel repeats them in every line it writes of such a tree, so they are kept short. */
export const overlayHome = (changes: string): string => dirname(changes);

/**
 * The words of a mount, folders made. `volatile`, since else the kernel writes all that is new on the whole disk, such as the clone
 * itself, whenever a tree is left; what must outlast a power cut is kept elsewhere. Its mark of an earlier mount is taken away.
 */
export function overlayWords(layers: readonly string[], changes: string): string[] {
  for (const folder of layerFolders(changes)) mkdirSync(folder, { recursive: true });
  const [, work, place] = layerFolders(changes);
  removeFolder(join(work!, "work"));
  const home = realpathSync(overlayHome(changes));
  const name = (path: string) => escapeLayer(shortName(home, path));
  const lower = layers.map(name).join(":");
  return [`lowerdir=${lower},upperdir=${name(changes)},workdir=${name(work!)},userxattr,volatile`, place!];
}

/** From where the kernel stands; it knows nothing of the links that led there. */
function shortName(home: string, path: string): string {
  // Whoever puts it together says what is missing.
  if (!existsSync(path)) return path;
  const short = relative(home, realpathSync(path));
  return short !== "" && short.length < path.length ? short : path;
}

const MAX_BYTES = 1 << 30;

const MOUNT = 'mount -t overlay overlay -o "$1" "$2"';
/** Where overlays are counted, one that its sandbox has just left may still be there for a moment. */
const MOUNT_AGAIN = `{ ${MOUNT} 2>/dev/null || { sleep 0.2; ${MOUNT} 2>/dev/null; } || { sleep 2; ${MOUNT}; }; }`;

/** Runs a script of ours in the tree, as the tree stands; what it prints. Throws when there can be no such tree here. */
export function inOverlay(tree: LayeredTree, script: string, input: string | Buffer = ""): Buffer {
  return runIn(tree, `${MOUNT_AGAIN} || exit 125; cd "$2" || exit 125; ${script}`, input);
}

function runIn({ base, changes }: LayeredTree, script: string, input: string | Buffer): Buffer {
  const own = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const { status, stdout, stderr } = spawnSync(
    "/usr/bin/unshare",
    [
      ...own,
      "--mount",
      "--propagation",
      "private",
      "--",
      "/bin/sh",
      "-c",
      script,
      "sh",
      ...overlayWords([base], changes),
    ],
    {
      cwd: overlayHome(changes),
      input,
      env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" },
      maxBuffer: MAX_BYTES,
    },
  );
  if (status === 0) return stdout;
  const said = stderr?.toString("utf8").trim().split("\n").at(-1) ?? "";
  throw new NutError(
    "SANDBOX_MISSING",
    `the tree over ${base} could not be put together: ${said || `exit ${status}`}`,
    {
      hint: "nexus doctor",
      data: { path: changes },
    },
  );
}

const known = new Map<number, boolean>();

/** Whether such trees can be made in this folder; asked once per disk. */
export function canLayer(folder: string): boolean {
  if (process.platform !== "linux") return false;
  mkdirSync(folder, { recursive: true });
  const disk = statSync(folder).dev;
  const works = known.get(disk) ?? tries(join(folder, `.layers-${process.pid}`));
  known.set(disk, works);
  return works;
}

function tries(place: string): boolean {
  const [base, changes] = [join(place, "base"), join(place, "changes")];
  try {
    mkdirSync(base, { recursive: true });
    for (const name of ["kept", "gone"]) writeFileSync(join(base, name), "");
    // Everything that is asked of such a tree later.
    const script = `${MOUNT} && cd "$2" && rm gone && echo > new && mkdir -p a/b && find . -type f -print0`;
    const found = runIn({ base, changes }, script, "").toString("utf8").split("\0");
    return found.includes("./kept") && found.includes("./new") && !found.includes("./gone");
  } catch {
    return false;
  } finally {
    // The kernel leaves a folder there that only its owner opens.
    removeFolder(place);
  }
}
