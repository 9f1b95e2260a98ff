import { basename } from "node:path";
import { type Host, hookCommand, type InstallInput } from "../../../hosts/index.js";
import type { Context } from "../../../operation.js";
import { runChild } from "../../../process/index.js";

export interface HookTrial {
  readonly host: Host;
  readonly event: string;
  readonly folder: string;
  readonly input: Pick<InstallInput, "scope" | "node" | "hook" | "platform">;
  readonly context: Context;
}

/** Starts the hook process as a host does, with the smallest payload that means something. */
export async function runHookProcess({
  host,
  event,
  folder,
  input,
  context,
}: HookTrial): Promise<{ exit: number | null; ms: number }> {
  const isCommand = host.name !== "opencode" && input.platform !== "win32";
  const { code, durationMs } = await runChild({
    ...(isCommand
      ? { command: "/bin/sh", args: ["-c", hookCommand(input, host, event)] }
      : { command: input.node, args: [input.hook, host.name, event] }),
    cwd: folder,
    env: context.env,
    stdin: { text: JSON.stringify(host.name === "opencode" ? note(event, folder) : payload(event, folder)) },
    timeoutMs: 20_000,
    signal: context.signal,
  });
  return { exit: code, ms: durationMs };
}

/** Another for each trial: a session is at home where it began, and one that was cut off is never ended. */
const sessionOf = (folder: string): string => `doctor-${basename(folder)}`;

function payload(event: string, cwd: string): object {
  return {
    hook_event_name: event,
    session_id: sessionOf(cwd),
    cwd,
    source: "startup",
    prompt: "hello",
    tool_name: "Read",
    tool_input: {},
    tool_response: {},
    agent_id: event.startsWith("Subagent") ? "doctor-agent" : undefined,
    agent_type: event.startsWith("Subagent") ? "engineer" : undefined,
    reason: "other",
  };
}

function note(hook: string, directory: string): object {
  return { hook, directory, sessionID: sessionOf(directory), input: { tool: "read" }, output: { args: {} } };
}
