// What the real programs make of settings they cannot read, or nobody trusted: what docs/hosts.md says of each. The gate is off,
// so an edit that nobody planned goes through, or the program does not start.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type Client, clientProgram, newPlace, type Place } from "./clients.js";
import { codexPlace } from "./codex-place.js";
import { type Reply, type Rule, type ScriptedModel, scriptedModel } from "./scripted-model/server.js";

let place: Place;
let model: ScriptedModel;
afterEach(async () => {
  await model.close();
  place.remove();
});

const SPOILT = {
  nothing: (text: string) => text,
  "a trailing comma": (text: string) => text.replace(/\}\s*$/, ",}\n"),
  "a comment": (text: string) => text.replace("{", "{ // why\n"),
  "a byte order mark": (text: string) => `\ufeff${text}`,
};
type Spoilt = keyof typeof SPOILT;
const spoil = (file: string, how: Spoilt) => writeFileSync(file, SPOILT[how](readFileSync(file, "utf8")));
const turn = (reply: Reply): Rule[] => [
  { name: "write", times: 1, reply: [reply] },
  { name: "end", reply: ["done"] },
];
const isMissing = (...clients: Client[]) => clients.some((client) => clientProgram(client) === null);

it.skipIf(isMissing("codex")).each<[Spoilt, { readonly trusted: boolean }, "held" | "free"]>([
  ["nothing", { trusted: true }, "held"],
  ["nothing", { trusted: false }, "free"],
  ["a trailing comma", { trusted: true }, "free"],
  ["a comment", { trusted: true }, "free"],
  ["a byte order mark", { trusted: true }, "free"],
])("Codex, hooks.json with %s wrong, %o: %s", { timeout: 180_000 }, async (how, { trusted }, outcome) => {
  const rules = turn({ unoffered: "exec_command", args: { cmd: "echo x > made.txt" } });
  ({ place, model } = await codexPlace(rules, { slug: "gpt-5.5", settings: 'sandbox_mode = "workspace-write"' }));
  spoil(join(place.root, ".codex/hooks.json"), how);
  const trust = trusted ? ["--dangerously-bypass-hook-trust"] : [];
  const ran = await place.run(clientProgram("codex")!, ["exec", "-C", place.root, "--json", ...trust, "please begin"]);
  expect(ran.exit, ran.stderr).toBe(0);
  expect(place.has("made.txt")).toBe(outcome === "free");
  if (!trusted) expect(ran.stdout + ran.stderr).not.toMatch(/hook/i);
});

it.skipIf(isMissing("codex"))("Codex in a folder nobody trusted: free, and without our tools", async () => {
  const rules = turn({ unoffered: "exec_command", args: { cmd: "echo x > made.txt" } });
  ({ place, model } = await codexPlace(rules, { slug: "gpt-5.5", settings: 'sandbox_mode = "workspace-write"' }));
  const config = join(place.home, ".codex/config.toml");
  writeFileSync(config, readFileSync(config, "utf8").replace('trust_level = "trusted"', 'trust_level = "untrusted"'));
  const flags = ["exec", "-C", place.root, "--json", "--dangerously-bypass-hook-trust"];
  const ran = await place.run(clientProgram("codex")!, [...flags, "please begin"]);
  expect(ran.exit, ran.stderr).toBe(0);
  expect([place.has("made.txt"), model.requests[0]!.any.includes("nx_task_add")]).toEqual([true, false]);
});

it.skipIf(isMissing("codex")).each(["hooks", "codex_hooks"])(
  "Codex with features.%s = false: free, and doctor names it",
  { timeout: 180_000 },
  async (feature) => {
    const rules = turn({ unoffered: "exec_command", args: { cmd: "echo x > made.txt" } });
    ({ place, model } = await codexPlace(rules, { slug: "gpt-5.5", settings: 'sandbox_mode = "workspace-write"' }));
    const config = join(place.home, ".codex/config.toml");
    const [before, table] = [readFileSync(config, "utf8"), "[features]\n"];
    const own = before.includes(table) ? before : `${before}\n${table}`;
    writeFileSync(config, own.replace(table, `${table}${feature} = false\n`));
    const flags = ["exec", "-C", place.root, "--json", "--dangerously-bypass-hook-trust"];
    const ran = await place.run(clientProgram("codex")!, [...flags, "please begin"]);
    expect([ran.exit, place.has("made.txt")], ran.stderr).toEqual([0, true]);
    const PATH = `${dirname(clientProgram("codex")!)}:${process.env.PATH}`;
    const doctor = await place.nexusWith({ PATH }, "doctor", "codex");
    expect([doctor.exit, doctor.stdout]).toEqual([1, expect.stringContaining(`take ${feature} out of [features] in`)]);
  },
);

