// Settings of a project are committed and read on machines where everything lies elsewhere, or nothing is installed.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clientProgram, newPlace, type Place } from "./clients.js";
import { codexPlace } from "./codex-place.js";
import { claudePayload, ROOT } from "./hook-process.js";
import type { Rule, ScriptedModel } from "./scripted-model/server.js";

const HOSTS = ["claude", "codex", "opencode"] as const;
/** They keep hooks and server in one file. */
const NAMELESS = ["qwen", "gemini"] as const;

let place: Place;
beforeEach(() => {
  place = newPlace({ "a.txt": "a\n" });
});
afterEach(() => place.remove());

interface Clone {
  readonly root: string;
  readonly home: string;
  readonly env: Record<string, string>;
  start(words: readonly string[], input: string): { exit: number | null; stdout: string; stderr: string };
}

/** The same project on a machine of its own. `nexus`: whether it is installed there as npm does it. */
function colleague({ nexus }: { nexus: boolean }): Clone {
  const folder = join(dirname(place.root), `colleague-${nexus}`);
  const [root, home, bin] = ["work", "home", "bin"].map((name) => join(folder, name)) as [string, string, string];
  cpSync(place.root, root, { recursive: true });
  for (const path of [home, bin]) mkdirSync(path, { recursive: true });
  for (const program of ["sh", "env", "timeout", "git", "mkdir", "dirname"])
    symlinkSync(spawnSync("which", [program], { encoding: "utf8" }).stdout.trim(), join(bin, program));
  symlinkSync(process.execPath, join(bin, "node"));
  if (nexus) symlinkSync(join(ROOT, "bin/nexus.js"), join(bin, "nexus"));
  const env = { PATH: bin, HOME: home };
  return {
    root,
    home,
    env,
    start: ([program = "", ...args], input) => {
      const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, env, input, encoding: "utf8" });
      return { exit: status, stdout, stderr };
    },
  };
}

const json = (root: string, path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));

function hookIn(root: string, host: "claude" | "codex", event: string): string[] {
  const { hooks } = json(root, host === "claude" ? ".claude/settings.json" : ".codex/hooks.json");
  return ["/bin/sh", "-c", hooks[event][0].hooks[0].command];
}

function serverIn(root: string, host: (typeof HOSTS)[number]): string[] {
  if (host === "opencode") return json(root, "opencode.json").mcp.nexus.command;
  if (host === "claude") {
    const { command, args } = json(root, ".mcp.json").mcpServers.nexus;
    return [command, ...args];
  }
  const text = readFileSync(join(root, ".codex/config.toml"), "utf8");
  const of = (key: string) => JSON.parse(new RegExp(`^${key} = (.*)$`, "m").exec(text)![1]!);
  return [of("command"), ...of("args")];
}

/** Tries a tool in the plugin as OpenCode would load it, in a process with this environment. */
function tryPlugin({ root, env }: Pick<Clone, "root" | "env">): string {
  const url = pathToFileURL(join(root, ".opencode/plugins/nexus.js")).href;
  const code = `
    const { Nexus } = await import(${JSON.stringify(url)});
    const hooks = await Nexus({ directory: ${JSON.stringify(root)} });
    const call = { sessionID: "s", tool: "write", callID: "1" };
    const said = await hooks["tool.execute.before"](call, { args: { filePath: "a.txt", content: "x" } }).catch(String);
    console.log(said);
    process.exit(0);`;
  const args = ["--input-type=module", "-e", code];
  return spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" }).stdout.trim();
}

const reading = (root: string) =>
  JSON.stringify(claudePayload(root, "PreToolUse", { tool_name: "Read", tool_input: {} }));
const LIST = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list", params: {} },
]
  .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  .join("");

const answersIn = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/** A server without tools, and a sentence for the model. */
const saysOnly = (sentence: RegExp) => [
  { jsonrpc: "2.0", id: 1, result: expect.objectContaining({ instructions: expect.stringMatching(sentence) }) },
  { jsonrpc: "2.0", id: 2, result: { tools: [] } },
];

