// What of a person's login an agent is lent: what lets it in, and nothing that renews it.
import { chownSync, existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type DriverName, loginOf } from "../../src/drivers/index.js";
import { loginEnvironment } from "../../src/drivers/login-variables.js";
import { temporary } from "../temporary.js";
import { type Desk, desk } from "./desk.js";
import { jwt } from "./token-server.js";

const open: { at?: Desk } = {};
afterEach(() => open.at?.remove());

const HOUR = 3_600_000;
const openaiToken = jwt({ "https://api.openai.com/auth": { chatgpt_account_id: "account-1" }, exp: 4_000_000_000 });

describe("a login that is lent", () => {
  const opencode = {
    openai: {
      type: "oauth",
      access: openaiToken,
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

  it.each([
    ["qwen --acp", { QWEN_HOME: "~/q" }, "q/oauth_creds.json"],
    ["gemini --acp", { GEMINI_CLI_HOME: "/g" }, "/g/.gemini/oauth_creds.json"],
    ["codex-acp", { CODEX_HOME: "" }, ".codex/auth.json"],
    ["qwen --acp", { QWEN_HOME: "" }, ".qwen/oauth_creds.json"],
  ])("%s is where %j says", (command, env, path) => {
    const at = desk();
    open.at = at;
    const person = join(at.folder, "person");
    const place = path.startsWith("/") ? `person${path}` : `person/${path}`;
    at.put({ [place]: "{}" });
    const moved = Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, value.startsWith("/") ? join(person, value) : value]),
    );
    expect(loginOf("acp", { HOME: person, ...moved }, { command })?.path).toBe(join(at.folder, place));
  });

  // Only root can give a file away.
  it.each(["a second name", ...(process.getuid?.() === 0 ? ["another owner"] : [])])(
    "is lent and not renewed from a file with %s",
    (how) => {
      const place = temporary("nut-lend-");
      const [person, home, file] = [
        join(place, "person"),
        join(place, "home"),
        join(place, "person/.claude/.credentials.json"),
      ];
      for (const folder of [join(person, ".claude"), home]) mkdirSync(folder, { recursive: true });
      const grant = { accessToken: "sk-ant-oat01-a", refreshToken: "refresh-a", expiresAt: Date.now() + 2 * HOUR };
      writeFileSync(file, JSON.stringify({ claudeAiOauth: grant }));
      expect(loginOf("claude", { HOME: person })!.isWritable).toBe(true);
      if (how === "a second name") linkSync(file, join(place, "backup"));
      else chownSync(file, 1000, 1000);
      const login = loginOf("claude", { HOME: person })!;
      login.lend(home, "access");
      expect(readFileSync(join(home, ".claude/.credentials.json"), "utf8")).toContain("sk-ant-oat01-a");
      expect(login.isWritable).toBe(false);
    },
  );

  it("is none of a program that has a name every object has", () => {
    for (const command of ["constructor", "toString --acp"]) {
      expect(loginOf("acp", { HOME: "/nowhere" }, { command })).toBeNull();
      expect(loginEnvironment("acp", { PATH: "p" }, { command })).toEqual({});
    }
  });
});
