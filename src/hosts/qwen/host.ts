// Qwen Code speaks Claude Code's hooks under tool names of its own. It does not say which agent calls, announces a session
// only where a person sits at it, and takes no other input for a tool than the model gave.
import { commandHost } from "../command-hooks.js";
import { type Fields, field } from "../fields.js";
import { type Host, SERVER } from "../host.js";
import {
  abstractName,
  byClass,
  OPEN_SHELL,
  READ,
  replaceRow,
  SHELL,
  type ToolTable,
  translate,
  writeRow,
} from "../tool-table.js";

const names = { from: "old_string", to: "new_string", all: "replace_all" };

export const QWEN_TOOLS: ToolTable = {
  write_file: writeRow("file_path"),
  edit: replaceRow("file_path", names),
  run_shell_command: OPEN_SHELL,
  monitor: SHELL,
  agent: { access: "spawn" },
  send_message: { access: "spawn" },
  read_file: READ,
  read_many_files: READ,
  list_directory: READ,
  grep_search: READ,
  glob: READ,
  lsp: READ,
  web_fetch: READ,
  web_search: READ,
  todo_write: READ,
  skill: READ,
  tool_search: READ,
  task_stop: READ,
  ask_user_question: READ,
  exit_plan_mode: READ,
  cron_list: READ,
  cron_delete: READ,
  structured_output: READ,
};

const OURS = new RegExp(`^mcp__${SERVER}__nx_`);

const toolUse: Host["toolUse"] = (name, input) => {
  const use = translate(name, input, QWEN_TOOLS, abstractName(name, OURS));
  const inBackground = name === "agent" && field((input ?? {}) as Fields, "run_in_background") === true;
  return inBackground ? { ...use, inBackground } : use;
};

/** A skill that a person starts (`/nx-setup more`) comes as its text, with the words of the person below it if there were more. */
function typed(prompt: string): { readonly text: string; readonly loadedSkill?: string } {
  const loadedSkill = /^# (nx-[a-z]+): /.exec(prompt)?.[1];
  if (loadedSkill === undefined) return { text: prompt };
  const at = prompt.lastIndexOf(`\n\n/${loadedSkill} `);
  return { text: at < 0 ? "" : prompt.slice(at), loadedSkill };
}

export const qwen: Host = {
  name: "qwen",
  title: "Qwen Code",
  harnessId: "nutcracker-qwen",
  settings: [".qwen/", "~/.qwen/"],
  watched: [
    { path: ".qwen/settings.json" },
    { path: ".qwen/agents/" },
    { path: "~/.qwen/settings.json", shared: true },
  ],
  canResume: false,
  namesCallers: false,
  announcesSessions: false,
  rewrites: false,
  docs: {
    report: "Report to Lead with your final message: it is all that Lead receives. Talk to nobody else.",
    resume_invocation:
      "Agents cannot be continued here: start a new one with the agent tool, name the role as subagent_type, and wait for it before you start the next.",
    instruction_file: "The instruction file here is QWEN.md; write only between its nexus markers.",
  },
  toolName: (abstract) => `mcp__${SERVER}__nx_${abstract}`,
  toolsByClass: byClass(QWEN_TOOLS),
  ...commandHost({ role: (name) => name, toolUse, typed }),
};
