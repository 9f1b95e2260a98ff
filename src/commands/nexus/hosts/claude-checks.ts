// What Claude Code makes of its settings. It says nothing about a file it cannot read or hooks that are switched off: the
// gate is simply not there. Each of these was seen with the real program.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { shellWord } from "../../../errors.js";
import {
  CLAUDE_PLUGIN,
  type InstallInput,
  isObjectText,
  isStrictJson,
  type Scope,
  SERVER,
} from "../../../hosts/index.js";
import type { DoctorCheck } from "./doctor-checks.js";

interface Layer {
  readonly path: string;
  /** null when Claude Code cannot read it. */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** Whether set-up can write into it: an object, comments and commas aside, or nothing yet. */
  readonly isObject: boolean;
  /** Whose set-up writes into it, and can so make it strict. */
  readonly writtenFor: Scope | null;
  /** What Claude Code keeps by itself: it says which servers are off, and nothing about hooks. */
  readonly isOwn?: boolean;
  /** An organization's, above everybody's. */
  readonly isManaged?: boolean;
}

export function claudeChecks(scope: Scope, input: InstallInput, managed = MANAGED): DoctorCheck[] {
  const layers = settingsLayers(input, managed);
  const servers = scope === "project" ? readLayer(join(input.root, ".mcp.json"), "project") : null;
  const all = servers === null ? layers : [...layers, servers];
  const what = `claude ${scope} settings`;
  const problems = [
    ...all.flatMap((layer) => unreadable(layer, scope)),
    ...layers.flatMap(silenced),
    ...layers.flatMap(barred),
    ...alone(managed),
    ...(scope === "project" ? serverProblems(layers, input.root) : []),
  ].map((found): DoctorCheck => ({ what, state: "problem", ...found }));
  const twice = layers
    .flatMap((layer) => pluginToo(layer, scope))
    .map((found): DoctorCheck => ({ what, state: "warning", ...found }));
  if (problems.length + twice.length > 0) return [...problems, ...twice];
  return [
    {
      what,
      state: "ok",
      message: `Claude Code reads ${all.length === 1 ? "it" : `all ${all.length} files`}, and nothing in them turns hooks or tools off`,
    },
  ];
}

const MANAGED = "/etc/claude-code/managed-settings.json";

/** Every file a setting may come from. */
function settingsLayers({ root, home, env }: InstallInput, managed: string): Layer[] {
  const own = env.CLAUDE_CONFIG_DIR ?? join(home, ".claude");
  const places: readonly (readonly [path: string, writtenFor: Scope | null])[] = [
    [join(own, "settings.json"), "user"],
    [join(root, ".claude/settings.json"), "project"],
    [join(root, ".claude/settings.local.json"), null],
  ];
  const kept = readLayer(join(env.CLAUDE_CONFIG_DIR ?? home, ".claude.json"), null);
  const theirs = managedFiles(managed).flatMap((path) => readLayer(path, null) ?? []);
  const layers = [
    ...theirs.map((layer) => ({ ...layer, isManaged: true })),
    ...places.flatMap(([path, writtenFor]) => readLayer(path, writtenFor) ?? []),
  ];
  return kept === null ? layers : [...layers, { ...kept, isOwn: true }];
}

/** The file, and those of the folder beside it. */
function managedFiles(managed: string): string[] {
  const folder = managed.replace(/\.json$/, ".d");
  if (!existsSync(folder)) return [managed];
  const names = readdirSync(folder).filter((name) => name.endsWith(".json") && !name.startsWith("."));
  return [managed, ...names.sort().map((name) => join(folder, name))];
}

function readLayer(path: string, writtenFor: Scope | null): Layer | null {
  if (!existsSync(path)) return null;
  const text = readFileSync(path, "utf8");
  const isEmpty = text.trim() === "";
  const isObject = isEmpty || isObjectText(text);
  const value = isStrictJson(text) && isObject ? (JSON.parse(text.replace(/^\uFEFF/, "")) as Layer["value"]) : null;
  return { path, value, isObject, writtenFor };
}

type Found = Pick<DoctorCheck, "message" | "fix">;

const setup = (scope: Scope): string => `nexus setup claude${scope === "user" ? " --scope user" : ""}`;

function unreadable({ path, value, isObject, writtenFor }: Layer, scope: Scope): Found[] {
  if (value !== null) return [];
  if (!isObject) return [{ message: `${path} is no JSON object`, fix: `\${EDITOR:-vi} ${shellWord(path)}` }];
  const fix = writtenFor === scope ? `${setup(scope)} --convert` : `take comments and trailing commas out of ${path}`;
  return [{ message: `${path} is no strict JSON, so Claude Code leaves it out as a whole`, fix }];
}

