// Whichever agents of the protocol can be had here, each once: a role that edits and has our tools, then one that may not
// edit, in the same session where the agent can continue one. The table in docs/drivers.md says what comes of it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { McpServer } from "../../src/drivers/index.js";
import { type ScriptedModel, scriptedModel } from "../hosts/scripted-model/server.js";
import { pathWith } from "./clients.js";
import { type Desk, desk } from "./desk.js";
import { type Step, sequence } from "./sequence.js";

let at: Desk;
let model: ScriptedModel;
afterEach(async () => {
  at.remove();
  await model.close();
});

interface Agent {
  readonly name: "claude-agent-acp" | "codex-acp" | "gemini" | "qwen";
  readonly command: string;
  readonly write: (path: string, text: string) => Step;
  readonly env: (url: string) => Record<string, string>;
  /** Names of tools that write; a role that may not edit is not offered them. */
  readonly writing: RegExp;
  readonly resumes: boolean;
}

const writeFile = (path: string, content: string) => ({ unoffered: "write_file", args: { file_path: path, content } });

const AGENTS: readonly Agent[] = [
  {
    name: "claude-agent-acp",
    command: "claude-agent-acp",
    write: (file_path, content) => ({ unoffered: "Write", args: { file_path, content } }),
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none", ANTHROPIC_MODEL: "claude-sonnet-4-5" }),
    writing: /^(Write|Edit|Bash)$/,
    resumes: true,
  },
  {
    name: "codex-acp",
    command: "codex-acp",
    write: (path, text) => ({ unoffered: "exec_command", args: { cmd: `printf '${text.trim()}\\n' > ${path}` } }),
    env: () => ({ OPENAI_API_KEY: "none" }),
    writing: /exec_command|apply_patch|spawn_agent/,
    resumes: true,
  },
  {
    name: "gemini",
    command: "gemini --acp",
    write: writeFile,
    env: (url) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url, GEMINI_MODEL: "gemini-2.5-pro" }),
    writing: /^(write_file|replace|run_shell_command)$/,
    resumes: false,
  },
  {
    name: "qwen",
    command: "qwen --acp",
    write: writeFile,
    env: (url) => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "scripted" }),
    writing: /^(write_file|edit|run_shell_command)$/,
    resumes: true,
  },
];

const echo = (): McpServer => ({
  name: "echo",
  command: process.execPath,
  args: [fileURLToPath(new URL("echo-server.mjs", import.meta.url))],
  env: { ECHO_FILE: join(at.home, "echo.txt") },
});
const offered = () => model.requests.findLast(({ tools }) => tools.length > 0)!.tools.map(({ name }) => name);

async function open({ name, command, write, env }: Agent) {
  at = desk();
  const made = join(at.cwd, "made.txt");
  const steps = [{ tool: /echo$/, args: { text: "hi" } }, write(made, "made\n"), "all done"];
  model = await scriptedModel(sequence(...steps, write(made, "changed\n"), "could not"));
  const provider = `name = "s"\nbase_url = "${model.url}/v1"\nwire_api = "responses"\nsupports_websockets = false`;
  const codex = `model = "scripted"\nmodel_provider = "s"\n[model_providers.s]\n${provider}\n`;
  at.put({ "person/.codex/config.toml": codex });
  const around = { PATH: pathWith(name)!, HOME: join(at.folder, "person"), ...env(model.url) };
  const hasTools = () => existsSync(join(at.home, "echo.txt.asked"));
  return { env: around, command, mcpServers: [echo()], hasTools, timeoutMs: 100_000 };
}

for (const agent of AGENTS) {
  const { name, writing, resumes } = agent;
  describe.skipIf(pathWith(name) === null)(`${name} over the protocol (needs the real program)`, () => {
    it("logs in, has our tools, works in its role, and is held to the next one", async () => {
      const request = await open(agent);
      const end = await at.run("acp", request);
      expect(end).toMatchObject({ outcome: "completed", text: "all done" });
      const said = model.requests.map(({ any }) => any).join();
      for (const words of ["You are the engineer.", "Do the task."]) expect(said).toContain(words);
      expect(readFileSync(join(at.home, "echo.txt"), "utf8")).toBe("echo hi\n");
      expect(readFileSync(join(at.cwd, "made.txt"), "utf8")).toBe("made\n");
      expect(at.of("warning")).toEqual([]);

      const role = { rolePrompt: "You are the reviewer.", taskPrompt: "Look again." };
      const held = { ...request, ...role, may: { edit: false, shell: false }, resume: end.sessionId! };
      const again = await at.run("acp", held);
      const isUntouched = () =>
        expect([readdirSync(at.cwd), readFileSync(join(at.cwd, "made.txt"), "utf8")]).toEqual([["made.txt"], "made\n"]);
      if (!resumes) {
        // It finds a session again now and then, as its own timing has it; where not, the run begins a new one.
        if (again.outcome !== "completed")
          expect(again).toMatchObject({ outcome: "failed", trouble: { kind: "session" } });
        isUntouched();
        return;
      }
      expect(again).toMatchObject({ outcome: "completed", sessionId: end.sessionId });
      expect(again.text).toContain("could not");
      const last = model.requests.at(-1)!.any;
      // Its own last words a program may not have kept yet when it was ended.
      for (const words of ["You are the reviewer.", "Do the task.", "Look again."]) expect(last).toContain(words);
      expect(offered().filter((tool) => writing.test(tool))).toEqual([]);
      isUntouched();
    }, 240_000);
  });
}
