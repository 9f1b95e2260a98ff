// What Qwen Code and Gemini CLI make of their settings, from every file they take them from.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "jsonc-parser";
import { fromSystemError, shellWord } from "../../../errors.js";
import {
  findHost,
  type InstallInput,
  isOurHook,
  isReadBy,
  ownGeminiFolder,
  ownQwenFolder,
  READINGS,
  SERVER,
} from "../../../hosts/index.js";
import { TOOLS } from "../../../schema/tools.js";
import type { DoctorCheck } from "./doctor-checks.js";
import { isNoText } from "./no-text.js";

type Name = "qwen" | "gemini";
type Settings = Readonly<Record<string, unknown>>;
type Found = Pick<DoctorCheck, "message" | "fix">;

interface Layer {
  readonly path: string;
  /** null when the program cannot read it. */
  readonly value: Settings | null;
  readonly trouble?: string;
}

export function layerChecks(name: Name, input: InstallInput): DoctorCheck[] {
  const layers = layerPaths(name, input).flatMap((path) => readLayer(name, path) ?? []);
  const found = [
    ...layers.flatMap((layer) => unreadable(name, layer)),
    ...hooksOff(name, layers),
    ...layers.flatMap(hooksOfOursOff),
    ...serverOff(name, layers),
    ...layers.flatMap((layer) => toolsOff(name, layer)),
    ...(name === "gemini" ? disabledByCommand(ownGeminiFolder(input)) : []),
    ...(name === "qwen" ? distrusted(join(ownQwenFolder(input), "trustedFolders.json"), layers, input) : []),
  ];
  return found.map((one) => ({ what: `${name} settings`, state: "problem", ...one }));
}

/** From the weakest to the one that has the last word. */
function layerPaths(name: Name, input: InstallInput): string[] {
  const { root, env } = input;
  const [variable, folder] = name === "qwen" ? ["QWEN_CODE", "qwen-code"] : ["GEMINI_CLI", "gemini-cli"];
  const system = env[`${variable}_SYSTEM_SETTINGS_PATH`] || `/etc/${folder}/settings.json`;
  const defaults = env[`${variable}_SYSTEM_DEFAULTS_PATH`] || join(dirname(system), "system-defaults.json");
  const own = join(name === "qwen" ? ownQwenFolder(input) : ownGeminiFolder(input), "settings.json");
  return [defaults, own, join(root, `.${name}`, "settings.json"), system];
}

function readLayer(name: Name, path: string): Layer | null {
  if (!existsSync(path)) return null;
  try {
    if (isNoText(path)) return { path, value: null, trouble: `${path} cannot be read (no regular file)` };
    const text = readFileSync(path, "utf8");
    return { path, value: isReadBy(name, text) ? record(parse(text)) : null };
  } catch (error) {
    if (fromSystemError(error) === null) throw error;
    return { path, value: null, trouble: `${path} cannot be read (${(error as NodeJS.ErrnoException).code})` };
  }
}

function unreadable(name: Name, { path, value, trouble }: Layer): Found[] {
  if (value !== null) return [];
  const { title, effect } = READINGS[name];
  if (trouble !== undefined) return [{ message: trouble, fix: `ls -ld ${shellWord(path)}` }];
  const fix = `\${EDITOR:-vi} ${shellWord(path)}`;
  return [{ message: `${path} is no JSON that ${title} reads: with it, ${title} ${effect}`, fix }];
}

/** One switch for all hooks; the strongest file that says something decides. */
function hooksOff(name: Name, layers: readonly Layer[]): Found[] {
  const setting = name === "qwen" ? "disableAllHooks" : "hooksConfig.enabled";
  const said = ({ value }: Layer) => (name === "qwen" ? value?.disableAllHooks : record(value?.hooksConfig)?.enabled);
  const last = layers.findLast((layer) => typeof said(layer) === "boolean");
  if (last === undefined || said(last) !== (name === "qwen")) return [];
  const message = `${last.path} switches all hooks off (${setting}), so ${READINGS[name].title} asks no gate`;
  return [{ message, fix: `take ${setting} out of ${last.path}` }];
}

function hooksOfOursOff({ path, value }: Layer): Found[] {
  if (!list(record(value?.hooksConfig)?.disabled).some((hook) => isOurHook({ hook }))) return [];
  const message = `${path} switches hooks of ours off (hooksConfig.disabled)`;
  return [{ message, fix: `take them out of hooksConfig.disabled in ${path}` }];
}

const NO_TOOLS = "edits need a task list, and no tool makes one";

/** Qwen Code adds the lists of all files up; with Gemini CLI a server must be in each. */
function serverOff(name: Name, layers: readonly Layer[]): Found[] {
  const listed = (field: string) =>
    layers.flatMap(({ path, value }) => {
      const entries = record(value?.mcp)?.[field];
      return Array.isArray(entries) ? [{ path, hasUs: entries.some(isUs) }] : [];
    });
  const off = listed("excluded")
    .filter(({ hasUs }) => hasUs)
    .map(({ path }) => ({
      message: `${path} switches our server off (mcp.excluded): ${NO_TOOLS}`,
      fix: `take "${SERVER}" out of mcp.excluded in ${path}`,
    }));
  const lists = listed("allowed");
  const isIn = name === "qwen" && lists.some(({ hasUs }) => hasUs);
  const missing = lists
    .filter(({ hasUs }) => !hasUs && !isIn)
    .map(({ path }) => ({
      message: `${path} lists the servers that may start, and ours is not among them (mcp.allowed): ${NO_TOOLS}`,
      fix: `add "${SERVER}" to mcp.allowed in ${path}`,
    }));
  return [...off, ...missing];
}

const isUs = (entry: unknown): boolean => typeof entry === "string" && entry.trim().toLowerCase() === SERVER;

function toolsOff(name: Name, { path, value }: Layer): Found[] {
  const ours = new Set(TOOLS.map(findHost(name)!.toolName));
  const lists = {
    "tools.exclude": record(value?.tools)?.exclude,
    "permissions.deny": record(value?.permissions)?.deny,
  };
  return Object.entries(lists).flatMap(([setting, entries]) => {
    if (name === "gemini" && setting === "permissions.deny") return [];
    const denied = list(entries).filter((entry) => typeof entry === "string" && ours.has(entry));
    if (denied.length === 0) return [];
    return [{ message: `${path} denies ${denied.join(", ")}`, fix: `take it out of ${setting} in ${path}` }];
  });
}

/** `gemini mcp disable` keeps what it did in a file of its own. */
function disabledByCommand(folder: string): Found[] {
  const layer = readLayer("gemini", join(folder, "mcp-server-enablement.json"));
  if (record(layer?.value?.[SERVER])?.enabled !== false) return [];
  return [{ message: `${layer!.path} switches our server off: ${NO_TOOLS}`, fix: `gemini mcp enable ${SERVER}` }];
}

/** Qwen Code runs on in a folder a person does not trust, without what the project brings. */
function distrusted(path: string, layers: readonly Layer[], { root }: InstallInput): Found[] {
  const asks = layers.some(({ value }) => record(record(value?.security)?.folderTrust)?.enabled === true);
  if (!asks || readLayer("qwen", path)?.value?.[root] !== "DO_NOT_TRUST") return [];
  return [{ message: `${path} says not to trust ${root}: Qwen Code starts no server there`, fix: "qwen, then /trust" }];
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const record = (value: unknown): Settings | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Settings) : null;
