// nexus setup: what it writes, that it changes nothing else, and that it can be undone to the byte.
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KNOWN_VERSIONS } from "../../src/process/index.js";
import { runNexus } from "../state/run-nexus.js";
import { newPlace, type Place } from "./clients.js";

let place: Place;
afterEach(() => place.remove());

const COMMENTED =
  '{\n\t// mine\n\t"model": "opus", // and why\n\t"hooks": {\n\t\t"Stop": [{ "hooks": [{ "type": "command", "command": "say done, }" }] }],\n\t\t"PreToolUse": [ { "matcher": "Bash", "hooks": [] } ]\n\t},\n}\n';
const SETTINGS = COMMENTED.replace(/\/\/.*/g, "").replace("},\n}", "}\n}");
const CONFIG = '# keep\nmodel = "x" # why\n\n[mcp_servers.other]\ncommand = "y"\n\n[profiles.a]\nb = 1 # c\n';
const OPENCODE = '{\n  // theme\n  "theme": "dark",\n  "mcp": { "mine": { "type": "local", "command": ["x"] } }\n}\n';

beforeEach(() => {
  place = newPlace({
    ".claude/settings.json": SETTINGS,
    ".codex/config.toml": CONFIG,
    "opencode.jsonc": OPENCODE,
    "AGENTS.md": "# Mine, without an end of line",
    "CLAUDE.md": "# Mine\r\n\r\nwith Windows lines\r\n",
  });
});

/** Every path with a digest of its content. */
function tree(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (name.startsWith(".git/") || name === ".git") continue;
    const path = join(folder, name);
    found[name] = lstatSync(path).isDirectory()
      ? "folder"
      : createHash("sha256").update(readFileSync(path)).digest("hex");
  }
  return found;
}

const HOSTS = ["claude", "codex", "opencode"] as const;

