// A driver, as the engine sees it: events in our words, one promise for the whole session.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type Driver,
  type DriverEvent,
  isStandIn,
  isTooLong,
  type LoginKey,
  loginCommand,
  loginKeys,
  type McpServer,
  type Probe,
  type SessionEnd,
  type Trouble,
  type Usage,
} from "../../drivers/index.js";
import { canLayer, findBwrap } from "../../process/index.js";
import { reportSchema } from "../../schema/report.js";
import { deniedNexusTools, LEAD } from "../../schema/roles.js";
import { REPORT_FILE, REPORT_KIND, TOOL_SOCKET } from "../../schema/tools.js";
import type { AgentEvent, AgentOutcome, AgentRequest, AgentRunner } from "./agent.js";
import { keepLogin } from "./keep-login.js";
import { openToolLine, type ToolLine } from "./tool-line.js";

export interface DriverRunnerInput {
  readonly driver: Driver;
  readonly probe: Probe;
  /** What the run calls it: `demo` is the command driver with a program of our own. */
  readonly name: string;
  readonly command?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How an agent reaches our tools: the server, and what passes on to it from inside a sandbox. */
  readonly tools: { readonly server: Words; readonly relay: Words };
  readonly sandbox?: "auto" | "off";
  /** A folder every session may look into. */
  readonly readable?: string;
}

interface Words {
  readonly command: string;
  readonly args: readonly string[];
}

const SERVER = "nexus";

export function driverRunner(input: DriverRunnerInput): AgentRunner {
  const { probe, name, command } = input;
  // Codex alone says in its settings which variable pays for a provider of the person's own.
  const [own] = input.driver.name === "codex" ? (input.driver.keys?.(input.env, command) ?? []) : [];
  const login = name === "demo" ? null : loginCommand(input.driver.name, input.env, command, own?.variable);
  const hasTools = probe.abilities.mcp !== "absent";
  return {
    name,
    about: { name, ...(probe.version === null ? {} : { version: probe.version }) },
    ...(probe.note === undefined ? {} : { note: probe.note }),
    canResume: probe.abilities.resume !== "absent",
    ...(login === null ? {} : { login }),
    ...reportsOf(input),
    hasTools,
    keys: name === "demo" ? [] : keysOf(input),
    canPlan: hasTools && name !== "command" && !isStandIn(name),
    toolName: (abstract) => `nx_${abstract}`,
    describe: ({ role, mayEdit }) =>
      `${command ?? probe.path ?? probe.program} (${role}, ${mayEdit ? "may edit" : "read-only"})`,
    canLayer: async (folder) =>
      (input.sandbox ?? "auto") === "auto" && (await findBwrap(input.env)) !== null && canLayer(folder),
    renewLogin: (signal, model) => keepLogin(errandOf(input, signal, model), { refused: true }),
    async run(request, onEvent) {
      await keepLogin(errandOf(input, request.signal, request.model));
      const line = hasTools ? await toolLine(input, request) : null;
      try {
        return await runSession(input, request, line, onEvent);
      } finally {
        await line?.close();
      }
    },
  };
}

const keysOf = ({ driver, env, command }: DriverRunnerInput): readonly LoginKey[] => [
  ...loginKeys(driver.name, env, command),
  ...(driver.keys?.(env, command) ?? []),
];

/** The demo agent speaks in words, as any program may. */
function reportsOf({ probe, name }: DriverRunnerInput): Pick<AgentRunner, "reports"> {
  const { report, mcp } = probe.abilities;
  if (name === "demo" || report === "absent") return {};
  if (report === "native") return { reports: "shape" };
  return mcp === "absent" ? {} : { reports: "tool" };
}

const errandOf = (
  { driver, env, command, sandbox = "auto" }: DriverRunnerInput,
  signal: AbortSignal,
  model?: string,
) => ({
  driver,
  env,
  command,
  sandbox,
  signal,
  model,
});

/** Null without a sandbox: the agent then starts the server itself. */
async function toolLine(input: DriverRunnerInput, request: AgentRequest) {
  const { tools, env, sandbox = "auto" } = input;
  if (sandbox === "off" || (await findBwrap(env)) === null) return null;
  // A command's program is anybody's, and most have no use for tools.
  const isExpected = input.driver.name !== "command";
  return openToolLine({ tools: tools.server, env: serverEnvironment(input, request), isExpected });
}

