// What a child may touch, enforced by the kernel through bubblewrap. Denying a tool does not deny an edit: a shell does
// the same; a read-only mount and a network namespace hold whatever the program tries.
import { spawn } from "node:child_process";
import { existsSync, lstatSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NutError, shellWord } from "../errors.js";
import { type Environment, findProgram } from "./find-program.js";
import { overlayHome, overlayPlace, overlayWords } from "./in-overlay.js";
import { seccompFilter } from "./seccomp.js";
import {
  installPrefixes,
  neutralGroup,
  neutralPasswd,
  programMounts,
  systemFiles,
  systemFolders,
} from "./visible-system.js";

export type Mount =
  | {
      readonly access: "read-only" | "writable";
      readonly path: string;
      /** What appears at `path`; by default the path itself. */
      readonly from?: string;
    }
  /** An empty folder of its own, in memory; gone with the sandbox. */
  | { readonly access: "hidden"; readonly path: string; readonly maxBytes?: number }
  /** An empty file in place of the path. */
  | { readonly access: "hidden-file"; readonly path: string }
  | { readonly access: "link"; readonly path: string; readonly to: string }
  /** `layers`, the topmost first, with every change going to `changes`: nothing is copied, nothing below is touched. */
  | {
      readonly access: "overlay";
      readonly path: string;
      readonly layers: readonly string[];
      readonly changes: string;
      /** A file that lists what of the layers is not there: absolute paths below `overlayPlace(changes)`, each ended by NUL. */
      readonly removed?: string;
    }
  /** No change of any kind below this path from here on, mounts above it excepted. */
  | { readonly access: "frozen"; readonly path: string };

export interface Sandbox {
  /** What the rest of the file system is: the system's programs and nothing else, or everything, read-only or not. */
  readonly root: "system" | "read-only" | "writable";
  /** Later mounts cover earlier ones. Sources lie outside everything a sandbox can write to. */
  readonly mounts?: readonly Mount[];
  /** none leaves only a loopback of its own. */
  readonly network: "host" | "none";
  /** With root `system`: programs that must be there besides those on PATH, each with the folder it is installed in. */
  readonly programs?: readonly string[];
  /** With root `system`: the person's own environment, which says what is installed where. By default the command's. */
  readonly env?: Environment;
  /** With root `system`: how much /tmp may hold. It is empty, in memory, and nobody else's. */
  readonly tmpBytes?: number;
  /** With network `none`: ports below 1024 are like any other there. */
  readonly lowPorts?: boolean;
  /** It goes on when we are killed. For what must be finished once it is begun, and is looked after by whoever comes next. */
  readonly outlivesUs?: boolean;
  /** An account of its own, the same on every machine, and no way into other processes. */
  readonly neutral?: {
    /** Empty and in memory, as /tmp is. */
    readonly home: string;
    /** A folder of ours for the lists of accounts. */
    readonly folder: string;
    readonly ptrace?: boolean;
    /** How much home and /tmp may hold, each. */
    readonly maxBytes?: number;
  };
}

/** The account code under test runs as. */
export const NEUTRAL_UID = 1000;

export interface Bwrap {
  readonly program: string;
  /** Whether a network namespace of its own can be made here. */
  readonly network: boolean;
  /** Whether an account of its own can be made here, as checks have. Root is held without, and needs user namespaces for this. */
  readonly accounts: boolean;
  /** Whether the machine's devices must and can be held: see holdDevices. */
  readonly devices: boolean;
}

/** What the machine tells everybody about itself, put together beforehand: see prepareSystem. */
export interface PreparedSystem {
  /** What stands before a command that starts there. */
  readonly enter: readonly string[];
  /** Takes the place of `systemFiles`. */
  readonly mounts: readonly Mount[];
  /** Every path there. More cannot be added: what they lie in is read-only. */
  readonly paths: ReadonlySet<string>;
}

/** The root of a sandbox holds mount points and next to nothing else. */
const ROOT_BYTES = 64 * 1024 ** 2;

/**
 * bubblewrap's arguments, without the program itself. The command keeps the environment it is started with. `files` are what the
 * machine tells about itself, when that is prepared.
 */
