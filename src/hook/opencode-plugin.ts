// The plugin OpenCode loads. It gates inside OpenCode's own process, and hands every other hook to the hook process,
// which may wait for the store's lock. A hook that cannot be delivered is told to the person; it never stops the session.
import { findHost, type PluginNote } from "../hosts/index.js";
import type { PreToolUse } from "../schema/events.js";
import { gateVerdict } from "./answer-hook.js";
import { Courier, type PluginPlace } from "./plugin-courier.js";
import { PluginSessions } from "./plugin-sessions.js";

/** OpenCode's shapes, as far as we touch them. */
type Loose = Record<string, unknown>;
interface Part extends Loose {
  readonly type: string;
}
interface PluginInput {
  readonly directory: string;
  readonly client?: { readonly app?: { log?(options: object): Promise<unknown> } };
}

/** What the hooks of one OpenCode process share. */
interface Plugin {
  readonly directory: string;
  readonly courier: Courier;
  readonly sessions: PluginSessions;
  /** A summary may leave the snapshot out; until the person speaks again it is told with every request. */
  readonly snapshots: Map<string, string>;
}

const HOST = findHost("opencode")!;

export function nexusPlugin(place: PluginPlace) {
  return async ({ directory, client }: PluginInput) => {
    const warn = (message: string) =>
      void client?.app?.log?.({ body: { service: "nexus", level: "warn", message } })?.catch(() => {});
    const courier = new Courier(place, directory, warn);
    const sessions = new PluginSessions((note) => courier.tell(note));
    const plugin: Plugin = { directory, courier, sessions, snapshots: new Map() };
    process.once("exit", () => {
      for (const id of sessions.top()) courier.tellNow({ hook: "dispose", sessionID: id });
    });
    return hooksOf(plugin);
  };
}

function hooksOf(plugin: Plugin) {
  return {
    event: ({ event }: { event: { type: string; properties: Loose } }) => sessionEvent(event, plugin),
    "chat.message": (input: Loose, output: { message: Loose; parts: Part[] }) => chatMessage(input, output, plugin),
    "command.execute.before": async (input: Loose) => {
      await plugin.courier.tell({ hook: "command.execute.before", sessionID: String(input.sessionID), input });
    },
    "tool.execute.before": (input: Loose, output: { args: Loose }) => beforeTool(input, output, plugin),
    "tool.execute.after": (input: Loose, output: Loose) => afterTool(input, output, plugin),
    "experimental.session.compacting": (input: Loose, output: { context: string[] }) =>
      compacting(String(input.sessionID), output, plugin),
    "experimental.chat.system.transform": async (input: Loose, output: { system: string[] }) => {
      const snapshot = plugin.snapshots.get(String(input.sessionID));
      if (snapshot !== undefined) output.system.push(snapshot);
    },
    "shell.env": async (input: Loose, output: { env: Record<string, string> }) => {
      Object.assign(output.env, shellEnvironment(String(input.sessionID), plugin));
    },
  };
}

async function sessionEvent(
  { type, properties }: { type: string; properties: Loose },
  { sessions, courier }: Plugin,
): Promise<void> {
  const { id, parentID } = (properties.info ?? {}) as Loose;
  if (typeof id !== "string") return;
  if (type === "session.created")
    sessions.begin(id, typeof parentID === "string" ? parentID : null, { resumed: false });
  if (type === "session.deleted" && sessions.end(id)) await courier.tell({ hook: "dispose", sessionID: id });
}

async function chatMessage(
  { sessionID }: Loose,
  { message, parts }: { message: Loose; parts: Part[] },
  { courier, sessions, snapshots }: Plugin,
): Promise<void> {
  const id = String(sessionID);
  // A message of a session nobody saw begin: it is older than this process.
  const session = sessions.begin(id, null, { resumed: true });
  if (typeof message.agent === "string") session.agent = message.agent;
  const beginning = await session.announced;
  session.announced = null;
  const answer = await courier.tell({
    hook: "chat.message",
    sessionID: id,
    ...sessions.callerOf(id),
    input: { sessionID: id },
    output: { parts },
  });
  snapshots.delete(id);
  const context = [...(beginning?.context ?? []), ...(answer?.context ?? [])];
  if (context.length === 0) return;
  const text = context.join("\n\n");
  parts.push({ id: partId(), sessionID: id, messageID: message.id, type: "text", text, synthetic: true });
}

/** Whatever goes wrong in here is thrown, and a throw blocks the tool. */
async function beforeTool(
  { sessionID, tool }: Loose,
  { args }: { args: Loose },
  { directory, sessions }: Plugin,
): Promise<void> {
  const id = String(sessionID);
  const note: PluginNote = {
    hook: "tool.execute.before",
    directory,
    sessionID: id,
    ...sessions.callerOf(id),
    input: { tool },
    output: { args },
  };
  const [event] = HOST.decode(note) as readonly [PreToolUse];
  const around = { env: process.env, now: () => new Date() };
  const { outcome, reason, rewrite } = await gateVerdict(event, HOST, around);
  if (outcome === "deny") throw new Error(`nexus: ${reason ?? "denied"}`);
  if (rewrite !== null) args.command = rewrite;
  if (tool === "task")
    sessions.expect({ agentName: String(args.subagent_type ?? "agent"), prompt: String(args.prompt ?? "") });
}

async function afterTool(input: Loose, output: Loose, { courier, sessions }: Plugin): Promise<void> {
  const id = String(input.sessionID);
  const isTask = input.tool === "task";
  const told = courier.tell({
    hook: "tool.execute.after",
    sessionID: id,
    ...sessions.callerOf(id),
    input: brief(input),
    output: { metadata: sessionOnly(output.metadata), ...(isTask ? { output: output.output } : {}) },
  });
  // Only what an agent left behind is worth making the model wait for.
  const answer = isTask ? await told : null;
  if (answer !== null && answer.context.length > 0 && typeof output.output === "string")
    output.output += `\n\n${answer.context.join("\n")}`;
}

async function compacting(id: string, output: { context: string[] }, { courier, snapshots }: Plugin): Promise<void> {
  const answer = await courier.tell({ hook: "experimental.session.compacting", sessionID: id });
  if (answer === null || answer.context.length === 0) return;
  output.context.push(...answer.context);
  snapshots.set(id, answer.context.join("\n\n"));
}

function shellEnvironment(id: string, { directory, sessions }: Plugin): Record<string, string> {
  const { caller = {} } = sessions.callerOf(id);
  return {
    NEXUS_PROJECT_DIR: directory,
    NEXUS_HARNESS_ID: HOST.harnessId,
    ...(caller.agentName === undefined ? {} : { NEXUS_ROLE: caller.agentName }),
    ...(caller.agentId === undefined ? {} : { NEXUS_AGENT_ID: caller.agentId }),
  };
}

const LONG_ARGUMENT = 8_192;

/** Arguments may hold whole files; what is logged is which. */
function brief({ tool, args }: Loose): Loose {
  const given = (args ?? {}) as Loose;
  const short = Object.entries(given).filter(
    ([name, value]) => name === "patchText" || typeof value !== "string" || value.length < LONG_ARGUMENT,
  );
  return { tool, args: Object.fromEntries(short) };
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
