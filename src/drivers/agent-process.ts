// The process around an agent: its own home, its own environment, its work tree writable or not, the folders it would
// obey hidden, nothing else of the machine but its programs, and one place that turns lines and an exit into the end of a
// session.
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { NutError } from "../errors.js";
import { makeInside } from "../files/index.js";
import {
  type Child,
  type ChildEnd,
  DEFAULT_LIMITS,
  type Environment,
  findBwrap,
  type Mount,
  placeMounts,
  readLines,
  type Sandbox,
  startChild,
  visiblePath,
} from "../process/index.js";
import { installedEnvironment } from "../trees/installed.js";
import { deadline } from "./deadline.js";
import type { DriverEvent, DriverName, Session, SessionEnd, SessionRequest, Usage } from "./driver.js";
import { copyInstalled, installedMounts } from "./installed.js";
import { loginEnvironment } from "./login-variables.js";
import { programsIn } from "./programs-in.js";
import { QUIRKS } from "./quirks.js";
import { type Trouble, troubleOf, withoutColour, withoutPage } from "./trouble.js";
import { untriedWall } from "./untried-wall.js";

const STDERR_KEPT = 8 * 1024;

/** What a session has told so far. Drivers fill it while they read. */
export interface Transcript {
  sessionId: string | null;
  text: string;
  /** What it handed in in the shape it was asked for; undefined when nothing was. */
  report: unknown;
  /** What it had said when its program reminded it of the shape. */
  unshaped?: string;
  usage: Usage | null;
  /** The program said that its turn is over. */
  turnEnded: boolean;
  error: string | null;
  /** What the error is about, as far as the program says so itself. */
  trouble: Trouble | null;
  /** What its log says of an error, by the name the error refers to it. */
  logged: ReadonlyMap<string, string>;
  /** That name, for the last error. */
  refersTo: string;
  /** The program tries again by itself, since then, because of that. */
  waiting: { readonly sinceMs: number; readonly message: string; readonly trouble: Trouble } | null;
  /** There is no sense in going on: the program is ended. */
  givenUp: boolean;
  /** Answers of the model in a row that said nothing at all. */
  emptySteps: number;
  /** Times in a row that its conversation was too long for its model. */
  overflows: number;
  /** An error it told of was got over; its exit may still speak of it. */
  gotOver: boolean;
}

export const newTranscript = (): Transcript => ({
  sessionId: null,
  text: "",
  report: undefined,
  usage: null,
  turnEnded: false,
  error: null,
  trouble: null,
  logged: new Map(),
  refersTo: "",
  waiting: null,
  givenUp: false,
  emptySteps: 0,
  overflows: 0,
  gotOver: false,
});

/** How long a program may go on trying by itself; longer waits are ours, where a person sees them. */
export const PATIENCE_MS = 90_000;

/** The program said that it will try again. */
export function waits(
  transcript: Transcript,
  message: string,
  trouble: Trouble,
  emit: (event: DriverEvent) => void,
): void {
  const said = withoutPage(message);
  transcript.waiting = { sinceMs: transcript.waiting?.sinceMs ?? performance.now(), message: said, trouble };
  emit({ type: "waiting", why: trouble.kind, message: said });
}

/** Ends the session from our side, for a reason the program gave; null when that is about its work. */
export function giveUp(transcript: Transcript, message: string, trouble: Trouble | null): void {
  Object.assign(transcript, { error: withoutPage(message), trouble, givenUp: true });
}

export interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the person the program needs, each by itself: its login. */
  readonly reads?: readonly string[];
  /** Variables of the person that the program's own settings name. */
  readonly variables?: readonly string[];
}

export interface AgentProcess {
  readonly child: Child;
  readonly sandboxed: boolean;
  /** The last of what it wrote to standard error. */
  complaint(): string;
}

/** Starts the agent's program in its place. `stdin` as for any child. */
export async function startAgent(
  name: DriverName,
  request: SessionRequest,
  { command, args, env = {}, reads = [], variables = [] }: AgentCommand,
  stdin: "pipe" | { readonly text: string },
): Promise<AgentProcess> {
  const servers = request.mcpServers.flatMap((server) => [server.command, ...server.args]);
  const line = [...deadline(request), command, ...args];
  const login = loginEnvironment(name, request.env, { command: request.command, more: variables });
  const needs: Needs = {
    programs: [line[0]!, command, ...servers, ...programsIn(request.command)],
    reads: [...reads, ...namedFiles(login)],
  };
  const sandbox = await sandboxFor(name, request, needs);
  const wall = sandbox === null ? untriedWall(request, () => policyFor(name, request, needs, [])) : [];
  const [program, ...words] = [...wall, ...line];
  const child = await startChild({
    command: program!,
    args: words,
    cwd: request.cwd,
    env: { ...login, ...environmentOf(request, sandbox !== null), ...env, ...request.extraEnv },
    sandbox,
    limits: DEFAULT_LIMITS,
    stdin,
    ...(request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  let tail = "";
  child.stderr.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-STDERR_KEPT);
  });
  return { child, sandboxed: sandbox !== null, complaint: () => lastLine(tail) };
}

