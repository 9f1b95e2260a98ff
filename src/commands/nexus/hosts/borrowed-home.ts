// A folder Codex may write into while it is asked something: it fills whichever it is started in. What decides which hooks it
// trusts is as in the person's own.
import { existsSync, mkdtempSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { InstallInput } from "../../../hosts/index.js";
import { readText } from "./setup-plan.js";

/** What Codex writes, by name. Without the login it renews none, which would end the person's. */
const WRITTEN = /^(?:\..*|.*\.sqlite.*|auth\.json|history\.jsonl|sessions|skills|plugins|log|tmp|cache|config\.toml)$/;

/** The path of a new folder; who asked for it clears it away. */
export function borrowedHome({ home, env }: Pick<InstallInput, "home" | "env">): string {
  // As Codex spells it in the keys of what is trusted: a link is followed only where a variable names it.
  const own = env.CODEX_HOME ? realpathSync(env.CODEX_HOME) : join(home, ".codex");
  const config = readText(join(own, "config.toml")) ?? "";
  // Settings name files beside them, and Codex takes none of the settings when one of those is missing.
  const isNeeded = (name: string) => name === "hooks.json" || name.endsWith(".toml") || config.includes(name);
  const names = existsSync(own) ? readdirSync(own).filter((name) => !WRITTEN.test(name) && isNeeded(name)) : [];
  const borrowed = realpathSync(mkdtempSync(join(tmpdir(), "nexus-doctor-")));
  writeFileSync(join(borrowed, "config.toml"), moved(config, own, borrowed), { mode: 0o600 });
  for (const name of names) symlinkSync(join(own, name), join(borrowed, name));
  return borrowed;
}

/** Trust is kept by the path of the file a hook is in; other paths may begin at the folder. */
const moved = (config: string, from: string, to: string): string =>
  config
    .replaceAll(`${from}/hooks.json:`, `${to}/hooks.json:`)
    .replaceAll(/(["'])\.\.\//g, (_, quote: string) => `${quote}${dirname(from)}/`);
