// What each agent needs when it is spoken to over the Agent Client Protocol. Each row is tried with the real program in the
// version docs/drivers.md names (tests/drivers/acp-agents.test.ts).
import { basename } from "node:path";
import { writeInside } from "../files/index.js";
import { KNOWN_VERSIONS } from "../process/index.js";
import { codexFeatures, prepareCodexHome, sandboxMode } from "./codex.js";
import type { SessionRequest } from "./driver.js";
import type { LoginKey } from "./login-variables.js";
import { loginOf } from "./logins.js";
import {
  forChosenModel,
  keysOfOpencode,
  OPENCODE_AGENT,
  opencodeEnvironment,
  opencodeVariables,
  prepareOpencodeHome,
} from "./opencode-settings.js";
import { programOf } from "./probe.js";

export interface AcpAgent {
  /** The version it was tried with, as it says itself; null for an agent that was not. */
  readonly tried: string | null;
  /** Keys its settings say the address of; and the request as far as they are for the chosen model. */
  readonly keys?: (env: SessionRequest["env"]) => readonly LoginKey[];
  readonly forModel?: (request: SessionRequest) => SessionRequest;
  /** Environment that takes tools away or keeps the program in one process. */
  readonly env?: (request: SessionRequest) => Record<string, string>;
  /** Makes the home one it can start in; gives the variables of the person it needs besides those of its own login. */
  readonly prepare?: (request: SessionRequest) => readonly string[];
  /** Ways to log in that need no person, the first that is offered is taken. */
  readonly logins?: (request: SessionRequest) => readonly string[];
  /** Sent with session/new and again with load and resume. */
  readonly meta?: (request: SessionRequest) => Record<string, unknown>;
  /** Mode that stands for the role. `sandboxed`: bubblewrap surrounds it. */
  readonly mode?: (request: SessionRequest, sandboxed: boolean) => string | null;
  /** How the role's text gets in. prompt: ahead of the task, for agents that know no better way. */
  readonly role: "mode" | "system" | "prompt";
}

const AGENTS: Readonly<Record<string, AcpAgent>> = {
  opencode: {
    tried: KNOWN_VERSIONS.opencode.tried,
    keys: keysOfOpencode,
    forModel: forChosenModel,
    env: opencodeEnvironment,
    prepare: (request) => {
      prepareOpencodeHome(request);
      return opencodeVariables(request);
    },
    mode: () => OPENCODE_AGENT,
    role: "mode",
  },
  "claude-agent-acp": {
    tried: "0.99.1",
    role: "system",
    // It says nothing while it asks again with a login that was refused.
    env: () => ({ CLAUDE_CODE_MAX_RETRIES: "3" }),
    meta: ({ may }) => {
      const tools = ["Read", "Glob", "Grep", ...(may.edit ? ["Edit", "Write"] : []), ...(may.shell ? ["Bash"] : [])];
      return { claudeCode: { options: { tools, settingSources: [], strictMcpConfig: true } } };
    },
  },
  "codex-acp": {
    tried: "2.6.0",
    role: "system",
    prepare: (request) => prepareCodexHome(request, { features: codexFeatures(request.may) }),
    // In its own default mode another model is asked about every call of our tools.
    mode: ({ may }, sandboxed) => CODEX_MODES[sandboxMode(may, sandboxed)] ?? null,
    logins: ({ env }) => ((env.CODEX_API_KEY ?? env.OPENAI_API_KEY) === undefined ? [] : ["api-key"]),
  },
  gemini: {
    tried: KNOWN_VERSIONS.gemini.tried,
    role: "prompt",
    env: () => ({ GEMINI_CLI_NO_RELAUNCH: "true" }),
    prepare: (request) => excluding(".gemini/settings.json", request, []),
    logins: ({ env }) =>
      env.GEMINI_API_KEY !== undefined
        ? ["gemini-api-key"]
        : env.GOOGLE_GENAI_USE_VERTEXAI !== undefined
          ? ["vertex-ai"]
          : isLent("gemini", env, "oauth-personal"),
  },
  qwen: {
    tried: KNOWN_VERSIONS.qwen.tried,
    role: "prompt",
    // With it our tools are not offered: the model has to look for them first.
    prepare: (request) => excluding(".qwen/settings.json", request, ["tool_search"]),
    logins: ({ env }) => (env.OPENAI_API_KEY !== undefined ? ["openai"] : isLent("qwen", env, "qwen-oauth")),
  },
};

const CODEX_MODES: Readonly<Record<string, string>> = {
  "read-only": "read-only",
  "danger-full-access": "agent-full-access",
};

/** Gemini CLI and what was made from it read the same settings. What a role may not do is not offered either. */
function excluding(path: string, { home, may }: SessionRequest, always: readonly string[]): readonly string[] {
  const exclude = [
    ...always,
    ...(may.edit ? [] : ["write_file", "edit", "replace"]),
    ...(may.shell ? [] : ["run_shell_command"]),
  ];
  // In a folder nobody trusted it starts no servers; the sandbox hides what a work tree would have it obey.
  const security = { folderTrust: { enabled: false } };
  // It tells nobody that it tries again: what takes longer is the run's affair.
  const general = { maxAttempts: 3 };
  writeInside(home, path, JSON.stringify({ tools: { exclude }, security, general }));
  return [];
}

/** A login in the browser is a person's; one that was lent is not. */
const isLent = (program: string, env: SessionRequest["env"], id: string): string[] =>
  loginOf("acp", env, { command: program }) === null ? [] : [id];

export function acpAgent(command: string): AcpAgent {
  return AGENTS[basename(programOf(command))] ?? { tried: null, role: "prompt" };
}

/** What is to be said of an agent that is not the one that was tried; null when it is. */
export function untried({ tried }: AcpAgent, command: string, version: string): string | null {
  const name = basename(programOf(command));
  if (tried === null) return `${name} is no agent that was tried over the protocol`;
  if (version === tried) return null;
  return version === ""
    ? `${name} does not say its version; ${tried} was tried`
    : `${name} ${version} was not tried; ${tried} was`;
}
