// One login, kept by its owner: the real programs renew a rotating token at a token server of ours, reached as they reach
// their vendor's.
import { execFile, spawn } from "node:child_process";
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
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { type DriverName, loadDriver, loginOf } from "../../src/drivers/index.js";
import { bwrapAvailable } from "../../src/process/index.js";
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
const held = await bwrapAvailable(process.env);
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
    const lent = login.stamp();
    const done = login.bringBack(at.home, lent);
    return { at, done, lent, login, now: readFileSync(join(at.folder, "person/.claude/.credentials.json"), "utf8") };
  }

  it("is the tokens and nothing else", () => {
    const { at, done, now } = kept(claude({ ...good, scopes: ["everything"], extra: 1 }, { hooks: "evil" }));
    expect(done).toBe(true);
    expect(JSON.parse(now)).toEqual(JSON.parse(claude(good)));
    at.remove();
    // A vendor may renew what lets in and leave what renews it: that is another login than before, too.
    const same = kept(claude({ ...good, refreshToken: "refresh-old" }));
    expect([same.done, same.login.stamp() === same.lent]).toEqual([true, false]);
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

describe("an errand that ends at a bad moment", () => {
  const login = (n: number, ms: number) =>
    JSON.stringify({
      claudeAiOauth: {
        accessToken: `sk-ant-oat01-access-${n}`,
        refreshToken: `refresh-token-${n}`,
        expiresAt: Date.now() + ms,
        subscriptionType: "max",
      },
    });

  /** A person whose login is nearly over, and a program that says it is Claude Code. */
  function due(script = "exit 1") {
    const at = desk();
    open.at = at;
    at.put({ "person/.claude/.credentials.json": login(0, 60_000) });
    at.install("claude", `#!/bin/sh\n[ "$1" = --version ] && exec echo "2.1.325 (Claude Code)"\n${script}\n`);
    const env = { HOME: join(at.folder, "person"), PATH: `${join(at.folder, "bin")}:${process.env.PATH}` };
    const own = loginOf("claude", env)!;
    const errand = join(env.HOME, ".local/state/nutcracker/logins", own.id);
    const keep = async (sandbox: "auto" | "off" = "off", signal = new AbortController().signal) =>
      keepLogin({ driver: await loadDriver("claude"), env, sandbox, signal });
    const renewed = () => JSON.parse(readFileSync(own.path, "utf8")).claudeAiOauth.refreshToken;
    return { at, own, errand, keep, renewed, left: () => readdirSync(errand) };
  }
  const writes = () => `echo '${login(1, 8 * HOUR)}' >"$CLAUDE_CONFIG_DIR/.credentials.json"`;

  it.each<["auto" | "off", string]>([
    ["auto", "kill -9 $$"],
    ["off", "kill -9 $$"],
    ["off", "exit 0"],
  ])("sandbox %s: what a program wrote last comes back although it then ends by %s", async (sandbox, end) => {
    const { keep, renewed, left } = due(`${writes()}; ${end}`);
    expect(await keep(sandbox)).toBe(true);
    expect([renewed(), left()]).toEqual(["refresh-token-1", ["lock"]]);
  });

  it("is not broken off by an interruption while the vendor's answer is on its way", async () => {
    const { keep, renewed, left, at } = due(`touch "$HOME/asked"; sleep 0.3; ${writes()}; sleep 60`);
    const stop = new AbortController();
    const kept = keep("off", stop.signal);
    const home = join(at.folder, "person/.local/state/nutcracker/logins");
    const asked = () => existsSync(home) && readdirSync(home).some((id) => existsSync(join(home, id, "home/asked")));
    await expect.poll(asked, { interval: 10, timeout: 20_000 }).toBe(true);
    stop.abort();
    expect(await kept).toBe(true);
    expect([renewed(), left()]).toEqual(["refresh-token-1", ["lock"]]);
  });

  it.skipIf(!held)("is not ended with us in a sandbox, as an agent is (needs bwrap)", async () => {
    const { at } = due("sleep 60");
    const flags = await Promise.all(
      (["whole", "access"] as const).map(async (login) => {
        const session = await at.start("claude", { login, sandbox: "auto" });
        // The shell in front of it becomes bubblewrap.
        const words = () => readFileSync(`/proc/${session.pid}/cmdline`, "latin1").split("\0");
        await expect.poll(() => words()[0], { interval: 5 }).toMatch(/bwrap$/);
        const has = words().includes("--die-with-parent");
        const ends = words().some((word) => word.endsWith("/timeout"));
        await session.cancel();
        return [has, ends];
      }),
    );
    // Something else ends it when nobody comes.
    expect(flags).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  it.skipIf(!held)("is not gone on where nothing could be brought back, as in a container (needs bwrap)", async () => {
    const rows = (
      [
        ["--ro-bind", "file"],
        ["--ro-bind", "folder"],
        ["--ro-bind", "state"],
        // One that is mounted by itself cannot be replaced: it is written over.
        ["--bind", "file"],
      ] as const
    ).map(([mount, what]) => {
      const { at, own, errand, renewed } = due(`touch "$HOME/../asked"; ${writes()}`);
      mkdirSync(errand, { recursive: true });
      const place = { file: own.path, folder: dirname(own.path), state: dirname(errand) }[what];
      const found = () => [renewed(), existsSync(join(errand, "asked"))];
      return { at, mount: [mount, place, place], home: join(at.folder, "person"), found };
    });
    const mounts = ["--dev-bind", "/", "/", ...rows.flatMap(({ mount }) => mount)];
    const script = fileURLToPath(new URL("keep-once.ts", import.meta.url));
    const args = [...mounts, process.execPath, "--import", "tsx", script, ...rows.map(({ home }) => home)];
    const env = { PATH: `${join(rows[0]!.at.folder, "bin")}:${process.env.PATH}` };
    const { stdout } = await promisify(execFile)("bwrap", args, { env });
    const found = rows.map((row) => row.found());
    for (const { at } of rows) at.remove();
    expect(stdout.trim().split("\n")).toEqual(["false", "false", "false", "true"]);
    const left = ["refresh-token-0", false];
    expect(found).toEqual([left, left, left, ["refresh-token-1", true]]);
  });

  it("goes on where it was killed while it cleaned up", async () => {
    const { at, errand, keep, renewed, left, own } = due(writes());
    mkdirSync(join(errand, "work"), { recursive: true });
    writeFileSync(join(errand, "lent"), "half");
    writeFileSync(join(own.path, "../..credentials.json.nut-tmp-999999999-1"), "a token");
    expect(await keep()).toBe(true);
    expect([renewed(), left()]).toEqual(["refresh-token-1", ["lock"]]);
    expect(readdirSync(join(at.folder, "person/.claude"))).toEqual([".credentials.json"]);
  });

  it("is waited for by the next one while its program still holds the only token that works", async () => {
    const { errand, keep, renewed, left, own } = due("echo spent twice >&2; exit 1");
    const home = join(errand, "home");
    mkdirSync(join(home, ".claude"), { recursive: true });
    writeFileSync(join(errand, "lent"), own.stamp());
    const program = spawn("/bin/sh", ["-c", `sleep 0.3; CLAUDE_CONFIG_DIR=$HOME/.claude; ${writes()}; sleep 60`], {
      env: { HOME: home, PATH: process.env.PATH },
      detached: true,
      stdio: "ignore",
    });
    const gone = new Promise((resolve) => program.once("exit", (_, signal) => resolve(signal)));
    expect(await keep()).toBe(true);
    expect([renewed(), left(), await gone]).toEqual(["refresh-token-1", ["lock"], "SIGKILL"]);
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
