// What doctor says of settings under which Claude Code runs no hook, or starts no server, without a word about it.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { claudeChecks, complaints, withClaude } from "../../src/commands/nexus/hosts/claude-checks.js";
import type { InstallInput } from "../../src/hosts/index.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-claude-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const APPROVED = '{"enabledMcpjsonServers":["nexus"]}';
const SERVERS = '{"mcpServers":{"nexus":{"command":"/bin/sh","args":["-c","x"]}}}';
const OURS = '{"serverCommand":["/bin/sh","-c","x"]}';
const FINE = { "project/.claude/settings.json": APPROVED, "project/.mcp.json": SERVERS };

function checks(
  files: Readonly<Record<string, string>>,
  scope: "project" | "user" = "project",
  env: InstallInput["env"] = {},
) {
  for (const [path, text] of Object.entries({ ...FINE, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const input = { root: join(folder, "project"), home: join(folder, "home"), env } as InstallInput;
  return claudeChecks(scope, input, join(folder, "managed.json"));
}

it("is content with what setup writes, byte order mark or not", () => {
  const allowed = '{"allowedMcpServers":[{"serverName":"nexus"}],"strictPluginOnlyCustomization":["skills"]}';
  const files = { "project/.mcp.json": "\uFEFF{}", "managed.json": allowed, "managed.d/.a.json": "{" };
  expect(checks(files)).toMatchObject([{ state: "ok" }]);
});

it.each([
  ["project/.claude/settings.json", `// mine\n${APPROVED}`, "leaves it out as a whole", "nexus setup claude --convert"],
  ["project/.claude/settings.local.json", '{"a":1,}', "leaves it out as a whole", "take comments"],
  ["home/.claude/settings.json", '{"a":1,}', "leaves it out as a whole", "take comments and trailing commas out of"],
  ["project/.mcp.json", "{} // mine", "leaves it out as a whole", "nexus setup claude --convert"],
  // Setup refuses these, whatever it is told.
  ["project/.claude/settings.json", "{", "is no JSON object", "/project/.claude/settings.json"],
  ["project/.claude/settings.json", "[]", "is no JSON object", "/project/.claude/settings.json"],
  ["project/.mcp.json", "", "leaves it out as a whole", "nexus setup claude --convert"],
  ["home/.claude/settings.json", '{"disableAllHooks":true}', "no hook runs", "take disableAllHooks out"],
  ["project/.claude/settings.local.json", '{"disableAllHooks":true}', "no hook runs", "take disableAllHooks out"],
  ["home/.claude/settings.json", '{"env":{"CLAUDE_CODE_SIMPLE":"1"}}', "runs no hook", "take CLAUDE_CODE_SIMPLE out"],
  ["home/.claude/settings.json", '{"env":{"CLAUDE_CODE_SAFE_MODE":"on"}}', "runs no hook", "out of env in"],
  ["managed.json", '{"allowManagedHooksOnly":true}', "do not run", "take allowManagedHooksOnly out"],
  ["managed.json", '{"a":1,}', "does not start with it", "take comments and trailing commas out"],
  ["home/.claude/settings.json", '{"permissions":{"deny":["mcp__nexus__nx_task_add"]}}', "denies mcp__nexus", "deny"],
  ["project/.claude/settings.local.json", '{"disabledMcpjsonServers":["nexus"]}', "switches our server off", "take"],
  ["project/.claude/settings.json", "{}", "asks first", "nexus setup claude"],
  ["home/.claude/settings.json", '{"deniedMcpServers":[{"serverName":"nexus"}]}', "denies our server", "take"],
  ["managed.d/10.json", '{"allowedMcpServers":[{"serverName":"other"}]}', "ours is not among them", "add"],
  ["managed.json", '{"strictPluginOnlyCustomization":["hooks"]}', "from plugins only", "install our plugin"],
  ["home/.claude/settings.json", '{"permissions":{"deny":["mcp__*"]}}', "denies mcp__*", "deny"],
  ["home/.claude/settings.json", `{"deniedMcpServers":[${OURS}]}`, "denies our server", "take"],
  [
    "home/.claude/settings.json",
    '{"allowedMcpServers":[{"serverName":"nexus"},{"serverCommand":["npx","x"]}]}',
    "ours is not among them",
    `add ${OURS}`,
  ],
  ["managed-mcp.json", '{"mcpServers":{}}', "ours is not in it", "add our server"],
])("%s with %s is a problem", (path, text, message, fix) => {
  expect(checks({ [path]: text })).toMatchObject([
    { state: "problem", message: expect.stringContaining(message), fix: expect.stringContaining(fix) },
  ]);
});

it.each(["1", "true", " YES ", "on"])(
  "CLAUDE_CODE_SIMPLE=%j in the shell is a problem, whatever the files say",
  (value) => {
    const found = { state: "problem", fix: "unset CLAUDE_CODE_SIMPLE" };
    const message = "CLAUDE_CODE_SIMPLE is set here: Claude Code runs no hook";
    expect(checks({}, "project", { CLAUDE_CODE_SIMPLE: value })).toMatchObject([{ ...found, message }]);
  },
);

it.each(["", "0", "false", "no", "2"])("CLAUDE_CODE_SIMPLE=%j says no", (value) => {
  expect(checks({}, "project", { CLAUDE_CODE_SIMPLE: value })).toMatchObject([{ state: "ok" }]);
});

it("claims nothing that Claude Code itself denies", () => {
  const fine = { what: "claude project settings", state: "ok", message: "Claude Code reads it" } as const;
  const other = { what: "claude project hooks", state: "ok", message: "11 events" } as const;
  const said = (state: "ok" | "warning" | "problem") => ({ what: "claude on its settings", state, message: "" });
  expect(withClaude([fine, other], [said("problem")])).toEqual([other, said("problem")]);
  expect(withClaude([fine, other], [said("warning")])).toEqual([fine, other, said("warning")]);
  expect(withClaude([fine, other], [])).toEqual([fine, other]);
});

it("believes the file that decides, and lists that take our server along", () => {
  const both = (user: boolean, local: boolean) => ({
    "home/.claude/settings.json": `{"disableAllHooks":${user},"permissions":{"deny":["mcp__nex","Bash(*)","*"]}}`,
    "project/.claude/settings.local.json": `{"disableAllHooks":${local}}`,
  });
  expect(checks(both(true, false))).toMatchObject([{ state: "ok" }]);
  expect(checks(both(false, true))).toMatchObject([{ state: "problem" }]);
  // An organization's word is the last.
  const managed = { "managed.json": `{"disableAllHooks":false,"allowedMcpServers":[${OURS}]}` };
  expect(checks({ ...both(false, true), ...managed })).toMatchObject([{ state: "ok" }]);
});

it("passes on what Claude Code says of values it does not expect", () => {
  const told = (...lines: string[]) => complaints(`doctor\n\nInvalid settings\n${lines.join("\n")}\n\nRemote`);
  expect(
    told(
      "- /p/settings.json › model: Expected string, but received number",
      '- /p/settings.json › permissions.allow: Invalid permission rule "Bash(" was skipped',
      '- /p/settings.json › hooks.PreToolUse.1: Hook matcher "hooks" must be an array; matcher ignored.',
      "  Suggested fix: something",
      "- /p/settings.json: Invalid or malformed JSON",
    ),
  ).toMatchObject([
    { state: "problem", message: expect.stringContaining("leaves the whole file out") },
    { state: "warning" },
    { state: "problem" },
  ]);
  expect(complaints("Claude Code doctor\n\nNo installation issues found.")).toEqual([]);
});

it("names a folder in a file's place", () => {
  mkdirSync(join(folder, "project/.claude/settings.local.json"), { recursive: true });
  const message = expect.stringContaining("settings.local.json cannot be read (EISDIR)");
  expect(checks({})).toMatchObject([{ state: "problem", message }]);
});

it("waits for no pipe in a file's place", () => {
  const path = join(folder, "project/.claude/settings.local.json");
  mkdirSync(dirname(path), { recursive: true });
  spawnSync("mkfifo", [path]);
  const writer = spawn("/bin/sh", ["-c", 'while :; do echo x >"$1"; done', "sh", path], { stdio: "ignore" });
  const message = expect.stringContaining("settings.local.json cannot be read (no regular file)");
  try {
    expect(checks({})).toMatchObject([{ state: "problem", message }]);
  } finally {
    writer.kill("SIGKILL");
  }
});

it("names the scope in what mends a person's own set-up", () => {
  expect(checks({ "home/.claude/settings.json": '{"a":1,}' }, "user")).toMatchObject([
    { state: "problem", fix: "nexus setup claude --scope user --convert" },
  ]);
});

it("hears a yes or a no that Claude Code keeps for a project", () => {
  const kept = (settings: object) => JSON.stringify({ projects: { [join(folder, "project")]: settings } });
  const settings = { "project/.claude/settings.json": "{}" };
  const yes = kept({ enabledMcpjsonServers: ["nexus"] });
  expect(checks({ ...settings, "home/.claude.json": yes })).toMatchObject([{ state: "ok" }]);
  const no = kept({ disabledMcpjsonServers: ["nexus"] });
  expect(checks({ ...settings, "home/.claude.json": no })).toMatchObject([{ state: "problem" }]);
});

it("notices the plugin beside the set-up, and asks no project about a person's own server", () => {
  const both = { "home/.claude/settings.json": '{"enabledPlugins":{"nutcracker@nutcracker":true}}' };
  expect(checks(both)).toMatchObject([{ state: "warning", message: expect.stringContaining("twice") }]);
  expect(
    checks({ ...both, "project/.claude/settings.json": "{}", "home/.claude/settings.json": "{}" }, "user"),
  ).toMatchObject([{ state: "ok" }]);
});

it.each(["project", "user"] as const)("notices a server of the person's that comes before ours (%s)", (scope) => {
  const kept = (server: object) =>
    JSON.stringify({ projects: { [join(folder, "project")]: { mcpServers: { nexus: server } } } });
  const message = expect.stringContaining("a server of yours called nexus for this project, which comes before ours");
  expect(checks({ "home/.claude.json": kept({ command: "mine" }) }, scope)).toMatchObject([
    { state: "problem", message },
  ]);
  const ours = { command: "x", env: { NEXUS_HARNESS_ID: "nutcracker-claude" } };
  expect(checks({ "home/.claude.json": kept(ours) }, scope)).toMatchObject([{ state: "ok" }]);
});
