// What each agent needs when it is spoken to over the Agent Client Protocol. Only opencode's row is tried in the tests
// here; the others say what was seen with the versions named in docs/drivers.md.
import { basename } from "node:path";
import type { SessionRequest } from "./driver.js";
import { OPENCODE_AGENT, opencodeEnvironment, opencodeVariables, prepareOpencodeHome } from "./opencode-settings.js";
import { programOf } from "./probe.js";

export interface AcpAgent {
  /** Environment that takes tools away or keeps the program in one process. */
  readonly env?: (request: SessionRequest) => Record<string, string>;
  /** Makes the home one it can start in. */
  readonly prepare?: (request: SessionRequest) => void;
  /** Variables of the person it needs besides those of its own login. */
  readonly variables?: (request: SessionRequest) => readonly string[];
  /** Sent with session/new and again with load and resume. */
  readonly meta?: (request: SessionRequest) => Record<string, unknown>;
  /** Mode that stands for the role. */
  readonly mode?: (request: SessionRequest) => string | null;
  /** How the role's text gets in. prompt: ahead of the task, for agents that know no better way. */
  readonly role: "mode" | "system" | "prompt";
}

const AGENTS: Readonly<Record<string, AcpAgent>> = {
  opencode: {
    env: opencodeEnvironment,
    prepare: prepareOpencodeHome,
    variables: opencodeVariables,
    mode: () => OPENCODE_AGENT,
    role: "mode",
  },
  "claude-agent-acp": {
    role: "system",
    meta: ({ may }) => {
      const tools = ["Read", "Glob", "Grep", ...(may.edit ? ["Edit", "Write"] : []), ...(may.shell ? ["Bash"] : [])];
      return { claudeCode: { options: { tools, settingSources: [], strictMcpConfig: true } } };
    },
  },
  "codex-acp": { role: "system", mode: ({ may }) => (may.edit ? null : "read-only") },
  gemini: { role: "prompt", env: () => ({ GEMINI_CLI_NO_RELAUNCH: "true" }) },
};

export function acpAgent(command: string): AcpAgent {
  return AGENTS[basename(programOf(command))] ?? { role: "prompt" };
}
