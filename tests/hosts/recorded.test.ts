// Payloads of our own in the hosts' shapes, and those recorded from the real hosts where they are at hand.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readManifestFast } from "../../src/catalog/index.js";
import { HookInput, HookOutput } from "../../src/hosts/command-schema.js";
import { deniedTools, findHost, HOST_NAMES, type Host } from "../../src/hosts/index.js";
import { PluginAnswerSchema, PluginNoteSchema } from "../../src/hosts/opencode/schema.js";
import { SEMANTIC_CLASSES, type Verdict } from "../../src/schema/events.js";
import { TOOL_RULES } from "../../src/schema/roles.js";
import { ROOT } from "./hook-process.js";
import { CLAUDE, CODEX, type Named, OPENCODE } from "./payloads.js";

const recorded = (host: string): Named[] => {
  const folder = join(ROOT, "../shared/data/host-payloads", host);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => [name, JSON.parse(readFileSync(join(folder, name), "utf8"))]);
};

const TYPES: Readonly<Record<string, string>> = {
  SessionStart: "session_start",
  UserPromptSubmit: "user_message",
  SubagentStart: "subagent_spawn",
  SubagentStop: "subagent_complete",
  PreToolUse: "pre_tool_use",
  PostToolUse: "post_tool_use",
  PostToolUseFailure: "post_tool_use",
  PreCompact: "context_compact",
  SessionEnd: "session_end",
  Stop: "turn_end",
  ConfigChange: "settings_change",
};

const verdicts: Verdict[] = [
  { outcome: "allow", reason: null, rewrite: null, context: [], warnings: [] },
  { outcome: "allow", reason: null, rewrite: null, context: ["for the model"], warnings: ["for the person"] },
  { outcome: "allow", reason: null, rewrite: "bwrap ls", context: [], warnings: [] },
  { outcome: "deny", reason: "because", rewrite: null, context: [], warnings: [] },
];

describe.each([
  ["claude", "claude-code", CLAUDE],
  ["codex", "codex", CODEX],
] as const)("%s payloads", (name, folder, own) => {
  const host = findHost(name)!;

  it.each([...own, ...recorded(folder)])("%s: read as the event it is, or left alone", (_, payload) => {
    const event = String(payload.hook_event_name);
    const events = host.decode(payload);
    const wanted = payload.source === "compact" ? "context_compact" : TYPES[event];
    if (wanted === undefined) {
      expect(events).toEqual([]);
      return;
    }
    expect(HookInput.safeParse(payload).error).toBeUndefined();
    const agentless = event === "SubagentStop" && !payload.agent_type;
    expect(events.map(({ type }) => type)).toEqual(agentless ? [] : [wanted]);
    expect(events.every(({ sessionId, cwd }) => sessionId === payload.session_id && cwd === payload.cwd)).toBe(true);
  });

  const use = (event: string, more: object) => ({
    ...{
      session_id: "s",
      cwd: "/",
      hook_event_name: event,
      tool_name: "Bash",
      tool_input: { command: "ls", timeout: 5 },
    },
    ...more,
  });

  it("a tool that failed in its answer is one that failed, with the words it has", () => {
    const ends = [{ is_error: true }, { isError: true, error: "no such boat" }, { error: "adrift" }, {}].map(
      (tool_response) => host.decode(use("PostToolUse", { tool_response })),
    );
    expect(ends).toMatchObject([
      [{ ok: false, error: "failed" }],
      [{ ok: false, error: "no such boat" }],
      [{ ok: false, error: "adrift" }],
      [{ ok: true }],
    ]);
  });

  it("a command that is rewritten keeps its other arguments", () => {
    const { stdout } = host.answer(use("PreToolUse", {}), [verdicts[2]!]);
    expect(JSON.parse(stdout)).toMatchObject({
      hookSpecificOutput: { updatedInput: { command: "bwrap ls", timeout: 5 } },
    });
  });

  it.each([...own, ...recorded(folder)])(
    "%s: answered in the host's own shape, with no key it does not know",
    (_, payload) => {
      const event = String(payload.hook_event_name) as keyof typeof HookOutput;
      if (HookOutput[event] === undefined) return;
      for (const verdict of verdicts) {
        const shell = (payload.tool_input as { command?: unknown } | undefined)?.command !== undefined;
        if (event === "PreToolUse" && (verdict.context.length > 0 || (verdict.rewrite !== null && !shell))) continue;
        const { stdout, exit } = host.answer(payload, [verdict]);
        expect(exit).toBe(0);
        if (stdout !== "") expect(HookOutput[event].safeParse(JSON.parse(stdout)).error, stdout).toBeUndefined();
      }
    },
  );
});

describe("opencode payloads", () => {
  const host = findHost("opencode")!;
  const TYPED: Readonly<Record<string, readonly string[]>> = {
    "chat.message": ["user_message"],
    "tool.execute.before": ["pre_tool_use"],
    "tool.execute.after": ["post_tool_use"],
    "tool.execute.after.task": ["subagent_complete", "post_tool_use"],
    "experimental.session.compacting": ["context_compact"],
  };
  const named = [...OPENCODE, ...recorded("opencode")].filter(([file]) =>
    /^(?:chat\.message|tool\.execute|experimental\.session)/.test(file),
  );

  it.each(named)("%s", (file, given) => {
    const hook = file.replace(/\.json$/, "").replace(/^(tool\.execute\.(?:before|after)).*/, "$1");
    const note = { hook, directory: "/p", sessionID: "s", ...given };
    expect(PluginNoteSchema.safeParse(note).error).toBeUndefined();
    const wanted = TYPED[file.replace(/\.json$/, "")] ?? TYPED[hook];
    expect(host.decode(note).map(({ type }) => type)).toEqual(wanted);
    for (const verdict of verdicts)
      expect(PluginAnswerSchema.safeParse(JSON.parse(host.answer(note, [verdict]).stdout)).error).toBeUndefined();
  });

  it("reads through the quotes `opencode run` puts around a prompt", () => {
    const note = {
      hook: "chat.message",
      directory: "/p",
      sessionID: "s",
      input: {},
      output: { parts: [{ type: "text", text: '"[plan] go"' }] },
    };
    expect(host.decode(note)).toMatchObject([{ type: "user_message", text: "[plan] go" }]);
  });
});

describe("capabilities on hosts", () => {
  const classes = new Set(
    readManifestFast().vocabulary.capabilities.flatMap(({ blocks_semantic_classes }) => blocks_semantic_classes),
  );

  it("knows every class the vocabulary has, and no other", () => {
    expect([...SEMANTIC_CLASSES].sort()).toEqual([...classes].sort());
  });

  it.each(HOST_NAMES)("maps every class of every capability to a tool of %s", (name) => {
    const host = findHost(name)!;
    const mapped = new Set([
      ...Object.keys(host.toolsByClass),
      ...Object.values(TOOL_RULES).flatMap(({ classes }) => classes),
    ]);
    expect([...classes].filter((one) => !mapped.has(one))).toEqual([]);
  });

  it.each(["claude", "claude-plugin", "codex", "opencode"])(
    "derives deny lists of %s from names that are registered",
    (name) => {
      const host = findHost(name) as Host;
      for (const tool of deniedTools(host, [...SEMANTIC_CLASSES])) {
        const { access } = host.toolUse(tool, {});
        expect(["edit", "shell", "nexus"], tool).toContain(access);
      }
    },
  );
});
