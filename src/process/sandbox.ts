// What a child may touch, enforced by the kernel through bubblewrap. Denying a tool does not deny an edit: a shell does
// the same; a read-only mount and a network namespace hold whatever the program tries.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { type Environment, findProgram } from "./find-program.js";

export interface Mount {
  /** hidden puts an empty folder (or an empty file) in place of the path. */
  readonly access: "read-only" | "writable" | "hidden" | "hidden-file";
  readonly path: string;
  /** What appears at `path`; by default the path itself. */
  readonly from?: string;
}

export interface Sandbox {
  /** What the rest of the file system allows. */
  readonly root: "read-only" | "writable";
  /** Later mounts cover earlier ones. */
  readonly mounts?: readonly Mount[];
  /** none leaves only a loopback of its own. */
  readonly network: "host" | "none";
}

export interface Bwrap {
  readonly program: string;
  /** Whether a network namespace of its own can be made here. */
  readonly network: boolean;
}

/**
 * A /tmp of one's own, with what the command needs from the real one still readable: a project may well live there, and
 * its programs, servers and search path with it. `words` is anything that may hold paths: arguments, commands, PATH.
 */
export function privateTmp(folder: string, words: readonly (string | undefined)[]): Mount[] {
  const named = words.flatMap((word) =>
    [...(word ?? "").matchAll(/(?:^|[\s"'=:;])(\/tmp\/[^/\s"':;]+)/g)].map(([, path]) => path!),
  );
  const needed = [...new Set(named)].filter((path) => existsSync(path));
  return [
    { access: "writable", path: "/tmp", from: folder },
    ...needed.map((path): Mount => ({ access: "read-only", path })),
  ];
}

/** bubblewrap's arguments, without the program itself. The command keeps the environment it is started with. */
export function sandboxArguments({ root, mounts = [], network }: Sandbox, cwd: string): string[] {
  const args = root === "read-only" ? ["--ro-bind", "/", "/", "--dev", "/dev"] : ["--dev-bind", "/", "/"];
  for (const { access, path, from = path } of mounts) {
    if (access === "hidden") args.push("--tmpfs", path);
    else if (access === "hidden-file") args.push("--ro-bind", "/dev/null", path);
    else args.push(access === "read-only" ? "--ro-bind" : "--bind", from, path);
  }
  if (network === "none") args.push("--unshare-net");
  // A PID namespace dies as a whole, so nothing survives setsid, double forks or our own SIGKILL.
  args.push("--unshare-pid", "--proc", "/proc", "--die-with-parent", "--cap-drop", "ALL", "--chdir", cwd, "--");
  return args;
}

const probes = new Map<string, Promise<Bwrap | null>>();

/** bubblewrap, when it is installed and really works here (many containers forbid it); asked once per program. */
export function findBwrap(env: Environment): Promise<Bwrap | null> {
  const program = findProgram("bwrap", env);
  if (program === null) return Promise.resolve(null);
  const known = probes.get(program) ?? probe(program);
  probes.set(program, known);
  return known;
}

export async function bwrapAvailable(env: Environment): Promise<boolean> {
  return (await findBwrap(env)) !== null;
}

async function probe(program: string): Promise<Bwrap | null> {
  const works = (network: Sandbox["network"]) => tries(program, sandboxArguments({ root: "read-only", network }, "/"));
  const [host, none] = await Promise.all([works("host"), works("none")]);
  return host ? { program, network: none } : null;
}

function tries(program: string, args: readonly string[]): Promise<boolean> {
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
