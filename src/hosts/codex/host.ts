import { commandHost } from "../command-hooks.js";
import { type Host, SERVER } from "../host.js";
import { abstractName, byClass, READ, SHELL, type ToolRow, type ToolTable, translate } from "../tool-table.js";

const EDIT = [
  "file_creation",
  "file_modification",
  "file_deletion",
  "partial_file_edit",
  "structured_document_edit",
] as const;
const SPAWN: ToolRow = { access: "spawn" };

/** Hooks know the shell as `Bash`, whatever the model calls it, and nothing of what `write_stdin` types into it. */
export const CODEX_TOOLS: ToolTable = {
  apply_patch: { access: "edit", classes: EDIT, patch: "command" },
  Bash: {
    ...SHELL,
    classes: ["shell_command_exec", "subprocess_spawn", "interactive_shell_session"],
    staysOpen: true,
  },
  spawn_agent: SPAWN,
  send_input: SPAWN,
  resume_agent: SPAWN,
  followup_task: SPAWN,
  send_message: SPAWN,
  interrupt_agent: SPAWN,
  list_agents: READ,
  wait_agent: READ,
  close_agent: READ,
  update_plan: READ,
  view_image: READ,
  web_search: READ,
  tool_search: READ,
  request_user_input: READ,
  request_user_input_async: READ,
  send_user_message_async: READ,
  create_goal: READ,
  get_goal: READ,
  update_goal: READ,
  curr_time: READ,
  sleep: READ,
  list_mcp_resources: READ,
  list_mcp_resource_templates: READ,
  read_mcp_resource: READ,
  list_dir: READ,
  grep_files: READ,
  read_file: READ,
};

const OURS = new RegExp(`^mcp__${SERVER}__nx_`);
/** Tools of a set carry its name before their own, with nothing between: `collaborationspawn_agent`, `clocksleep`. */
const SETS = /^(?:multi_agent_v\d+|collaboration|collab|clock|functions)[._]*/;
const bare = (name: string) => {
  const own = name.replace(SETS, "");
  return Object.hasOwn(CODEX_TOOLS, own) ? own : name;
};

const toolUse: Host["toolUse"] = (name, input) => ({
  ...translate(bare(name), input, CODEX_TOOLS, abstractName(name, OURS)),
  name,
});

export const codex: Host = {
  name: "codex",
  title: "Codex",
  harnessId: "nutcracker-codex",
  settings: [".codex/", ".agents/", ".codex-plugin/", "~/.codex/", "~/.agents/"],
  watched: [
    { path: ".codex/hooks.json" },
    { path: ".codex/config.toml" },
    { path: ".codex/agents/" },
    { path: "~/.codex/hooks.json" },
    { path: "~/.codex/config.toml", shared: true },
  ],
  canResume: true,
  announcesResumed: false,
  startsAtGate: true,
  ownSandbox: true,
  docs: {
    report: "Report to Lead with your final message: it is all that Lead receives. Talk to nobody else.",
    resume_invocation:
      "To continue an earlier agent here, call followup_task with its task name or, where there is no such tool, send_input with its agent id (resume_agent first, if it was closed); otherwise start a new one with spawn_agent and name the role as agent_type.",
    instruction_file: "The instruction file here is AGENTS.md; write only between its nexus markers.",
  },
  toolName: (abstract) => `mcp__${SERVER}__nx_${abstract}`,
  toolsByClass: byClass(CODEX_TOOLS),
  ...commandHost({ role: (name) => name, toolUse }),
};
