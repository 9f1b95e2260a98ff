// Gemini CLI has hooks of its own words. It does not say which agent calls, and of agents only the tool that starts them is
// shown: its call is their beginning, its end theirs.
import type { LifecycleEvent, Verdict } from "../../schema/events.js";
import { commandHost } from "../command-hooks.js";
import { type Fields, field, fieldsOf, optionalText } from "../fields.js";
import type { HookAnswer } from "../host.js";
import { type Host, SERVER } from "../host.js";
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

const names = { from: "old_string", to: "new_string", all: "allow_multiple" };
const SPAWN_TOOL = "invoke_agent";

export const GEMINI_TOOLS: ToolTable = {
  write_file: writeRow("file_path"),
  replace: replaceRow("file_path", names),
  run_shell_command: OPEN_SHELL,
  [SPAWN_TOOL]: { access: "spawn" },
  read_file: READ,
  read_many_files: READ,
  list_directory: READ,
  grep_search: READ,
  search_file_content: READ,
  glob: READ,
  web_fetch: READ,
  google_web_search: READ,
  write_todos: READ,
  update_topic: READ,
  activate_skill: READ,
  ask_user: READ,
  enter_plan_mode: READ,
  exit_plan_mode: READ,
  complete_task: READ,
  get_internal_docs: READ,
  list_background_processes: READ,
  read_background_output: READ,
  list_mcp_resources: READ,
  read_mcp_resource: READ,
};

const OURS = new RegExp(`^mcp_${SERVER}_nx_`);
const toolUse: Host["toolUse"] = (name, input) => translate(name, input, GEMINI_TOOLS, abstractName(name, OURS));

/** Its events → those of the other command hosts. */
const EVENTS: Readonly<Record<string, string>> = {
  SessionStart: "SessionStart",
  BeforeAgent: "UserPromptSubmit",
  BeforeTool: "PreToolUse",
  AfterTool: "PostToolUse",
  SessionEnd: "SessionEnd",
};
export const GEMINI_EVENTS: readonly string[] = Object.keys(EVENTS);

const common = commandHost({ role: (name) => name, toolUse });

function inCommonWords(payload: unknown): Fields {
  const fields = fieldsOf(payload, "the payload");
  const event = field(fields, "hook_event_name");
  const known = typeof event === "string" && Object.hasOwn(EVENTS, event) ? EVENTS[event] : event;
  const prompt = field(fields, "prompt");
  return {
    ...fields,
    hook_event_name: known,
    ...(typeof prompt === "string" ? { prompt: withoutContext(prompt) } : {}),
  };
}

/** What hooks said at the start of a session stands before the person's own words. */
const withoutContext = (prompt: string): string =>
  prompt.startsWith("<hook_context>") ? prompt.slice(prompt.indexOf("</hook_context>") + 15).trimStart() : prompt;

function decode(payload: unknown): readonly LifecycleEvent[] {
  const fields = inCommonWords(payload);
  const events = common.decode(fields);
  const [event] = events;
  if (event === undefined || !("tool" in event) || event.tool.name !== SPAWN_TOOL) return events;
  const { sessionId, cwd } = event;
  const { agentName, prompt } = started(fields);
  const agent = { agentId: agentId(agentName, prompt), agentName, sessionId, cwd };
  if (event.type === "pre_tool_use") return [event, { type: "subagent_spawn", ...agent, prompt }];
  const lastMessage = resultText(field(fields, "tool_response"));
  return [{ type: "subagent_complete", ...agent, ...(lastMessage === "" ? {} : { lastMessage }) }, event];
}

/** Stands before what we add to an agent's prompt. */
const ADDED = "\n\n<!-- nexus -->\n";

function started(fields: Fields): { readonly agentName: string; readonly prompt: string } {
  const input = fieldsOf(field(fields, "tool_input") ?? {}, "tool_input");
  const prompt = optionalText(input, "prompt") ?? "";
  return { agentName: optionalText(input, "agent_name") ?? "agent", prompt: prompt.split(ADDED)[0]! };
}

