// One program of a check, in a room of its own: prepared by a runner, run, and read by that runner.
import { isIP } from "node:net";
import { posix } from "node:path";
import { type Environment, javascriptEngine, type Sandbox } from "../process/index.js";
import type { AcceptanceCredential } from "./credential.js";
import { installedProgram } from "./install/installed.js";
import { FORWARD, REACH, SERVE, SOCKET } from "./line-programs.js";
import type { Check, Outcome } from "./model.js";
import { failed, skipped } from "./outcome.js";
import type { RoomTree } from "./room/room-tree.js";
import { type Room, type RoomCommand, type Rooms, WAYS } from "./room/rooms.js";
import { prepareRun, type RunnerRoom, readRun } from "./runners/index.js";
import { type ServiceOptions, withService } from "./service.js";
import { isLoopback, openWaysOut, throughProxy, trustVariables, type Way, type WaysOut } from "./ways-out.js";

/** On what, and in which rooms. */
export interface Stage {
  readonly tree: RoomTree;
  readonly rooms: Rooms;
  /** Waits until the machine has room for one more. */
  readonly turn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Told the room before it is closed, when somebody needs what was made in it. */
  readonly onRan?: (room: Room) => void;
  readonly signal?: AbortSignal;
}

export interface ProgramOptions {
  readonly env?: Environment;
  readonly network?: Sandbox["network"];
  /** A folder that is shared with the room of a service the program asks. */
  readonly line?: string;
  /** Addresses it may reach, in a network of its own. */
  readonly ways?: WaysOut;
  /** Folders of this machine it may read. */
  readonly folders?: readonly string[];
}

export interface Ran {
  readonly outcome: Outcome;
  readonly stdout: string;
}

export function runProgram(check: Check, stage: Stage, options: ProgramOptions): Promise<Ran> {
  const { tree, signal } = stage;
  const { network = "none", line, ways, folders = [] } = options;
  const shared = {
    folders,
    ...(line === undefined ? {} : { line: { folder: line, access: "read-only" as const } }),
    ...(ways === undefined ? {} : { ways }),
  };
  const ptrace = check.needs?.includes("ptrace") === true;
  return inRoom(stage, { network, ptrace, ...shared }, async (room) => {
    const { reports } = room;
    const prepared = await prepareRun(check, tree.view, { tree: room.tree, reports, ...programsIn(stage, room) });
    if ("status" in prepared) return { outcome: prepared, stdout: "" };
    const { cwd, stdin, maxOutputBytes, reportFiles } = prepared;
    const plain = { ...prepared, env: { ...prepared.env, ...options.env } };
    const reaching = ways === undefined ? plain : through(REACH, [room.ways, JSON.stringify(ways.listens)], plain);
    const { command, args, env } =
      line === undefined ? reaching : through(FORWARD, [posix.join(room.line, SOCKET)], reaching);
    const result = await room.run({
      ...{ command, args, env },
      cwd,
      stdin,
      maxOutputBytes,
      timeoutMs: check.timeoutMs,
      signal,
    });
    const outcome = readRun(check, prepared, result, room.written(reportFiles));
    return { outcome, stdout: result.stdout.text };
  });
}

/** Programs that were installed for the tree come first. */
function programsIn({ tree, rooms }: Stage, room: Room): Pick<RunnerRoom, "findProgram" | "answers"> {
  return {
    findProgram: (name) => (installedProgram(tree, name) === null ? rooms.findProgram(name) : name),
    answers: async (command, args) => {
      if (installedProgram(tree, command) === null) return rooms.answers(command, args);
      return (await room.run({ command, args, timeoutMs: 30_000 })).code === 0;
    },
  };
}

/** The same command, started by a small program of ours. */
export function through(
  program: string,
  words: readonly string[],
  { command, args = [], env }: Pick<RoomCommand, "command" | "args" | "env">,
) {
  const engine = javascriptEngine();
  return {
    command: engine.command,
    args: ["-e", program, ...words, command, ...args],
    env: { ...env, ...engine.env },
  };
}

