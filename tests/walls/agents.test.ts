// A hostile agent: what it can read, what it can plant, and what becomes of it when our own process writes.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commandDriver } from "../../src/drivers/command.js";
import { bwrapAvailable, neverShow, runChild } from "../../src/process/index.js";
import { driverRunner } from "../../src/run/agents/driver-runner.js";
import { toolPrograms } from "../../src/run/agents/programs.js";
import { sessionHome } from "../../src/run/agents/session-home.js";
import { type Desk, desk } from "../drivers/desk.js";
import { ON_PATH, PLANTED } from "./planted-secrets.js";

const held = await bwrapAvailable(process.env);
let at: Desk;
let person: string;
beforeEach(() => {
  at = desk();
  person = join(at.folder, "person");
});
afterEach(() => at.remove());

function plantSecrets(): { env: Record<string, string>; files: string[] } {
  at.put(Object.fromEntries(PLANTED.map((path, index) => [`person/${path}`, `canary-${index}\n`])));
  for (const folder of ON_PATH) {
    mkdirSync(join(person, folder), { recursive: true });
    writeFileSync(join(person, folder, "tool"), "#!/bin/sh\necho works\n", { mode: 0o755 });
  }
  // Each of these makes its folder look like an installation, or a package.
  at.put({ "person/.foundry/share/man/x": "", "person/work/tool/lib/x": "", "person/work/linked/dist/cli.js": "" });
  at.put({ "person/work/linked/package.json": "{}" });
  symlinkSync(join(person, "work/linked/dist/cli.js"), join(person, ".local/bin/linked"));
  const PATH = [...ON_PATH.map((folder) => join(person, folder)), join(at.folder, "bin"), process.env.PATH].join(":");
  return { env: { PATH, HOME: person }, files: PLANTED.map((path) => join(person, path)) };
}

/** Reads whatever it is told of, and whatever it finds by itself below the person's home. */
const READER = (files: readonly string[], home: string) =>
  `cat ${files.map((file) => `'${file}'`).join(" ")} 2>/dev/null; find '${home}' -type f -exec cat {} + 2>/dev/null; env; echo end`;

describe.skipIf(!held)("about a hundred secrets in a home (needs bwrap)", () => {
  it("has them", () => {
    expect(PLANTED.length).toBeGreaterThanOrEqual(100);
    expect(new Set(PLANTED).size).toBe(PLANTED.length);
  });

  it("none is readable from an agent, whose programs still run", async () => {
    const { env, files } = plantSecrets();
    // In a file of its own: programs that the line names would be shown, for the person named them.
    at.install("reader", `#!/bin/sh\n${READER(files, person)}\n`);
    const { text, outcome } = await at.run("command", { command: "reader; tool", env });
    expect(text.match(/canary-\d+/g) ?? []).toEqual([]);
    expect({ outcome, last: text.split("\n").at(-1) }).toEqual({ outcome: "completed", last: "works" });
  });

  it("none is readable from a check", async () => {
    const { env, files } = plantSecrets();
    const folder = join(at.folder, "etc");
    mkdirSync(folder);
    const { stdout, code } = await runChild({
      command: "/bin/sh",
      args: ["-c", READER(files, person)],
      cwd: "/",
      env: { ...env, HOME: "/home/user" },
      sandbox: { root: "system", network: "none", neutral: { home: "/home/user", folder }, env },
    });
    expect({ code, found: stdout.text.match(/canary-\d+/g) ?? [] }).toEqual({ code: 0, found: [] });
  });

  it("nor is a key this process was given, even beside a program", async () => {
    at.put({ "bin/my-key": "canary-key\n" });
    neverShow(join(at.folder, "bin/my-key"));
    const { text } = await at.run("command", { command: `cat ${at.folder}/bin/my-key; ls ${at.folder}/bin; echo end` });
    expect(text).not.toContain("canary");
  });

  it("of the logins, an agent sees the one its program needs", async () => {
    plantSecrets();
    const canary = `canary-${PLANTED.indexOf(".claude/.credentials.json")}`;
    const grant = { accessToken: canary, refreshToken: "what-renews-it", expiresAt: Date.now() + 9e7 };
    at.put({ "person/.claude/.credentials.json": JSON.stringify({ claudeAiOauth: grant }) });
    at.install(
      "claude",
      `#!/bin/sh
[ "$1" = --version ] && { echo "2.1.325 (Claude Code)"; exit 0; }
found=$(cat "$HOME/.claude/.credentials.json" ${person}/.claude.json ${person}/.claude/* ${person}/.codex/auth.json 2>/dev/null | grep -oE 'canary-[0-9]+|what-renews-it')
echo '{"type":"result","is_error":false,"result":"'$found'"}'
`,
    );
    const { text } = await at.run("claude");
    expect(text).toBe(canary);
  });
});

