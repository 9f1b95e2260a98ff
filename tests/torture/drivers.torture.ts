// What costs too many starts of slow programs for every test run.
import { afterEach, describe, expect, it } from "vitest";
import type { DriverName, SessionRequest } from "../../src/drivers/index.js";
import { ACP_PROGRAMS, LATER, meetTrouble, NO_MODEL } from "../drivers/acp-programs.js";
import { pathWith } from "../drivers/clients.js";
import { type Desk, desk } from "../drivers/desk.js";
import { type Step, sequence } from "../drivers/sequence.js";
import { type ScriptedModel, scriptedModel, type Trouble } from "../hosts/scripted-model/server.js";

const PATH = pathWith("opencode");
let at: Desk;
let model: ScriptedModel;
afterEach(async () => {
  at.remove();
  await model.close();
});

async function open(...steps: readonly Step[]): Promise<void> {
  model = await scriptedModel(sequence(...steps));
  at = desk({ PATH: PATH! });
  const options = { baseURL: `${model.url}/v1`, apiKey: "none" };
  const provider = { npm: "@ai-sdk/openai-compatible", options, models: { m: { name: "m" } } };
  at.put({ "person/.config/opencode/opencode.json": JSON.stringify({ model: "s/m", provider: { s: provider } }) });
}

describe.skipIf(PATH === null).each<[DriverName, Partial<SessionRequest>]>([
  ["opencode", {}],
  ["acp", { command: "opencode acp" }],
])("%s with OpenCode (needs the real program)", (driver, extra) => {
  it("stops when cancelled, and the session goes on after kill -9", async () => {
    await open({ fail: "hang" }, { fail: "hang" }, "going on");
    const first = await at.start(driver, extra);
    while (!model.requests.some(({ tools }) => tools.length > 0))
      await new Promise((resolve) => setTimeout(resolve, 50));
    const cancelled = await first.cancel();
    expect(cancelled).toMatchObject({ outcome: "cancelled", text: "" });
    const id = at.of("session")[0]?.id ?? cancelled.sessionId;
    // OpenCode's own mode tells its session's id with the first event, which a hanging model never lets it send.
    if (id === null || id === undefined) return;

    const second = await at.start(driver, { ...extra, resume: id });
    const before = model.requests.length;
    while (model.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 50));
    process.kill(second.pid, "SIGKILL");
    expect(await second.ended).toMatchObject({ outcome: "failed" });
    const third = await at.run(driver, { ...extra, resume: id, taskPrompt: "Go on." });
    expect(third).toMatchObject({ outcome: "completed", text: "going on", sessionId: id });
  });
});

const PAGE: Trouble = {
  status: 403,
  headers: { "content-type": "text/html" },
  body: "<!DOCTYPE html><html><head><title>Access Denied</title></head><body>Log in to the proxy</body></html>",
};
const TROUBLES: readonly (readonly [name: string, fail: string | Trouble, kind: string])[] = [
  ["401", { status: 401 }, "login"],
  ["429 for an hour", LATER, "limit"],
  ["529", { status: 529 }, "overload"],
  ["a proxy's page", PAGE, "transport"],
  ["garbage", { status: 200, body: "<html>not what was asked for" }, "transport"],
  ["a cut connection", "cut", "transport"],
  ["a model nobody has", NO_MODEL, "model"],
];

/** What an agent of the protocol makes of it instead; null: it says nothing for longer than is waited for here. */
const OTHERWISE: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  // It asks for a login whatever the page says.
  "claude-agent-acp": { "a proxy's page": "login" },
  // An overload it calls a lost connection while it tries again.
  "codex-acp": { "529": "transport" },
  // Waits a minute and longer, ten times.
  qwen: { "429 for an hour": null, "529": null },
};

for (const program of ACP_PROGRAMS.filter(({ name }) => pathWith(name) !== null)) {
  describe(`${program.name} over the protocol (needs the real program)`, () => {
    it.each(TROUBLES)("%s", async (name, fail, kind) => {
      const met = await meetTrouble(program, fail);
      ({ at, model } = met);
      const expected = OTHERWISE[program.name]?.[name];
      const said = met.end.outcome === "timeout" ? null : met.end.trouble?.kind;
      expect(said, met.end.error).toBe(expected === undefined ? kind : expected);
    });
  });
}