describe("settings of a project", () => {
  it("name no path of the machine they were written on", async () => {
    for (const host of [...HOSTS, ...NAMELESS]) expect((await place.nexusHere("setup", host)).exit).toBe(0);
    const found = readdirSync(place.root, { recursive: true, encoding: "utf8" })
      .filter((path) => !path.startsWith(".git/") && statSync(join(place.root, path)).isFile())
      .filter((path) => {
        const text = place.read(path);
        return [ROOT, place.root, place.home, process.execPath, "/usr/", "hook.js'"].some((word) =>
          text.includes(word),
        );
      });
    expect(found).toEqual([]);
  });

  it("work for a colleague who has nexus on PATH, and close the gate with a sentence for one who has not", async () => {
    for (const host of HOSTS) await place.nexusHere("setup", host);
    const MISSING = /nexus is not installed on this machine.*npm install -g nutcracker/;

    const without = colleague({ nexus: false });
    for (const host of ["claude", "codex"] as const) {
      const gate = without.start(hookIn(without.root, host, "PreToolUse"), reading(without.root));
      expect(gate).toMatchObject({ exit: 2, stdout: "", stderr: expect.stringMatching(MISSING) });
      const start = without.start(hookIn(without.root, host, "SessionStart"), "{}");
      expect(start).toMatchObject({ exit: 1, stderr: expect.stringMatching(MISSING) });
    }
    for (const host of HOSTS) {
      const server = without.start(serverIn(without.root, host), LIST);
      expect(server).toMatchObject({ exit: 127, stderr: expect.stringMatching(MISSING) });
      // A host that must have its servers would not start at all.
      expect(answersIn(server.stdout)).toEqual(saysOnly(MISSING));
    }
    expect(tryPlugin(without)).toMatch(MISSING);
    expect(readdirSync(without.home)).toEqual([]);

    const having = colleague({ nexus: true });
    for (const host of ["claude", "codex"] as const)
      expect(having.start(hookIn(having.root, host, "PreToolUse"), reading(having.root))).toMatchObject({ exit: 0 });
    for (const host of HOSTS) {
      const answer = having.start(serverIn(having.root, host), LIST).stdout;
      expect(answer.match(/"name":"nx_/g), host).toHaveLength(11);
    }
    // The gate itself answers: there is no task list.
    expect(tryPlugin(having)).toContain("task_add");
  });

  it.each(NAMELESS)("of %s do the same", async (host) => {
    await place.nexusHere("setup", host);
    const { hooks, mcpServers } = json(place.root, `.${host}/settings.json`);
    const event = host === "qwen" ? "PreToolUse" : "BeforeTool";
    const gate = ["/bin/sh", "-c", hooks[event][0].hooks[0].command];
    const server = [mcpServers.nexus.command, ...mcpServers.nexus.args];
    const MISSING = /nexus is not installed on this machine/;
    const [without, having] = [colleague({ nexus: false }), colleague({ nexus: true })];
    const call = ({ root }: Clone) =>
      JSON.stringify({ session_id: "s", cwd: root, hook_event_name: event, tool_name: "read_file", tool_input: {} });
    expect(without.start(gate, call(without))).toMatchObject({ exit: 2, stderr: expect.stringMatching(MISSING) });
    expect(answersIn(without.start(server, LIST).stdout)).toEqual(saysOnly(MISSING));
    expect(having.start(gate, call(having))).toMatchObject({ exit: 0 });
    expect(having.start(server, LIST).stdout.match(/"name":"nx_/g)).toHaveLength(11);
  });

  it("are nothing to change for a colleague who sets up, too, and then work without PATH", async () => {
    for (const host of HOSTS) await place.nexusHere("setup", host);
    const other = colleague({ nexus: false });
    for (const host of HOSTS) {
      const nexus = [process.execPath, join(ROOT, "bin/nexus.js"), "setup", host, "--json"];
      expect(JSON.parse(other.start(nexus, "").stdout)).toMatchObject({ changes: [], applied: true });
    }
    expect(other.start(hookIn(other.root, "claude", "PreToolUse"), reading(other.root))).toMatchObject({ exit: 0 });
    expect(other.start(serverIn(other.root, "codex"), LIST).stdout).toContain("nx_task_add");
    expect(tryPlugin(other)).toContain("task_add");
  });

  it("close the gate when nexus went away from this machine, and leave nothing here with the last project", async () => {
    await place.nexusHere("setup", "claude");
    await place.nexusHere("setup", "codex");
    const here = join(place.home, ".local/state/nutcracker/here");
    const launcher = readFileSync(join(here, "nexus"), "utf8").replaceAll(ROOT, "/gone");
    rmSync(join(here, "nexus"));
    const other = colleague({ nexus: false });
    mkdirSync(join(other.home, ".local/state/nutcracker/here"), { recursive: true });
    const moved = join(other.home, ".local/state/nutcracker/here/nexus");
    spawnSync("/bin/sh", ["-c", 'cat >"$0"; chmod +x "$0"', moved], { input: launcher });
    const gate = other.start(hookIn(other.root, "claude", "PreToolUse"), reading(other.root));
    expect(gate).toMatchObject({ exit: 2, stderr: expect.stringContaining("not installed") });
    const server = other.start(serverIn(other.root, "claude"), LIST);
    expect([server.exit, answersIn(server.stdout)]).toEqual([127, saysOnly(/not installed/)]);

    await place.nexusHere("setup", "codex", "--remove");
    expect(readdirSync(here)).toEqual(["opencode.js"]);
    await place.nexusHere("setup", "claude", "--remove");
    expect(readdirSync(dirname(here))).not.toContain("here");
  });
});

describe("Codex, where nexus is gone (needs the real program)", () => {
  const codex = clientProgram("codex");
  const open: { model?: ScriptedModel } = {};
  afterEach(() => open.model?.close());

  it.skipIf(codex === null).each(["project", "user"] as const)(
    "starts all the same with the settings of a %s, and is told what to install",
    async (scope) => {
      const run: Rule = {
        name: "run",
        times: 1,
        reply: [{ unoffered: "exec_command", args: { cmd: "echo x >b.txt" } }],
      };
      const at = await codexPlace([run, { name: "end", reply: ["all done"] }], { slug: "gpt-5.6-luna" });
      Object.assign(open, { model: at.model });
      place.remove();
      place = at.place;
      if (scope === "user") {
        await place.nexusHere("setup", "codex", "--remove");
        await place.nexusHere("setup", "codex", "--scope", "user");
        const config = join(place.home, ".codex/config.toml");
        writeFileSync(config, readFileSync(config, "utf8").replaceAll(ROOT, "/gone"));
      }
      rmSync(join(place.home, ".local/state/nutcracker/here"), { recursive: true, force: true });
      const flags = ["exec", "-C", place.root, "--json", "--dangerously-bypass-hook-trust"];
      const ran = await place.run(codex!, [...flags, "write it"]);
      expect(ran.exit, ran.stderr).toBe(0);
      if (scope === "user") return;
      expect(at.model.requests.at(-1)!.last).toContain("npm install -g nutcracker");
      expect(place.has("b.txt")).toBe(false);
    },
    60_000,
  );
});

describe("a person's own server called nexus", () => {
  it("comes back to the byte although the files were changed since, with the approval they had before", async () => {
    const theirs = '{\n  "mcpServers": { "nexus": { "command":"mine",  "args": [ "--x" ] } }\n}\n';
    const config = "[mcp_servers.nexus] # mine\ncommand = 'n'\n";
    place.write(".mcp.json", theirs);
    place.write(".codex/config.toml", config);
    place.write(".claude/settings.json", '{ "enabledMcpjsonServers": ["nexus"] }\n');
    for (const host of ["claude", "codex"]) await place.nexusHere("setup", host);
    const add = (text: string) => text.replace(/\n\}\n$/, ',\n  "later": 1\n}\n');
    place.write(".mcp.json", add(place.read(".mcp.json")));
    place.write(".codex/config.toml", `${place.read(".codex/config.toml")}[later]\n`);
    place.write(".claude/settings.json", place.read(".claude/settings.json").replace('"hooks"', '"x": 1, "hooks"'));
    for (const host of ["claude", "codex"]) await place.nexusHere("setup", host, "--remove");
    expect(place.read(".mcp.json")).toBe(add(theirs));
    expect(place.read(".codex/config.toml")).toBe(`${config}[later]\n`);
    expect(place.json(".claude/settings.json")).toEqual({ enabledMcpjsonServers: ["nexus"], x: 1 });
  });
});