/** Whether bubblewrap will hold this session; some programs need other flags then. */
export async function isSandboxed({ sandbox = "auto", env }: SessionRequest): Promise<boolean> {
  return sandbox === "auto" && (await findBwrap(env)) !== null;
}

interface Needs {
  readonly programs: readonly string[];
  readonly reads: readonly string[];
}

/** How much an agent may keep in its temporary folder, which is in memory. */
const TMP_BYTES = 2 * 1024 ** 3;

async function sandboxFor(name: DriverName, request: SessionRequest, needs: Needs): Promise<Sandbox | null> {
  if (!(await isSandboxed(request))) {
    assertWhole(request);
    request.onEvent?.({ type: "warning", message: "no sandbox holds this agent; only its own settings do" });
    for (const path of obeyedIn(name, request)) {
      request.onEvent?.({
        type: "warning",
        message: `${path} in the work tree is obeyed by ${name}: there is no sandbox to hide it`,
      });
    }
    copyInstalled(request);
    return null;
  }
  return policyFor(name, request, needs, installedMounts(request));
}

/** What of its work tree the program would obey. */
const obeyedIn = (name: DriverName, request: SessionRequest): string[] =>
  QUIRKS[name].obeys.filter((path) => existsSync(placeOf(request, path)));

/** What a session may touch, whatever enforces it. */
function policyFor(name: DriverName, request: SessionRequest, needs: Needs, installed: readonly Mount[]): Sandbox {
  const { home, readable = [] } = request;
  const mounts: Mount[] = [
    ...needs.reads.flatMap(oneFile),
    ...readable.map((path): Mount => ({ access: "read-only", path })),
    ...treeMounts(request),
    ...placeMounts(request.places ?? {}, request.cwd, TMP_BYTES),
    ...installed,
    ...obeyedIn(name, request).flatMap((path) => hide(request, path)),
    { access: "writable", path: home },
  ];
  // A program that renews a login holds the only token that works between the vendor's answer and its own file.
  const outlivesUs = request.login === "whole";
  const system = { root: "system", env: request.env, programs: needs.programs, tmpBytes: TMP_BYTES } as const;
  return { ...system, mounts, network: "host", outlivesUs };
}

/** One file and nothing beside it. A link's content appears under the link's name. */
function oneFile(path: string): Mount[] {
  return existsSync(path) ? [{ access: "read-only", path, from: realpathSync(path) }] : [];
}

/** The work tree: a folder, or changes over one. */
function treeMounts({ cwd, over, may }: SessionRequest): Mount[] {
  if (over === undefined) return [{ access: may.edit ? "writable" : "read-only", path: cwd }];
  const tree: Mount = { access: "overlay", path: cwd, layers: [over], changes: cwd };
  return may.edit ? [tree] : [tree, { access: "frozen", path: cwd }];
}

/** Only a sandbox puts a layered tree together. */
function assertWhole({ over, cwd }: SessionRequest): void {
  if (over === undefined) return;
  throw new NutError("SANDBOX_MISSING", `${cwd} lies over ${over}, and no sandbox is there to put them together`, {
    hint: "nexus doctor",
    data: { path: cwd },
  });
}

/** Where on this machine a path of the work tree is. */
const placeOf = ({ cwd, over }: Pick<SessionRequest, "cwd" | "over">, path: string): string =>
  over === undefined || lstatSync(join(cwd, path), { throwIfNoEntry: false }) !== undefined
    ? join(cwd, path)
    : join(over, path);

/** What the program would obey is not there. A mount lands where a link leads, so a link is followed first. */
function hide(request: SessionRequest, path: string): Mount[] {
  const { cwd, over } = request;
  const real = realpathSync(placeOf(request, path));
  const isBelow = over !== undefined && real.startsWith(`${over}/`);
  const shown = isBelow ? join(cwd, real.slice(over.length + 1)) : real;
  return [{ access: lstatSync(real).isDirectory() ? "hidden" : "hidden-file", path: shown }];
}

/** Files that what is passed on speaks of: whom the person's network trusts, a cloud's login. */
const namedFiles = (env: Environment): string[] =>
  [env.NODE_EXTRA_CA_CERTS, env.SSL_CERT_FILE, env.GOOGLE_APPLICATION_CREDENTIALS].filter(
    (path): path is string => path !== undefined && isAbsolute(path),
  );

function environmentOf(request: SessionRequest, sandboxed: boolean): Environment {
  const env = agentEnvironment(request, sandboxed);
  const { installed, cwd } = request;
  return installed === undefined ? env : { ...env, ...installedEnvironment(installed, cwd, env.PATH) };
}