async function runSession(
  input: DriverRunnerInput,
  request: AgentRequest,
  line: ToolLine | null,
  onEvent: (event: AgentEvent) => void,
): Promise<AgentOutcome> {
  const { driver, probe, command, env } = input;
  const hasTools = probe.abilities.mcp !== "absent";
  const asShape = reportsOf(input).reports === "shape" ? request.report : undefined;
  const session = await driver.start({
    rolePrompt: request.rolePrompt,
    taskPrompt: request.taskPrompt,
    cwd: request.cwd,
    ...(request.over === undefined ? {} : { over: request.over }),
    mcpServers: hasTools ? [server(input, request, line)] : [],
    may: { edit: request.mayEdit, shell: request.mayRunShell },
    deniedTools: deniedTools(request),
    env,
    extraEnv: defined(request.env),
    home: request.home,
    ...(request.model === undefined ? {} : { model: request.model }),
    ...(request.resume === undefined ? {} : { resume: request.resume }),
    sandbox: input.sandbox ?? "auto",
    readable: [
      ...request.readable,
      ...(line === null ? [] : [line.folder]),
      ...(input.readable === undefined ? [] : [input.readable]),
    ],
    ...(request.installed === undefined ? {} : { installed: request.installed }),
    ...(request.places === undefined ? {} : { places: request.places }),
    ...(asShape === undefined ? {} : { reportSchema: reportSchema(asShape.kind) }),
    ...(line === null ? {} : { hasTools: line.isListed }),
    ...(command === undefined ? {} : { command }),
    onEvent: (event) => {
      for (const agentEvent of agentEvents(event)) onEvent(agentEvent);
    },
  });
  const cancel = () => void session.cancel();
  if (request.signal.aborted) cancel();
  else request.signal.addEventListener("abort", cancel, { once: true });
  try {
    const outcome = outcomeOf(await session.ended, request);
    const report = outcome.report ?? (asShape === undefined ? handedIn(request) : undefined);
    const whole = report === undefined ? outcome : { ...outcome, report };
    return line === null || line.isListed() ? whole : { ...whole, withoutTools: true };
  } finally {
    request.signal.removeEventListener("abort", cancel);
  }
}

function server(input: DriverRunnerInput, request: AgentRequest, line: ToolLine | null): McpServer {
  const { tools, env } = input;
  if (line === null) return { name: SERVER, ...tools.server, env: serverEnvironment(input, request) };
  return { name: SERVER, ...tools.relay, env: { PATH: env.PATH ?? "", [TOOL_SOCKET]: line.socket } };
}

/** Who the server answers: it believes its environment, never an argument. */
function serverEnvironment(input: DriverRunnerInput, request: AgentRequest): Record<string, string> {
  const { PATH } = input.env;
  const nexus = Object.fromEntries(Object.entries(request.env).filter(([key]) => key.startsWith("NEXUS_")));
  const report = reportsOf(input).reports === "tool" ? request.report : undefined;
  return {
    ...defined(nexus),
    ...(report === undefined ? {} : { [REPORT_KIND]: report.kind, [REPORT_FILE]: report.file }),
    ...(PATH === undefined ? {} : { PATH }),
  };
}

/** What the tool server took. */
function handedIn({ report }: AgentRequest): unknown {
  try {
    return report === undefined ? undefined : JSON.parse(readFileSync(report.file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Kept from the agent by its program's own settings; the server refuses them too. */
function deniedTools({ blocked, role }: AgentRequest): string[] {
  const standing = role === "lead" ? LEAD : { kind: "role" as const, roles: [role], blocked };
  return deniedNexusTools(standing, "run").map((tool) => `${SERVER}.nx_${tool}`);
}

function agentEvents(event: DriverEvent): AgentEvent[] {
  switch (event.type) {
    case "session":
      return [{ type: "session", id: event.id }];
    case "message":
      return [{ type: "message", text: event.text }];
    case "tool_call": {
      if (event.status === "started") return [];
      const key = createHash("sha256")
        .update(`${event.tool} ${JSON.stringify(event.input ?? event.id)}`)
        .digest("hex");
      return [{ type: "tool", name: event.tool, key, ok: event.status === "finished" }];
    }
    case "file":
      return [{ type: "file", path: event.path }];
    case "usage":
      return [usageEvent(event.usage)];
    case "question":
      return [{ type: "question", text: `${event.text} (${event.answer})` }];
    case "waiting":
      return [{ type: "waiting", why: event.why, message: event.message }];
    case "warning":
      return [{ type: "message", text: `warning: ${event.message}` }];
  }
}

function usageEvent(usage: Usage): AgentEvent {
  const costUsd = Math.min(usage.costUsd ?? 0, MOST_USD);
  const whole = usage.wholeSession === undefined ? {} : { wholeSession: usage.wholeSession };
  return { type: "usage", tokens: tokensOf(usage), costUsd, ...whole };
}

/** A program may say anything. More than this is nonsense, and could not be added up. */
const MOST_TOKENS = 1e12;
const MOST_USD = 1e9;
const MOST_WAIT_MS = 366 * 86_400_000;

const tokensOf = ({ inputTokens, outputTokens }: Usage) =>
  Math.min(Math.round(inputTokens + outputTokens), MOST_TOKENS);

function outcomeOf(end: SessionEnd, { resume }: AgentRequest): AgentOutcome {
  const { outcome, text, report, error } = end;
  if (outcome === "cancelled") return { outcome: "stopped", text };
  // What fills a continued session is mostly not this agent's doing: it gets a new one.
  const isFull = resume !== undefined && outcome === "failed" && isTooLong(error ?? "");
  const trouble = end.trouble ?? (isFull ? { kind: "session" as const } : undefined);
  return {
    outcome: outcome === "completed" ? "done" : "failed",
    text,
    ...(report === undefined ? {} : { report }),
    ...(error === undefined ? {} : { error }),
    ...(trouble === undefined ? {} : { trouble: { ...inReason(trouble), message: error ?? trouble.kind } }),
  };
}

function inReason({ kind, retryAfterMs }: Trouble): Trouble {
  return retryAfterMs === undefined ? { kind } : { kind, retryAfterMs: Math.min(retryAfterMs, MOST_WAIT_MS) };
}

function defined(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}
