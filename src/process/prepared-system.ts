// What every sandbox shows of the machine's settings is some forty files and folders. As mounts each would cost the next ones time as
// well: bubblewrap reads the whole list after each. So they are put together once, in a mount namespace of their own: folders by
// mounts, files as copies in memory. A sandbox starts from there and takes them all with one mount. Nobody lives in that namespace:
// our open file keeps it, and it is gone when we are, however we end.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, lstatSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, relative, sep } from "node:path";
import type { Environment } from "./find-program.js";
import { type Bwrap, findBwrap, heldCommand, type Mount, mountArguments, type PreparedSystem } from "./sandbox.js";
import { systemFiles } from "./visible-system.js";

/**
 * Where they are put together, in that namespace alone. It is there on every machine with a /sys, nobody can remove it, and no
 * sandbox shows anything of it.
 */
const PLACE = "/sys/kernel";
const ENTER = "/usr/bin/nsenter";
/** One for each change of what is shown. Nobody changes it that often; whoever comes later goes without. */
const MOST = 8;
const PATIENCE_MS = 10_000;

const prepared = new Map<string, Promise<PreparedSystem | null>>();

/** null where it cannot be had: for root it is, and where root may mount. What it shows is as it is now, whoever asked before. */
export function prepareSystem(bwrap: Bwrap, network: boolean): Promise<PreparedSystem | null> {
  if (!bwrap.devices || ![ENTER, PLACE].every((path) => existsSync(path))) return Promise.resolve(null);
  const files = systemFiles(network);
  const key = [bwrap.program, mountedHere(), ...files.map(stampOf)].join("\n");
  const known = prepared.get(key);
  if (known !== undefined) return known;
  if (prepared.size >= MOST) return Promise.resolve(null);
  const made = prepare(bwrap, files);
  prepared.set(key, made);
  return made;
}

/** Begins what the first agent's sandbox would wait for. */
export async function beginSandbox(env: Environment): Promise<void> {
  const bwrap = await findBwrap(env);
  if (bwrap !== null) await prepareSystem(bwrap, true);
}

/** A file that took another's place, or a link that leads elsewhere, is another one. */
export function stampOf(mount: Mount): string {
  if (mount.access !== "read-only") return JSON.stringify(mount);
  const source = mount.from ?? mount.path;
  const stat = lstatSync(source, { throwIfNoEntry: false, bigint: true });
  return JSON.stringify([mount.path, source, stat && [stat.dev, stat.ino, stat.ctimeNs].map(String)]);
}

/** A namespace keeps what was mounted when it was made. */
function mountedHere(): string {
  return readFileSync("/proc/self/mountinfo", "utf8");
}

async function prepare(bwrap: Bwrap, files: readonly Mount[]): Promise<PreparedSystem | null> {
  const copied = files.filter(canCopy).map(({ path }) => path);
  const bound = files.filter(({ path }) => !copied.includes(path));
  const inPlace = bound.map((mount): Mount => ({ ...withSource(mount), path: `${PLACE}${mount.path}` }));
  const mounts: Mount[] = [...inPlace, { access: "frozen", path: PLACE }];
  const args = ["--dev-bind", "/", "/", ...mounts.flatMap(mountArguments), "--die-with-parent", "--", "/bin/sh", "-c"];
  const { program, args: before } = heldCommand(bwrap, args, [], layOut(copied, files));
  const child = spawn(program, [...before, "echo $$; read -r _"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
    timeout: PATIENCE_MS,
  });
  try {
    const pid = await firstLine(child);
    if (!/^\d+$/.test(pid)) return null;
    const namespace = openSync(`/proc/${pid}/ns/mnt`, "r");
    const tops = new Set(files.map(({ path }) => `/${relative("/", path).split(sep)[0]}`));
    return {
      enter: [ENTER, `--mount=/proc/${process.pid}/fd/${namespace}`, "--"],
      mounts: [...tops].map((path): Mount => ({ access: "read-only", path, from: `${PLACE}${path}` })),
      paths: new Set(files.map(({ path }) => path)),
    };
  } catch {
    return null;
  } finally {
    child.stdin!.end();
  }
}

/** Whoever changes these while agents are at work means it for them as well; what is not replaced shows its changes. */
const LIVE = ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf"];
const COPIED_BYTES = 1024 ** 2;

/** A file of /etc itself that everybody may read. One that changes later has another stamp. */
function canCopy(mount: Mount): boolean {
  if (mount.access !== "read-only" || dirname(mount.path) !== "/etc" || LIVE.includes(mount.path)) return false;
  if ((mount.from ?? mount.path) !== mount.path || !/^[\w.-]+$/.test(basename(mount.path))) return false;
  const stat = lstatSync(mount.path, { throwIfNoEntry: false });
  return stat?.isFile() === true && (stat.mode & 0o004) !== 0 && stat.size <= COPIED_BYTES;
}

/** Steps of a shell in that namespace: the place, the copies, and none of the mounts in /sys that no sandbox shows. */
function layOut(copied: readonly string[], files: readonly Mount[]): string[] {
  const shown = files.flatMap((mount) => (mount.access === "read-only" ? [mount.path, mount.from ?? mount.path] : []));
  return [
    ...unneededMounts(mountedHere(), shown).map((path) => `umount -l ${path} 2>/dev/null || :`),
    `mount -t tmpfs -o mode=0755,nosuid,nodev tmpfs ${PLACE} && mkdir -m 755 ${PLACE}/etc || exit 125`,
    ...(copied.length === 0 ? [] : [`cp -p -- ${copied.join(" ")} ${PLACE}/etc/ || exit 125`]),
  ];
}

/** The outermost mounts in /sys, by the text of /proc/self/mountinfo. What covers a part of what is shown stays: a container's own processors. */
export function unneededMounts(mounted: string, shown: readonly string[]): string[] {
  const inSys = mounted.match(/(?<=^(?:\S+ ){4})\/sys\/\S+/gm) ?? [];
  const outer = inSys.filter((path) => !inSys.some((other) => path.startsWith(`${other}/`)));
  const isWithin = (path: string, folder: string) => `${path}/`.startsWith(`${folder}/`);
  const touches = (path: string) => shown.some((place) => isWithin(path, place) || isWithin(place, path));
  return outer.filter((path) => /^[\w/.-]+$/.test(path) && !touches(path));
}

const withSource = (mount: Mount): Mount =>
  mount.access === "read-only" ? { ...mount, from: mount.from ?? mount.path } : mount;

/** Empty when it ended without a word. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    child.stdin!.on("error", () => {});
    child.stdout!.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
    child.once("error", () => resolve(""));
    child.once("close", () => resolve(""));
  });
}
