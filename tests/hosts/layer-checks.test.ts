// What doctor says of settings under which Qwen Code or Gemini CLI asks no gate, or has none of our tools.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { layerChecks } from "../../src/commands/nexus/hosts/layer-checks.js";
import { findHost, hookCommand, type InstallInput, isReadBy } from "../../src/hosts/index.js";
import { newPlace } from "./clients.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-layers-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Name = "qwen" | "gemini";
const NAMES = ["qwen", "gemini"] as const;

/** `@` stands for the host's name, `null` for a folder in the file's place. */
function checks(name: Name, files: Readonly<Record<string, string | null>>, env: Record<string, string> = {}) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path.replace("@", name));
    mkdirSync(text === null ? file : dirname(file), { recursive: true });
    if (text !== null) writeFileSync(file, text.replaceAll("ROOT", join(folder, "project")));
  }
  const system = join(folder, "system/settings.json");
  const places = { QWEN_CODE_SYSTEM_SETTINGS_PATH: system, GEMINI_CLI_SYSTEM_SETTINGS_PATH: system };
  const input = { root: join(folder, "project"), home: join(folder, "home"), env: { ...places, ...env } };
  return layerChecks(name, input as unknown as InstallInput);
}

const PROJECT = "project/.@/settings.json";
const OWN = "home/.@/settings.json";
const OFF = { qwen: '{"disableAllHooks":true}', gemini: '{"hooksConfig":{"enabled":false}}' };
const ON = { qwen: '{"disableAllHooks":false}', gemini: '{"hooksConfig":{"enabled":true}}' };

describe.each(NAMES)("%s", (name) => {
  it("may have comments, and lists with our server in them", () => {
    const servers = '{"mcp":{"allowed":["other"," Nexus"],"excluded":["other"]}}';
    expect(checks(name, { [PROJECT]: "// mine\n{}", [OWN]: servers })).toEqual([]);
  });

  it.each([
    [PROJECT, '{"a":1,}', "is no JSON that"],
    [OWN, "\uFEFF{}", "is no JSON that"],
    [OWN, "", "is no JSON that"],
    [OWN, "[]", "is no JSON that"],
    [OWN, null, "settings.json cannot be read (EISDIR)"],
    ["system/settings.json", "{", "is no JSON that"],
    [OWN, '{"mcp":{"excluded":["nexus"]}}', "switches our server off"],
    [PROJECT, '{"mcp":{"allowed":[]}}', "ours is not among them"],
  ])("%s with %s is a problem", (path, text, message) => {
    expect(checks(name, { [path]: text })).toMatchObject([
      { state: "problem", message: expect.stringContaining(message), fix: expect.stringContaining("settings.json") },
    ]);
  });

  it("believes the file that has the last word on hooks", () => {
    const says = (files: Record<string, string>) => checks(name, files).map(({ message }) => message);
    expect(says({ [OWN]: OFF[name] })).toEqual([expect.stringContaining("asks no gate")]);
    expect(says({ [PROJECT]: ON[name] })).toEqual([]);
    expect(says({ "system/settings.json": OFF[name] })).toEqual([expect.stringContaining("system/settings.json")]);
    rmSync(join(folder, "system"), { recursive: true });
    expect(says({ "system/system-defaults.json": OFF[name], [PROJECT]: "{}", [OWN]: "{}" })).toHaveLength(1);
  });

  it("has nothing written where it could not read it, and keeps its comments", async () => {
    const place = newPlace();
    const own = `../home/.${name}/settings.json`;
    const setup = (...more: string[]) => place.nexusHere("setup", name, "--scope", "user", ...more);
    try {
      for (const text of ['{\n  "a": [1], // mine\n}\n', '\uFEFF{\n  "a": [1] // mine\n}\n']) {
        place.write(own, text);
        const refused = await setup();
        expect([refused.exit, place.read(own)]).toEqual([2, text]);
        expect(refused.stderr).toContain(`nexus setup ${name} --scope user --convert`);
        expect((await setup("--convert")).exit).toBe(0);
        expect(place.read(own)).toContain("// mine");
        expect(isReadBy(name, place.read(own))).toBe(true);
        expect((await setup("--remove")).exit).toBe(0);
        expect(place.read(own)).toBe(text);
      }
      place.write(own, '{"hooks":{},"hooks":{}}');
      expect((await setup()).stderr).toContain("hooks is there twice");
    } finally {
      place.remove();
    }
  });
});

