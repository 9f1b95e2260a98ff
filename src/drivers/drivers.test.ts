// What each program is told, and what its words are taken for. No program is started here.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporary } from "../../tests/temporary.js";
import type { ChildEnd, Sandbox } from "../process/index.js";
import { newTranscript, sessionEnd, type Transcript } from "./agent-process.js";
import { claudeArguments, listener } from "./claude.js";
import { codexArguments, codexProfile, takeReport } from "./codex.js";
import type { DriverEvent, SessionRequest } from "./driver.js";
import { hear } from "./opencode.js";
import { opencodeEnvironment, prepareOpencodeHome } from "./opencode-settings.js";
import { programOf } from "./probe.js";
import { untriedWall } from "./untried-wall.js";

const request = (more: Partial<SessionRequest> = {}): SessionRequest => ({
  rolePrompt: "You are the tester.",
  taskPrompt: "Test.",
  cwd: "/work",
  mcpServers: [{ name: "nexus", command: "node", args: ["mcp"], env: { A: "1" } }],
  may: { edit: false, shell: false },
  deniedTools: ["nexus.nx_task_add"],
  env: { HOME: "/nonexistent" },
  home: "/home",
  ...more,
});

const exited: ChildEnd = { reason: "exited", code: 0, signal: null, durationMs: 1, leftBehind: 0 };
const said = (more: Partial<Transcript> = {}): Transcript => ({
  ...newTranscript(),
  text: "done",
  turnEnded: true,
  ...more,
});

describe("the end of a session", () => {
  it.each<[string, Transcript, ChildEnd, string, object]>([
    ["a turn that ended with words", said(), exited, "", { outcome: "completed", text: "done" }],
    ["silence", said({ text: " \n" }), exited, "", { outcome: "failed", error: "it ended without a word" }],
    [
      "half a turn",
      said({ turnEnded: false }),
      exited,
      "",
      { outcome: "failed", error: "it ended in the middle of its turn" },
    ],
    [
      "half a turn and a complaint",
      said({ turnEnded: false }),
      exited,
      "no credit",
      { outcome: "failed", error: "no credit" },
    ],
    [
      "an exit that is no zero",
      said(),
      { ...exited, code: 3 },
      "",
      { outcome: "failed", error: "it ended with exit 3" },
    ],
    [
      "a signal",
      said(),
      { ...exited, code: null, signal: "SIGKILL" },
      "",
      { outcome: "failed", error: "it ended with SIGKILL" },
    ],
    ["an error it told of", said({ error: "refused" }), exited, "", { outcome: "failed", error: "refused" }],
    ["time that was up", said(), { ...exited, reason: "timeout" }, "", { outcome: "timeout" }],
    ["a cancel", said(), { ...exited, reason: "stopped" }, "", { outcome: "cancelled" }],
    ["a cancel after an error", said({ error: "x" }), { ...exited, reason: "stopped" }, "", { outcome: "cancelled" }],
  ])("with %s", (_, transcript, exit, complaint, wanted) => {
    expect(sessionEnd(transcript, exit, complaint)).toMatchObject(wanted);
  });
});

describe("claude", () => {
  const files = { role: "/r.md", servers: "/s.json" };
  const tools = (may: SessionRequest["may"]) => {
    const args = claudeArguments(request({ may }), files);
    return args[args.indexOf("--tools") + 1]!.split(",");
  };

  it("has only the tools its role may use", () => {
    expect(tools({ edit: false, shell: false })).toEqual([
      "Read",
      "Glob",
      "Grep",
      "TodoWrite",
      "WebFetch",
      "WebSearch",
    ]);
    expect(tools({ edit: true, shell: false })).toEqual(expect.arrayContaining(["Edit", "Write"]));
    expect(tools({ edit: true, shell: false })).not.toContain("Bash");
    expect(tools({ edit: false, shell: true })).toContain("Bash");
    expect(tools({ edit: false, shell: true })).not.toContain("Write");
  });

  it("is told nothing of the person's own settings and servers", () => {
    const args = claudeArguments(request(), files).join(" ");
    expect(args).toContain("--mcp-config /s.json --strict-mcp-config --setting-sources  --tools");
    expect(args).toContain("--disallowedTools mcp__nexus__nx_task_add");
    expect(args).not.toContain("You are");
  });

  it("ends in an error when it says so, whatever its subtype", () => {
    const transcript = newTranscript();
    const events: DriverEvent[] = [];
    const read = listener(transcript, (event) => events.push(event));
    read({ type: "result", subtype: "success", is_error: true, result: "credit is used up", total_cost_usd: 2 });
    expect(transcript).toMatchObject({ turnEnded: true, error: "credit is used up", usage: { costUsd: 2 } });
  });

  it("takes less than nothing, and what is no number, for nothing", () => {
    const transcript = newTranscript();
    const usage = { input_tokens: -5, cache_read_input_tokens: "2", output_tokens: 1.5 };
    listener(transcript, () => {})({ type: "result", usage, total_cost_usd: Number.NaN });
    expect(transcript.usage).toMatchObject({ inputTokens: 0, outputTokens: 1.5, cachedTokens: 0, costUsd: 0 });
  });

  it("counts cached tokens as tokens", () => {
    const transcript = newTranscript();
    const usage = { input_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 4, output_tokens: 8 };
    listener(transcript, () => {})({ type: "result", usage });
    expect(transcript.usage).toMatchObject({ inputTokens: 7, outputTokens: 8, cachedTokens: 2, costUsd: 0 });
  });
});

