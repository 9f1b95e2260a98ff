// Settings of hosts that lie where a variable says: for a role they are as far away as those in their usual places.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claudePayload, newProject, runHook } from "./hook-process.js";

const TASKS = JSON.stringify({ goal: "", decisions: [], tasks: [] });
const ENGINEER = { agent_id: "a1", agent_type: "engineer" };

const denied = async (root: string, tool: string, input: object, env: Record<string, string>) => {
  const payload = claudePayload(root, "PreToolUse", {
    tool_name: tool,
    tool_input: input,
    tool_use_id: "t",
    ...ENGINEER,
  });
  const { stdout } = await runHook(payload, { env });
  return stdout.includes("off limits");
};

describe("settings that lie elsewhere", () => {
  const rows: readonly [variable: string, value: string, file: string][] = [
    ["CLAUDE_CONFIG_DIR", "HOME/c", "HOME/c/settings.json"],
    ["CLAUDE_CONFIG_DIR", "HOME/C", "HOME/C/.claude.json"],
    ["CODEX_HOME", "HOME/x", "HOME/x/config.toml"],
    ["QWEN_HOME", "HOME/q", "HOME/q/settings.json"],
    ["QWEN_HOME", "~/q", "HOME/q/settings.json"],
    ["GEMINI_CLI_HOME", "HOME/g", "HOME/g/.gemini/settings.json"],
    ["OPENCODE_CONFIG", "HOME/o.json", "HOME/o.json"],
    ["OPENCODE_CONFIG_DIR", "HOME/o", "HOME/o/plugins/x.js"],
    ["XDG_CONFIG_HOME", "HOME/k", "HOME/k/opencode/opencode.json"],
    ["XDG_STATE_HOME", "HOME/s", "HOME/s/nutcracker/here"],
    ["GEMINI_CLI_SYSTEM_SETTINGS_PATH", "HOME/m.json", "HOME/m.json"],
    ["QWEN_HOME", "ROOT/settings", "ROOT/settings/settings.json"],
    // Of the machine, which an agent that is root could write.
    ["LANG", "C", "/etc/claude-code/managed-settings.json"],
    ["LANG", "C", "/etc/codex/requirements.toml"],
  ];
  it.each(rows)("%s=%s: %s", async (variable, value, file) => {
    const { root, home } = newProject({ ".nexus/state/tasks.json": TASKS });
    const place = (text: string) => text.replace("HOME", home).replace("ROOT", root);
    const env = { [variable]: place(value) };
    expect(await denied(root, "Write", { file_path: place(file), content: "{}" }, env)).toBe(true);
    expect(await denied(root, "Bash", { command: `echo '{}' > ${place(file)}` }, env)).toBe(true);
    // What lies beside it is nobody's settings.
    expect(await denied(root, "Write", { file_path: `${root}/notes.txt`, content: "{}" }, env)).toBe(false);
  });

  it("are found behind a link", async () => {
    const { root, home } = newProject({ ".nexus/state/tasks.json": TASKS });
    mkdirSync(join(home, "real"));
    symlinkSync(join(home, "real"), join(home, "link"));
    const env = { QWEN_HOME: join(home, "link") };
    for (const file of ["link", "real"])
      expect(await denied(root, "Write", { file_path: join(home, file, "settings.json"), content: "" }, env)).toBe(
        true,
      );
  });

  it("are watched while a role is at work, and put back", async () => {
    const { root, home } = newProject({ ".nexus/state/tasks.json": TASKS });
    const env = { QWEN_HOME: join(home, "q") };
    const file = join(env.QWEN_HOME, "settings.json");
    const before = JSON.stringify({ hooks: { PreToolUse: [] } });
    mkdirSync(env.QWEN_HOME);
    writeFileSync(file, before);
    const send = (event: string, fields: object = {}) =>
      runHook(claudePayload(root, event, { ...ENGINEER, ...fields }), { env });
    await runHook(claudePayload(root, "SessionStart", { source: "startup" }), { env });
    await send("SubagentStart");
    writeFileSync(file, JSON.stringify({ disableAllHooks: true }));
    const { stdout } = await send("PreToolUse", {
      tool_name: "Write",
      tool_input: { file_path: "a.txt", content: "" },
    });
    expect(stdout).toContain("deny");
    await send("SubagentStop", { agent_transcript_path: "t", last_assistant_message: "done" });
    expect([existsSync(file), readFileSync(file, "utf8")]).toEqual([true, before]);
  });
});
