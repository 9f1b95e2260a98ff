// What Claude Code makes of its settings. Of a file it cannot read it says so at most where a person does not look, of hooks that
// are switched off nothing: the gate is simply not there. Each of these was seen with the real program.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fromSystemError, shellWord } from "../../../errors.js";
import {
  CLAUDE_PLUGIN,
  type InstallInput,
  isObjectText,
  isOurServer,
  isStrictJson,
  type Scope,
  SERVER,
} from "../../../hosts/index.js";
import type { Context } from "../../../operation.js";
import { runChild } from "../../../process/index.js";
import type { DoctorCheck } from "./doctor-checks.js";
import { isNoText } from "./no-text.js";

interface Layer {
  readonly path: string;
  /** null when Claude Code cannot read it. */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** Whether set-up can write into it: an object, comments and commas aside, or nothing yet. */
  readonly isObject: boolean;
  /** Why nobody can read it. */
  readonly trouble?: string;
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
    ...withoutHooks(input.env),
    ...layers.flatMap(withoutHooksFor),
    ...all.flatMap((layer) => unreadable(layer, scope)),
    ...layers.flatMap((layer) => silenced(layer, layers)),
    ...layers.flatMap((layer) => barred(layer, commandOf(servers))),
    ...alone(managed),
    ...(scope === "project" ? serverProblems(layers, input.root) : []),
    ...outranked(layers, input.root),
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

const WITHOUT_HOOKS = ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"];

/** Claude Code takes these words for yes, and no others. */
const isYes = (value: unknown): boolean =>
  ["1", "true", "yes", "on"].includes(
    String(value ?? "")
      .trim()
      .toLowerCase(),
  );

const withoutHooks = (env: InstallInput["env"]): Found[] =>
  WITHOUT_HOOKS.filter((name) => isYes(env[name])).map((name) => ({
    message: `${name} is set here: Claude Code runs no hook`,
    fix: `unset ${name}`,
  }));

/** In the `env` of a project's settings they do nothing, in that of a person's they do. An organization's are taken for the same. */
function withoutHooksFor({ path, value, writtenFor, isManaged }: Layer): Found[] {
  if (writtenFor !== "user" && isManaged !== true) return [];
  const env = value?.env;
  if (typeof env !== "object" || env === null) return [];
  return WITHOUT_HOOKS.filter((name) => isYes((env as Record<string, unknown>)[name])).map((name) => ({
    message: `${path} sets ${name} in env: Claude Code runs no hook`,
    fix: `take ${name} out of env in ${shellWord(path)}`,
  }));
}

const MANAGED = "/etc/claude-code/managed-settings.json";

/** Every file a setting may come from. */
function settingsLayers({ root, home, env }: InstallInput, managed: string): Layer[] {
  const own = env.CLAUDE_CONFIG_DIR || join(home, ".claude");
  const places: readonly (readonly [path: string, writtenFor: Scope | null])[] = [
    [join(own, "settings.json"), "user"],
    [join(root, ".claude/settings.json"), "project"],
    [join(root, ".claude/settings.local.json"), null],
  ];
  const kept = readLayer(join(env.CLAUDE_CONFIG_DIR || home, ".claude.json"), null);
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
  let text: string;
  try {
    if (isNoText(path)) return { path, value: null, isObject: false, writtenFor, trouble: "no regular file" };
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (fromSystemError(error) === null) throw error;
    return { path, value: null, isObject: false, writtenFor, trouble: (error as NodeJS.ErrnoException).code ?? "" };
  }
  const isEmpty = text.trim() === "";
  const isObject = isEmpty || isObjectText(text);
  const value = isStrictJson(text) && isObject ? (JSON.parse(text.replace(/^\uFEFF/, "")) as Layer["value"]) : null;
  return { path, value, isObject, writtenFor };
}

type Found = Pick<DoctorCheck, "message" | "fix">;

const setup = (scope: Scope): string => `nexus setup claude${scope === "user" ? " --scope user" : ""}`;

function unreadable({ path, value, isObject, isManaged = false, writtenFor, trouble }: Layer, scope: Scope): Found[] {
  if (value !== null) return [];
  if (trouble !== undefined)
    return [{ message: `${path} cannot be read (${trouble})`, fix: `ls -ld ${shellWord(path)}` }];
  if (!isObject) return [{ message: `${path} is no JSON object`, fix: `\${EDITOR:-vi} ${shellWord(path)}` }];
  const fix = writtenFor === scope ? `${setup(scope)} --convert` : `take comments and trailing commas out of ${path}`;
  if (isManaged) return [{ message: `${path} is no strict JSON, and Claude Code does not start with it`, fix }];
  return [{ message: `${path} is no strict JSON, so Claude Code leaves it out as a whole`, fix }];
}

function silenced({ path, value, isOwn = false }: Layer, layers: readonly Layer[]): Found[] {
  const found: Found[] = [];
  if (isOwn) return found;
  const switches = {
    disableAllHooks: "no hook runs",
    allowManagedHooksOnly: "hooks of people and projects do not run",
  };
  for (const [name, effect] of Object.entries(switches))
    if (value?.[name] === true && lastWord(name, layers) === path)
      found.push({ message: `${path} sets ${name}: ${effect}`, fix: `take ${name} out of ${path}` });
  const denied = listAt(record(value?.permissions), "deny").filter(isAboutUs);
  if (denied.length > 0)
    found.push({ message: `${path} denies ${denied.join(", ")}`, fix: `take it out of permissions.deny in ${path}` });
  return found;
}

/** Which file decides a switch: an organization's, then the project's local one, the project's, the person's. */
function lastWord(name: string, layers: readonly Layer[]): string | undefined {
  const says = ({ value, isOwn = false }: Layer) => !isOwn && typeof value?.[name] === "boolean";
  return (layers.find((layer) => layer.isManaged && says(layer)) ?? layers.findLast(says))?.path;
}

/** `mcp__nexus`, one tool of it, or a pattern that takes ours along. */
function isAboutUs(rule: string): boolean {
  const [head = "", ...more] = rule.split("*");
  const ours = `mcp__${SERVER}__`;
  return more.length > 0 && ours.startsWith(head) ? head.startsWith("mcp__") : rule.startsWith(`mcp__${SERVER}`);
}

/** The words a project's server starts with. */
function commandOf(servers: Layer | null): readonly unknown[] | null {
  const ours = record(record(servers?.value?.mcpServers)?.[SERVER]);
  return ours === null ? null : [ours.command, ...(Array.isArray(ours.args) ? ours.args : [])];
}

/** Lists of servers that may or may not start, whoever set them up, and settings that only plugins may bring. */
function barred({ path, value, isOwn = false, isManaged = false }: Layer, command: readonly unknown[] | null): Found[] {
  const found: Found[] = [];
  if (isOwn) return found;
  const { deniedMcpServers: denied, allowedMcpServers: allowed } = value ?? {};
  if (isListed(denied, "serverName", SERVER) || isListed(denied, "serverCommand", command))
    found.push({ message: `${path} denies our server`, fix: `take "${SERVER}" out of deniedMcpServers in ${path}` });
  if (allowed !== undefined) {
    // Where commands are listed, a name lets no server in that is started by one.
    const field = list(allowed).some((entry) => record(entry)?.serverCommand !== undefined)
      ? "serverCommand"
      : "serverName";
    const ours = field === "serverName" ? SERVER : command;
    const fix = `add ${JSON.stringify({ [field]: ours ?? "…" })} to allowedMcpServers in ${path}`;
    if (ours !== null && !isListed(allowed, field, ours))
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

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isListed = (entries: unknown, field: string, ours: unknown): boolean =>
  ours !== null && list(entries).some((entry) => JSON.stringify(record(entry)?.[field]) === JSON.stringify(ours));

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

/** What Claude Code keeps for one project and one person comes before what a project or a person has. */
function outranked(layers: readonly Layer[], root: string): Found[] {
  return layers.flatMap(({ path, value }) => {
    const server = record(record(record(value?.projects)?.[root])?.mcpServers)?.[SERVER];
    if (server === undefined || isOurServer(server)) return [];
    const message = `${path} has a server of yours called ${SERVER} for this project, which comes before ours`;
    return [{ message, fix: `claude mcp remove ${SERVER} -s local` }];
  });
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
  return list(settings?.[name]).filter((item): item is string => typeof item === "string");
}

const ASK_MS = 30_000;

/** What Claude Code itself says of its settings: a value of a kind it does not expect makes it leave out the whole file. */
export async function askClaude(program: string, root: string, { env, signal }: Context): Promise<DoctorCheck[]> {
  const quiet = { ...env, DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
  const asked = { command: program, args: ["doctor"], cwd: root, env: quiet, timeoutMs: ASK_MS };
  const { code, stdout } = await runChild({ ...asked, ...(signal === undefined ? {} : { signal }) });
  const what = "claude on its settings";
  if (code === 0) return complaints(stdout.text).map((found) => ({ what, ...found }));
  return [{ what, state: "warning", message: "Claude Code could not be asked (claude doctor)" }];
}

/** With what it says: of a file that it leaves out nobody claims that it is read. */
export function withClaude(checks: readonly DoctorCheck[], told: readonly DoctorCheck[]): DoctorCheck[] {
  const isDenied = ({ what, state }: DoctorCheck) => state === "ok" && /^claude \w+ settings$/.test(what);
  const isWrong = told.some(({ state }) => state === "problem");
  return [...checks.filter((check) => !(isWrong && isDenied(check))), ...told];
}

/** Whole files it cannot read are found without it. What it only leaves out of a file is its own, unless that is a hook. */
export function complaints(told: string): Omit<DoctorCheck, "what">[] {
  const section = told.split("\n\n").find((part) => part.startsWith("Invalid settings\n")) ?? "";
  return section.split("\n").flatMap((line) => {
    const [, path, key = "", why] = /^- (.+?) › ([^:]+): (.*)$/.exec(line) ?? [];
    if (path === undefined) return [];
    const isLeftOut = /\b(?:ignored|skipped|removed)\b/.test(why!);
    const effect = isLeftOut ? "" : ", so Claude Code leaves the whole file out";
    const message = `${path}: ${key}: ${why!.slice(0, 200)}${effect}`;
    const state = isLeftOut && !key.startsWith("hooks.") ? ("warning" as const) : ("problem" as const);
    return [{ state, message, fix: `\${EDITOR:-vi} ${shellWord(path)}` }];
  });
}
