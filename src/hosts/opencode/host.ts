// OpenCode runs plugins in its own process. Ours gates there and hands every other hook to a process of the harness, as
// the hook's own input and output plus what only the plugin knows: the folder and who acts.
import type { Caller, LifecycleEvent, Verdict } from "../../schema/events.js";
import { type Fields, field, fieldsOf, optionalText, text } from "../fields.js";
import { type HookAnswer, type Host, NO_ANSWER, SERVER } from "../host.js";
import {
  abstractName,
  byClass,
  OPEN_SHELL,
  READ,
  replaceRow,
  type ToolTable,
  translate,
  writeRow,
} from "../tool-table.js";

const names = { from: "oldString", to: "newString", all: "replaceAll" };
const PATCH = ["file_creation", "file_modification", "file_deletion", "partial_file_edit"] as const;

export const OPENCODE_TOOLS: ToolTable = {
  write: writeRow("filePath"),
  edit: replaceRow("filePath", names),
  multiedit: { access: "edit", classes: ["file_modification", "partial_file_edit"], path: "filePath" },
  patch: { access: "edit", classes: PATCH, patch: "patchText" },
  apply_patch: { access: "edit", classes: PATCH, patch: "patchText" },
  bash: OPEN_SHELL,
  task: { access: "spawn" },
  read: READ,
  glob: READ,
  grep: READ,
  list: READ,
  lsp: READ,
  webfetch: READ,
  websearch: READ,
  codesearch: READ,
  todowrite: READ,
  todoread: READ,
  skill: READ,
  question: READ,
  plan_enter: READ,
  plan_exit: READ,
  invalid: READ,
};

const OURS = new RegExp(`^${SERVER}_nx_`);
const toolUse: Host["toolUse"] = (name, input) => translate(name, input, OPENCODE_TOOLS, abstractName(name, OURS));

const GATE_HOOK = "tool.execute.before";
export const PLUGIN_HOOKS = [
  "session.created",
  "chat.message",
  "command.execute.before",
  GATE_HOOK,
  "tool.execute.after",
  "experimental.session.compacting",
  "dispose",
] as const;

/** What the plugin sends: which hook, its input and output as OpenCode gave them, and who acts where. */
export interface PluginNote {
  readonly hook: (typeof PLUGIN_HOOKS)[number];
  readonly directory: string;
  readonly sessionID: string;
  /** Set inside a subagent or a session that runs in a role. */
  readonly caller?: Caller;
  /** A session that existed before this process. */
  readonly resumed?: boolean;
  /** The call of the `task` tool that made a child session. */
  readonly spawn?: { readonly agentName: string; readonly prompt?: string };
  readonly input?: unknown;
  readonly output?: unknown;
}

function decode(payload: unknown): LifecycleEvent[] {
  const note = fieldsOf(payload, "the payload");
  const hook = text(note, "hook");
  const common = { sessionId: text(note, "sessionID"), cwd: text(note, "directory") };
  const caller = callerOf(note);
  const input = () => fieldsOf(field(note, "input"), "input");
  const output = () => fieldsOf(field(note, "output"), "output");
  switch (hook) {
    case "session.created":
      return [sessionCreated(note, common)];
    case "chat.message":
      return [{ type: "user_message", text: partsText(output()), caller, ...common }];
    case "command.execute.before": {
      const skill = text(input(), "command");
      return skill.startsWith("nx-") ? [{ type: "user_message", text: "", caller, loadedSkill: skill, ...common }] : [];
    }
    case GATE_HOOK:
      return [
        { type: "pre_tool_use", caller, tool: toolUse(text(input(), "tool"), field(output(), "args")), ...common },
      ];
    case "tool.execute.after":
      return toolAfter(input(), output(), caller, common);
    case "experimental.session.compacting":
      return [{ type: "context_compact", phase: "after", ...common }];
    case "dispose":
      return [{ type: "session_end", reason: "other", ...common }];
    default:
      return [];
  }
}

function eventOf(payload: unknown): string | undefined {
  const hook = typeof payload === "object" && payload !== null ? field(payload as Fields, "hook") : undefined;
  return typeof hook === "string" ? hook : undefined;
}

type Common = { readonly sessionId: string; readonly cwd: string };

function sessionCreated(note: Fields, common: Common): LifecycleEvent {
  const call = field(note, "spawn");
  if (call === undefined)
    return { type: "session_start", source: field(note, "resumed") === true ? "resume" : "startup", ...common };
  const spawn = fieldsOf(call, "spawn");
  const prompt = optionalText(spawn, "prompt");
  return {
    type: "subagent_spawn",
    agentId: common.sessionId,
    agentName: text(spawn, "agentName"),
    ...(prompt === undefined ? {} : { prompt }),
    ...common,
  };
}

