// One login, kept by its owner: the real programs renew a rotating token at a token server of ours, reached as they reach
// their vendor's.
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type DriverName, loadDriver, loginOf } from "../../src/drivers/index.js";
import { keepLogin } from "../../src/run/agents/keep-login.js";
import { type ScriptedModel, scriptedModel } from "../hosts/scripted-model/server.js";
import { pathWith } from "./clients.js";
import { type Desk, desk } from "./desk.js";
import { jwt, type TokenServer, tokenServer } from "./token-server.js";

const open: { at?: Desk; model?: ScriptedModel; tokens?: TokenServer } = {};
afterEach(async () => {
  await open.model?.close();
  open.tokens?.close();
  open.at?.remove();
});

const HOUR = 3_600_000;
const auth = { "https://api.openai.com/auth": { chatgpt_account_id: "account-1", chatgpt_plan_type: "plus" } };
const openaiToken = (ms: number) =>
  jwt({ ...auth, exp: Math.floor((Date.now() + ms) / 1_000), email: "a@example.org" });

const KINDS = {
  claude: {
    file: ".claude/.credentials.json",
    login: (ms: number) => ({
      claudeAiOauth: {
        accessToken: "sk-ant-oat01-access-0",
        refreshToken: "refresh-token-0",
        expiresAt: Date.now() + ms,
        scopes: ["user:inference", "user:profile"],
        subscriptionType: "max",
      },
      somethingElse: { stays: true },
    }),
    refresh: (file: never) => (file as ReturnType<(typeof KINDS)["claude"]["login"]>).claudeAiOauth.refreshToken,
    settings: (): Record<string, string> => ({}),
    env: (url: string): Record<string, string> => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_MODEL: "claude-sonnet-4-5" }),
  },
  codex: {
    file: ".codex/auth.json",
    login: (ms: number) => ({
      OPENAI_API_KEY: null,
      auth_mode: "chatgpt",
      tokens: {
        id_token: openaiToken(ms),
        access_token: openaiToken(ms),
        refresh_token: "refresh-token-0",
        account_id: "account-1",
      },
      last_refresh: new Date().toISOString(),
    }),
    refresh: (file: never) => (file as ReturnType<(typeof KINDS)["codex"]["login"]>).tokens.refresh_token,
    settings: (url: string): Record<string, string> => ({
      "person/.codex/config.toml": [
        'model = "scripted"',
        'model_provider = "s"',
        "[model_providers.s]",
        'name = "s"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        "requires_openai_auth = true",
        "supports_websockets = false",
      ].join("\n"),
    }),
    env: (): Record<string, string> => ({}),
  },
} as const;

type Kind = keyof typeof KINDS;

async function place(kind: Kind, endsInMs: number) {
  const at = desk();
  const model = await scriptedModel([{ name: "work", reply: ["all done"] }]);
  const tokens = await tokenServer(at.folder, "refresh-token-0");
  Object.assign(open, { at, model, tokens });
  const { file, login, settings, env } = KINDS[kind];
  at.put({ [`person/${file}`]: JSON.stringify(login(endsInMs)), ...settings(model.url) });
  const person = join(at.folder, "person");
  const all = { PATH: pathWith(kind)!, HOME: person, ...tokens.env, ...env(model.url) };
  const own = () => JSON.parse(readFileSync(join(person, file), "utf8"));
  const driver = await loadDriver(kind);
  const keep = (more: { refused?: boolean; sandbox?: "auto" | "off" } = {}) =>
    keepLogin(
      { driver, env: all, sandbox: more.sandbox ?? "auto", signal: new AbortController().signal },
      { refused: more.refused ?? false },
    );
  return { at, model, tokens, env: all, own, keep, refresh: () => KINDS[kind].refresh(own() as never), person };
}