/** Nothing of the call tells its beginning and its end together but what it says. */
function agentId(name: string, prompt: string): string {
  let hash = 0x811c9dc5;
  for (const letter of prompt) hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193) >>> 0;
  return `${name}-${hash.toString(16)}`;
}

function resultText(response: unknown): string {
  const content = typeof response === "object" && response !== null ? field(response as Fields, "llmContent") : "";
  const parts = Array.isArray(content) ? content : [content];
  const texts = parts.map((part: unknown) =>
    typeof part === "string" ? part : String((part as { text?: unknown } | null)?.text ?? ""),
  );
  return texts
    .join("\n")
    .replace(/^Subagent '[^'\n]*' finished\.\nTermination Reason: [^\n]*\nResult:\n/, "")
    .trim();
}

/** The common answer in its words. What an agent is told at its start goes along with its prompt. */
function answer(payload: unknown, verdicts: readonly Verdict[]): HookAnswer {
  const fields = inCommonWords(payload);
  const own = eventOf(payload);
  const [first, spawn] = verdicts;
  if (own === "BeforeTool" && first?.outcome !== "deny" && spawn !== undefined) return spawnAnswer(fields, spawn);
  // At the end of an agent the first verdict is about the agent, and its warnings are what counts.
  const given = common.answer(fields, verdicts.length > 1 ? [joined(verdicts)] : verdicts);
  if (given.stdout === "") return given;
  const { hookSpecificOutput, ...rest } = JSON.parse(given.stdout) as { hookSpecificOutput?: Record<string, unknown> };
  const { permissionDecision, permissionDecisionReason, updatedInput, additionalContext } = hookSpecificOutput ?? {};
  const specific = {
    ...(updatedInput === undefined ? {} : { tool_input: updatedInput }),
    ...(additionalContext === undefined || own === "BeforeTool" ? {} : { additionalContext }),
  };
  return said({
    ...rest,
    ...(permissionDecision === "deny" ? { decision: "deny", reason: permissionDecisionReason } : {}),
    ...(Object.keys(specific).length === 0 ? {} : { hookSpecificOutput: { hookEventName: own, ...specific } }),
  });
}

const joined = (verdicts: readonly Verdict[]): Verdict => ({
  ...verdicts[0]!,
  context: verdicts.flatMap(({ context }) => context),
  warnings: verdicts.flatMap(({ warnings }) => warnings),
});

function spawnAnswer(fields: Fields, { context, warnings }: Verdict): HookAnswer {
  const input = fieldsOf(field(fields, "tool_input") ?? {}, "tool_input");
  const { prompt } = started(fields);
  const told = { ...input, prompt: `${prompt}${ADDED}${context.join("\n\n")}` };
  return said({
    ...(warnings.length === 0 ? {} : { systemMessage: warnings.map((line) => `nexus: ${line}`).join("\n") }),
    ...(context.length === 0 ? {} : { hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: told } }),
  });
}

const said = (output: object): HookAnswer => ({
  stdout: Object.keys(output).length === 0 ? "" : JSON.stringify(output),
  stderr: "",
  exit: 0,
});

const eventOf = common.eventOf;

export const gemini: Host = {
  ...common,
  name: "gemini",
  title: "Gemini CLI",
  harnessId: "nutcracker-gemini",
  settings: [".gemini/", "~/.gemini/"],
  watched: [
    { path: ".gemini/settings.json" },
    { path: ".gemini/agents/" },
    { path: "~/.gemini/settings.json", shared: true },
  ],
  canResume: false,
  namesCallers: false,
  startsAtGate: true,
  docs: {
    report: "Report to Lead with your final message: it is all that Lead receives. Talk to nobody else.",
    resume_invocation:
      "Agents cannot be continued here: start a new one with invoke_agent, name the role as agent_name, and wait for it before you start the next.",
    instruction_file: "The instruction file here is GEMINI.md; write only between its nexus markers.",
  },
  toolName: (abstract) => `mcp_${SERVER}_nx_${abstract}`,
  toolsByClass: byClass(GEMINI_TOOLS),
  gateEvent: "BeforeTool",
  otherEvents: GEMINI_EVENTS.filter((event) => event !== "BeforeTool"),
  decode,
  answer,
};
