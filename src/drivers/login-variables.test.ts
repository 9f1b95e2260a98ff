import { describe, expect, it } from "vitest";
import type { DriverName } from "./driver.js";
import { loginCommand, loginEnvironment, providerVariables } from "./login-variables.js";

/** Somebody who works with everyone at once. */
const EVERYTHING = Object.fromEntries(
  [
    ..."ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY OPENROUTER_API_KEY STRIPE_API_KEY".split(" "),
    ..."AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS AZURE_API_KEY GH_TOKEN".split(" "),
    ..."CLAUDE_CODE_OAUTH_TOKEN CODEX_API_KEY OPENCODE_API_KEY DATABASE_URL NPM_TOKEN HTTPS_PROXY".split(" "),
    ..."OPENAI_BASE_URL STRIPE_BASE_URL NODE_OPTIONS LD_PRELOAD SSH_AUTH_SOCK XDG_RUNTIME_DIR".split(" "),
  ].map((name) => [name, "x"]),
);

describe("what of a person's environment an agent program gets", () => {
  it.each<[DriverName, string | undefined, string[]]>([
    ["claude", undefined, ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"]],
    ["codex", undefined, ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"]],
    ["opencode", undefined, ["OPENCODE_API_KEY"]],
    ["acp", "gemini --acp", ["GEMINI_API_KEY"]],
    ["acp", "A=1 /opt/x/claude-agent-acp", ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"]],
    ["acp", "copilot --acp", ["GH_TOKEN"]],
    ["acp", "somebody-elses-agent", []],
  ])("%s %s: its own login and the way to the network", (name, command, expected) => {
    const passed = Object.keys(loginEnvironment(name, EVERYTHING, { command }));
    expect(passed.sort()).toEqual([...expected, "HTTPS_PROXY"].sort());
  });

  it("the command driver: nothing at all", () => {
    expect(loginEnvironment("command", EVERYTHING)).toEqual({});
  });

  it("a cloud's keys only where the person chose that cloud", () => {
    const claude = (more: object) => Object.keys(loginEnvironment("claude", { ...EVERYTHING, ...more }));
    expect(claude({ CLAUDE_CODE_USE_BEDROCK: "1" })).toEqual(
      expect.arrayContaining(["CLAUDE_CODE_USE_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]),
    );
    expect(claude({ CLAUDE_CODE_USE_BEDROCK: "1" })).not.toContain("GOOGLE_APPLICATION_CREDENTIALS");
    expect(claude({ CLAUDE_CODE_USE_VERTEX: "1" })).toContain("GOOGLE_APPLICATION_CREDENTIALS");
    expect(claude({ CLAUDE_CODE_USE_VERTEX: "1" })).not.toContain("AWS_ACCESS_KEY_ID");
  });

  it("OpenCode: the variables of the model's provider", () => {
    expect(providerVariables("anthropic/claude", EVERYTHING)).toContain("ANTHROPIC_API_KEY");
    expect(providerVariables("anthropic/claude", EVERYTHING)).not.toContain("OPENAI_API_KEY");
    expect(providerVariables("some-vendor/m", {})).toEqual(["SOME_VENDOR_API_KEY"]);
    expect(providerVariables(undefined, { OPENAI_API_KEY: "x", GEMINI_API_KEY: "x" })).toEqual(
      expect.arrayContaining(["OPENAI_API_KEY"]),
    );
    expect(providerVariables(undefined, { OPENAI_API_KEY: "x", GEMINI_API_KEY: "x" })).not.toContain("GEMINI_API_KEY");
  });
});

describe("what gets a person in again", () => {
  it("names what the program listens to", () => {
    expect(loginCommand("codex", { OPENAI_API_KEY: "x" })).toBe("codex login");
    expect(loginCommand("codex", { CODEX_API_KEY: "x" })).toBe("export CODEX_API_KEY='<a key that works>'");
    expect(loginCommand("acp", { OPENAI_API_KEY: "x" }, "codex-acp")).toContain("export OPENAI_API_KEY=");
    expect(loginCommand("codex", {}, "", "MISTRAL_API_KEY")).toContain("export MISTRAL_API_KEY=");
    expect(loginCommand("claude", { ANTHROPIC_API_KEY: "" })).toBe("claude auth login");
  });
});
