// A vendor that limits the account, and a run that goes on with another program: the commands, with the real programs.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { pathWith } from "../drivers/clients.js";
import { sequence } from "../drivers/sequence.js";
import { type ScriptedModel, scriptedModel } from "../hosts/scripted-model/server.js";
import { here } from "./here.js";
import { environment, journalOf, start, stateOf } from "./program.js";
import { helloRequest, put } from "./scripted.js";

const open: { folder?: string; model?: ScriptedModel } = {};
afterEach(async () => {
  await open.model?.close();
  if (open.folder !== undefined) rmSync(open.folder, { recursive: true, force: true });
});

const programs = (["claude", "codex", "opencode"] as const).map(pathWith);
const LIMITED = { status: 429, headers: { "retry-after": "3600" } };

/** Claude's vendor limits this account for an hour; Codex's answers. */
async function place() {
  const limited = { name: "limited", when: { any: /"model":"claude-/ }, fail: LIMITED, reply: [] };
  const model = await scriptedModel([
    limited,
    { ...limited, bare: true },
    ...sequence(
      { unoffered: "exec_command", args: { cmd: "echo hello world > files/hello.txt" } },
      "RESULT: done\nSUMMARY: it greets",
      "VERDICT: pass\nSUMMARY: nothing to complain about",
      "VERDICT: pass\n- [passed] 1: files/hello.txt says so",
    ),
  ]);
  // Not below /tmp: agents get a /tmp of their own, and Codex refuses to keep programs there.
  const folder = mkdtempSync("/var/tmp/nut-elsewhere-");
  Object.assign(open, { folder, model });
  const [cwd, home] = [join(folder, "project"), join(folder, "home")];
  mkdirSync(cwd);
  const provider = `name = "s"\nbase_url = "${model.url}/v1"\nwire_api = "responses"\nsupports_websockets = false`;
  put(home, {
    ".codex/config.toml": `model = "scripted"\nmodel_provider = "s"\n[model_providers.s]\n${provider}\n`,
  });
  const env = environment(home, {
    PATH: programs.join(delimiter),
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_MODEL: "claude-sonnet-4-5",
  });
  const request = helloRequest(folder);
  const args = ["run", request, "--driver", "claude", "--plan", "default", "--jobs", "1", "-o", "out.nut"];
  const nexus = (...more: string[]) => start(cwd, more, env).done;
  return { cwd, env, model, nexus, run: (...more: string[]) => nexus(...args, "--budget", "wait=1s", ...more) };
}

const modelsIn = ({ requests }: ScriptedModel) => [
  ...new Set(requests.map(({ any }) => (JSON.parse(any) as { model: string }).model)),
];
const kindsOf = (cwd: string) =>
  journalOf(cwd).flatMap((record) => (record.type === "switched" ? [`${record.from} → ${record.to}`] : []));

describe.skipIf(programs.includes(null))("a vendor that limits the account (needs the real programs)", () => {
  it("pauses; `resume --model` asks another model, and `resume --driver` finishes with another program", async () => {
    const { cwd, env, model, nexus, run } = await place();
    const paused = await run();
    expect([paused.status, paused.stdout + paused.stderr]).toEqual([1, expect.stringMatching(/claude limits/)]);
    expect((await nexus("resume", "--model", "claude-other-1")).status).toBe(1);
    expect(modelsIn(model)).toEqual(["claude-sonnet-4-5", "claude-other-1"]);

    const refused = await here("nexus", cwd, ["resume", "--driver", "nobody"], env);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("nobody")]);
    // All that are named now may take over, wherever the one at work stands among them.
    const alone = { ...env, PATH: `${programs[1]}` };
    const missing = await here("nexus", cwd, ["resume", "--driver", "codex", "--fallback", "claude,codex"], alone);
    expect([missing.status, missing.stderr]).toEqual([2, expect.stringContaining("claude is not on PATH")]);
    const ended = await nexus("resume", "--driver", "codex");
    expect(ended.status, ended.stderr + ended.stdout).toBe(0);
    expect(kindsOf(cwd).at(-1)).toBe("claude → codex");
    // No model's name of the one before is said to the other.
    expect(modelsIn(model)).toEqual(["claude-sonnet-4-5", "claude-other-1", "scripted"]);
    expect([...stateOf(cwd).agents.values()].at(-1)).toMatchObject({ end: { outcome: "done" } });
  }, 240_000);

  it("gives way to `--fallback` by itself, in the order that was given", async () => {
    const { cwd, model, run } = await place();
    const ended = await run("--fallback", "codex,opencode");
    expect(ended.status, ended.stderr + ended.stdout).toBe(0);
    expect(ended.stderr).toContain("codex takes over: claude limits this account");
    expect(kindsOf(cwd)).toEqual(["claude → codex"]);
    expect(modelsIn(model)).toEqual(["claude-sonnet-4-5", "scripted"]);
  }, 240_000);
});