describe.skipIf(!held)("an agent that plants links (needs bwrap)", () => {
  const WRITES =
    'for place in /tmp /var/tmp "$HOME/tmp" "$TMPDIR"; do echo evil >> $place/.bashrc; cat $place/.ssh/id; done 2>/dev/null; echo tried';
  const planting = () =>
    [
      'mkdir -p "$HOME/tmp"; mv "$HOME/tmp" "$HOME/old"',
      `ln -s ${person} "$HOME/tmp"`,
      `mv /tmp /tmp-old; ln -s ${person} /tmp`,
      `mv "$HOME" "$HOME-old"; ln -s ${person} "$HOME"`,
      "echo planted",
    ].join("; ");

  it.each([true, false])("gains nothing by it in the next session (may edit: %s)", async (edit) => {
    at.put({ "person/.bashrc": "mine\n", "person/.ssh/id": "canary\n" });
    const may = { edit, shell: true };
    expect((await at.run("command", { command: `${planting()} 2>/dev/null`, may })).text).toBe("planted");
    const { text } = await at.run("command", { command: WRITES, may });
    expect(text).toBe("tried");
    expect(readFileSync(join(person, ".bashrc"), "utf8")).toBe("mine\n");
  });

  it("does not make us write where its link leads, nor remove anything there", async () => {
    at.put({ "person/.claude/.credentials.json": "login", "person/.claude/settings.json": "{}" });
    at.install("claude", '#!/bin/sh\n[ "$1" = --version ] && echo "2.1.325 (Claude Code)"\n');
    mkdirSync(join(at.home, "sessions"), { recursive: true });
    await at.run("command", { command: `ln -s ${person}/.claude "$HOME/.claude"; echo planted` });
    await expect(at.run("claude")).rejects.toMatchObject({ code: "SOURCE_UNSAFE" });
    const login = join(person, ".claude/.credentials.json");
    expect({ link: lstatSync(login).isSymbolicLink(), text: readFileSync(login, "utf8") }).toEqual({
      link: false,
      text: "login",
    });
    expect(readdirSync(join(person, ".claude")).sort()).toEqual([".credentials.json", "settings.json"]);
  });

  it("cannot make us clear away what is not its own when it ends", async () => {
    at.put({ "person/kept": "mine" });
    const command = `id=$NEXUS_SESSION_ID; mv "$HOME/sessions" "$HOME/s"; mkdir -p "$HOME/there/$id"; ln -s ${person} "$HOME/sessions"; echo done`;
    await at.run("command", { command });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(readFileSync(join(person, "kept"), "utf8")).toBe("mine");
  });
});

describe("a home", () => {
  it("is new for every session, and its own again for one that goes on", () => {
    const homes = join(at.folder, "homes");
    const first = sessionHome(homes, "engineer-1", { goesOn: false });
    const other = sessionHome(homes, "engineer-2", { goesOn: false });
    expect(first).not.toBe(other);
    writeFileSync(join(first, "session.jsonl"), "kept");
    expect(sessionHome(homes, "engineer-1", { goesOn: true })).toBe(first);
    expect(readdirSync(first)).toEqual(["session.jsonl"]);
    // What a session left whose run was killed before it was recorded is nobody's.
    writeFileSync(join(other, "planted"), "x");
    expect(readdirSync(sessionHome(homes, "engineer-2", { goesOn: false }))).toEqual([]);
  });

  it("comes back without links, devices, and second names of other files", () => {
    const homes = join(at.folder, "homes");
    const home = sessionHome(homes, "engineer-1", { goesOn: false });
    at.put({ "person/.bashrc": "mine\n" });
    mkdirSync(join(home, "a/b"), { recursive: true });
    writeFileSync(join(home, "a/b/kept"), "kept");
    symlinkSync(person, join(home, "a/b/link"));
    symlinkSync(person, Buffer.from(`${home}/a/\xff`, "latin1"));
    chmodSync(join(home, "a/b"), 0);
    sessionHome(homes, "engineer-1", { goesOn: true });
    expect([readdirSync(join(home, "a")), readdirSync(join(home, "a/b"))]).toEqual([["b"], ["kept"]]);
    expect(existsSync(join(person, ".bashrc"))).toBe(true);
  });
});

