// One child process: bounded in time, in its own process group, gone with everything it started.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { isSystemError, NutError, shellWord } from "../errors.js";
import { type ControlGroup, makeControlGroup } from "./control-group.js";
import { CHILD_MARK, descendants, isRunning, type Mark, markOf } from "./descendants.js";
import { type Environment, findProgram } from "./find-program.js";
import { DEFAULT_LIMITS, kernelLimits, type Limits, refusedByKernel, watchLimits, writableFolders } from "./limits.js";
import { filesFor } from "./open-files.js";
import { prepareSystem } from "./prepared-system.js";
import { type Bwrap, findBwrap, type Sandbox, sandboxCommand, tellsFirst } from "./sandbox.js";
import { openFilter } from "./seccomp.js";

/** How long a child has between being asked to stop and being killed. */
const GRACE_MS = 2_000;
/** How long we wait for output that is still in a pipe after everyone who could write is dead. */
const DRAIN_MS = 1_000;
const DRAIN_ROUNDS = 20;

export interface ChildOptions {
  /** A path, or a name looked up in the child's own PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. Secrets travel here, never in arguments. */
  readonly env: Environment;
  /** null runs without one. A sandbox that is asked for and cannot be had is a refusal, not a silent downgrade. */
  readonly sandbox?: Sandbox | null;
  /** pipe lets the caller write; text is written and closed; by default standard input is empty. */
  readonly stdin?: "pipe" | { readonly text: string };
  readonly timeoutMs?: number;
  /** How much of the machine it may use; in a sandbox by default what `DEFAULT_LIMITS` says. */
  readonly limits?: Limits;
  readonly graceMs?: number;
  readonly signal?: AbortSignal;
}

export interface ChildEnd {
  /** exited: by itself; timeout: its time was up; limit: it used too much; stopped: we or the signal ended it. */
  readonly reason: "exited" | "timeout" | "limit" | "stopped";
  /** What it used more of than it may: `8 GiB of memory`. Only with the reason `limit`. */
  readonly exceeded?: string;
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly durationMs: number;
  /** Processes it left running when it ended, which were then killed. Unknown (0) inside a sandbox, where none can stay. */
  readonly leftBehind: number;
}

export interface Child {
  readonly pid: number;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the process and all its descendants are gone and the output is read. Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** Asks it to end, then kills it and everything it started. */
  stop(): Promise<ChildEnd>;
  /** Sends a signal to the command itself (through the sandbox). */
  kill(signal: NodeJS.Signals): void;
}

/** Starts a child. Throws PROGRAM_MISSING or SANDBOX_MISSING before anything runs. The caller must read stdout and stderr. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { cwd, env, sandbox = null, signal } = options;
  signal?.throwIfAborted();
  const program = findProgram(options.command, env, cwd);
  if (program === null) throw missing(options.command);
  const limits = options.limits ?? (sandbox === null ? undefined : DEFAULT_LIMITS);
  const wrapped = sandbox === null ? null : await wrap(sandbox, env, cwd, limits ?? DEFAULT_LIMITS);
  const group = limits === undefined ? null : makeControlGroup(limits);
  const mark = randomUUID();
  const started = performance.now();
  const plain = [...(wrapped === null ? [] : [wrapped.program, ...wrapped.args]), program, ...(options.args ?? [])];
  const [first, ...rest] = group === null ? plain : [...JOIN, group.members, ...plain];
  const files = filesFor(wrapped?.filter ?? null, wrapped?.tells === true);
  const child = spawn(first!, rest, {
    // The folder of a neutral sandbox exists only inside it.
    cwd: wrapped === null ? cwd : "/",
    // A neutral sandbox is the same everywhere: it shows no mark, and its own PID namespace keeps its family together.
    env: sandbox?.neutral === undefined ? { ...definedOnly(env), [CHILD_MARK]: mark } : definedOnly(env),
    detached: true,
    stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe", ...files.stdio],
  });
  files.close();
  try {
    await spawned(child, program, wrapped === null ? cwd : "/");
  } catch (error) {
    group?.remove();
    throw error;
  }
  feed(child, options.stdin);
  const firstPid = wrapped?.tells === true ? firstInside(child) : () => null;
  return watch(child, {
    options,
    mark: markOf(child.pid!, mark),
    started,
    sandboxed: wrapped !== null,
    firstPid,
    limits,
    group,
  });
}

function missing(command: string): NutError {
  const word = shellWord(command);
  // A path is not looked for on PATH.
  const [where, hint] = /[/\\]/.test(command)
    ? ["no file there that may be run", `ls -l ${word}`]
    : ["no such program on PATH", `install it, or put its folder on PATH: command -v ${word}`];
  return new NutError("PROGRAM_MISSING", `${command}: ${where}`, { hint, data: { program: command } });
}

/** Enters a control group before anything else runs. Where it may not after all, the watch remains. */
const JOIN = ["/bin/sh", "-c", 'echo $$ 2>/dev/null >"$1"; shift; exec "$@"', "sh"];

