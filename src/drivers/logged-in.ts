// Whether somebody is logged in to an agent program, told by its variables and files. Nothing is started and nothing read.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../process/index.js";
import { providerVariables } from "./login-variables.js";

/** Programs with a login of their own. */
export const LOGIN_DRIVERS = ["claude", "codex", "opencode"] as const;

interface LoginPlace {
  readonly variables: (env: Environment) => readonly string[];
  readonly files: (env: Environment, home: string) => readonly string[];
}

const PLACES: Readonly<Record<(typeof LOGIN_DRIVERS)[number], LoginPlace>> = {
  claude: {
    variables: () => [
      ..."ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN".split(" "),
      ..."CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY".split(" "),
    ],
    files: (env, home) => [join(env.CLAUDE_CONFIG_DIR ?? join(home, ".claude"), ".credentials.json")],
  },
  codex: {
    variables: () => ["CODEX_API_KEY", "CODEX_ACCESS_TOKEN"],
    files: (env, home) => [join(env.CODEX_HOME || join(home, ".codex"), "auth.json")],
  },
  opencode: {
    variables: (env) => providerVariables(undefined, env),
    files: (env, home) => [join(env.XDG_DATA_HOME ?? join(home, ".local/share"), "opencode/auth.json")],
  },
};

export function isLoggedIn(name: (typeof LOGIN_DRIVERS)[number], env: Environment): boolean {
  const { variables, files } = PLACES[name];
  if (variables(env).some((key) => (env[key] ?? "") !== "")) return true;
  return env.HOME !== undefined && files(env, env.HOME).some((path) => existsSync(path));
}