describe.each<[Kind, "auto" | "off"]>([
  ["claude", "auto"],
  ["codex", "auto"],
  ["codex", "off"],
])("the login of %s, sandbox %s", (kind, sandbox) => {
  it.skipIf(pathWith(kind) === null)(
    "is renewed once for everybody before it ends, and an agent never holds what renews it",
    async () => {
      const { at, tokens, env, own, keep, refresh, person } = await place(kind, 60_000);
      const before = own();
      // Several at once: one renews, the others see what it renewed.
      expect(await Promise.all([keep({ sandbox }), keep({ sandbox }), keep({ sandbox })])).toEqual([true, true, true]);
      expect(tokens.renewals().map(({ token, good }) => `${token} ${good}`)).toEqual(["refresh-token-0 true"]);
      expect(refresh()).toBe("refresh-token-1");
      if (kind === "claude") expect(own()).toMatchObject({ somethingElse: before.somethingElse });
      // Fresh now: nothing is asked again, and the agent gets in with what it is lent.
      expect(await keep({ sandbox })).toBe(false);
      let lent = "";
      const session = await at.start(kind, {
        env,
        sandbox,
        onEvent: () => {
          const path = join(at.home, KINDS[kind].file);
          if (existsSync(path)) lent = readFileSync(path, "utf8");
        },
      });
      expect(await session.ended).toMatchObject({ outcome: "completed", text: "all done" });
      expect(lent).toContain("kept-by-nexus");
      expect(lent).not.toContain("refresh-token");
      expect(existsSync(join(at.home, KINDS[kind].file))).toBe(false);
      // Refused although it seems fresh: renewed with the token that came back.
      if (sandbox === "auto") {
        expect(await keep({ refused: true })).toBe(true);
        expect(refresh()).toBe("refresh-token-2");
        expect(tokens.renewals().every(({ good }) => good)).toBe(true);
      }
      const left = join(person, ".local/state/nutcracker/logins");
      expect(readdirSync(left).flatMap((name) => readdirSync(join(left, name)))).toEqual(["lock"]);
    },
    180_000,
  );
});

describe("what comes back from an errand", () => {
  const ends = Date.now() + 8 * HOUR;
  const good = { accessToken: "sk-ant-oat01-new", refreshToken: "refresh-new", expiresAt: ends };
  const claude = (grant: object, more: object = {}) =>
    JSON.stringify({
      claudeAiOauth: { scopes: ["user:inference"], subscriptionType: "max", ...grant },
      organizationUuid: "org-1",
      ...more,
    });
  const owned = claude({
    accessToken: "sk-ant-oat01-old",
    refreshToken: "refresh-old",
    expiresAt: Date.now() + 60_000,
  });

  function kept(content: string | ((path: string) => void)) {
    const at = desk();
    open.at = at;
    at.put({ "person/.claude/.credentials.json": owned });
    const path = join(at.home, ".claude/.credentials.json");
    mkdirSync(join(at.home, ".claude"));
    if (typeof content === "string") writeFileSync(path, content);
    else content(path);
    const login = loginOf("claude", { HOME: join(at.folder, "person") })!;
    const done = login.bringBack(at.home, login.stamp());
    return { at, done, login, now: readFileSync(join(at.folder, "person/.claude/.credentials.json"), "utf8") };
  }

  it("is the tokens and nothing else", () => {
    const { done, now } = kept(claude({ ...good, scopes: ["everything"], extra: 1 }, { hooks: "evil" }));
    expect(done).toBe(true);
    expect(JSON.parse(now)).toEqual(JSON.parse(claude(good)));
  });

  const elsewhere = (path: string) => writeFileSync(`${path}.other`, claude(good));
  it.each<[string, string | ((path: string) => void)]>([
    ["garbage", "{ not json"],
    ["another account's", claude(good, { organizationUuid: "org-2" })],
    ["another subscription's", claude({ ...good, subscriptionType: "free" })],
    ["a token with a line break in it", claude({ ...good, accessToken: "sk-ant-oat01\n-new" })],
    ["no token", claude({ ...good, refreshToken: "" })],
    ["a number", claude({ ...good, refreshToken: 12345678901 })],
    ["one that is over", claude({ ...good, expiresAt: 1 })],
    ["one that never ends", claude({ ...good, expiresAt: null })],
    ["one for a thousand years", claude({ ...good, expiresAt: Date.now() + 1e13 })],
    ["what stood where the renewing token was", claude({ ...good, refreshToken: "kept-by-nexus" })],
    ["two megabytes", claude(good, { filler: "x".repeat(2e6) })],
    ["a list", "[]"],
    [
      "a link",
      (path) => {
        elsewhere(path);
        symlinkSync(`${path}.other`, path);
      },
    ],
    [
      "a second name of a file",
      (path) => {
        elsewhere(path);
        linkSync(`${path}.other`, path);
      },
    ],
    ["a folder", (path) => mkdirSync(path)],
    ["nothing", () => {}],
    [
      "a link on the way",
      (path) => {
        rmSync(join(path, ".."), { recursive: true });
        mkdirSync(join(path, "../../real"));
        writeFileSync(join(path, "../../real/.credentials.json"), claude(good));
        symlinkSync("real", join(path, ".."));
      },
    ],
  ])("is not %s", (_, content) => {
    const { done, now } = kept(content);
    expect([done, now]).toEqual([false, owned]);
  });

  it("does not replace what the person's own program renewed meanwhile", () => {
    const at = desk();
    open.at = at;
    at.put({ "person/.claude/.credentials.json": owned, "home/.claude/.credentials.json": claude(good) });
    const login = loginOf("claude", { HOME: join(at.folder, "person") })!;
    const lent = login.stamp();
    const theirs = claude({ ...good, refreshToken: "refresh-theirs" });
    at.put({ "person/.claude/.credentials.json": theirs });
    expect(login.bringBack(at.home, lent)).toBe(false);
    expect(readFileSync(join(at.folder, "person/.claude/.credentials.json"), "utf8")).toBe(theirs);
  });

  it("is found by the next one when the errand was killed", async () => {
    const at = desk();
    open.at = at;
    at.put({ "person/.claude/.credentials.json": owned });
    const env = { HOME: join(at.folder, "person"), PATH: process.env.PATH };
    const login = loginOf("claude", env)!;
    const errand = `person/.local/state/nutcracker/logins/${login.id}`;
    at.put({ [`${errand}/home/.claude/.credentials.json`]: claude(good), [`${errand}/lent`]: login.stamp() });
    const driver = { ...(await loadDriver("claude")), start: () => Promise.reject(new Error("nothing is started")) };
    const signal = new AbortController().signal;
    expect(await keepLogin({ driver, env, sandbox: "auto", signal })).toBe(true);
    expect(JSON.parse(readFileSync(login.path, "utf8")).claudeAiOauth).toMatchObject(good);
    expect(readdirSync(join(at.folder, errand))).toEqual(["lock"]);
  });
});