interface Wrapped {
  readonly program: string;
  readonly args: readonly string[];
  /** The open system call filter, which becomes descriptor 3 of bubblewrap. */
  readonly filter: number | null;
  /** Whether it says on descriptor 4 who is the first inside. */
  readonly tells: boolean;
}

async function wrap(sandbox: Sandbox, env: Environment, cwd: string, limits: Limits): Promise<Wrapped> {
  const bwrap = await findBwrap(env);
  const lacks =
    bwrap === null ||
    (sandbox.network === "none" && !bwrap.network) ||
    (sandbox.neutral !== undefined && !bwrap.accounts);
  if (lacks) {
    const what = bwrap === null ? "is not available here" : "may not do here what this needs";
    throw new NutError("SANDBOX_MISSING", `bubblewrap ${what}, so nothing can be held in a sandbox`, {
      hint: "nexus doctor",
    });
  }
  // Agents debug what they write; nothing in a check has a reason to.
  const filter = sandbox.root === "system" ? openFilter(sandbox.neutral ?? { ptrace: true }) : null;
  const prepared = sandbox.root === "system" ? await prepareSystem(bwrap, sandbox.network === "host") : null;
  const { program, args } = sandboxCommand(bwrap, sandbox, cwd, env, prepared);
  return {
    program,
    args: [...args, ...kernelLimits(limits, hasOwnNamespace(bwrap, sandbox))],
    filter,
    tells: tellsFirst(sandbox),
  };
}

/** bubblewrap makes a user namespace when told to, and when it has no other way to do its work. */
const hasOwnNamespace = ({ program }: Bwrap, { neutral }: Sandbox): boolean =>
  neutral !== undefined || (process.getuid?.() !== 0 && (statSync(program).mode & 0o4000) === 0);

function spawned(child: ChildProcess, program: string, cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      const why = isSystemError(error) ? error.code : error.message;
      // The system says the same of a program and of the folder it would start in.
      if (why === "ENOENT" && !existsSync(cwd)) {
        reject(new NutError("FILE_NOT_FOUND", `${cwd}: no such folder`, { data: { path: cwd }, cause: error }));
        return;
      }
      reject(
        new NutError("PROGRAM_MISSING", `${program}: could not be started (${why})`, {
          hint: `ls -l ${shellWord(program)}`,
          data: { program },
          cause: error,
        }),
      );
    });
  });
}

function feed(child: ChildProcess, stdin: ChildOptions["stdin"]): void {
  // A child that closes its input early is its own business; the write error must not end us.
  child.stdin?.on("error", () => {});
  if (stdin !== undefined && stdin !== "pipe") child.stdin?.end(stdin.text);
}

/** The first process of a sandbox, once bubblewrap has said which it is. */
function firstInside(child: ChildProcess): () => number | null {
  let first: number | null = null;
  const pipe = child.stdio[4] as Readable;
  let text = "";
  pipe.on("error", () => {});
  pipe.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    const [, pid] = /"child-pid":\s*(\d+)\b/.exec(text) ?? [];
    if (pid !== undefined) first = Number(pid);
  });
  return () => first;
}

interface Watch {
  readonly options: ChildOptions;
  readonly mark: Mark;
  readonly started: number;
  readonly sandboxed: boolean;
  readonly firstPid: () => number | null;
  readonly limits: Limits | undefined;
  readonly group: ControlGroup | null;
}

function watch(child: ChildProcess, { options, mark, started, sandboxed, firstPid, limits, group }: Watch): Child {
  const pid = child.pid!;
  let reason: ChildEnd["reason"] = "exited";
  let exited = false;
  let grace: NodeJS.Timeout | undefined;
  let exceeded: string | undefined;

  const end = (why: "timeout" | "stopped") => {
    if (exited || reason !== "exited") return;
    reason = why;
    askToEnd(pid, mark, sandboxed);
    grace = setTimeout(() => killAll(pid, mark), options.graceMs ?? GRACE_MS);
  };
  const folders = options.sandbox == null ? [] : writableFolders(options.sandbox);
  const onExceeded = (what: string) => {
    if (exited || reason !== "exited") return;
    reason = "limit";
    exceeded = what;
    // Nobody is asked: what makes processes faster than they can be counted would win. A sandbox falls as a whole.
    if (sandboxed) for (const target of [-pid, pid]) send(target, "SIGKILL");
    else killAll(pid, mark);
  };
  const unwatch = limits === undefined ? () => {} : watchLimits({ pid, limits, folders, group, onExceeded });
  const timer =
    options.timeoutMs === undefined ? undefined : setTimeout(() => end("timeout"), timerRange(options.timeoutMs));
  const onAbort = () => end("stopped");
  options.signal?.addEventListener("abort", onAbort, { once: true });
  // It may have been aborted while the program was being started.
  if (options.signal?.aborted === true) onAbort();

  const ended = new Promise<ChildEnd>((resolve) => {
    child.once("exit", async (code, signal) => {
      exited = true;
      const durationMs = Math.round(performance.now() - started);
      unwatch();
      clearTimeout(timer);
      clearTimeout(grace);
      options.signal?.removeEventListener("abort", onAbort);
      const refused = limits === undefined ? null : refusedByKernel(limits, group);
      if (reason === "exited" && refused !== null) [reason, exceeded] = ["limit", refused];
      // In a PID namespace whoever loses its parent is given to one of the family, so nobody need be known by a mark.
      const leftBehind = (await isDeserted(firstPid())) ? 0 : await sweep(pid, sandboxed ? undefined : mark);
      await drained(child);
      group?.remove();
      resolve({ reason, ...(exceeded === undefined ? {} : { exceeded }), code, signal, durationMs, leftBehind });
    });
  });
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout!,
    stderr: child.stderr!,
    ended,
    stop: () => {
      end("stopped");
      return ended;
    },
    kill: (name) => {
      if (!exited) for (const target of commandPids(pid, mark, sandboxed)) send(target, name);
    },
  };
}