/** Runs it where the agreed addresses can be reached and nothing else. Without a network of its own it has the machine's. */
export async function runReaching(
  check: Check,
  stage: Stage,
  {
    env,
    ways,
    proxy,
    folders = [],
  }: {
    readonly env?: Environment;
    readonly folders?: readonly string[];
    readonly ways: readonly Way[];
    /** Set when a credential is lent: its service's own addresses lead there too. */
    readonly proxy?: AcceptanceCredential["proxy"];
  },
): Promise<Ran & { readonly refused: string | null }> {
  const run = check.start === undefined ? runProgram : runBesideService;
  if (ways.length === 0) return { ...(await run(check, stage, { env, folders })), refused: null };
  if (!stage.rooms.apart) return { ...(await run(check, stage, { env, folders, network: "host" })), refused: null };
  const numbered = ways.find(({ host }) => isIP(host) !== 0 && !isLoopback(host));
  if (numbered !== undefined) {
    const why = `${numbered.origin} is given by its number, which a script's room cannot reach: give it a name`;
    return { outcome: skipped(why), stdout: "", refused: why };
  }
  const open = await openWaysOut(throughProxy(ways, proxy), proxy?.certificate);
  try {
    const trusting = proxy === undefined ? env : { ...trustVariables(WAYS), ...env };
    const ran = await run(check, stage, { env: trusting, folders, ways: open });
    return { ...ran, refused: open.refused() };
  } finally {
    open.close();
  }
}

/** What fails for want of an address that nobody agreed to has not failed: it was not tried. */
export function unlessRefused(outcome: Outcome, refused: string | null): Outcome {
  return refused === null || outcome.status === "passed" ? outcome : { ...skipped(refused), log: outcome.log };
}

/** A program that asks a service: each in a room of its own. */
export async function runBesideService(check: Check, stage: Stage, options: ProgramOptions): Promise<Ran> {
  if (!stage.tree.view.exists(check.start!)) return { outcome: failed(`${check.start} does not exist`), stdout: "" };
  // The service waits for its turn with whoever asks it, not before.
  const now: Stage = { ...stage, turn: (work) => work() };
  return stage.turn(async () => {
    const service = serviceOf(check, options.env);
    const { answer, log, lastWords } = await withService(now, service, (line) =>
      runProgram(check, now, { ...options, line }),
    );
    if (answer !== null) return answer;
    return { outcome: { ...failed(lastWords ?? `${check.start} did not listen on $PORT in time`), log }, stdout: "" };
  });
}

/** The script that serves the result, as a service. */
export function serviceOf({ start, timeoutMs }: Check, env: Environment = {}): ServiceOptions {
  const engine = javascriptEngine();
  return {
    command: (line) => ({
      command: engine.command,
      args: ["-e", SERVE],
      env: { ...env, ...engine.env },
      stdin: { text: JSON.stringify({ start, socket: posix.join(line, SOCKET), timeoutMs }) },
    }),
    ready: SOCKET,
    timeoutMs,
  };
}

/** Opens a room when it is this run's turn, and closes it. Tests that were changed meanwhile say nothing. */
export function inRoom<T extends { readonly outcome: Outcome }>(
  { tree, rooms, turn, onRan }: Stage,
  options: Parameters<Rooms["open"]>[1],
  work: (room: Room) => Promise<T>,
): Promise<T> {
  return turn(async () => {
    const room = rooms.open(tree, options);
    try {
      const done = await work(room);
      const changed = room.changedGuards();
      const planted = room.plantedLists();
      onRan?.(room);
      if (changed.length === 0 && planted.length === 0) return done;
      const why =
        changed.length > 0
          ? failed(`the tests were changed while it ran: ${changed.slice(0, 3).join(", ")}`)
          : failed(`what a search leaves out was written while it ran: ${planted.slice(0, 3).join(", ")}`);
      return { ...done, outcome: { ...why, log: done.outcome.log } };
    } finally {
      room.close();
    }
  });
}
