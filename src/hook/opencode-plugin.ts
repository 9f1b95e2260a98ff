// The plugin OpenCode loads. It gates inside OpenCode's own process, and hands every other hook to the hook process,
// which may wait for the store's lock. A hook that cannot be delivered is told to the person; it never stops the session.
import { spawn, spawnSync } from "node:child_process";
import type { PreToolUse } from "../schema/events.js";
import { judge } from "./answer-hook.js";
import { findHost, type PluginAnswer, type PluginNote } from "./face.js";

export interface PluginPlace {
  readonly node: string;
  readonly hook: string;
}

interface Session {
  readonly parent: string | null;
  /** Role or agent the session runs in; null = Lead's own. */
  agent: string | null;
  /** Settled when the session was announced to the harness; what it said is waiting to be told. */
  announced: Promise<PluginAnswer | null> | null;
}

interface Spawn {
  readonly agentName: string;
  readonly prompt?: string;
}

/** OpenCode's shapes, as far as we touch them. */
type Loose = Record<string, unknown>;
interface Part extends Loose {
  readonly type: string;
}
interface PluginInput {
  readonly directory: string;
  readonly client?: { readonly app?: { log?(options: object): Promise<unknown> } };
}

const WAIT_MS = 15_000;
/** OpenCode's own agents speak for Lead; everything else that runs a session is someone. */
const LEADS: ReadonlySet<string> = new Set(["build", "plan", "general", "title", "summary", "compaction"]);

export function nexusPlugin(place: PluginPlace) {
  return async ({ directory, client }: PluginInput) => {
    const host = findHost("opencode")!;
    const sessions = new Map<string, Session>();
    const spawns: Spawn[] = [];
    const snapshots = new Map<string, string>();
    let queue: Promise<unknown> = Promise.resolve();

    const warn = (lines: readonly string[]) => {
      for (const message of lines)
        client?.app?.log?.({ body: { service: "nexus", level: "warn", message } })?.catch(() => {});
    };
    /** One after the other: an edit is recorded before the agent that made it is done. */
    const tell = (note: Omit<PluginNote, "directory">): Promise<PluginAnswer | null> => {
      const sent = queue.then(() => deliver(place, { directory, ...note }));
      queue = sent.catch(() => null);
      return sent.then(
        (answer) => {
          warn(answer?.warnings ?? []);
          return answer;
        },
        (error: unknown) => {
          warn([`a hook was not delivered: ${String(error)}`]);
          return null;
        },
      );
    };
    const callerOf = (id: string) => {
      const session = sessions.get(id);
      const role = session?.agent ?? null;
      if (session?.parent === null || session === undefined)
        return role === null || LEADS.has(role) ? {} : { caller: { agentName: role } };
      return { caller: { agentId: id, ...(role === null ? {} : { agentName: role }) } };
    };
    const announce = (id: string, parent: string | null, resumed: boolean): Session => {
      const known = sessions.get(id);
      if (known !== undefined) return known;
      const spawnNote = parent === null ? undefined : spawns.shift();
      const session: Session = { parent, agent: spawnNote?.agentName ?? null, announced: null };
      sessions.set(id, session);
      if (parent === null)
        session.announced = tell({ hook: "session.created", sessionID: id, ...(resumed ? { resumed } : {}) });
      else if (spawnNote !== undefined)
        session.announced = tell({ hook: "session.created", sessionID: id, spawn: spawnNote });
      return session;
    };

    process.once("exit", () => {
      for (const [id, { parent }] of sessions)
        if (parent === null) deliverNow(place, { directory, hook: "dispose", sessionID: id });
    });

    return {
      event: async ({ event }: { event: { type: string; properties: Loose } }) => {
        const info = event.properties.info as Loose | undefined;
        if (event.type === "session.created" && typeof info?.id === "string")
          announce(info.id, typeof info.parentID === "string" ? info.parentID : null, false);
        if (event.type === "session.deleted" && typeof info?.id === "string") {
          const session = sessions.get(info.id);
          sessions.delete(info.id);
          if (session?.parent === null) await tell({ hook: "dispose", sessionID: info.id });
        }
      },

      "chat.message": async (input: Loose, output: { message: Loose; parts: Part[] }) => {
        const id = String(input.sessionID);
        const session = announce(id, null, true);
        if (typeof output.message.agent === "string") session.agent = output.message.agent;
        const begun = await session.announced;
        session.announced = null;
        const answer = await tell({
          hook: "chat.message",
          sessionID: id,
          ...callerOf(id),
          input: { sessionID: id },
          output: { parts: output.parts },
        });
        snapshots.delete(id);
        const context = [...(begun?.context ?? []), ...(answer?.context ?? [])];
        if (context.length > 0)
          output.parts.push({
            id: partId(),
            sessionID: id,
            messageID: output.message.id,
            type: "text",
            text: context.join("\n\n"),
            synthetic: true,
          });
      },

      "command.execute.before": async (input: Loose) => {
        await tell({ hook: "command.execute.before", sessionID: String(input.sessionID), input });
      },

      "tool.execute.before": async (input: Loose, output: { args: Loose }) => {
        const id = String(input.sessionID);
        const tool = host.toolUse(String(input.tool ?? ""), output.args);
        const { caller = {} } = callerOf(id);
        const event: PreToolUse = { type: "pre_tool_use", sessionId: id, cwd: directory, caller, tool };
        // Whatever goes wrong in here is thrown, and a throw blocks the tool.
        const { outcome, reason, rewrite } = await judge(event, host, { env: process.env, now: () => new Date() });
        if (outcome === "deny") throw new Error(`nexus: ${reason ?? "denied"}`);
        if (rewrite !== null) output.args.command = rewrite;
        if (tool.name === "task")
          spawns.push({
            agentName: String(output.args.subagent_type ?? "agent"),
            prompt: String(output.args.prompt ?? ""),
          });
      },

      "tool.execute.after": async (input: Loose, output: Loose) => {
        const id = String(input.sessionID);
        const sent = tell({
          hook: "tool.execute.after",
          sessionID: id,
          ...callerOf(id),
          input: brief(input),
          output: {
            metadata: sessionOnly(output.metadata),
            ...(input.tool === "task" ? { output: output.output } : {}),
          },
        });
        if (input.tool !== "task") return;
        const answer = await sent;
        if (answer !== null && answer.context.length > 0 && typeof output.output === "string")
          output.output += `\n\n${answer.context.join("\n")}`;
      },

      "experimental.session.compacting": async (input: Loose, output: { context: string[] }) => {
        const id = String(input.sessionID);
        const answer = await tell({ hook: "experimental.session.compacting", sessionID: id });
        if (answer === null || answer.context.length === 0) return;
        output.context.push(...answer.context);
        snapshots.set(id, answer.context.join("\n\n"));
      },

      /** A summary may leave the snapshot out; until the person speaks again it is told with every request. */
      "experimental.chat.system.transform": async (input: Loose, output: { system: string[] }) => {
        const snapshot = snapshots.get(String(input.sessionID));
        if (snapshot !== undefined) output.system.push(snapshot);
      },

      "shell.env": async (input: Loose, output: { env: Record<string, string> }) => {
        const { caller } = callerOf(String(input.sessionID));
        output.env.NEXUS_PROJECT_DIR = directory;
        output.env.NEXUS_HARNESS_ID = host.harnessId;
        if (caller?.agentName !== undefined) output.env.NEXUS_ROLE = caller.agentName;
        if (caller !== undefined && "agentId" in caller) output.env.NEXUS_AGENT_ID = caller.agentId;
      },
    };
  };
}

