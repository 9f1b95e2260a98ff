// Who is let in: a word nobody can guess, for one agent or program, until it ends. It is access while the run lasts, and
// no secret of anybody's.
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Authority } from "./authority.js";

export interface Door {
  readonly token: string;
  /** The agent or program, as the record names it. */
  readonly by: string;
  readonly role: string | null;
  /** Names of what it leads to. */
  readonly names: ReadonlySet<string>;
  /** Whether hosts nothing is lent for are reached through it too. */
  readonly tunnels: boolean;
  /** Vouches for hosts to programs that insist on their own addresses. */
  readonly authority: Authority | null;
  /** What is under way; cut when the door is closed. */
  readonly open: Set<ServerResponse | Socket>;
}

export class Doors {
  readonly #doors = new Map<string, Door>();

  add(who: Omit<Door, "token" | "open">): Door {
    const door: Door = { ...who, token: randomBytes(24).toString("base64url"), open: new Set() };
    this.#doors.set(door.token, door);
    return door;
  }

  find(token: string): Door | null {
    const door = this.#doors.get(token);
    // The map answers in a time that tells nothing; this says so to whoever reads it.
    if (door === undefined || !timingSafeEqual(Buffer.from(door.token), Buffer.from(token))) return null;
    return door;
  }

  remove(door: Door): void {
    this.#doors.delete(door.token);
    for (const one of door.open) one.destroy();
    door.open.clear();
  }

  clear(): void {
    for (const door of [...this.#doors.values()]) this.remove(door);
  }
}
