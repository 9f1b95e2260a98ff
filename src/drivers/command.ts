// Any program: the prompt on standard input, the result on standard output. A line `{"nexus_event": …}` is an event
// instead of text, for programs that want to tell more. What else there is to know is in the environment.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { NutError } from "../errors.js";
import { writeInside } from "../files/index.js";
import { readLines } from "../process/index.js";
import {
  amount,
  lineSession,
  NOBODY_KNOWS,
  newTranscript,
  startAgent,
  type Transcript,
  text,
  waits,
} from "./agent-process.js";
import type { Driver, DriverEvent, SessionRequest } from "./driver.js";
import { forgetInside } from "./inherit.js";
import { probeDriver } from "./probe.js";
import { TROUBLES } from "./trouble.js";

/** A report longer than this is not read by anyone; the rest is dropped. */
const TEXT_LIMIT = 1024 * 1024;

export const commandDriver: Driver = {
  name: "command",
  probe: (env, command) => probeDriver("command", env, command),
  async start(request) {
    if (request.command === undefined || request.command.trim() === "") {
      throw new NutError("DRIVER_MISSING", "the command driver needs a command", {
        hint: 'nexus run task.nut --driver command --command "my-agent"',
      });
    }
    const id = request.resume ?? randomUUID();
    const folder = join("sessions", id);
    const env = writeFiles(folder, id, request);
    const agent = await startAgent(
      "command",
      request,
      { command: "/bin/sh", args: ["-c", request.command], env },
      {
        text: `${request.rolePrompt}\n\n${request.taskPrompt}`,
      },
    );
    const transcript: Transcript = { ...newTranscript(), sessionId: id, turnEnded: true };
    const emit = request.onEvent ?? (() => {});
    emit({ type: "session", id });
    readLines(agent.child.stdout, (line) => hear(line, transcript, emit));
    const session = lineSession(agent, transcript, NOBODY_KNOWS);
    void session.ended.then(() => forgetInside(request.home, folder));
    return session;
  },
};

function writeFiles(folder: string, id: string, request: SessionRequest): Record<string, string> {
  const names = { role: "role.md", task: "task.md", servers: "mcp.json" };
  const servers = Object.fromEntries(
    request.mcpServers.map(({ name, command, args, env }) => [name, { command, args, env }]),
  );
  writeInside(request.home, join(folder, names.role), request.rolePrompt);
  writeInside(request.home, join(folder, names.task), request.taskPrompt);
  writeInside(request.home, join(folder, names.servers), JSON.stringify({ mcpServers: servers }));
  const at = (name: string) => join(request.home, folder, name);
  return {
    NEXUS_SESSION_ID: id,
    NEXUS_ROLE_FILE: at(names.role),
    NEXUS_TASK_FILE: at(names.task),
    NEXUS_MCP_CONFIG: at(names.servers),
    NEXUS_MAY_EDIT: request.may.edit ? "1" : "0",
    NEXUS_MAY_SHELL: request.may.shell ? "1" : "0",
    ...(request.model === undefined ? {} : { NEXUS_MODEL: request.model }),
    ...(request.resume === undefined ? {} : { NEXUS_RESUME: "1" }),
  };
}

function hear(line: string, transcript: Transcript, emit: (event: DriverEvent) => void): void {
  const event = line.startsWith('{"nexus_event"') ? readEvent(line) : null;
  if (event === null) {
    if (transcript.text.length < TEXT_LIMIT) transcript.text += `${transcript.text === "" ? "" : "\n"}${line}`;
    return;
  }
  if (event.type === "usage") transcript.usage = event.usage;
  // Said before it ends with another exit than 0: that is why.
  if (event.type === "waiting") waits(transcript, event.message, { kind: event.why, ...retryIn(line) }, emit);
  else emit(event);
}

function retryIn(line: string): { readonly retryAfterMs?: number } {
  const seconds = amount((JSON.parse(line) as Record<string, unknown>).retry_after);
  return seconds === 0 ? {} : { retryAfterMs: seconds * 1_000 };
}

function readEvent(line: string): DriverEvent | null {
  let row: Record<string, unknown>;
  try {
    row = JSON.parse(line);
  } catch {
    return null;
  }
  switch (row.nexus_event) {
    case "message":
      return { type: "message", text: text(row.text), thought: false };
    case "file":
      return {
        type: "file",
        path: text(row.path),
        change: row.change === "created" || row.change === "deleted" ? row.change : "modified",
      };
    case "tool_call":
      return { type: "tool_call", id: text(row.id), tool: text(row.tool), status: "finished", input: row.input };
    case "trouble": {
      const why = TROUBLES.find((kind) => kind === row.kind);
      return why === undefined ? null : { type: "waiting", why, message: text(row.message) || why };
    }
    case "usage":
      return {
        type: "usage",
        usage: {
          inputTokens: amount(row.input_tokens),
          outputTokens: amount(row.output_tokens),
          costUsd: amount(row.cost_usd),
        },
      };
    default:
      return null;
  }
}
