// Which places in a project are what, by their names alone.
import type { TextChange } from "../schema/events.js";
import type { GateFacts } from "./facts.js";

const MARKED_FILES: readonly string[] = ["AGENTS.md", "CLAUDE.md", "QWEN.md", "GEMINI.md"];
export const MARK_START = "<!-- nexus:start -->";
export const MARK_END = "<!-- nexus:end -->";

/** Relative to the project, `/`-separated; null when outside it. */
export function insideProject(absolute: string, root: string): string | null {
  if (IS_WINDOWS.test(root)) return insideFolder(slashed(absolute), slashed(root), (path) => path.toLowerCase());
  return insideFolder(absolute, root, (path) => path);
}

function insideFolder(path: string, folder: string, folded: (path: string) => string): string | null {
  const base = folder.endsWith("/") ? folder : `${folder}/`;
  if (folded(path) === folded(folder)) return "";
  return folded(path).startsWith(folded(base)) ? path.slice(base.length) : null;
}

/** A drive, or another machine's folder: such paths have two separators, and names without case. */
const IS_WINDOWS = /^(?:[A-Za-z]:[\\/]|\\\\)/;
const slashed = (path: string): string => path.replaceAll("\\", "/");

/** Inside the project or one of its linked work trees; those that Claude Code makes lie among its settings. */
export function insideTrees(absolute: string, { root, linked }: Pick<GateFacts, "root" | "linked">): string | null {
  const inside = [root, ...linked].map((tree) => insideProject(absolute, tree)).find((relative) => relative !== null);
  return inside?.replace(/^\.claude\/worktrees\/[^/]+(?:\/|$)/, "") ?? null;
}

/** Case is ignored: some disks do, and nothing else rightly has such a name. */
export function isProtected(path: string, facts: GateFacts): boolean {
  return facts.places(path).some((place) => {
    const relative = insideTrees(place, facts);
    if (relative !== null && under(relative, [".nexus/state/", ".nexus/config.yml", ...facts.settings])) return true;
    const inHome = facts.home === null ? null : insideProject(place, facts.home);
    if (inHome !== null && under(`~/${inHome}`, facts.settings)) return true;
    return under(place, facts.settings);
  });
}

function under(path: string, patterns: readonly string[]): boolean {
  const lower = path.toLowerCase();
  return patterns.some((pattern) => {
    const named = pattern.toLowerCase();
    return named.endsWith("/") ? `${lower}/`.startsWith(named) : lower === named || lower.startsWith(`${named}/`);
  });
}

const KNOWLEDGE = [".nexus/memory/", ".nexus/context/", ".nexus/rules/"];

/** Edits that need no task: knowledge files, and the marked part of the memory file while a set-up skill is at work. */
export function needsNoTask(path: string, change: TextChange | undefined, facts: GateFacts): boolean {
  const inside = facts.places(path).map((place) => insideTrees(place, facts));
  if (inside.every((relative) => relative === null)) return true;
  if (inside.every((relative) => relative !== null && under(relative, KNOWLEDGE) && !relative.endsWith("/")))
    return true;
  const settingUp = facts.activeSkill === "nx-init" || facts.activeSkill === "nx-setup";
  if (!settingUp || !inside.every((relative) => relative !== null && MARKED_FILES.includes(relative))) return false;
  return change !== undefined && staysBetweenMarks(facts.textOf(path) ?? "", change);
}

/** Whether everything outside the marked part is the same afterwards. */
export function staysBetweenMarks(before: string, change: TextChange): boolean {
  const after = applied(before, change);
  if (after === null) return false;
  const outside = (text: string) => {
    const start = text.indexOf(MARK_START);
    const end = text.indexOf(MARK_END);
    if (start < 0 || end < start) return text.trim();
    return `${text.slice(0, start).trimEnd()}\n${text.slice(end + MARK_END.length).trimStart()}`.trim();
  };
  return outside(before) === outside(after);
}

function applied(before: string, change: TextChange): string | null {
  if (change.kind === "write") return change.content;
  let text = before;
  for (const { from, to, all } of change.steps) {
    if (from === "" ? text !== "" : !text.includes(from)) return null;
    text = from === "" ? to : all ? text.replaceAll(from, () => to) : text.replace(from, () => to);
  }
  return text;
}