describe("codex", () => {
  const mode = (may: SessionRequest["may"], sandboxed: boolean) => {
    const args = codexArguments(request({ may }), "p", sandboxed);
    return args[args.indexOf("-s") + 1];
  };

  it("is held by its own sandbox wherever ours does not hold it", () => {
    expect(mode({ edit: false, shell: false }, true)).toBe("read-only");
    expect(mode({ edit: false, shell: true }, false)).toBe("read-only");
    expect(mode({ edit: true, shell: true }, false)).toBe("workspace-write");
    // Its own sandbox does not work inside another.
    expect(mode({ edit: false, shell: true }, true)).toBe("danger-full-access");
    expect(mode({ edit: true, shell: true }, true)).toBe("danger-full-access");
  });

  it("asks nobody, has no helpers of its own, and a shell only if its role has one", () => {
    expect(codexProfile(request())).toMatchObject({
      approval_policy: "never",
      developer_instructions: "You are the tester.",
      features: { shell_tool: false, multi_agent: false, plugins: false, hooks: false },
      mcp_servers: { nexus: { required: true, disabled_tools: ["nx_task_add"] } },
    });
    expect(codexProfile(request({ may: { edit: true, shell: true } }))).toMatchObject({
      features: { shell_tool: true },
    });
  });

  it("asks Codex for a report by a file, ahead of the session it continues, and reads it from the last message", () => {
    const args = codexArguments(request({ resume: "s1", reportSchema: {} }), "p", false, "/home/s.json");
    expect(args.slice(-5)).toEqual(["--output-schema", "/home/s.json", "resume", "s1", "-"]);
    expect(codexArguments(request(), "p", false, "/home/s.json")).not.toContain("--output-schema");
    const fields = said({ text: ' {"summary":"s"}\n' });
    takeReport(fields);
    expect(sessionEnd(fields, exited, "")).toMatchObject({ outcome: "completed", text: "", report: { summary: "s" } });
    const words = said({ text: "VERDICT: pass" });
    takeReport(words);
    expect(sessionEnd(words, exited, "")).toMatchObject({ outcome: "completed", text: "VERDICT: pass" });
    expect(words.report).toBeUndefined();
  });

  it("continues a session by its id, with everything else said again", () => {
    const args = codexArguments(request({ resume: "s1", model: "m" }), "p", false);
    expect(args.slice(-5)).toEqual(["-m", "m", "resume", "s1", "-"]);
  });
});

