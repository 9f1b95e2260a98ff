// The checks of doctor that try something out: a server is started, hooks are run, deny lists are read.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { parse } from "@decimalturn/toml-patch";
import { z } from "zod";
import { shellWord } from "../../../errors.js";
import { clearAway } from "../../../files/index.js";
import {
  deniedTools,
  type Host,
  hasServerAlike,
  hookEvents,
  type InstallInput,
  installFiles,
  isOurHook,
  type Scope,
  SERVER,
} from "../../../hosts/index.js";
import type { Context } from "../../../operation.js";
import { askVersion, findProgram, readLines, runChild, startChild } from "../../../process/index.js";
import { TOOLS } from "../../../schema/tools.js";
import { borrowedHome } from "./borrowed-home.js";
import { runHookProcess } from "./try-hook.js";

export const DoctorCheck = z.object({
  what: z.string(),
  state: z.enum(["ok", "absent", "warning", "problem"]),
  message: z.string(),
  fix: z.string().optional(),
});
export type DoctorCheck = z.infer<typeof DoctorCheck>;

const SERVER_MS = 10_000;
/** Hosts wait longer, but a person would notice. */
const HOOK_MS = 2_000;

export async function serverCheck({ server, root }: InstallInput, context: Context): Promise<DoctorCheck> {
  const what = "mcp server";
  const fix = "npm install -g nutcracker";
  const started = performance.now();
  try {
    const tools = await rpc([server[0]!, ...server.slice(1)], root, context, [
      ["initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "doctor", version: "1" } }],
      ["tools/list", {}],
    ]);
    const names = ((tools as { tools?: { name: string }[] }).tools ?? []).map(({ name }) => name);
    const missing = TOOLS.filter((tool) => !names.includes(`nx_${tool}`));
    if (missing.length > 0) return { what, state: "problem", message: `does not offer ${missing.join(", ")}`, fix };
    return { what, state: "ok", message: `${names.length} tools in ${Math.round(performance.now() - started)} ms` };
  } catch (error) {
    return {
      what,
      state: "problem",
      message: `does not answer: ${error instanceof Error ? error.message : String(error)}`,
      fix,
    };
  }
}

/** Asks a line-delimited JSON-RPC program one thing after another; gives the last result. */
async function rpc(
  command: readonly string[],
  cwd: string,
  { env, signal }: Context,
  calls: readonly (readonly [string, unknown])[],
): Promise<unknown> {
  const child = await startChild({
    command: command[0]!,
    args: command.slice(1),
    cwd,
    env,
    stdin: "pipe",
    timeoutMs: SERVER_MS,
    signal,
  });
  child.stderr.resume();
  const send = (value: object) => child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", ...value })}\n`);
  const ask = (id: number) => send({ id, method: calls[id - 1]![0], params: calls[id - 1]![1] });
  try {
    return await new Promise((resolve, reject) => {
      let id = 1;
      readLines(child.stdout, (line) => {
        const reply = parsed(line);
        if (reply?.id !== id) return;
        if (reply.error !== undefined) return reject(new Error(reply.error.message));
        if (id === calls.length) return resolve(reply.result);
        if (id === 1) send({ method: "notifications/initialized" });
        id += 1;
        ask(id);
      });
      child.ended.then(() => reject(new Error("it ended without an answer")));
      ask(id);
    });
  } finally {
    await child.stop();
  }
}

function parsed(line: string): { id?: number; result?: unknown; error?: { message: string } } | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Runs every hook as the host would, in a project of its own, and times it. */
export async function hooksCheck(
  host: Host,
  scope: Scope,
  input: InstallInput,
  context: Context,
): Promise<DoctorCheck> {
  const what = `${host.name} ${scope} hooks`;
  const fix = `nexus setup ${host.name}${scope === "user" ? " --scope user" : ""}`;
  // A single file answers hooks itself: then this is a word, not a file.
  if (isAbsolute(input.hook) && !existsSync(input.hook))
    return {
      what,
      state: "problem",
      message: `${input.hook} is not there`,
      fix: "install nutcracker again (in a clone of it: npm run build)",
    };
  const off = host.name === "opencode" ? withoutPlugin(scope, input.env) : undefined;
  if (off !== undefined)
    return {
      what,
      state: "problem",
      message: `${off} is set here: OpenCode does not load the plugin`,
      fix: `unset ${off}`,
    };
  const folder = mkdtempSync(join(tmpdir(), "nexus-doctor-"));
  mkdirSync(join(folder, ".git"));
  try {
    const why = host.name === "opencode" ? await pluginTrouble(folder, input, context) : null;
    if (why !== null)
      return { what, state: "problem", message: `the plugin does not start, and blocks tools: ${why}`, fix };
    const events =
      host.name === "opencode" ? ["session.created", "tool.execute.before", "dispose"] : hookEvents(host.name);
    const slow: string[] = [];
    let longest = 0;
    for (const event of events) {
      const { exit, ms } = await runHookProcess({ host, event, folder, input, context });
      context.signal.throwIfAborted();
      if (exit !== 0) return { what, state: "problem", message: `${event} ended with ${exit ?? "a signal"}`, fix };
      longest = Math.max(longest, ms);
      if (ms > HOOK_MS) slow.push(event);
    }
    if (slow.length > 0)
      return {
        what,
        state: "warning",
        message: `slow: ${slow.join(", ")} took up to ${Math.round(longest)} ms`,
        fix: "look what else keeps this machine busy",
      };
    return { what, state: "ok", message: `${events.length} events answered, the slowest in ${Math.round(longest)} ms` };
  } finally {
    clearAway(folder);
  }
}

/** The variable of the shell with which OpenCode leaves our plugin out. It takes these words for yes. */
function withoutPlugin(scope: Scope, env: InstallInput["env"]): string | undefined {
  const names = ["OPENCODE_PURE", ...(scope === "project" ? ["OPENCODE_DISABLE_PROJECT_CONFIG"] : [])];
  return names.find((name) => ["1", "true"].includes((env[name] ?? "").toLowerCase()));
}

/** Loads the plugin as it is installed and starts it. A plugin that is blocked offers less, and its gate says why. */
const TRY_PLUGIN = `
const { Nexus } = await import(process.argv[1]);
const hooks = await Nexus({ directory: process.argv[2] });
if (hooks["chat.message"] === undefined) {
  await hooks.event?.({ event: { type: "session.created", properties: { info: { id: "doctor", parentID: "x" } } } });
  await hooks["tool.execute.before"]({ sessionID: "doctor" }, { args: {} });
}`;

/** Why OpenCode would get no gate from us; null when it would, or when there is nothing to try it with. */
async function pluginTrouble(folder: string, input: InstallInput, { env, signal }: Context): Promise<string | null> {
  const plugin = installFiles("opencode", input).find(({ path }) => slashed(path).endsWith("/plugins/nexus.js"));
  const code = plugin === undefined ? null : textAt(plugin.path);
  // A single file is no Node to run a module with.
  if (code === null || !isAbsolute(input.hook)) return null;
  // OpenCode reads it as a module whatever the project's package.json says of its own files.
  const copy = join(folder, "plugin.mjs");
  writeFileSync(copy, code);
  const { code: exit, stderr } = await runChild({
    ...(await runtimeOf(input.node, folder, { env, signal }, [TRY_PLUGIN, copy, folder])),
    cwd: folder,
    timeoutMs: SERVER_MS,
    signal,
  });
  if (exit === 0) return null;
  const told = stderr.text.split("\n").find((line) => /^\s*(?:[A-Za-z]*Error(?: \[\w+\])?|error|nexus): /.test(line));
  return (
    told?.trim().replace(/^(?:(?:[A-Za-z]*Error(?: \[\w+\])?|error): )?(?:nexus: )?/, "") ?? "it ended without a word"
  );
}

/** OpenCode runs plugins with the Bun it carries and can be; where it is not there, or cannot, Node tells as much as it can. */
async function runtimeOf(
  node: string,
  folder: string,
  { env, signal }: Pick<Context, "env" | "signal">,
  words: readonly string[],
) {
  const program = findProgram("opencode", env);
  const bun = { BUN_BE_BUN: "1", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };
  if (program !== null) {
    const alone = { PATH: env.PATH, HOME: folder, TMPDIR: folder, ...bun };
    const asked = { command: program, args: ["--version"], cwd: folder, env: alone, timeoutMs: SERVER_MS, signal };
    const [own, { code, stdout }] = await Promise.all([askVersion({ path: program, env, signal }), runChild(asked)]);
    if (code === 0 && stdout.text.trim() !== own)
      return { command: program, args: ["--eval", ...words], env: { ...env, ...bun } };
  }
  return { command: node, args: ["--input-type=module", "--eval", ...words], env };
}

/** A path as it is on every platform but one. */
const slashed = (path: string): string => path.replaceAll("\\", "/");

/** Names in the installed deny lists that no tool has: such a list denies nothing, or is void as a whole. */
export function denyListCheck(host: Host, scope: Scope, input: InstallInput): DoctorCheck {
  const what = `${host.name} ${scope} deny lists`;
  const known = new Set([
    ...Object.values(host.toolsByClass).flat(),
    ...TOOLS.map(host.toolName),
    "Agent",
    "agent",
    "edit",
    "task",
    "skill",
  ]);
  const wrong = new Set<string>();
  const unread: string[] = [];
  let lists = 0;
  for (const file of installFiles(host.name, input)) {
    if (!("content" in file) || !slashed(file.path).includes("/agents/")) continue;
    const text = textAt(file.path);
    if (text === null) continue;
    const names = deniedIn(text);
    if (names === null) unread.push(`${file.path}: its deny list cannot be read`);
    if (names !== null && names.length > 0) lists += 1;
    for (const name of names ?? []) if (!known.has(name)) wrong.add(name);
  }
  if (wrong.size + unread.length > 0)
    return {
      what,
      state: "problem",
      message: [...unread, ...(wrong.size > 0 ? [`no such tools: ${[...wrong].join(", ")}`] : [])].join("; "),
      fix: `nexus setup ${host.name}${scope === "user" ? " --scope user" : ""}`,
    };
  if (host.name === "codex" || host.name === "gemini") {
    const how =
      host.name === "codex"
        ? `${deniedTools(host, []).length} tools are denied by the gate and the server`
        : "its roles have lists of what they may use";
    return { what, state: "ok", message: `${host.title} has none; ${how}` };
  }
  return { what, state: "ok", message: `${lists} lists, every name in them is a tool` };
}

/** null when there is no such file, or it cannot be read: what is set up is looked at elsewhere. */
function textAt(path: string): string | null {
  try {
    return statSync(path).isFile() ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}

/** null when there is a list that cannot be read. */
function deniedIn(text: string): string[] | null {
  const list = /^disallowedTools: (.*)$/m.exec(text)?.[1] ?? /^disallowedTools:\n((?: {2}- .*\n)+)/m.exec(text)?.[1];
  if (list !== undefined) return list.split(/,|\n(?=.)/).map((name) => name.replace(/^ *- /, "").trim());
  const map = /^permission: (\{.*\})$/m.exec(text)?.[1];
  if (map === undefined) return [];
  try {
    return Object.keys(JSON.parse(map) as object);
  } catch {
    return null;
  }
}

/** Codex puts tables of one name together: what a person's server says is said of ours, or Codex does not start. */
export function alikeChecks({ home, env }: InstallInput): DoctorCheck[] {
  const path = join(env.CODEX_HOME || join(home, ".codex"), "config.toml");
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (!isFile || !hasServerAlike(readFileSync(path, "utf8"))) return [];
  const message = `${path} has a server of yours called ${SERVER}, which Codex mixes with the project's`;
  return [{ what: "codex project server", state: "problem", message, fix: `give it another name in ${path}` }];
}

/** Codex's own list of hooks. Asking for it leaves nothing in the person's folder. */
async function askedForHooks(input: InstallInput, context: Context): Promise<unknown> {
  const { root } = input;
  const home = borrowedHome(input);
  const env = { ...context.env, CODEX_HOME: home, CODEX_SQLITE_HOME: home };
  try {
    return await rpc([findProgram("codex", context.env)!, "app-server"], root, { ...context, env }, [
      ["initialize", { clientInfo: { name: "nexus-doctor", version: "1" } }],
      ["hooks/list", { cwds: [root] }],
    ]);
  } finally {
    clearAway(home);
  }
}

/** Which file of Codex's settings switches hooks off. */
function hooksOff({ root, home, env }: InstallInput): { readonly path: string; readonly feature: string } | undefined {
  const own = env.CODEX_HOME || join(home, ".codex");
  return [join(own, "config.toml"), join(root, ".codex/config.toml")].flatMap((path) => {
    try {
      const { features = {} } = parse(readFileSync(path, "utf8")) as { features?: Record<string, unknown> };
      return ["hooks", "codex_hooks"].filter((name) => features[name] === false).map((feature) => ({ path, feature }));
    } catch {
      // Not there, or no TOML, which Codex was asked with.
      return [];
    }
  })[0];
}

/** Codex runs no hook that a person has not trusted, and says nothing about it. */
export async function trustCheck(scope: Scope, input: InstallInput, context: Context): Promise<DoctorCheck> {
  const what = `codex ${scope} trust`;
  try {
    const result = await askedForHooks(input, context);
    const hooks =
      (
        result as { data?: { hooks?: { command?: string; trustStatus?: string; enabled?: boolean }[] }[] }
      ).data?.flatMap(({ hooks: list }) => list ?? []) ?? [];
    const ours = hooks.filter(isOurHook);
    const off = ours.length === 0 ? hooksOff(input) : undefined;
    if (off !== undefined)
      return {
        what,
        state: "problem",
        message: `${off.path} switches hooks off: features.${off.feature} = false`,
        fix: `take ${off.feature} out of [features] in ${shellWord(off.path)}`,
      };
    if (ours.length === 0)
      return {
        what,
        state: "problem",
        message: "Codex does not see the hooks: is the project trusted?",
        fix: "start codex here and trust the folder",
      };
    const trusted = ours.filter(
      ({ trustStatus, enabled }) => trustStatus !== "untrusted" && trustStatus !== "modified" && enabled !== false,
    ).length;
    if (trusted === ours.length) return { what, state: "ok", message: `all ${trusted} hooks are trusted` };
    return {
      what,
      state: "problem",
      message: `${ours.length - trusted} of ${ours.length} hooks are not trusted, so Codex skips them without a word`,
      fix: "start codex and review them with /hooks",
    };
  } catch (error) {
    return {
      what,
      state: "warning",
      message: `could not ask Codex: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
