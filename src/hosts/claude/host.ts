import { commandHost } from "../command-hooks.js";
import { type Host, SERVER } from "../host.js";
import {
  abstractName,
  byClass,
  READ,
  replaceChange,
  SHELL,
  stepOf,
  type ToolRow,
  type ToolTable,
  translate,
  writeRow,
} from "../tool-table.js";

export const CLAUDE_PLUGIN = "nutcracker";

const names = { from: "old_string", to: "new_string", all: "replace_all" };
const SPAWN: ToolRow = { access: "spawn" };

export const CLAUDE_TOOLS: ToolTable = {
  Write: writeRow("file_path"),
  Edit: {
    access: "edit",
    classes: ["file_modification", "partial_file_edit", "file_deletion"],
    path: "file_path",
    change: (input) => replaceChange(input, names),
  },
  MultiEdit: {
    access: "edit",
    classes: ["file_modification", "partial_file_edit"],
    path: "file_path",
    change: ({ edits }) => {
      const steps = Array.isArray(edits) ? edits.map((edit) => stepOf(edit ?? {}, names)) : [null];
      return steps.every((step) => step !== null) ? { kind: "replace", steps } : undefined;
    },
  },
  NotebookEdit: { access: "edit", classes: ["structured_document_edit"], path: "notebook_path" },
  Bash: { ...SHELL, classes: ["shell_command_exec", "subprocess_spawn", "interactive_shell_session"] },
  PowerShell: SHELL,
  Monitor: SHELL,
  Agent: SPAWN,
  Task: SPAWN,
  SendMessage: SPAWN,
  TeamCreate: SPAWN,
  Read: READ,
  Glob: READ,
  Grep: READ,
  LS: READ,
  LSP: READ,
  NotebookRead: READ,
  WebFetch: READ,
  WebSearch: READ,
  TodoWrite: READ,
  TodoRead: READ,
  TaskCreate: READ,
  TaskGet: READ,
  TaskList: READ,
  TaskUpdate: READ,
  TaskOutput: READ,
  TaskStop: READ,
  BashOutput: READ,
  AgentOutputTool: READ,
  KillShell: READ,
  KillBash: READ,
  Skill: READ,
  SlashCommand: READ,
  ToolSearch: READ,
  AskUserQuestion: READ,
  EnterPlanMode: READ,
  ExitPlanMode: READ,
  StructuredOutput: READ,
  ListMcpResourcesTool: READ,
  ReadMcpResourceTool: READ,
};

/** Our tools as registered from settings, and as registered from our plugin. */
const OURS = new RegExp(`^mcp__(?:plugin_${CLAUDE_PLUGIN}_)?${SERVER}__nx_`);

const role = (name: string) => name.replace(new RegExp(`^${CLAUDE_PLUGIN}:`), "");
const toolUse: Host["toolUse"] = (name, input) => translate(name, input, CLAUDE_TOOLS, abstractName(name, OURS));

export const claude: Host = {
  name: "claude",
  title: "Claude Code",
  harnessId: "nutcracker-claude",
  settings: [".claude/", ".mcp.json", ".claude-plugin/", "~/.claude/", "~/.claude.json"],
  watched: [
    { path: ".claude/settings.json" },
    { path: ".claude/settings.local.json", shared: true },
    { path: ".mcp.json" },
    { path: ".claude/agents/" },
    { path: "~/.claude/settings.json", shared: true },
  ],
  canResume: true,
  docs: {
    report: "Report to Lead with your final message: it is all that Lead receives. Talk to nobody else.",
    resume_invocation:
      "To continue an earlier agent here, send it a message with SendMessage and its agent id; otherwise start a new one with the Agent tool and name the role as subagent_type.",
    instruction_file: "The instruction file here is CLAUDE.md; write only between its nexus markers.",
  },
  toolName: (abstract) => `mcp__${SERVER}__nx_${abstract}`,
  toolsByClass: byClass(CLAUDE_TOOLS),
  ...commandHost({ role, toolUse }),
};
