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
  ...["replit.md", ".nexus", ".pi", ".omp", ".grok", "grok.md", ".vibe", ".kimi", ".forge", "forge.yaml", ".devin"],
  ...[".jules", ".aiassistant", ".plandex", ".plandex-v2", ".deepagents", ".lingma", ".qoder", ".zencoder", ".pochi"],
  ...[".rovodev", ".letta", ".serena", ".rulesync", ".taskmaster", ".conductor", "conductor.json", ".emdash.json"],
  ...[
    ".superset",
    ".void",
    ".codeium",
    ".codegpt",
    ".cortex",
    ".mux",
    ".jetbrains",
    ".mcp",
    "mcp.json",
    ".stackblitzrc",
  ],
  ...[".adal", ".blackboxrules", ".bob", ".bobrules", ".bobmodes", ".bolt", ".cecli", ".codebuff", "codebuff.json"],
  ...[".commandcode", ".eca", ".gptme", "gptme.toml", ".hermes.md", "hermes.md", ".kilo", "kilo.json", "kilo.jsonc"],
  ...[".kode", ".mcpjam", ".neovate", ".qodo", ".sourcegraph", ".tabby", ".vtcode", "vtcode.toml", ".zcode"],
  ...[".codex-plugin", ".cursor-plugin", ".factory-plugin", "gemini-extension.json", "qwen-extension.json"],
];

const EDITORS: readonly string[] = [
  ...[".vscode", ".idea", ".fleet", ".zed", ".devcontainer", ".devcontainer.json", ".theia", ".gitpod.yml"],
  ...[".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el"],
  ...[".vs", ".nova", ".helix", ".nvim", ".vim", ".neoconf.json", ".vimspector.json", ".ycm_extra_conf.py"],
  ...[".luarc.json", ".luarc.jsonc", ".bsp", ".metals"],
];

/** What interpreters, debuggers and consoles run from the folder they are started in. */
const CONSOLES: readonly string[] = [
  ...[".gdbinit", ".lldbinit", ".pdbrc", ".pdbrc.py", ".perldb", ".pryrc", ".irbrc", ".byebugrc", ".rdebugrc"],
  ...[".ghci", ".iex.exs", ".ocamlinit", ".utoprc", ".rprofile", ".renviron", ".octaverc", ".jshellrc"],
];

const SHELLS_AND_PACKAGE_MANAGERS: readonly string[] = [
  ...[".envrc", ".autoenv", ".autoenv.zsh", ".mise", ".mise.toml", "mise.toml", ".rtx.toml", ".devbox"],
  ...[".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", ".npmrc", "bunfig.toml", ".bunfig.toml"],
  ...[".pnp.cjs", ".pnp.loader.mjs", ".corepack.env", ".venv", ".flox", ".shadowenv.d", ".ondirrc", ".sdkmanrc"],
  ...[".prototools", ".bazelrc", ".bazelversion", ".buckconfig", ".rvmrc", ".smartcd", ".smartcd_config", ".bundle"],
  ...[".miserc.toml"],
];

const NAMES: ReadonlySet<string> = new Set([...AGENTS, ...EDITORS, ...CONSOLES, ...SHELLS_AND_PACKAGE_MANAGERS]);

/** Families of names: `.aider.conf.yml`, `.windsurfrules`, `.roorules-code`, `mise.local.toml`, `x.code-workspace`. */
const FAMILIES: readonly RegExp[] = [
  /^\.(?:aider|cecli|windsurf|roorules|kilocoderules|clinerules|cursorrules)/,
  /^\.?mise\..*toml$/,
  /^\.autoenv/,
  /\.(?:code-workspace|sublime-project)$/,
];

/** Folders that hold much that is harmless; only these entries of theirs are obeyed. */
const INSIDE: ReadonlyMap<string, readonly string[]> = new Map([
  [".github", ["instructions", "prompts", "chatmodes", "agents", "skills", "hooks", "copilot"]],
  [".gitlab", ["duo"]],
  [".config", ["mise", "mise.toml", "direnv"]],
  ["mise", ["config.toml", "config.local.toml"]],
  [".mvn", ["jvm.config", "maven.config", "extensions.xml"]],
  [".cargo", ["config", "config.toml"]],
]);

/**
 * A folder that git takes for a repository without being called `.git`: it needs a HEAD, and its settings start programs
 * whenever somebody, or a shell's prompt, asks git anything in there.
 */
const isRepositoryHead = (names: readonly string[]): boolean => names.at(-1) === "head";

/** Whether a program would act on this entry merely because of where it lies, in whichever folder. */
export function isObeyed(path: string): boolean {
  const names = path.split("/").map(folded);
  if (isRepositoryHead(names)) return true;
  return names.some(
    (name, index) =>
      NAMES.has(name) ||
      FAMILIES.some((family) => family.test(name)) ||
      INSIDE.get(names[index - 1] ?? "")?.includes(name) === true,
  );
}

/** Where an entry is set aside; null when it may stay, as what was set aside before may. */
export function asidePath(path: string): string | null {
  return path.startsWith(`${QUARANTINE}/`) || !isObeyed(path) ? null : `${QUARANTINE}/${path}`;
}