export function sandboxArguments(
  sandbox: Sandbox,
  cwd: string,
  env: Environment = {},
  files: readonly Mount[] = systemFiles(sandbox.network === "host"),
): string[] {
  const { root, mounts = [], network, neutral } = sandbox;
  const args: string[] = [];
  if (root === "read-only") args.push("--ro-bind", "/", "/", "--dev", "/dev");
  else if (root === "writable") args.push("--dev-bind", "/", "/");
  else {
    const programs = programMounts({ env: sandbox.env ?? env, programs: sandbox.programs ?? [] });
    const system = [...systemFolders(), ...files, ...programs];
    // The empty places come first: a program may be installed below one of them.
    const sharedBytes = neutral?.maxBytes ?? sandbox.tmpBytes;
    const empty = neutral === undefined ? [hidden("/tmp", sandbox.tmpBytes)] : emptyPlaces(neutral);
    // Whatever is in memory has an end.
    args.push(
      ...mountArguments(hidden("/", ROOT_BYTES)),
      "--dev",
      "/dev",
      ...mountArguments(hidden("/dev/shm", sharedBytes)),
    );
    args.push("--remount-ro", "/dev");
    args.push(...[...empty, hidden("/var/tmp", sharedBytes), ...system].flatMap(mountArguments));
  }
  checkSources(mounts);
  args.push(...mounts.flatMap(mountArguments));
  if (network === "none" && sandbox.lowPorts !== true) args.push("--unshare-net");
  if (neutral !== undefined) args.push(...neutralArguments(neutral));
  else if (mounts.some(({ access }) => access === "overlay")) args.push(...ownAccount());
  // A PID namespace dies as a whole, so nothing survives setsid, double forks or, with --die-with-parent, our own SIGKILL.
  args.push("--unshare-pid", "--unshare-ipc", "--proc", "/proc", ...procArguments(neutral !== undefined));
  // Whoever may add to /etc may add a library that every program loads, the one that judges too.
  if (root === "system") args.push("--remount-ro", "/");
  if (root === "system" && seccompFilter(process.arch) !== null) args.push("--seccomp", "3");
  if (tellsFirst(sandbox)) args.push("--info-fd", "4");
  if (sandbox.outlivesUs !== true) args.push("--die-with-parent");
  args.push("--cap-drop", "ALL", "--chdir", cwd, "--");
  return args;
}

/** Whether bubblewrap says, on descriptor 4, who is the first in the sandbox. One inside another would say less than all. */
export const tellsFirst = ({ root, lowPorts }: Sandbox): boolean => root === "system" && lowPorts !== true;

/** A user who is not root becomes root to put an overlay together, and is themselves again before anything is started. */
function ownAccount(): string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return uid === 0 ? [] : ["--unshare-user", "--uid", String(uid), "--gid", String(gid)];
}

/** Through these root changes the whole machine, whatever holds it. */
const MACHINE_SWITCHES = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"].map((name) => `/proc/${name}`);

function procArguments(isNeutral: boolean): string[] {
  // A read-only /proc has no writable memory of other processes in it.
  if (isNeutral) return ["--ro-bind", "/dev/null", "/proc/keys", "--remount-ro", "/proc"];
  if (process.getuid?.() !== 0) return [];
  return MACHINE_SWITCHES.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]);
}

export function mountArguments(mount: Mount): string[] {
  switch (mount.access) {
    case "hidden":
      return [...(mount.maxBytes === undefined ? [] : ["--size", String(mount.maxBytes)]), "--tmpfs", mount.path];
    case "hidden-file":
      return ["--ro-bind", "/dev/null", mount.path];
    case "link":
      return ["--symlink", mount.to, mount.path];
    case "frozen":
      return ["--remount-ro", mount.path];
    case "overlay":
      // Mounted before bubblewrap starts: see overlayPlan.
      return ["--bind", overlayPlace(mount.changes), mount.path];
    default:
      return [mount.access === "read-only" ? "--ro-bind" : "--bind", mount.from ?? mount.path, mount.path];
  }
}

const hidden = (path: string, maxBytes: number | undefined): Mount => ({
  access: "hidden",
  path,
  ...(maxBytes === undefined ? {} : { maxBytes }),
});

const emptyPlaces = ({ home, maxBytes }: NonNullable<Sandbox["neutral"]>): Mount[] =>
  ["/tmp", home].map((path) => hidden(path, maxBytes));