/** A timer that is set for longer than it can count goes off at once. */
const timerRange = (ms: number): number => Math.min(ms, 2 ** 31 - 1);

/** The command's own processes: in a sandbox everyone but bubblewrap, which would take the rest down without a word. */
function commandPids(pid: number, mark: Mark, sandboxed: boolean): number[] {
  if (!sandboxed) return [-pid];
  return descendants(pid, mark)
    .filter(({ name }) => name !== "bwrap")
    .map((row) => row.pid);
}

function askToEnd(pid: number, mark: Mark, sandboxed: boolean): void {
  const targets = commandPids(pid, mark, sandboxed);
  // Still starting, or no /proc to look in: there is nobody to ask politely.
  if (targets.length === 0) send(pid, "SIGKILL");
  for (const target of targets) send(target, "SIGTERM");
}

function killAll(pid: number, mark: Mark): number {
  const family = descendants(pid, mark);
  send(-pid, "SIGKILL");
  send(pid, "SIGKILL");
  for (const { pid: other } of family) send(other, "SIGKILL");
  return family.length;
}

/**
 * The kernel ends everybody in a PID namespace before its first process is gone, and bubblewrap takes that one with it. False when
 * it is not known, or still there: then everybody on the machine is looked at.
 */
async function isDeserted(first: number | null): Promise<boolean> {
  for (let round = 0; first !== null && round < 10; round += 1) {
    if (!isRunning(first)) return true;
    await new Promise((resolve) => setTimeout(resolve, 1 + round));
  }
  return false;
}

/** Kills what is left until nothing is: a process may fork between being seen and being killed. */
async function sweep(pid: number, mark: Mark | undefined): Promise<number> {
  let most = 0;
  for (let round = 0; round < 50; round += 1) {
    const newest = newestPid();
    const left = descendants(pid, mark);
    // Whoever forked while we looked may have been passed over, and be gone when its turn came.
    if (left.length === 0 && (round >= LOOKS_AGAIN || newest === newestPid())) break;
    most = Math.max(most, left.length);
    for (const { pid: other } of left) send(other, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 5 + round));
  }
  return most;
}

/** On a machine that starts programs all the time nobody looks for ever. */
const LOOKS_AGAIN = 5;

/** The number the kernel gave to a process last; always the same where it does not tell. */
function newestPid(): string {
  try {
    return readFileSync("/proc/loadavg", "utf8").trim().split(" ").at(-1)!;
  } catch {
    return "";
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone, which is what we want.
  }
}

function drained(child: ChildProcess): Promise<void> {
  const open = [child.stdout!, child.stderr!].filter((stream) => !stream.closed && !stream.destroyed);
  if (open.length === 0) return Promise.resolve();
  const read = () => open.reduce((sum, stream) => sum + ((stream as Partial<Socket>).bytesRead ?? 0), 0);
  return new Promise((resolve) => {
    let timer = setTimeout(giveUp, DRAIN_MS, 1);
    // A machine that is busy may have kept us from reading what has long been there: that comes first, and more after it.
    function giveUp(round: number): void {
      const before = read();
      setImmediate(() => {
        if (waiting === 0) return;
        if (read() > before && round < DRAIN_ROUNDS) {
          timer = setTimeout(giveUp, DRAIN_MS, round + 1);
          return;
        }
        for (const stream of open) stream.destroy();
        resolve();
      });
    }
    let waiting = open.length;
    for (const stream of open) {
      stream.once("close", () => {
        waiting -= 1;
        if (waiting > 0) return;
        clearTimeout(timer);
        resolve();
      });
    }
  });
}

function definedOnly(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}
