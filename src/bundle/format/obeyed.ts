// What programs act on merely because it lies in a folder: agents read their instructions, editors run their tasks, shells
// and package managers their settings, and most of them look in every folder, not only at the root. One table, for unpack,
// inspect, deliveries and runs. Names are written as `folded` gives them: lower case.
import { folded } from "./safe-path.js";

const QUARANTINE = "quarantine";

const AGENTS: readonly string[] = [
  ...[".agent", ".agents", ".agent.md", "agent.md", "agents.md", "agents.override.md"],
  ...[".claude", ".claude.json", "claude.md", "claude.local.md", ".claude-plugin"],
  ...[".mcp.json", ".rules"],
  ...[".codex", ".opencode", ".opencode.json", "opencode.json", "opencode.jsonc"],
  ...[".gemini", "gemini.md", ".antigravity", ".idx", ".qwen", "qwen.md", ".iflow", "iflow.md"],
  ...[".cursor", ".cursorrules", ".clinerules", ".cline", ".roo", ".roomodes", ".kilocode", ".kilocodemodes"],
  ...[".kiro", ".amazonq", ".junie", ".trae", ".augment", ".augment-guidelines", ".continue", ".continuerules"],
  ...[".goose", ".goosehints", ".crush", ".crush.json", "crush.json", "crush.md", "crush.local.md"],
  ...[
    ".factory",
    ".openhands",
    ".openhands_instructions",
    ".amp",
    ".warp",
    "warp.md",
    ".firebender",
    "firebender.json",
  ],
  ...[".codebuddy", "codebuddy.md", ".tabnine", ".cody", ".copilot", "copilot-instructions.md", ".ruler", ".replit"],
  ...["replit.md", ".nexus"],
];

const EDITORS: readonly string[] = [
  ...[".vscode", ".idea", ".fleet", ".zed", ".devcontainer", ".devcontainer.json", ".theia", ".gitpod.yml"],
  ...[".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el"],
  ...[".gdbinit", ".lldbinit"],
];

const SHELLS_AND_PACKAGE_MANAGERS: readonly string[] = [
  ...[".envrc", ".autoenv", ".autoenv.zsh", ".mise", ".mise.toml", "mise.toml", ".rtx.toml", ".devbox"],
  ...[".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", ".npmrc", "bunfig.toml"],
];

const NAMES: ReadonlySet<string> = new Set([...AGENTS, ...EDITORS, ...SHELLS_AND_PACKAGE_MANAGERS]);

/** Families of names: `.aider.conf.yml`, `.windsurfrules`, `.roorules-code`, `mise.local.toml`, `x.code-workspace`. */
const FAMILIES: readonly RegExp[] = [
  /^\.(?:aider|windsurf|roorules|kilocoderules|clinerules|cursorrules)/,
  /^\.?mise\..*toml$/,
  /\.(?:code-workspace|sublime-project)$/,
];

/** Folders that hold much that is harmless; only these entries of theirs are obeyed. */
const INSIDE: Readonly<Record<string, ReadonlySet<string>>> = {
  ".github": new Set(["instructions", "prompts", "chatmodes", "agents", "skills", "hooks", "copilot"]),
  ".config": new Set(["mise", "mise.toml", "direnv"]),
  mise: new Set(["config.toml", "config.local.toml"]),
};

/** Whether a program would act on this entry merely because of where it lies, in whichever folder. */
export function isObeyed(path: string): boolean {
  const names = path.split("/").map(folded);
  return names.some(
    (name, index) =>
      NAMES.has(name) ||
      FAMILIES.some((family) => family.test(name)) ||
      INSIDE[names[index - 1] ?? ""]?.has(name) === true,
  );
}

/** Where an entry is set aside; null when it may stay, as what was set aside before may. */
export function asidePath(path: string): string | null {
  return path.startsWith(`${QUARANTINE}/`) || !isObeyed(path) ? null : `${QUARANTINE}/${path}`;
}
