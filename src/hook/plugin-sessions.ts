// Who is at work inside OpenCode. Its events name sessions only: which role one runs in is told by the call that made it.
import type { PluginAnswer, PluginNote } from "../hosts/index.js";
import type { Caller } from "../schema/events.js";

type Tell = (note: Omit<PluginNote, "directory">) => Promise<PluginAnswer | null>;
type Spawn = NonNullable<PluginNote["spawn"]>;

interface Session {
  readonly parent: string | null;
  /** Role or agent the session runs in; null = Lead's own. */
  agent: string | null;
  /** Settled when the session was announced to the harness; what was answered is waiting to be told. */
  announced: Promise<PluginAnswer | null> | null;
}

/** OpenCode's own agents speak for Lead; everything else that runs a session is someone. */
const LEADS: ReadonlySet<string> = new Set(["build", "plan", "general", "title", "summary", "compaction"]);

/** A class because sessions come and go as long as the plugin lives. */
export class PluginSessions {
  readonly #tell: Tell;
  readonly #sessions = new Map<string, Session>();
  /** Calls of the `task` tool whose session has not begun yet, in order. */
  readonly #spawns: Spawn[] = [];

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  expect(spawn: Spawn): void {
    this.#spawns.push(spawn);
  }

  /** Announces a session once; a child only when the call that made it is known. */
  begin(id: string, parent: string | null, { resumed }: { readonly resumed: boolean }): Session {
    return this.#sessions.get(id) ?? this.#add(id, parent, resumed);
  }

  #add(id: string, parent: string | null, resumed: boolean): Session {
    const spawn = parent === null ? undefined : this.#spawns.shift();
    const session: Session = { parent, agent: spawn?.agentName ?? null, announced: null };
    this.#sessions.set(id, session);
    const note = { hook: "session.created", sessionID: id } as const;
    if (parent === null) session.announced = this.#tell({ ...note, ...(resumed ? { resumed } : {}) });
    else if (spawn !== undefined) session.announced = this.#tell({ ...note, spawn });
    return session;
  }

  /** Whether it was a session of the person's own. */
  end(id: string): boolean {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    return session?.parent === null;
  }

  callerOf(id: string): { readonly caller?: Caller } {
    const { parent = null, agent = null } = this.#sessions.get(id) ?? {};
    if (parent !== null) return { caller: { agentId: id, ...(agent === null ? {} : { agentName: agent }) } };
    return agent === null || LEADS.has(agent) ? {} : { caller: { agentName: agent } };
  }

  /** Sessions of the person's own. */
  top(): string[] {
    return [...this.#sessions].filter(([, { parent }]) => parent === null).map(([id]) => id);
  }
}
