// What the hosts send to hooks and plugins, in the shapes that were recorded from them, with words of ours: every event,
// the ones nobody asked for included, and every kind of tool and result. Field sets follow Claude Code 2.1, Codex 0.166 and
// OpenCode 1.18.

export type Payload = Readonly<Record<string, unknown>>;
export type Named = [string, Payload];

const CWD = "/home/ines/harbour";

const claudeBase = {
  session_id: "0f0f0f0f-1111-4222-8333-444444444444",
  transcript_path: "/home/ines/.claude/projects/-home-ines-harbour/0f0f0f0f.jsonl",
  cwd: CWD,
};
const claudeTurn = { ...claudeBase, prompt_id: "9a9a9a9a-1111-4222-8333-444444444444", permission_mode: "default" };
const claudeAct = { ...claudeTurn, effort: { level: "medium" } };
const claudeAgent = { agent_id: "b7c0ffee", agent_type: "tester" };
const server = { mcp_server: { name: "tides", source: "project" } };
const background = { background_tasks: [], session_crons: [] };

export const CLAUDE: Named[] = [
  ["start", { ...claudeBase, hook_event_name: "SessionStart", source: "startup" }],
  [
    "resume",
    {
      ...claudeBase,
      ...{ hook_event_name: "SessionStart", source: "resume", seconds_since_last_response: 40 },
      ...{ context_tokens: 900, prompt_cache_likely_expired: true, estimated_cache_write_usd: 0.01 },
    },
  ],
  ["compact", { ...claudeBase, hook_event_name: "SessionStart", source: "compact" }],
  ["prompt", { ...claudeTurn, hook_event_name: "UserPromptSubmit", prompt: "sort the boats" }],
  ["spawn", { ...claudeBase, prompt_id: "9a9a", ...claudeAgent, hook_event_name: "SubagentStart" }],
  [
    "stop of an agent",
    {
      ...claudeAct,
      ...claudeAgent,
      ...{ hook_event_name: "SubagentStop", stop_hook_active: false, agent_transcript_path: "/home/ines/agent.jsonl" },
      ...{ last_assistant_message: "every boat has a berth", ...background },
    },
  ],
  [
    "stop of an agent that went on",
    { ...claudeAct, ...claudeAgent, hook_event_name: "SubagentStop", stop_hook_active: true, ...background },
  ],
  [
    "stop of nobody, when it compacts",
    { ...claudeAct, hook_event_name: "SubagentStop", agent_id: "b7c0ffef", agent_type: "", stop_hook_active: false },
  ],
  [
    "shell",
    {
      ...claudeAct,
      ...{ hook_event_name: "PreToolUse", tool_name: "Bash", tool_use_id: "toolu_1" },
      tool_input: { command: "ls boats", description: "what is there" },
    },
  ],
  [
    "edit by an agent",
    {
      ...claudeAct,
      ...claudeAgent,
      ...{ hook_event_name: "PreToolUse", tool_name: "Edit", tool_use_id: "toolu_2" },
      tool_input: { file_path: `${CWD}/boat.ts`, old_string: "a", new_string: "b", replace_all: false },
    },
  ],
  [
    "agent tool",
    {
      ...claudeAct,
      ...{ hook_event_name: "PreToolUse", tool_name: "Agent", tool_use_id: "toolu_3" },
      tool_input: { description: "test it", prompt: "Test it.", subagent_type: "tester", run_in_background: false },
    },
  ],
  [
    "skill tool",
    {
      ...claudeAct,
      hook_event_name: "PreToolUse",
      tool_name: "Skill",
      tool_input: { skill: "nx-plan" },
      tool_use_id: "4",
    },
  ],
  [
    "server's tool",
    {
      ...claudeAct,
      ...claudeAgent,
      ...{ hook_event_name: "PreToolUse", tool_name: "mcp__tides__next", tool_input: {}, tool_use_id: "toolu_5" },
      ...server,
    },
  ],
  [
    "shell's result",
    {
      ...claudeAct,
      ...{ hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "ls boats" } },
      tool_response: { stdout: "ark\n", stderr: "", interrupted: false, isImage: false, noOutputExpected: false },
      ...{ tool_use_id: "toolu_1", duration_ms: 12 },
    },
  ],
  [
    "agent's result",
    {
      ...claudeAct,
      ...{ hook_event_name: "PostToolUse", tool_name: "Agent", tool_input: { subagent_type: "tester", prompt: "x" } },
      tool_response: {
        status: "completed",
        agentId: "b7c0ffee",
        content: [{ type: "text", text: "fine" }],
        totalTokens: 9,
      },
      tool_use_id: "toolu_3",
    },
  ],
  [
    "server's result, a list",
    {
      ...claudeAct,
      ...{ hook_event_name: "PostToolUse", tool_name: "mcp__tides__next", tool_input: {}, tool_use_id: "toolu_5" },
      tool_response: [{ type: "text", text: "at noon" }],
      ...server,
    },
  ],
  [
    "server's failure",
    {
      ...claudeAct,
      ...{ hook_event_name: "PostToolUseFailure", tool_name: "mcp__tides__break", tool_input: {}, tool_use_id: "6" },
      ...{ error: "no tide", is_interrupt: false, duration_ms: 3, ...server },
    },
  ],
  [
    "before compacting",
    { ...claudeBase, hook_event_name: "PreCompact", trigger: "manual", custom_instructions: "keep the boats" },
  ],
  ["before compacting by itself", { ...claudeBase, hook_event_name: "PreCompact", trigger: "auto" }],
  ["end", { ...claudeBase, hook_event_name: "SessionEnd", reason: "other" }],
  ["a turn's end", { ...claudeAct, hook_event_name: "Stop", stop_hook_active: false, ...background }],
  [
    "settings that changed",
    {
      ...claudeBase,
      ...{ hook_event_name: "ConfigChange", source: "project_settings", file_path: `${CWD}/.claude/settings.json` },
    },
  ],
  ["not ours: a turn that failed", { ...claudeBase, hook_event_name: "StopFailure", error: "unknown" }],
  ["not ours: compacted", { ...claudeBase, hook_event_name: "PostCompact", trigger: "auto", compact_summary: "boats" }],
  [
    "not ours: a batch",
    {
      ...claudeAct,
      ...claudeAgent,
      hook_event_name: "PostToolBatch",
      tool_calls: [{ tool_name: "mcp__tides__next", tool_input: {}, tool_use_id: "7", tool_response: [] }],
    },
  ],
  [
    "not ours: a question",
    {
      ...claudeAct,
      ...{ hook_event_name: "PermissionRequest", tool_name: "mcp__tides__next", tool_input: {} },
      permission_suggestions: [{ type: "addRules", rules: [], behavior: "allow", destination: "localSettings" }],
    },
  ],
  ["not ours: an event of tomorrow", { ...claudeBase, hook_event_name: "BerthAssigned", berth: 7 }],
];