describe("nexus setup", () => {
  it("adds its part and keeps comments, order and everything else", async () => {
    for (const host of HOSTS) expect((await place.nexusHere("setup", host)).exit).toBe(0);
    const settings = place.read(".claude/settings.json");
    for (const text of ["say done, }", '"matcher": "Bash"']) expect(settings).toContain(text);
    expect(settings.indexOf('"model"')).toBeLessThan(settings.indexOf('"hooks"'));
    expect(settings.match(/nutcracker-claude hook claude /g)).toHaveLength(11);
    expect(place.read(".codex/config.toml").startsWith(CONFIG)).toBe(true);
    expect(place.read(".codex/config.toml")).toContain("[mcp_servers.nexus]");
    expect(place.read("opencode.jsonc")).toContain("// theme");
    expect(place.read("AGENTS.md").startsWith("# Mine, without an end of line\n")).toBe(true);
    expect(place.json(".mcp.json")).toMatchObject({
      mcpServers: { nexus: { env: { NEXUS_HARNESS_ID: "nutcracker-claude" } } },
    });
    expect(readdirSync(join(place.root, ".claude/agents"))).toHaveLength(9);
  });

  it("changes nothing the second time, and nothing at all in a dry run", async () => {
    const before = tree(place.root);
    for (const host of HOSTS)
      expect(JSON.parse((await place.nexusHere("setup", host, "--dry-run", "--json")).stdout)).toMatchObject({
        applied: false,
      });
    expect(tree(place.root)).toEqual(before);
    for (const host of HOSTS) await place.nexusHere("setup", host);
    const after = tree(place.root);
    for (const host of HOSTS)
      expect(JSON.parse((await place.nexusHere("setup", host, "--json")).stdout).changes).toEqual([]);
    expect(tree(place.root)).toEqual(after);
  });

  it.each([
    ["in the same order", HOSTS],
    ["in the other order", [...HOSTS].reverse()],
  ])("is undone to the byte, %s", async (_, order) => {
    const before = tree(place.root);
    for (const host of HOSTS) await place.nexusHere("setup", host);
    for (const host of order) expect((await place.nexusHere("setup", host, "--remove")).exit).toBe(0);
    expect(tree(place.root)).toEqual(before);
  });

  it("does the same for a person's own settings", async () => {
    mkdirSync(join(place.home, ".config/opencode"), { recursive: true });
    writeFileSync(join(place.home, ".config/opencode/opencode.json"), OPENCODE);
    const before = tree(place.home);
    for (const host of HOSTS) expect((await place.nexusHere("setup", host, "--scope", "user")).exit).toBe(0);
    expect(readFileSync(join(place.home, ".claude.json"), "utf8")).toContain("nexus");
    expect(readFileSync(join(place.home, ".codex/hooks.json"), "utf8")).toContain("codex PreToolUse");
    for (const host of HOSTS) await place.nexusHere("setup", host, "--scope", "user", "--remove");
    const left = tree(place.home);
    for (const name of Object.keys(left)) if (name.startsWith(".local")) delete left[name];
    expect(left).toEqual(before);
  });

  it("takes out only its own part of what a person changed since", async () => {
    await place.nexusHere("setup", "claude");
    await place.nexusHere("setup", "codex");
    place.write(".claude/settings.json", place.read(".claude/settings.json").replace('"opus"', '"sonnet"'));
    place.write(".codex/config.toml", `${place.read(".codex/config.toml")}\n[mine]\nlater = true # added\n`);
    place.write("CLAUDE.md", `${place.read("CLAUDE.md")}\nmore of mine\n`);
    await place.nexusHere("setup", "claude", "--remove");
    await place.nexusHere("setup", "codex", "--remove");
    const settings = place.read(".claude/settings.json");
    expect(settings).toContain('"sonnet"');
    expect(settings).toContain("say done");
    expect(settings).not.toContain("nutcracker-claude");
    const config = place.read(".codex/config.toml");
    expect(config).toContain("later = true # added");
    expect(config).toContain('model = "x" # why');
    expect(config).not.toContain("nexus");
    expect(place.read("CLAUDE.md")).toContain("more of mine");
    expect(place.read("CLAUDE.md")).not.toContain("nexus:start");
  });

  it("refuses where a plugin of the person's lies in the gate's place, and replaces one of an earlier version", async () => {
    const path = ".opencode/plugins/nexus.js";
    place.write(path, "export const Mine = async () => ({});\n");
    const before = tree(place.root);
    const refused = await place.nexusHere("setup", "opencode");
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining("is yours, and the gate must lie there"),
    ]);
    expect(tree(place.root)).toEqual(before);
    place.write(path, "// Written by nexus setup; an earlier version of it.\n");
    expect((await place.nexusHere("setup", "opencode")).exit).toBe(0);
    expect(place.read(path)).toContain("tool.execute.before");
  });

  it("writes what OpenCode would add to a file of ours at once, and it goes with the rest", async () => {
    rmSync(join(place.root, "opencode.jsonc"));
    const before = tree(place.root);
    expect((await place.nexusHere("setup", "opencode")).exit).toBe(0);
    expect(place.read("opencode.json")).toMatch(/^\{\n {2}"\$schema": "https:\/\/opencode\.ai\/config\.json",/);
    expect(JSON.parse((await place.nexusHere("setup", "opencode", "--json")).stdout).changes).toEqual([]);
    await place.nexusHere("setup", "opencode", "--remove");
    expect(tree(place.root)).toEqual(before);
  });

  it("leaves a file of the person's alone that has a name it wanted", async () => {
    place.write(".claude/agents/tester.md", "my own tester\n");
    expect(JSON.parse((await place.nexusHere("setup", "claude", "--json")).stdout).kept).toEqual([
      join(place.root, ".claude/agents/tester.md"),
    ]);
    // It may also be a colleague's, whose nexus is of another version: nobody here can tell.
    expect((await place.nexusHere("setup", "claude")).stdout).toContain("tester.md: not written here by nexus setup");
    await place.nexusHere("setup", "claude", "--remove");
    expect(place.read(".claude/agents/tester.md")).toBe("my own tester\n");
  });

  it.each([
    [".claude/settings.json", "claude", "{ broken"],
    [".codex/config.toml", "codex", "= broken"],
    ["opencode.jsonc", "opencode", "[]"],
  ])("refuses settings it cannot understand, and writes nothing (%s)", async (file, host, text) => {
    place.write(file, text);
    const before = tree(place.root);
    const { exit, stderr } = await place.nexusHere("setup", host);
    expect(exit).toBe(2);
    expect(stderr).toContain("nothing was changed");
    expect(stderr).toContain(`hint: \${EDITOR:-vi} ${join(place.root, file)}\n`);
    expect(tree(place.root)).toEqual(before);
  });

  it("names a folder that lies where a file belongs", async () => {
    mkdirSync(join(place.root, ".codex/hooks.json"));
    const { exit, stderr } = await place.nexusHere("setup", "codex");
    expect(exit).toBe(2);
    expect(stderr).toContain(`${join(place.root, ".codex/hooks.json")} is a folder, and a file belongs there`);
  });

  it("puts its part beside a mark that has lost its end, once, and keeps what is written below that", async () => {
    const torn = "# Mine\n<!-- nexus:start -->\nhalf of it\n\nmine too\n";
    place.write("AGENTS.md", torn);
    await place.nexusHere("setup", "codex");
    const once = place.read("AGENTS.md");
    expect(once.startsWith(torn)).toBe(true);
    expect(JSON.parse((await place.nexusHere("setup", "codex", "--json")).stdout).changes).toEqual([]);
    expect(place.read("AGENTS.md")).toBe(once);
    await place.nexusHere("setup", "codex", "--remove");
    expect(place.read("AGENTS.md")).toBe(torn);
  });

  it("does not write into settings that Claude Code would leave out for their comments, until it may convert them", async () => {
    for (const [path, text] of [
      [".claude/settings.json", COMMENTED],
      [".mcp.json", '{ "mcpServers": {} /* mine */ }\n'],
    ] as const) {
      const kept = place.has(path) ? place.read(path) : "{}\n";
      place.write(path, text);
      const { exit, stderr } = await place.nexusHere("setup", "claude");
      expect([exit, stderr]).toEqual([2, expect.stringContaining("nexus setup claude --convert")]);
      expect((await place.nexusHere("setup", "claude", "--convert")).exit).toBe(0);
      expect(place.json(path)).toMatchObject(path === ".mcp.json" ? { mcpServers: {} } : { model: "opus" });
      expect((await place.nexusHere("setup", "claude", "--remove")).exit).toBe(0);
      expect(place.read(path)).toBe(text);
      place.write(path, kept);
    }
    expect(place.read(".claude/settings.json")).not.toContain("//");
  });

  it("keeps a byte order mark, and approves its own server, since Claude Code's dialog proposes no", async () => {
    place.write(".claude/settings.json", `\uFEFF${SETTINGS}`);
    expect((await place.nexusHere("setup", "claude")).exit).toBe(0);
    const settings = place.read(".claude/settings.json");
    expect(settings.startsWith("\uFEFF{")).toBe(true);
    expect(JSON.parse(settings.slice(1))).toMatchObject({ model: "opus", enabledMcpjsonServers: ["nexus"] });
    await place.nexusHere("setup", "claude", "--remove");
    expect(place.read(".claude/settings.json")).toBe(`\uFEFF${SETTINGS}`);
  });

  it("knows a project by what it left there when its folder has another name", async () => {
    place.write(".mcp.json", '{"mcpServers":{"nexus":{"command":"mine"}}}');
    const before = tree(place.root);
    expect((await place.nexusHere("setup", "claude")).exit).toBe(0);
    const elsewhere = `${place.root}-renamed`;
    renameSync(place.root, elsewhere);
    const env = { PATH: process.env.PATH ?? "", HOME: place.home };
    const told = await runNexus(["setup", "claude", "--remove"], { cwd: elsewhere, env });
    renameSync(elsewhere, place.root);
    expect([told.code, told.out]).toEqual([0, expect.stringContaining("claude (project) is as it was before")]);
    expect(tree(place.root)).toEqual(before);
  });

  it("says of what changed since that only its part was taken out", async () => {
    place.write(".claude/settings.json", COMMENTED);
    await place.nexusHere("setup", "claude", "--convert");
    place.write(".claude/settings.json", place.read(".claude/settings.json").replace("opus", "sonnet"));
    const { stdout } = await place.nexusHere("setup", "claude", "--remove");
    expect(stdout).toMatch(
      /is taken out; \S+settings\.json changed since, or was set up elsewhere: only our part went/,
    );
    expect(stdout).not.toContain("as it was before");
  });

  it("offers manual skills to no model", async () => {
    for (const host of HOSTS) await place.nexusHere("setup", host);
    for (const skill of ["nx-init", "nx-setup"]) {
      expect(place.read(`.claude/skills/${skill}/SKILL.md`)).toContain("disable-model-invocation: true");
      expect(place.read(`.agents/skills/${skill}/agents/openai.yaml`)).toContain("allow_implicit_invocation: false");
      expect(place.has(`.opencode/skills/${skill}`)).toBe(false);
      expect(place.has(`.opencode/commands/${skill}.md`)).toBe(true);
      expect(place.read("opencode.jsonc")).toContain(`"${skill}": "deny"`);
    }
  });
});