/**
 * Whoever is held in a sandbox can put links into what it may write. So what is mounted is never a link itself, and on the
 * way to what lies inside a writable folder there is none. Looked at last, when nobody is at work in those folders.
 */
function checkSources(mounts: readonly Mount[]): void {
  const sources = mounts.flatMap((mount) =>
    mount.access === "writable" || mount.access === "read-only"
      ? [{ path: mount.from ?? mount.path, writable: mount.access === "writable" }]
      : [],
  );
  // What can be written, and where what was written there lies: an overlay is not put together yet.
  const open = mounts.flatMap((mount): [place: string, written: string][] => {
    if (mount.access === "overlay") return [[overlayPlace(mount.changes), mount.changes]];
    return mount.access === "writable" ? [[mount.from ?? mount.path, mount.from ?? mount.path]] : [];
  });
  for (const { path, writable } of sources) {
    const above = open.filter(([place]) => path.startsWith(`${place}/`));
    const inside = above.flatMap(([place, written]) => steps(written, path.slice(place.length + 1)));
    for (const step of writable ? [...inside, path] : inside) {
      if (lstatSync(step, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
      throw new NutError("SANDBOX_UNSAFE", `${step} is a link, so nothing is mounted from there`, {
        hint: `ls -l ${shellWord(step)}`,
        data: { path: step },
      });
    }
  }
}

/** Every step from `folder` down to what is at `path` in it. */
function steps(folder: string, path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => join(folder, ...parts.slice(0, index + 1)));
}

/** The lists of accounts, in /etc. */
const ACCOUNTS = ["passwd", "group"] as const;

/** The same account, host name and list of people on every machine. */
function neutralArguments({ home, folder }: NonNullable<Sandbox["neutral"]>): string[] {
  const lists = { passwd: neutralPasswd(NEUTRAL_UID, home), group: neutralGroup(NEUTRAL_UID) };
  const binds = ACCOUNTS.flatMap((name) => {
    const file = join(folder, name);
    writeFileSync(file, lists[name]);
    return ["--ro-bind", file, `/etc/${name}`];
  });
  const id = String(NEUTRAL_UID);
  const names = ["--unshare-uts", "--hostname", "host", "--unshare-cgroup-try"];
  return ["--unshare-user", "--uid", id, "--gid", id, ...names, ...binds];
}

type Overlay = Extract<Mount, { access: "overlay" }>;

/** The command that holds what stands behind it: bubblewrap, with whatever must be done before it. */
export function sandboxCommand(
  bwrap: Bwrap,
  sandbox: Sandbox,
  cwd: string,
  env: Environment,
  prepared: PreparedSystem | null = null,
) {
  const command = mountedCommand(bwrap, sandbox, cwd, env, prepared);
  if (sandbox.lowPorts !== true || sandbox.network !== "none") return command;
  const own = process.getuid?.() === 0 ? [] : ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL"];
  const apart = [...own, "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--", "/bin/sh", "-c"];
  return { program: bwrap.program, args: [...apart, OPEN_PORTS, "sh", command.program, ...command.args] };
}

/**
 * Whoever makes a network decides about its ports; who is held later has no such right, whatever it is given. So the network
 * is made by a bubblewrap of its own, around the one that holds.
 */
const OPEN_PORTS = 'echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start; exec "$@"';

/**
 * What bubblewrap cannot do itself is done in a mount namespace that only it inherits: overlays, which it knows since 0.11, and
 * holding the machine's devices. Where there is neither this is bubblewrap itself.
 */
function mountedCommand(
  bwrap: Bwrap,
  sandbox: Sandbox,
  cwd: string,
  env: Environment,
  prepared: PreparedSystem | null,
) {
  const overlays = (sandbox.mounts ?? []).filter((mount): mount is Overlay => mount.access === "overlay");
  if (prepared === null || sandbox.root !== "system" || !leavesRoomFor(prepared, otherPaths(sandbox, env))) {
    return heldCommand(bwrap, sandboxArguments(sandbox, cwd, env), overlays);
  }
  // Devices are held there already.
  const inside = heldCommand(
    { ...bwrap, devices: false },
    sandboxArguments(sandbox, cwd, env, prepared.mounts),
    overlays,
  );
  const [program, ...words] = prepared.enter;
  return { program: program!, args: [...words, inside.program, ...inside.args] };
}

/** Whether everything else of a sandbox can be mounted beside it. */
function leavesRoomFor({ mounts, paths }: PreparedSystem, others: readonly string[]): boolean {
  return others.every((other) => paths.has(other) || !mounts.some(({ path }) => isInside(other, path)));
}

const isInside = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** What is mounted besides the system's own folders and files. */
function otherPaths(sandbox: Sandbox, env: Environment): string[] {
  const { mounts = [], programs = [], neutral } = sandbox;
  const accounts = neutral === undefined ? [] : [...ACCOUNTS.map((name) => `/etc/${name}`), neutral.home];
  return [...mounts.map(({ path }) => path), ...installPrefixes(sandbox.env ?? env, programs), ...accounts];
}

/** bubblewrap with these arguments, after `overlays` are put together, devices held and whatever else is a step of a shell done. */
export function heldCommand(
  bwrap: Pick<Bwrap, "program" | "devices">,
  args: readonly string[],
  overlays: readonly Overlay[] = [],
  others: readonly string[] = [],
) {
  const steps = [...(bwrap.devices ? [holdDevices] : []), ...overlays.map(() => putTogether), ...others];
  if (steps.length === 0) return { program: bwrap.program, args };
  const words = overlays.flatMap((overlay) => [
    overlayHome(overlay.changes),
    ...overlayWords(overlay.layers, overlay.changes),
    overlay.removed ?? "/dev/null",
  ]);
  const own = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const apart = [...own, "--mount", "--propagation", "private", "--", "/bin/sh", "-c"];
  // Nobody's own programs before everybody is held.
  const script = ["PERSONS=$PATH", "PATH=/usr/bin:/bin:/usr/sbin:/sbin", ...steps, 'PATH=$PERSONS; exec "$@"'].join(
    "; ",
  );
  return { program: "/usr/bin/unshare", args: [...apart, script, "sh", ...words, bwrap.program, ...args] };
}

/**
 * A sandbox's devices are the machine's own. Root owns them, in a user namespace too, and would change for everybody who may
 * use them. Read-only says nothing about what is written to a device.
 */
const holdDevices =
  "mount -o remount,bind,ro /dev 2>/dev/null || { mount --bind /dev /dev && mount -o remount,bind,ro /dev; } || exit 125";

/** With the words of one overlay in front. */
const putTogether =
  'cd -- "$1" && mount -t overlay overlay -o "$2" "$3" && cd / || exit 125; if [ -s "$4" ]; then xargs -0 rm -rf -- < "$4" || exit 125; fi; shift 4';

const probes = new Map<string, Promise<Bwrap | null>>();

/**
 * bubblewrap, when it is installed and really works here (many containers forbid it); asked once per program. Whoever only
 * holds files, as a host's shell is held, spares the questions whether it can make a network and an account: false then.
 */
export function findBwrap(env: Environment, { network = true } = {}): Promise<Bwrap | null> {
  const program = findProgram("bwrap", env);
  if (program === null) return Promise.resolve(null);
  const key = `${network ? "network" : "files"} ${program}`;
  const known = probes.get(key) ?? probe(program, network);
  probes.set(key, known);
  return known;
}

export async function bwrapAvailable(env: Environment): Promise<boolean> {
  return (await findBwrap(env)) !== null;
}

async function probe(program: string, asksMore: boolean): Promise<Bwrap | null> {
  const works = async (devices: boolean): Promise<Bwrap | null> => {
    const trial = (network: Sandbox["network"], account: readonly string[] = []) =>
      tries(
        heldCommand({ program, devices }, [...account, ...sandboxArguments({ root: "read-only", network }, "/", {})]),
      );
    const [accounts, network] = asksMore
      ? await Promise.all([trial("host", ANOTHER), trial("none")])
      : ([false, false] as const);
    return accounts || network || (await trial("host")) ? { program, network, accounts, devices } : null;
  };
  // Root in a container may not mount, and bubblewrap still works there.
  return (process.getuid?.() === 0 ? await works(true) : null) ?? works(false);
}

const ANOTHER = ["--unshare-user", "--uid", String(NEUTRAL_UID), "--gid", String(NEUTRAL_UID)];

function tries({ program, args }: { readonly program: string; readonly args: readonly string[] }): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, [...args, "true"], {
      stdio: "ignore",
      env: { PATH: "/usr/bin:/bin" },
      timeout: 10_000,
    });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}