describe("a login that is lent", () => {
  const opencode = {
    openai: {
      type: "oauth",
      access: openaiToken(HOUR),
      refresh: "refresh-a",
      expires: Date.now() + HOUR,
      accountId: "1",
    },
    "github-copilot": { type: "oauth", access: "", refresh: "gho_never_ends", expires: 0 },
    other: { type: "api", key: "sk-key" },
  };
  const google = {
    access_token: "ya29.a",
    refresh_token: "refresh-g",
    expiry_date: Date.now() + 2 * HOUR,
    token_type: "Bearer",
  };

  it.each<[DriverName, string | undefined, string, object, object]>([
    [
      "opencode",
      undefined,
      ".local/share/opencode/auth.json",
      opencode,
      { ...opencode, openai: { ...opencode.openai, refresh: "kept-by-nexus" } },
    ],
    ["acp", "FOO=1 gemini --acp", ".gemini/oauth_creds.json", google, { ...google, refresh_token: "kept-by-nexus" }],
    ["acp", "qwen --acp", ".qwen/oauth_creds.json", google, { ...google, refresh_token: "kept-by-nexus" }],
    ["codex", undefined, ".codex/auth.json", { OPENAI_API_KEY: "sk-key" }, { OPENAI_API_KEY: "sk-key" }],
    ["acp", "copilot --acp", ".copilot/config.json", { token: "gho_x" }, { token: "gho_x" }],
  ])("%s %s: lets in, and cannot be renewed", (name, command, path, file, lent) => {
    const at = desk();
    open.at = at;
    at.put({ [`person/${path}`]: JSON.stringify(file) });
    const login = loginOf(name, { HOME: join(at.folder, "person") }, { command })!;
    login.lend(at.home, "access");
    expect(JSON.parse(readFileSync(join(at.home, path), "utf8"))).toEqual(lent);
    login.takeBack(at.home);
    expect(existsSync(join(at.home, path))).toBe(false);
  });
});