describe("opencode", () => {
  it("may do what the role may, and nothing asks a person", () => {
    const read = (may: SessionRequest["may"]) => JSON.parse(opencodeEnvironment(request({ may })).OPENCODE_PERMISSION!);
    expect(read({ edit: false, shell: false })).toMatchObject({
      edit: "deny",
      bash: "deny",
      task: "deny",
      question: "deny",
      external_directory: "deny",
      nexus_nx_task_add: "deny",
    });
    expect(read({ edit: true, shell: true })).toMatchObject({ edit: "allow", bash: "allow", task: "deny" });
    expect(opencodeEnvironment(request())).toMatchObject({ OPENCODE_DISABLE_PROJECT_CONFIG: "1" });
  });

  it("is told of the models it may ask and of no others, as the person's own runs know them", () => {
    const folder = temporary("nut-opencode-");
    const put = (path: string, value: unknown) => {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), typeof value === "string" ? value : JSON.stringify(value));
    };
    const told = (more: Partial<SessionRequest>) => {
      const home = mkdtempSync(join(folder, "home-"));
      prepareOpencodeHome(request({ home, env: { HOME: folder }, ...more }));
      const path = join(home, ".cache/opencode/models.json");
      return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
    };
    const own = { npm: "@ai-sdk/openai-compatible", models: { m: {} } };
    const settings = { small_model: "openai/mini", provider: { own, openai: { models: { m: {} } } } };
    put(".config/opencode/opencode.json", settings);
    // Nothing was fetched here yet: what the settings describe whole needs no list, anything else the one it brings along.
    expect([told({ model: "own/m" }), told({ model: "own/other" }), told({ model: "openai/m" }), told({})]).toEqual([
      {},
      null,
      null,
      null,
    ]);
    const [anthropic, openai] = [{ models: { opus: {} } }, { models: { mini: {} } }];
    put(".cache/opencode/models.json", { anthropic, openai, google: {} });
    expect(told({ model: "anthropic/opus" })).toEqual({ anthropic, openai });
    expect(told({ model: "own/m" })).toEqual({ openai });
    expect(told({ model: "constructor/m" })).toBe(null);
    // A list that is older than the model, and a choice that is the program's own.
    expect(told({ model: "anthropic/newer" })).toBe(null);
    put(".config/opencode/opencode.json", { provider: { google: { options: {} } } });
    expect(told({ env: { HOME: folder, ANTHROPIC_API_KEY: "x" } })).toBe(null);
    put(".config/opencode/opencode.json", { provider: null });
    expect(told({ model: "google/m" })).toBe(null);
    put(".config/opencode/opencode.json", settings);
    put("else/opencode/models.json", "[half");
    expect(told({ model: "anthropic/opus", env: { HOME: folder, XDG_CACHE_HOME: join(folder, "else") } })).toBe(null);
  });

  it("has ended its turn only when its last step stopped", () => {
    const transcript = newTranscript();
    const step = (reason: string) => ({
      type: "step_finish",
      sessionID: "s1",
      part: { reason, cost: 0.5, tokens: { input: 1, output: 2, reasoning: 4, cache: { read: 8 } } },
    });
    hear(step("tool-calls"), transcript, () => {});
    expect(transcript).toMatchObject({ sessionId: "s1", turnEnded: false });
    hear(step("stop"), transcript, () => {});
    expect(transcript).toMatchObject({
      turnEnded: true,
      usage: { inputTokens: 18, outputTokens: 12, cachedTokens: 16, costUsd: 1 },
    });
  });

  it("tells which files it wrote, and none when it failed", () => {
    const events: DriverEvent[] = [];
    const tool = (status: string) => ({
      type: "tool_use",
      part: { callID: "1", tool: "write", state: { status, input: { filePath: "/a" }, metadata: { exists: false } } },
    });
    hear(tool("error"), newTranscript(), (event) => events.push(event));
    hear(tool("completed"), newTranscript(), (event) => events.push(event));
    expect(events.filter(({ type }) => type === "file")).toEqual([{ type: "file", path: "/a", change: "created" }]);
    expect(events.map((event) => event.type === "tool_call" && event.status)).toEqual(["failed", "finished", false]);
  });
});

describe("commands", () => {
  it("finds the program in a shell line", () => {
    expect(programOf("A=1 B=2 my-agent --acp")).toBe("my-agent");
    expect(programOf(" '/opt/agent' x")).toBe("/opt/agent");
    expect(programOf('FOO="a b" qwen --acp')).toBe("qwen");
    expect(programOf("FOO=a\\ b BAR='c d' qwen")).toBe("qwen");
    expect(programOf('"/my agents/x" acp')).toBe("/my agents/x");
    expect(programOf("/my\\ agents/x acp")).toBe("/my agents/x");
  });
});

describe("the wall that nobody has tried", () => {
  const policy = (): Sandbox => ({ root: "system", network: "host", env: { PATH: "" } });
  const wall = (asked: string | undefined, platform: string) => {
    const said: string[] = [];
    const onEvent = (event: DriverEvent) => void said.push(event.type === "warning" ? event.message : event.type);
    return { words: untriedWall({ env: { NEXUS_SANDBOX: asked }, onEvent }, policy, platform), said };
  };

  it("stands only where it is asked for, and never without a word", () => {
    expect(wall(undefined, "darwin")).toEqual({ words: [], said: [] });
    expect(wall("sandbox-exec", "linux")).toEqual({
      words: [],
      said: ["NEXUS_SANDBOX=sandbox-exec is for macOS: nothing surrounds this agent"],
    });
    expect(wall("sandbox-exec", "darwin")).toEqual({
      words: ["/usr/bin/sandbox-exec", "-p", expect.stringContaining("(deny default)")],
      said: [expect.stringContaining("nobody has tried")],
    });
  });
});
