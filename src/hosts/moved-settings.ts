// Settings that lie where a variable says instead of in their usual place, and those of the whole machine. Whoever names a
// folder for a host's settings has them there; an agent must not change them any more than the others.
import { join, resolve } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** The usual place, the variable that names another one, and what is below it there. */
const MOVED: readonly (readonly [usual: string, variable: string, below: string])[] = [
  ["~/.claude/", "CLAUDE_CONFIG_DIR", "/"],
  ["~/.claude.json", "CLAUDE_CONFIG_DIR", "/.claude.json"],
  ["~/.codex/", "CODEX_HOME", "/"],
  ["~/.qwen/", "QWEN_HOME", "/"],
  ["~/.gemini/", "GEMINI_CLI_HOME", "/.gemini/"],
  ["~/.config/opencode/", "OPENCODE_CONFIG_DIR", "/"],
  ["~/.config/opencode/", "XDG_CONFIG_HOME", "/opencode/"],
  ["~/.config/opencode/opencode.json", "OPENCODE_CONFIG", ""],
  ["~/.local/state/nutcracker/", "XDG_STATE_HOME", "/nutcracker/"],
  ["/etc/gemini-cli/settings.json", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", ""],
  ["/etc/qwen-code/settings.json", "QWEN_CODE_SYSTEM_SETTINGS_PATH", ""],
];

/** What a person with leave to do so decides for everyone on the machine. */
export const MACHINE_SETTINGS: readonly string[] = ["claude-code", "codex", "opencode", "qwen-code", "gemini-cli"].map(
  (name) => `/etc/${name}/`,
);

/** Where else a file or folder of settings lies here, as absolute paths. */
export function movedTo(path: string, env: Environment, cwd: string): string[] {
  return MOVED.flatMap(([usual, variable, below]) => {
    const named = env[variable];
    const isBelow = path.startsWith(usual) && (usual.endsWith("/") || path === usual);
    if (!named || !isBelow) return [];
    const folder = resolve(cwd, /^~(?:\/|$)/.test(named) ? join(env.HOME ?? "", named.slice(1)) : named);
    return [`${folder === "/" ? "" : folder}${below}${path.slice(usual.length)}`];
  });
}

/** The same list with the places of this environment added. */
export const withMoved = (settings: readonly string[], env: Environment, cwd: string): readonly string[] => [
  ...new Set([...settings, ...settings.flatMap((path) => movedTo(path, env, cwd))]),
];