it.skipIf(isMissing("claude")).each<Spoilt>(["a trailing comma", "a comment"])(
  "Claude Code, settings.json with %s: free",
  { timeout: 180_000 },
  async (how) => {
    place = newPlace({ "a.txt": "hello\n" });
    model = await scriptedModel(
      turn({ unoffered: "Write", args: { file_path: join(place.root, "made.txt"), content: "x" } }),
    );
    await place.nexusHere("setup", "claude");
    spoil(join(place.root, ".claude/settings.json"), how);
    const ran = await place.run(clientProgram("claude")!, ["-p", "please begin", "--allowedTools", "Write"], {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_MODEL: "claude-sonnet-4-5",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    });
    expect([ran.exit, place.has("made.txt")], ran.stderr).toEqual([0, true]);
  },
);

it.skipIf(isMissing("claude")).each<["held" | "free", Readonly<Record<string, string>>, object, object?]>([
  ["free", {}, {}, { env: { CLAUDE_CODE_SIMPLE: "1" } }],
  ["free", { CLAUDE_CODE_SIMPLE: "1" }, {}],
  ["free", { CLAUDE_CODE_SAFE_MODE: "1" }, {}],
  ["held", { CLAUDE_CODE_SIMPLE: "0" }, {}],
  ["held", {}, { env: { CLAUDE_CODE_SIMPLE: "1" } }],
  ["held", {}, { env: { CLAUDE_CODE_SAFE_MODE: "1" } }],
])(
  "Claude Code: %s with %o in the shell, %o in the project's settings and %o in the person's",
  { timeout: 180_000 },
  async (outcome, env, more, own) => {
    place = newPlace({ "a.txt": "hello\n" });
    model = await scriptedModel(
      turn({ unoffered: "Bash", args: { command: "echo x >made.txt", description: "make it" } }),
    );
    place.write(".claude/settings.json", JSON.stringify(more));
    if (own !== undefined) place.write("../home/.claude/settings.json", JSON.stringify(own));
    await place.nexusHere("setup", "claude");
    const ran = await place.run(clientProgram("claude")!, ["-p", "please begin", "--allowedTools", "Bash"], {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_MODEL: "claude-sonnet-4-5",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      ...env,
    });
    expect([ran.exit, place.has("made.txt")], ran.stderr).toEqual([0, outcome === "free"]);
    const doctor = await place.nexusWith(env, "doctor", "claude");
    expect(/fix claude project settings: (?:unset|take) CLAUDE_CODE_\w+/.test(doctor.stdout)).toBe(outcome === "free");
    if (outcome === "free") expect(doctor.exit).toBe(1);
  },
);

it.skipIf(isMissing("claude"))(
  "Claude Code leaves out a file with a text for a switch, and doctor claims nothing else",
  async () => {
    place = newPlace();
    model = await scriptedModel([]);
    place.write(".claude/settings.json", '{"disableAllHooks":"true"}');
    await place.nexusHere("setup", "claude");
    const path = { PATH: `${dirname(clientProgram("claude")!)}:${process.env.PATH}` };
    const { stdout } = await place.nexusWith(path, "doctor", "claude");
    expect(stdout).toContain("leaves the whole file out");
    expect(stdout).not.toContain("Claude Code reads");
  },
);

const PROGRAMS = {
  qwen: {
    args: ["-y", "-o", "stream-json"],
    settings: {},
    env: (url: string) => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "scripted" }),
  },
  gemini: {
    args: ["-y", "-o", "json", "-p"],
    settings: { security: { auth: { selectedType: "gemini-api-key" } }, privacy: { usageStatisticsEnabled: false } },
    env: (url: string) => ({
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_MODEL: "gemini-2.5-pro",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
  },
};

it.skipIf(isMissing("qwen", "gemini")).each<["qwen" | "gemini", Spoilt, "held" | "free" | "does not start"]>([
  ["qwen", "a comment", "held"],
  ["qwen", "a trailing comma", "free"],
  ["qwen", "a byte order mark", "free"],
  ["gemini", "a comment", "held"],
  ["gemini", "a trailing comma", "does not start"],
  ["gemini", "a byte order mark", "does not start"],
])("%s, settings.json with %s: %s", { timeout: 180_000 }, async (name, how, outcome) => {
  const { args, settings, env } = PROGRAMS[name];
  place = newPlace({ "a.txt": "hello\n" });
  model = await scriptedModel(
    turn({ tool: /^write_file$/, args: { file_path: join(place.root, "made.txt"), content: "x" } }),
  );
  place.write(`../home/.${name}/settings.json`, JSON.stringify(settings));
  expect((await place.nexusHere("setup", name, "--scope", "user", "-y")).exit).toBe(0);
  spoil(join(place.home, `.${name}/settings.json`), how);
  const around = { QWEN_CODE_NO_RELAUNCH: "true", GEMINI_CLI_NO_RELAUNCH: "true", ...env(model.url) };
  const ran = await place.run(clientProgram(name)!, [...args, "please begin"], around);
  expect([ran.exit === 0, place.has("made.txt")], ran.stderr).toEqual([
    outcome !== "does not start",
    outcome === "free",
  ]);
  expect(model.used().length > 0).toBe(outcome !== "does not start");
});
