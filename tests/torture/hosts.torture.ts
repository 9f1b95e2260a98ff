// The long form of tests/hosts/setup-kill.test.ts: a kill before every change a set-up makes; and what an organization may
// decide for Claude Code, with the real program; and every model that Codex ships.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { clientProgram, newPlace } from "../hosts/clients.js";
import { everyRole, shippedModels } from "../hosts/codex-generations.js";
import { ROOT } from "../hosts/hook-process.js";
import { scriptedModel } from "../hosts/scripted-model/server.js";
import { killSetup } from "../hosts/setup-kill.js";

describe.each(["claude", "codex", "opencode"])("nexus setup %s, killed before every change", (host) => {
  it.each([false, true])("is undone to the byte (set up before: %s)", (again) => {
    let kills = 0;
    for (let when = 1; when <= 1_000; when += 1) {
      const { killed, wrong } = killSetup(host, when, { again });
      expect(wrong, `kill ${when}`).toEqual([]);
      if (!killed) break;
      kills += 1;
    }
    console.log(`${host}: ${kills} kills`);
    expect(kills).toBeGreaterThan(5);
  });
});

/** What an organization may decide, whether the gate and our tools survive it, and what doctor says; null: nothing. */
const DECIDED: readonly (readonly [file: string, text: string, gate: boolean, tools: number, said: RegExp | null])[] = [
  ["managed-settings.json", "{}", true, 11, null],
  ["managed-settings.json", '{"disableAllHooks":true}', false, 11, /sets disableAllHooks/],
  ["managed-settings.d/10.json", '{"allowManagedHooksOnly":true}', false, 11, /sets allowManagedHooksOnly/],
  ["managed-settings.d/.10.json", '{"allowManagedHooksOnly":true}', true, 11, null],
  ["managed-settings.json", '{// why\n"disableAllHooks":true}', true, 0, /does not start with it/],
  ["managed-settings.json", '{"deniedMcpServers":[{"serverName":"nexus"}]}', true, 0, /denies our server/],
  ["managed-settings.json", '{"allowedMcpServers":[]}', true, 0, /ours is not among them/],
  ["managed-settings.json", '{"strictPluginOnlyCustomization":true}', false, 0, /from plugins only/],
  ["managed-settings.json", '{"permissions":{"deny":["mcp__nexus__*"]}}', true, 0, /denies mcp__nexus__/],
  ["managed-mcp.json", '{"mcpServers":{}}', true, 0, /ours is not in it/],
];
const OF_ETC = "passwd group hosts resolv.conf nsswitch.conf ssl alternatives ld.so.cache localtime".split(" ");

const CLAUDE = clientProgram("claude");
describe.skipIf(CLAUDE === null || !(await bwrapAvailable(process.env)))(
  "what an organization decides for Claude Code (needs the real program)",
  () => {
    it.each(DECIDED)("%s: %s", async (file, text, gate, tools, said) => {
      const place = newPlace({ "etc/a": "" });
      await place.nexusHere("setup", "claude");
      place.write(`etc/${file}`, text);
      const reply = [{ unoffered: "Write", args: { file_path: join(place.root, "made.txt"), content: "x" } }];
      const model = await scriptedModel([
        { name: "write", times: 1, reply },
        { name: "end", reply: ["done"] },
      ]);
      // An /etc of its own: nothing is ever written to the machine's.
      const shown = OF_ETC.map((name) => `/etc/${name}`).filter((path) => existsSync(path));
      const etc = [...shown.flatMap((path) => ["--ro-bind", path, path]), "--ro-bind", join(place.root, "etc")];
      const around = ["--dev-bind", "/", "/", "--tmpfs", "/etc", ...etc, "/etc/claude-code"];
      const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "none", ANTHROPIC_MODEL: "claude-sonnet-4-5" };
      const quiet = {
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ENABLE_TOOL_SEARCH: "false",
      };
      await place.run("bwrap", [...around, CLAUDE!, "-p", "go", "--allowedTools", "Write"], { ...env, ...quiet });
      const offered = model.requests.find((request) => request.tools.length > 0)?.tools ?? [];
      expect([!place.has("made.txt"), offered.filter(({ name }) => name.includes("nexus")).length]).toEqual([
        gate,
        tools,
      ]);
      const nexus = [process.execPath, join(ROOT, "bin/nexus.js"), "doctor", "--json"];
      const path = { PATH: `${dirname(CLAUDE!)}:${process.env.PATH}` };
      const { stdout } = await place.run("bwrap", [...around, ...nexus], path);
      const checks = JSON.parse(stdout).checks as { what: string; state: string; message: string }[];
      const found = checks.filter(({ what, state }) => what.startsWith("claude") && state === "problem");
      if (said === null) expect(found).toEqual([]);
      else expect(found.map(({ message }) => message).join()).toMatch(said);
      await model.close();
      place.remove();
    });
  },
);

const CODEX = clientProgram("codex");
describe.each(CODEX === null ? [] : shippedModels(CODEX))("inside Codex, with %s", (slug, generation) => {
  it("holds Lead, an engineer and a tester to what they may, and the tester again when it goes on after its end", async () => {
    let close = async () => {};
    try {
      await everyRole(CODEX!, slug, generation, ({ place, model }) => {
        close = async () => {
          await model.close();
          place.remove();
        };
      });
    } finally {
      await close();
    }
  });
});