const codexBase = {
  session_id: "01b1b1b1-aaaa-7bbb-8ccc-dddddddddddd",
  transcript_path: "/home/ines/.codex/sessions/rollout-01b1b1b1.jsonl",
  cwd: CWD,
};
const codexTurn = {
  ...codexBase,
  ...{ turn_id: "01b1b1b2-aaaa-7bbb-8ccc-dddddddddddd", model: "some-model", permission_mode: "bypassPermissions" },
};
const codexAgent = { agent_id: "01b1b1b3-aaaa-7bbb-8ccc-dddddddddddd", agent_type: "tester" };

export const CODEX: Named[] = [
  ["start", { ...codexBase, hook_event_name: "SessionStart", model: "some-model", source: "startup" }],
  ["compact", { ...codexBase, hook_event_name: "SessionStart", model: "some-model", source: "compact" }],
  ["prompt", { ...codexTurn, hook_event_name: "UserPromptSubmit", prompt: "sort the boats" }],
  ["prompt of an agent", { ...codexTurn, ...codexAgent, hook_event_name: "UserPromptSubmit", prompt: "Test it." }],
  ["spawn", { ...codexTurn, ...codexAgent, hook_event_name: "SubagentStart" }],
  [
    "stop of an agent",
    {
      ...codexTurn,
      ...codexAgent,
      ...{ hook_event_name: "SubagentStop", stop_hook_active: false, agent_transcript_path: "/home/ines/agent.jsonl" },
      last_assistant_message: "every boat has a berth",
    },
  ],
  [
    "shell",
    {
      ...codexTurn,
      hook_event_name: "PreToolUse",
      tool_name: "Bash",
      tool_input: { command: "ls" },
      tool_use_id: "c1",
    },
  ],
  [
    "shell's result, a text",
    {
      ...codexTurn,
      ...{ hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "c1" },
      tool_response: "ark\n",
    },
  ],
  [
    "agent tool",
    {
      ...codexTurn,
      ...{ hook_event_name: "PreToolUse", tool_name: "spawn_agent", tool_use_id: "c2" },
      tool_input: { agent_type: "tester", message: "Test it." },
    },
  ],
  [
    "agent tool's result",
    {
      ...codexTurn,
      ...{ hook_event_name: "PostToolUse", tool_name: "spawn_agent", tool_use_id: "c2" },
      ...{
        tool_input: { agent_type: "tester", message: "Test it." },
        tool_response: '{"agent_id":"x","nickname":"Ada"}',
      },
    },
  ],
  [
    "waiting for an agent",
    {
      ...codexTurn,
      ...{ hook_event_name: "PreToolUse", tool_name: "multi_agent_v1wait_agent", tool_use_id: "c3" },
      tool_input: { targets: [codexAgent.agent_id], timeout_ms: 1_000 },
    },
  ],
  [
    "server's tool, by an agent",
    {
      ...codexTurn,
      ...codexAgent,
      ...{ hook_event_name: "PreToolUse", tool_name: "mcp__tides__next", tool_input: {}, tool_use_id: "c4" },
    },
  ],
  [
    "server's result, an object",
    {
      ...codexTurn,
      ...{ hook_event_name: "PostToolUse", tool_name: "mcp__tides__next", tool_input: {}, tool_use_id: "c4" },
      tool_response: { content: [{ type: "text", text: "at noon" }] },
    },
  ],
  ["before compacting", { ...codexBase, turn_id: "t", hook_event_name: "PreCompact", model: "m", trigger: "auto" }],
  ["end", { ...codexBase, hook_event_name: "SessionEnd", reason: "other" }],
  ["not ours: compacted", { ...codexBase, turn_id: "t", hook_event_name: "PostCompact", model: "m", trigger: "auto" }],
  ["not ours: before the model", { ...codexBase, turn_id: "t", hook_event_name: "PreModelRequest", model: "m" }],
  ["a turn's end", { ...codexTurn, hook_event_name: "Stop", stop_hook_active: true }],
];