describe.skipIf(!held)("the run's state (needs bwrap)", () => {
  /** Tries to turn the state into links, then uses a tool as it should. */
  const AGENT = `
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
const { state, person } = JSON.parse(process.env.PLACES);
const tries = [
  () => writeFileSync(state + "/tasks.json", "{}"),
  () => renameSync(state, state + "-old"),
  () => rmSync(state, { recursive: true }),
  () => symlinkSync(person + "/.bashrc", state + "/tool-log.jsonl"),
  () => mkdirSync(state + "/artifacts"),
  () => symlinkSync(person, state + "/artifacts"),
];
const done = tries.filter((attempt) => { try { attempt(); return true; } catch { return false; } }).length;
const { command, args, env } = Object.values(JSON.parse(readFileSync(process.env.NEXUS_MCP_CONFIG, "utf8")).mcpServers)[0];
const server = spawn(command, args, { env: { ...process.env, ...env, NEXUS_ROLE: "" }, stdio: ["pipe", "pipe", "inherit"] });
const say = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a", version: "1" } } });
say({ method: "notifications/initialized" });
say({ id: 2, method: "tools/call", params: { name: "nx_artifact_write", arguments: { filename: "report.md", content: "evil line" } } });
say({ id: 3, method: "tools/call", params: { name: "nx_task_add", arguments: { title: "mine", context: "x" } } });
let text = "";
for await (const chunk of server.stdout) { text += chunk; if (text.includes('"id":2') && text.includes('"id":3')) break; }
server.stdin.end();
const answer = (id) => text.split("\\n").find((line) => line.includes('"id":' + id));
console.log(JSON.stringify({ done, wrote: answer(2).includes("success"), refused: answer(3).includes("ROLE_DENIED") }));
`;

  it("is read by agents and written by the tools alone, in the role the run gave", async () => {
    const project = join(at.folder, "run");
    const state = join(project, ".nexus/state");
    at.put({ "bin/agent.mjs": AGENT, "run/.nexus/state/tasks.json": '{"tasks":[]}', "person/.bashrc": "mine\n" });
    const env = { PATH: process.env.PATH, HOME: person };
    const command = `${process.execPath} ${at.folder}/bin/agent.mjs`;
    const probe = await commandDriver.probe(env, command);
    const tools = toolPrograms();
    const runner = driverRunner({ driver: commandDriver, probe, name: "command", command, env, tools });
    const { text, error } = await runner.run(
      {
        agent: "tester-1",
        role: "tester",
        task: 1,
        rolePrompt: "role",
        taskPrompt: "task",
        cwd: at.cwd,
        home: at.home,
        env: { NEXUS_PROJECT_DIR: project, NEXUS_ROLE: "tester", PLACES: JSON.stringify({ state, person }) },
        mayEdit: true,
        mayRunShell: true,
        capabilities: [],
        blocked: new Set(),
        readable: [join(project, ".nexus")],
        signal: new AbortController().signal,
      },
      () => {},
    );
    expect(error).toBeUndefined();
    expect(JSON.parse(text)).toEqual({ done: 0, wrote: true, refused: true });
    expect(readFileSync(join(state, "artifacts/report.md"), "utf8")).toBe("evil line");
    expect(readFileSync(join(person, ".bashrc"), "utf8")).toBe("mine\n");
    expect(statSync(dirname(state)).isDirectory()).toBe(true);
  });
});