function silenced({ path, value, isOwn = false }: Layer): Found[] {
  const found: Found[] = [];
  if (isOwn) return found;
  const switches = {
    disableAllHooks: "no hook runs",
    allowManagedHooksOnly: "hooks of people and projects do not run",
  };
  for (const [name, effect] of Object.entries(switches))
    if (value?.[name] === true)
      found.push({ message: `${path} sets ${name}: ${effect}`, fix: `take ${name} out of ${path}` });
  const denied = listAt(record(value?.permissions), "deny").filter((rule) => rule.startsWith(`mcp__${SERVER}`));
  if (denied.length > 0)
    found.push({ message: `${path} denies ${denied.join(", ")}`, fix: `take it out of permissions.deny in ${path}` });
  return found;
}

/** Lists of servers that may or may not start, whoever set them up, and settings that only plugins may bring. */
function barred({ path, value, isOwn = false, isManaged = false }: Layer): Found[] {
  const found: Found[] = [];
  if (isOwn) return found;
  const names = (list: unknown) => (Array.isArray(list) ? list : []).map((entry) => record(entry)?.serverName);
  if (names(value?.deniedMcpServers).includes(SERVER))
    found.push({ message: `${path} denies our server`, fix: `take "${SERVER}" out of deniedMcpServers in ${path}` });
  if (value?.allowedMcpServers !== undefined && !names(value.allowedMcpServers).includes(SERVER)) {
    const fix = `add {"serverName": "${SERVER}"} to allowedMcpServers in ${path}`;
    found.push({ message: `${path} lists the servers that may start, and ours is not among them`, fix });
  }
  const plugins = isManaged ? value?.strictPluginOnlyCustomization : undefined;
  if (plugins === true || (Array.isArray(plugins) && plugins.some((name) => name === "hooks" || name === "mcp")))
    found.push({
      message: `${path} takes hooks or servers from plugins only`,
      fix: "install our plugin: docs/hosts.md",
    });
  return found;
}

/** Where an organization keeps a list of servers, no other server starts. */
function alone(managed: string): Found[] {
  const layer = readLayer(join(dirname(managed), "managed-mcp.json"), null);
  if (layer === null || record(layer.value?.mcpServers)?.[SERVER] !== undefined) return [];
  const fix = `add our server to ${layer.path}: nexus setup claude --dry-run shows it`;
  return [{ message: `${layer.path} alone says which servers start, and ours is not in it`, fix }];
}

/** A project's own servers, and any server for one project. */
const OFF_LISTS = ["disabledMcpjsonServers", "disabledMcpServers"] as const;

/** A project's servers are off until a person says yes, and the dialog proposes no. */
function serverProblems(layers: readonly Layer[], root: string): Found[] {
  const voices = layers.flatMap(({ path, value }) => [
    { path, settings: value },
    { path, settings: record(record(value?.projects)?.[root]) },
  ]);
  const against = voices.find(({ settings }) => OFF_LISTS.some((list) => listAt(settings, list).includes(SERVER)));
  if (against !== undefined) {
    const list = OFF_LISTS.find((one) => listAt(against.settings, one).includes(SERVER));
    const fix = `take "${SERVER}" out of ${list} in ${against.path}`;
    return [{ message: `${against.path} switches our server off: edits need a task list, and no tool makes one`, fix }];
  }
  const isFor = voices.some(
    ({ settings }) =>
      settings?.enableAllProjectMcpServers === true || listAt(settings, "enabledMcpjsonServers").includes(SERVER),
  );
  // What a file says that nobody can read is told first.
  return isFor || layers.some(({ value }) => value === null)
    ? []
    : [{ message: "Claude Code was not told to start our server, and asks first", fix: setup("project") }];
}

function pluginToo({ path, value }: Layer, scope: Scope): Found[] {
  const on = Object.entries(record(value?.enabledPlugins) ?? {}).filter(
    ([name, enabled]) => name.startsWith(`${CLAUDE_PLUGIN}@`) && enabled === true,
  );
  if (on.length === 0) return [];
  return [{ message: `${path} has the plugin, too: every hook runs twice`, fix: `${setup(scope)} --remove` }];
}

const record = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : null;

function listAt(settings: Readonly<Record<string, unknown>> | null, name: string): string[] {
  const list = settings?.[name];
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === "string") : [];
}