const ids = { sessionID: "ses_aaa", callID: "call_1" };
const message = {
  ...{ id: "msg_1", role: "user", sessionID: "ses_aaa", time: { created: 1 }, agent: "build" },
  model: { providerID: "some", modelID: "some-model" },
};

/** Named by the hook, as the recorded ones are. */
export const OPENCODE: Named[] = [
  [
    "chat.message.json",
    {
      input: { sessionID: "ses_aaa" },
      output: { message, parts: [{ type: "text", text: "sort the boats", id: "prt_1", messageID: "msg_1", ...ids }] },
    },
  ],
  [
    "tool.execute.before.json",
    { input: { tool: "bash", ...ids }, output: { args: { command: "ls", description: "look" } } },
  ],
  [
    "tool.execute.before.edit.json",
    { input: { tool: "edit", ...ids }, output: { args: { filePath: `${CWD}/boat.ts` } } },
  ],
  ["tool.execute.before.skill.json", { input: { tool: "skill", ...ids }, output: { args: { name: "nx-plan" } } }],
  ["tool.execute.before.server.json", { input: { tool: "tides_next", ...ids }, output: { args: {} } }],
  [
    "tool.execute.before.task.json",
    {
      input: { tool: "task", ...ids },
      output: { args: { description: "test it", prompt: "Test it.", subagent_type: "tester" } },
    },
  ],
  [
    "tool.execute.after.json",
    {
      input: { tool: "bash", ...ids, args: { command: "ls" } },
      output: { title: "ls", metadata: { output: "ark\n", exit: 0, truncated: false }, output: "ark\n" },
    },
  ],
  [
    "tool.execute.after.server.json",
    { input: { tool: "tides_next", ...ids, args: {} }, output: { content: [{ type: "text", text: "at noon" }] } },
  ],
  [
    "tool.execute.after.task.json",
    {
      input: { tool: "task", ...ids, args: { description: "test it", prompt: "Test it.", subagent_type: "tester" } },
      output: {
        title: "test it",
        metadata: { parentSessionId: "ses_aaa", sessionId: "ses_bbb", truncated: false },
        output: '<task id="ses_bbb" state="completed">\n<task_result>\nfine\n</task_result>\n</task>',
      },
    },
  ],
  ["experimental.session.compacting.json", { input: { sessionID: "ses_aaa" }, output: { context: [] } }],
];
