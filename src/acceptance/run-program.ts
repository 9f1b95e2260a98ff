// One program of a check, in a room of its own: prepared by a runner, run, and read by that runner.
import type { Environment, Sandbox } from "../process/index.js";
import type { Check, Outcome } from "./model.js";
import { failed } from "./outcome.js";
import type { RoomTree } from "./room/room-tree.js";
import type { Room, Rooms } from "./room/rooms.js";
import { prepareRun, readRun } from "./runners/index.js";

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
}

export interface Ran {
  readonly outcome: Outcome;
  readonly stdout: string;
}

export function runProgram(check: Check, stage: Stage, { env, network = "none" }: ProgramOptions): Promise<Ran> {
  const { tree, rooms, signal } = stage;
  return inRoom(stage, { network, ptrace: check.needs?.includes("ptrace") === true }, async (room) => {
    const { findProgram, answers } = rooms;
    const prepared = await prepareRun(check, tree.view, {
      tree: room.tree,
      reports: room.reports,
      findProgram,
      answers,
    });
    if ("status" in prepared) return { outcome: prepared, stdout: "" };
    const { command, args, cwd, stdin, maxOutputBytes, reportFiles } = prepared;
    const result = await room.run({
      command,
      args,
      cwd,
      stdin,
      maxOutputBytes,
      env: { ...prepared.env, ...env },
      timeoutMs: check.timeoutMs,
      signal,
    });
    const outcome = readRun(check, prepared, result, room.written(reportFiles));
    return { outcome, stdout: result.stdout.text };
  });
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
      onRan?.(room);
      if (changed.length === 0) return done;
      const why = failed(`the tests were changed while it ran: ${changed.slice(0, 3).join(", ")}`);
      return { ...done, outcome: { ...why, log: done.outcome.log } };
    } finally {
      room.close();
    }
  });
}
