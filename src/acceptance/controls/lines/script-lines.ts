// The lines of shell that a call of npm runs: a script of package.json, with those before and behind it.
import { posix } from "node:path";
import type { TreeView } from "../../runners/runner.js";
import type { Line } from "./led-lines.js";

/** Settings by which npm runs a script otherwise, or runs others. */
const STEERS =
  /^\s*(?:script-shell|ignore-scripts|if-present|workspaces?|include-workspace-root|prefix|foreground-scripts|node-options)\b/m;

/** `words` is the call without its first word. */
export function scriptLines(words: readonly string[], from: string, view: TreeView): Line[] | null {
  const call = readCall(words);
  if (call === null) return null;
  const folder = posix.join(from, call.folder);
  const path = posix.join(folder, "package.json");
  const settings = view.isGuarded?.(path) === true ? parsed(view.read(path)) : null;
  if (settings === null || STEERS.test(view.read(posix.join(folder, ".npmrc")) ?? "")) return null;
  const { scripts } = settings;
  if (scripts === null || typeof scripts !== "object" || typeof scripts[call.name] !== "string") return null;
  return [`pre${call.name}`, call.name, `post${call.name}`].flatMap((name): Line[] => {
    const text = scripts[name];
    if (typeof text !== "string" || text.trim() === "") return [];
    const write = (altered: string) =>
      `${JSON.stringify({ ...settings, scripts: { ...scripts, [name]: altered } }, null, 2)}\n`;
    const alter = (altered: string) => ({ files: new Map([[path, write(altered)]]) });
    return [{ text, folder, mayFail: false, where: `script "${name}" of ${path}`, alter }];
  });
}

function readCall(words: readonly string[]): { readonly folder: string; readonly name: string } | null {
  let folder = "";
  const rest: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const [, flag, attached] = /^(--prefix|-C)(?:=(.+))?$/.exec(word) ?? [];
    if (flag !== undefined) {
      if (attached === undefined) at += 1;
      const value = attached ?? words[at];
      if (value === undefined) return null;
      folder = value;
    } else if (!/^(?:-s|--silent|-q|--quiet)$/.test(word)) rest.push(word);
  }
  const [verb, name, ...more] = rest;
  if (/^(?:test|t|tst)$/.test(verb ?? "")) return name === undefined ? { folder, name: "test" } : null;
  if (!/^(?:run|run-script)$/.test(verb ?? "") || name === undefined || more.length > 0) return null;
  return /^[\w:.-]+$/.test(name) && !name.startsWith("-") ? { folder, name } : null;
}

interface Settings {
  readonly scripts?: Readonly<Record<string, unknown>> | null;
}

function parsed(
  text: string | null,
): (Settings & { readonly scripts: Readonly<Record<string, unknown>> | null }) | null {
  try {
    const settings: unknown = JSON.parse(text ?? "null");
    if (typeof settings !== "object" || settings === null || Array.isArray(settings)) return null;
    const { scripts = null } = settings as Settings;
    return { ...settings, scripts };
  } catch {
    return null;
  }
}