/** Answers as `codex app-server` does, from the project's hooks and how much of them it is told to trust. */
const CODEX = `#!${process.execPath}
const { readFileSync } = require("node:fs");
if (process.argv[2] === "--version") { console.log(readFileSync(__dirname + "/../version.txt", "utf8")); process.exit(0); }
const trusted = readFileSync("trust.txt", "utf8").trim();
const lists = Object.values(JSON.parse(readFileSync(".codex/hooks.json", "utf8")).hooks).flat();
const hooks = trusted === "none seen" ? [] : lists.flatMap(({ hooks: all }) => all).map(({ command }, index) => ({
  command, enabled: true, trustStatus: trusted === "all" || index > 0 ? "trusted" : "untrusted",
}));
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ id, result: method === "hooks/list" ? { data: [{ hooks }] } : {} }));
});
`;

describe("nexus doctor", () => {
  it.each([
    ["all", "codex-cli 0.163.0", { state: "ok", message: "all 9 hooks are trusted" }],
    [
      "some",
      "codex-cli 99.0.0",
      {
        state: "problem",
        message: expect.stringMatching(/^1 of 9 hooks are not trusted/),
        fix: expect.stringContaining("/hooks"),
      },
    ],
    [
      "none seen",
      "codex-cli (built here)",
      { state: "problem", message: expect.stringContaining("does not see the hooks") },
    ],
  ])(
    "asks Codex whether the hooks are trusted (%s), and tells a version nobody tried: %s",
    async (trust, version, expected) => {
      await place.nexusHere("setup", "codex");
      place.write("trust.txt", trust);
      place.write("version.txt", version);
      place.write("bin/codex", CODEX);
      chmodSync(join(place.root, "bin/codex"), 0o755);
      const path = { PATH: `${join(place.root, "bin")}:${process.env.PATH}` };
      const { stdout } = await place.nexusWith(path, "doctor", "codex", "--json");
      const checks = JSON.parse(stdout).checks as { what: string }[];
      expect(checks.find(({ what }) => what === "codex project trust")).toMatchObject(expected);
      expect(checks.find(({ what }) => what === "codex program")).toMatchObject({
        state: "warning",
        message: expect.stringContaining(`${version}: not tried with Nexus, ${KNOWN_VERSIONS.codex.tried} was`),
      });
    },
  );

  it("finds nothing wrong after a set-up, and names what is, with its fix", async () => {
    for (const host of ["claude", "opencode"]) await place.nexusHere("setup", host);
    const well = await place.nexusHere("doctor", "claude", "--json");
    const checks = JSON.parse(well.stdout).checks as { what: string; state: string; message: string; fix?: string }[];
    const of = (what: string) => checks.find((check) => check.what === what);
    expect(of("mcp server")).toMatchObject({ state: "ok", message: expect.stringContaining("11 tools") });
    expect(of("claude project")).toMatchObject({ state: "ok" });
    expect(of("claude project hooks")).toMatchObject({
      state: expect.stringMatching(/ok|warning/),
      message: expect.stringMatching(/11 events|slow/),
    });
    expect(of("claude project deny lists")).toMatchObject({ state: "ok", message: expect.stringContaining("9 lists") });
    expect(of("sandbox")).toBeDefined();

    place.write(".opencode/agents/tester.md", '---\npermission: {"no_such_tool":"deny"}\n---\n');
    place.write(".opencode/agents/reviewer.md", '---\npermission: {"edit":\n}\n---\n');
    place.write(".opencode/agents/writer.md", "---\npermission: {edit}\n---\n");
    writeFileSync(join(place.home, ".local/state/nutcracker/here/opencode.js"), "export const Nex");
    const ill = await place.nexusHere("doctor", "opencode", "--json");
    expect(ill.exit).toBe(1);
    expect(JSON.parse(ill.stdout).checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ what: "opencode project", state: "problem", fix: "nexus setup opencode" }),
        expect.objectContaining({
          what: "opencode project deny lists",
          state: "problem",
          message: `${join(place.root, ".opencode/agents/writer.md")}: its deny list cannot be read; no such tools: no_such_tool`,
        }),
        expect.objectContaining({
          what: "opencode project hooks",
          state: "problem",
          message: expect.stringMatching(/^the plugin does not start, and blocks tools: (?!it ended)/),
          fix: "nexus setup opencode",
        }),
      ]),
    );
  });

  it("tries OpenCode's plugin with the Bun that OpenCode carries", async () => {
    await place.nexusHere("setup", "opencode");
    // As the real program answers: another version, and other words for an error.
    const bun = 'if [ "$1" = --version ]; then echo 1.3.14; else echo "error: no such module" >&2; exit 1; fi';
    place.write("bin/opencode", `#!/bin/sh\nif [ "$BUN_BE_BUN" = 1 ]; then ${bun}; else echo 1.18.33; fi\n`);
    chmodSync(join(place.root, "bin/opencode"), 0o755);
    const path = { PATH: `${join(place.root, "bin")}:${process.env.PATH}` };
    const { stdout } = await place.nexusWith(path, "doctor", "opencode", "--json");
    expect(JSON.parse(stdout).checks).toContainEqual(
      expect.objectContaining({
        what: "opencode project hooks",
        message: "the plugin does not start, and blocks tools: no such module",
      }),
    );
  });
});
