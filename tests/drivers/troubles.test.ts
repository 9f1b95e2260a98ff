// The real programs when their vendor is in the way: what the driver makes of it, with the model's server saying so.
import { afterEach, describe, expect, it } from "vitest";
import { type ScriptedModel, scriptedModel, type Trouble } from "../hosts/scripted-model/server.js";
import { pathWith } from "./clients.js";
import { type Desk, desk } from "./desk.js";

const open: { at?: Desk; model?: ScriptedModel } = {};
afterEach(async () => {
  await open.model?.close();
  open.at?.remove();
});

type Fail = string | Trouble;
const GARBAGE: Trouble = { status: 200, body: "<html>not what was asked for" };
const FULL: Trouble = { status: 400, body: '{"error":{"type":"invalid","message":"prompt is too long: 9 > 8"}}' };
const PAGE: Trouble = {
  status: 403,
  headers: { "content-type": "text/html" },
  body: "<!DOCTYPE html><html><head><title>Access Denied</title></head><body>Log in to the proxy</body></html>",
};
const NO_MODEL: Trouble = {
  status: 404,
  body: '{"type":"error","error":{"type":"not_found_error","message":"model: m"}}',
};
/** Asked of the program, which never gets as far as its vendor. */
const UNKNOWN = "s/unknown";
const SOON: Trouble = { status: 429, headers: { "retry-after": "1" } };
const LATER: Trouble = { status: 429, headers: { "retry-after": "3600" } };

async function meet(program: "claude" | "codex" | "opencode", fail: Fail, times: number, patienceMs: number) {
  const at = desk();
  const model = await scriptedModel([
    { name: "trouble", when: { tool: /./ }, times, fail, reply: [] },
    { name: "work", reply: ["all done"] },
  ]);
  Object.assign(open, { at, model });
  const url = fail === "nobody" ? "http://127.0.0.1:9" : model.url;
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: `${url}/v1`, apiKey: "none" },
    models: { m: { name: "m" } },
  };
  at.put({
    "person/.codex/config.toml": [
      'model = "scripted"',
      'model_provider = "s"',
      "[model_providers.s]",
      'name = "s"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      "request_max_retries = 1",
      "stream_max_retries = 3",
      "supports_websockets = false",
    ].join("\n"),
    "person/.config/opencode/opencode.json": JSON.stringify({ model: "s/m", provider: { s: provider } }),
  });
  const anthropic = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none", ANTHROPIC_MODEL: "claude-sonnet-4-5" };
  const env = { PATH: pathWith(program)!, HOME: `${at.folder}/person`, ...(program === "claude" ? anthropic : {}) };
  const chosen = fail === UNKNOWN ? { model: UNKNOWN } : {};
  return { at, end: await at.run(program, { env, patienceMs, ...chosen }) };
}

const ALWAYS = 99;

describe.each<["claude" | "codex" | "opencode", readonly [string, Fail, number, number, string | undefined][]]>([
  [
    "claude",
    [
      ["401", { status: 401 }, ALWAYS, 60_000, "login"],
      ["429 for an hour", LATER, ALWAYS, 60_000, "limit"],
      ["a proxy's page", PAGE, ALWAYS, 60_000, "transport"],
      ["a model nobody has", NO_MODEL, ALWAYS, 60_000, "model"],
      ["529 without end", { status: 529 }, ALWAYS, 1_500, "overload"],
      ["garbage", GARBAGE, ALWAYS, 60_000, "transport"],
      ["two cut connections", "cut", 2, 60_000, "completed"],
      ["429 for a second", SOON, 1, 60_000, "completed"],
    ],
  ],
  [
    "codex",
    [
      ["401", { status: 401 }, ALWAYS, 60_000, "login"],
      ["429 for an hour", LATER, ALWAYS, 2_000, "limit"],
      ["a proxy's page", PAGE, ALWAYS, 60_000, "transport"],
      ["a model nobody has", NO_MODEL, ALWAYS, 60_000, "model"],
      ["500", { status: 500 }, ALWAYS, 2_000, "overload"],
      ["garbage", GARBAGE, ALWAYS, 60_000, "transport"],
      ["two cut connections", "cut", 2, 60_000, "completed"],
      ["nobody there", "nobody", 0, 500, "transport"],
    ],
  ],
  [
    "opencode",
    [
      ["401", { status: 401 }, ALWAYS, 60_000, "login"],
      ["a model it does not know", UNKNOWN, 0, 60_000, "model"],
      ["cut connections without end", "cut", ALWAYS, 1_000, "transport"],
      ["a conversation that is too long once", FULL, 1, 60_000, "completed"],
      ["a conversation that stays too long", FULL, ALWAYS, 60_000, undefined],
      ["garbage", GARBAGE, ALWAYS, 60_000, "transport"],
    ],
  ],
])("%s (needs the real program)", (program, rows) => {
  it.skipIf(pathWith(program) === null).each(rows)(
    "%s",
    async (_, fail, times, patienceMs, kind) => {
      const { end } = await meet(program, fail, times, patienceMs);
      expect(end.outcome === "completed" ? "completed" : end.trouble?.kind, JSON.stringify(end)).toBe(kind);
      if (kind === "completed") expect(end.text).toBe("all done");
    },
    120_000,
  );
});