function toolAfter(input: Fields, output: Fields, caller: Caller, common: Common): LifecycleEvent[] {
  const tool = toolUse(text(input, "tool"), field(input, "args"));
  const error = field(output, "isError") === true ? "failed" : undefined;
  const used: LifecycleEvent = {
    type: "post_tool_use",
    caller,
    tool,
    ok: error === undefined,
    ...(error === undefined ? {} : { error }),
    ...common,
  };
  const metadata = field(output, "metadata");
  const child =
    typeof metadata === "object" && metadata !== null ? optionalText(metadata as Fields, "sessionId") : undefined;
  if (tool.name !== "task" || child === undefined) return [used];
  const lastMessage = resultText(optionalText(output, "output") ?? "");
  const args = fieldsOf(field(input, "args") ?? {}, "args");
  const agentName = optionalText(args, "subagent_type") ?? "agent";
  return [
    { type: "subagent_complete", agentId: child, agentName, ...(lastMessage === "" ? {} : { lastMessage }), ...common },
    used,
  ];
}

const RESULT_START = "<task_result>";
const RESULT_END = "</task_result>";

function resultText(output: string): string {
  const start = output.indexOf(RESULT_START);
  const end = output.indexOf(RESULT_END, start);
  return (start < 0 || end < 0 ? output : output.slice(start + RESULT_START.length, end)).trim();
}

/** `opencode run` wraps a prompt of several words in quotes; they are not the person's. */
function partsText(output: Fields): string {
  const parts = field(output, "parts");
  const texts = (Array.isArray(parts) ? parts : []).flatMap(
    (part: { type?: unknown; text?: unknown; synthetic?: unknown }) =>
      part?.type === "text" && typeof part.text === "string" && part.synthetic !== true ? [part.text] : [],
  );
  const joined = texts.join("\n");
  return /^"[\s\S]*"\s*$/.test(joined) ? joined.trim().slice(1, -1) : joined;
}

function callerOf(note: Fields): Caller {
  const value = field(note, "caller");
  if (value === undefined) return {};
  const caller = fieldsOf(value, "caller");
  const agentId = optionalText(caller, "agentId");
  const agentName = optionalText(caller, "agentName");
  return { ...(agentId === undefined ? {} : { agentId }), ...(agentName === undefined ? {} : { agentName }) };
}

function answer(_payload: unknown, verdicts: readonly Verdict[]): HookAnswer {
  if (verdicts.length === 0) return NO_ANSWER;
  const denied = verdicts.find(({ outcome }) => outcome === "deny");
  const output: PluginAnswer = {
    context: verdicts.flatMap(({ context }) => context),
    warnings: verdicts.flatMap(({ warnings }) => warnings),
    deny: denied === undefined ? null : (denied.reason ?? "denied"),
    rewrite: verdicts.find(({ rewrite }) => rewrite !== null)?.rewrite ?? null,
  };
  return { stdout: JSON.stringify(output), stderr: "", exit: 0 };
}

export interface PluginAnswer {
  readonly context: readonly string[];
  readonly warnings: readonly string[];
  readonly deny: string | null;
  readonly rewrite: string | null;
}

export const opencode: Host = {
  name: "opencode",
  title: "OpenCode",
  harnessId: "nutcracker-opencode",
  settings: [".opencode/", "opencode.json", "opencode.jsonc", "~/.config/opencode/", "~/.opencode/"],
  watched: [
    { path: "opencode.json" },
    { path: "opencode.jsonc" },
    { path: ".opencode/plugins/" },
    { path: ".opencode/agents/" },
    { path: "~/.config/opencode/opencode.json" },
    { path: "~/.config/opencode/opencode.jsonc" },
    { path: "~/.config/opencode/plugins/" },
  ],
  canResume: true,
  docs: {
    report: "Report to Lead with your final message: it is all that Lead receives. Talk to nobody else.",
    resume_invocation:
      "To continue an earlier agent here, call the task tool with its id as task_id; otherwise start a new one with the task tool and name the role as subagent_type.",
    instruction_file: "The instruction file here is AGENTS.md; write only between its nexus markers.",
  },
  toolName: (abstract) => `${SERVER}_nx_${abstract}`,
  toolsByClass: byClass(OPENCODE_TOOLS),
  toolUse,
  gateEvent: GATE_HOOK,
  otherEvents: PLUGIN_HOOKS.filter((hook) => hook !== GATE_HOOK),
  eventOf,
  decode,
  answer,
  complain: (line) => ({ ...NO_ANSWER, stderr: `${line}\n` }),
};