it("sees tools and servers that were switched off by hand or by command", () => {
  const said = (name: Name, path: string, text: string) => checks(name, { [path]: text }).map(({ fix }) => fix);
  expect(said("qwen", OWN, '{"permissions":{"deny":["mcp__nexus__nx_task_add","tool_search"]}}')).toHaveLength(1);
  expect(said("gemini", OWN, '{"tools":{"exclude":["mcp_nexus_nx_task_add"]}}')).toHaveLength(1);
  rmSync(join(folder, "home"), { recursive: true });
  const off = '{"nexus":{"enabled":false}}';
  expect(said("gemini", "home/.gemini/mcp-server-enablement.json", off)).toEqual(["gemini mcp enable nexus"]);
  const trust = { [OWN]: '{"security":{"folderTrust":{"enabled":true}}}', "home/.qwen/trustedFolders.json": "{}" };
  expect(checks("qwen", trust)).toEqual([]);
  expect(checks("qwen", { "home/.qwen/trustedFolders.json": '{"ROOT":"DO_NOT_TRUST"}' })).toHaveLength(1);
});

it("adds Qwen Code's lists of servers up, and asks each of Gemini CLI's", () => {
  const files = { [OWN]: '{"mcp":{"allowed":["nexus"]}}', [PROJECT]: '{"mcp":{"allowed":["other"]}}' };
  expect(NAMES.map((name) => checks(name, files).length)).toEqual([0, 1]);
});

it("looks where the programs' own variables point", () => {
  const qwen = { QWEN_HOME: join(folder, "elsewhere") };
  expect(checks("qwen", { [OWN]: "{}", "elsewhere/settings.json": OFF.qwen }, qwen)).toHaveLength(1);
  const gemini = { GEMINI_CLI_HOME: join(folder, "elsewhere") };
  expect(checks("gemini", { [OWN]: "{}", "elsewhere/.gemini/settings.json": OFF.gemini }, gemini)).toHaveLength(1);
});

it("notices that a person has switched our hooks off one by one in Gemini CLI", () => {
  const gemini = findHost("gemini")!;
  const words = { scope: "project", node: "node", hook: "hook.js", platform: "linux" } as const;
  const off = (disabled: readonly string[]) =>
    checks("gemini", { [PROJECT]: JSON.stringify({ hooksConfig: { disabled } }) }).map(({ message }) => message);
  expect(off(["my-own-hook"])).toEqual([]);
  expect(off([hookCommand(words, gemini, "BeforeTool")])).toEqual([expect.stringContaining("hooks of ours off")]);
});

it("writes no hooks where Codex would not read them, and says so without Codex", async () => {
  const place = newPlace();
  try {
    for (const text of ["{} // mine\n", '{ "hooks": {}, }\n', "\uFEFF{}\n"]) {
      place.write(".codex/hooks.json", text);
      const refused = await place.nexusHere("setup", "codex");
      expect([refused.exit, place.read(".codex/hooks.json")]).toEqual([2, text]);
      expect(refused.stderr).toContain("nexus setup codex --convert");
    }
    expect((await place.nexusHere("setup", "codex", "--convert")).exit).toBe(0);
    expect(isReadBy("codex", place.read(".codex/hooks.json"))).toBe(true);
    place.write(".codex/hooks.json", `// mine\n${place.read(".codex/hooks.json")}`);
    // Codex puts tables of one name together, and may not start with what comes of it.
    place.write("../home/.codex/config.toml", '[mcp_servers.nexus]\nurl = "http://127.0.0.1:9"\n');
    const doctor = await place.nexusHere("doctor", "codex");
    expect(doctor).toMatchObject({ exit: 1, stdout: expect.stringContaining("runs no hook of the file") });
    expect(doctor.stdout).toContain("has a server of yours called nexus, which Codex mixes with the project's");
  } finally {
    place.remove();
  }
});