/** Arguments may hold whole files; what is logged is which. */
function brief({ tool, args }: Loose): Loose {
  const short = Object.entries((args ?? {}) as Loose).filter(
    ([, value]) => typeof value !== "string" || value.length < 8_192,
  );
  const patch = (args as Loose | undefined)?.patchText;
  return { tool, args: { ...Object.fromEntries(short), ...(typeof patch === "string" ? { patchText: patch } : {}) } };
}

function sessionOnly(metadata: unknown): Loose {
  const id = (metadata as Loose | undefined)?.sessionId;
  return typeof id === "string" ? { sessionId: id } : {};
}

let serial = 0;
function partId(): string {
  serial += 1;
  return `prt_${Date.now().toString(16).padStart(12, "0")}${String(serial).padStart(4, "0")}nexus`;
}

function deliver(place: PluginPlace, note: PluginNote): Promise<PluginAnswer | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(place.node, [place.hook, "opencode", note.hook], {
      stdio: ["pipe", "pipe", "pipe"],
      timeout: WAIT_MS,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (data) => {
      stdout += data;
    });
    child.stderr.on("data", (data) => {
      stderr += data;
    });
    child.on("error", reject);
    child.stdin.on("error", () => {});
    child.on("close", () => {
      try {
        resolve(stdout === "" ? null : (JSON.parse(stdout) as PluginAnswer));
      } catch (error) {
        reject(error);
      }
      if (stderr !== "" && stdout === "") reject(new Error(stderr.trim()));
    });
    child.stdin.end(JSON.stringify(note));
  });
}

/** The process is ending: nothing asynchronous runs any more. */
function deliverNow(place: PluginPlace, note: PluginNote): void {
  spawnSync(place.node, [place.hook, "opencode", note.hook], {
    input: JSON.stringify(note),
    timeout: 5_000,
    stdio: ["pipe", "ignore", "ignore"],
  });
}
