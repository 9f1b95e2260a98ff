// The agents of the protocol that can be had here, on a scripted model.
import { join } from "node:path";
import type { SessionEnd, TroubleKind } from "../../src/drivers/index.js";
import { type ScriptedModel, scriptedModel, type Trouble } from "../hosts/scripted-model/server.js";
import { pathWith } from "./clients.js";
import { type Desk, desk } from "./desk.js";
import type { Step } from "./sequence.js";

export const LATER: Trouble = { status: 429, headers: { "retry-after": "3600" } };
export const NO_MODEL: Trouble = {
  status: 404,
  body: '{"error":{"type":"not_found_error","code":"model_not_found","message":"The model `m` does not exist"}}',
};

/** A program that speaks the protocol, and how it is brought to a scripted model. */
export interface AcpProgram {
  readonly name: "claude-agent-acp" | "codex-acp" | "gemini" | "qwen";
  readonly command: string;
  readonly write: (path: string, text: string) => Step;
  readonly env: (url: string) => Record<string, string>;
  /** Names of tools that write; a role that may not edit is not offered them. */
  readonly writing: RegExp;
  readonly resumes: boolean;
  /** One trouble it meets quickly, and what comes of it; tests/torture/drivers.torture.ts has the others. */
  readonly trouble: readonly [fail: string | Trouble, kind: TroubleKind];
}

const writeFile = (path: string, content: string) => ({ unoffered: "write_file", args: { file_path: path, content } });

export const ACP_PROGRAMS: readonly AcpProgram[] = [
  {
    name: "claude-agent-acp",
    command: "claude-agent-acp",
    write: (file_path, content) => ({ unoffered: "Write", args: { file_path, content } }),
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none", ANTHROPIC_MODEL: "claude-sonnet-4-5" }),
    writing: /^(Write|Edit|Bash)$/,
    resumes: true,
    trouble: [LATER, "limit"],
  },
  {
    name: "codex-acp",
    command: "codex-acp",
    write: (path, text) => ({ unoffered: "exec_command", args: { cmd: `printf '${text.trim()}\\n' > ${path}` } }),
    env: () => ({ OPENAI_API_KEY: "none" }),
    writing: /exec_command|apply_patch|spawn_agent/,
    resumes: true,
    trouble: [NO_MODEL, "model"],
  },
  {
    name: "gemini",
    command: "gemini --acp",
    write: writeFile,
    env: (url) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url, GEMINI_MODEL: "gemini-2.5-pro" }),
    writing: /^(write_file|replace|run_shell_command)$/,
    resumes: false,
    trouble: ["cut", "transport"],
  },
  {
    name: "qwen",
    command: "qwen --acp",
    write: writeFile,
    env: (url) => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "scripted" }),
    writing: /^(write_file|edit|run_shell_command)$/,
    resumes: true,
    trouble: [{ status: 401 }, "login"],
  },
];

/** A person's settings, where a program takes its model's address from those. */
export function settingsFor(url: string): Record<string, string> {
  const provider = `name = "s"\nbase_url = "${url}/v1"\nwire_api = "responses"\nsupports_websockets = false`;
  const codex = `model = "scripted"\nmodel_provider = "s"\n[model_providers.s]\n${provider}\n`;
  return { "person/.codex/config.toml": codex };
}

/** One session whose every request fails. */
export async function meetTrouble(
  { name, command, env }: AcpProgram,
  fail: string | Trouble,
): Promise<{ readonly at: Desk; readonly model: ScriptedModel; readonly end: SessionEnd }> {
  const at = desk();
  const model = await scriptedModel([{ name: "trouble", when: { tool: /./ }, fail, reply: [] }]);
  at.put(settingsFor(model.url));
  const around = { PATH: pathWith(name)!, HOME: join(at.folder, "person"), ...env(model.url) };
  const end = await at.run("acp", { env: around, command, timeoutMs: 60_000, patienceMs: 20_000 });
  return { at, model, end };
}