/** A home of its own, and nothing of the person's habits. */
function agentEnvironment({ env, home }: SessionRequest, sandboxed: boolean): Environment {
  if (!sandboxed) makeInside(home, "tmp");
  return {
    PATH: sandboxed ? visiblePath(env) : env.PATH,
    LANG: env.LANG,
    LC_ALL: env.LC_ALL,
    TZ: env.TZ,
    HOME: home,
    TMPDIR: sandboxed ? "/tmp" : join(home, "tmp"),
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_STATE_HOME: join(home, ".local/state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    NO_COLOR: "1",
    CI: "1",
  };
}

/**
 * Calls `onObject` for every line that is a JSON object; anything else a program prints is not for us. Ends the program when
 * it was given up, or has been trying again by itself for too long.
 */
export function readObjects(
  { child }: Pick<AgentProcess, "child">,
  transcript: Transcript,
  onObject: (value: Record<string, unknown>) => void,
  patienceMs = PATIENCE_MS,
): { look(): void } {
  const watch = patience(transcript, () => void child.stop(), patienceMs);
  void child.ended.then(watch.end);
  readLines(child.stdout, (line) => {
    const value = objectIn(line);
    if (value === null) return;
    onObject(value);
    watch.look();
  });
  return watch;
}

/** null when it is not the text of one object. */
export function objectIn(line: string): Record<string, unknown> | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** Looks after a program that tries again by itself. */
export function patience(transcript: Transcript, stop: () => void, patienceMs = PATIENCE_MS) {
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    clearTimeout(timer);
    const { waiting } = transcript;
    if (waiting !== null && !transcript.givenUp) {
      const leftMs = waiting.sinceMs + patienceMs - performance.now();
      if (leftMs <= 0 || (waiting.trouble.retryAfterMs ?? 0) > patienceMs) {
        giveUp(transcript, waiting.message, waiting.trouble);
      } else timer = setTimeout(look, leftMs);
    }
    if (transcript.givenUp) stop();
  };
  return { look, end: () => clearTimeout(timer) };
}

type Judge = typeof troubleOf | typeof NOBODY_KNOWS;

/** A session whose every word comes from the program's standard output. */
export function lineSession(
  { child, complaint }: AgentProcess,
  transcript: Transcript,
  judge: Judge = troubleOf,
): Session {
  const ended = child.ended.then((exit) => sessionEnd(transcript, exit, complaint(), judge));
  return {
    pid: child.pid,
    ended,
    cancel: async () => {
      await child.stop();
      return ended;
    },
  };
}

/** Neither an exit code nor an end of turn is enough: a turn that said nothing has failed. */
export function sessionEnd(
  transcript: Transcript,
  exit: ChildEnd,
  complaint: string,
  /** What an error is about by its words; nobody can tell that of a program we do not know. */
  judge: Judge = troubleOf,
): SessionEnd {
  const { sessionId, text, report, usage } = transcript;
  const base = { sessionId, text, usage, exit, ...(report === undefined ? {} : { report }) };
  if (transcript.givenUp) {
    const { error, trouble } = transcript;
    return { ...base, outcome: "failed", error: error ?? "it was given up", ...(trouble === null ? {} : { trouble }) };
  }
  if (exit.reason === "timeout") return { ...base, outcome: "timeout", error: "its time was up" };
  if (exit.reason === "limit") return { ...base, outcome: "failed", error: `it used more than ${exit.exceeded}` };
  if (exit.reason === "stopped") return { ...base, outcome: "cancelled", error: "it was cancelled" };
  const failed = (error: string, known: Trouble | null = null): SessionEnd => {
    const trouble = known ?? judge({ words: error });
    return { ...base, outcome: "failed", error: withoutPage(error), ...(trouble === null ? {} : { trouble }) };
  };
  if (transcript.error !== null) return failed(transcript.error, transcript.trouble);
  const isOldNews = transcript.gotOver && transcript.turnEnded && exit.signal === null;
  if (exit.code !== 0 && !isOldNews) {
    const crashed = exit.signal !== null && judge !== NOBODY_KNOWS;
    const words = transcript.waiting?.message ?? (complaint || `it ended with ${exit.signal ?? `exit ${exit.code}`}`);
    return failed(words, transcript.trouble ?? transcript.waiting?.trouble ?? (crashed ? TRANSPORT : null));
  }
  if (!transcript.turnEnded) return failed(complaint || "it ended in the middle of its turn", TRANSPORT);
  return text.trim() === "" && report === undefined
    ? failed("it ended without a word")
    : { ...base, outcome: "completed" };
}

/** For programs whose words are their own affair. */
export const NOBODY_KNOWS = (): null => null;

const TRANSPORT: Trouble = { kind: "transport" };

/** The line that says what went wrong: not the stack below it, nor the version Node adds at the end. */
function lastLine(text: string): string {
  const lines = withoutColour(text)
    .split("\n")
    .map((line) => line.trim());
  const telling = lines.filter((line) => line !== "" && !/^(at |Node\.js v|[{}\]]|\w+: .*,$)/.test(line));
  const error = telling.findLast((line) => /^(\w*Error|Uncaught|fatal|error)\b.*:/i.test(line));
  return (error ?? telling.at(-1) ?? "").slice(0, 500);
}

/** Reads a nested value without believing its shape. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner !== null && typeof inner === "object" ? (inner as Record<string, unknown>)[key] : undefined),
    value,
  );
}

/** A list without believing that it is one: whoever reads a program's lines must not fall over them. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");
/** What a program says it used. It may say anything: less than nothing is no amount. */
export const amount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
