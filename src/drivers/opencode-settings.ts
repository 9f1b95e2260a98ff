// What OpenCode is told, whether it is driven natively or over ACP: a role of our own, and permissions that no settings
// file of the work tree can lift.
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { writeInside } from "../files/index.js";
import type { SessionRequest } from "./driver.js";
import { pick, readIfThere } from "./inherit.js";
import { type LoginKey, providerOfModel, providerVariables } from "./login-variables.js";
import { lentProvider, opencodeKeys, withoutOtherProviders } from "./opencode-keys.js";

export const OPENCODE_AGENT = "nutcracker";

/** Keys of a person's own settings that say which model to use, and nothing else. */
const MODEL_KEYS = ["model", "small_model", "provider", "disabled_providers", "enabled_providers"];

export function opencodeEnvironment(request: SessionRequest): Record<string, string> {
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(settings(request)),
    OPENCODE_PERMISSION: JSON.stringify(permissions(request)),
    OPENCODE_DISABLE_PROJECT_CONFIG: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_SHARE: "1",
    OPENCODE_DISABLE_CLAUDE_CODE: "1",
  };
}

/** Nobody answers while it works, so nothing is asked: what the role may not do is denied, the rest allowed. */
function permissions({ may, deniedTools = [] }: SessionRequest): Record<string, string> {
  const word = (allowed: boolean) => (allowed ? "allow" : "deny");
  return {
    "*": "allow",
    edit: word(may.edit),
    bash: word(may.shell),
    task: "deny",
    question: "deny",
    external_directory: "deny",
    doom_loop: "deny",
    ...Object.fromEntries(deniedTools.map((tool) => [tool.replace(".", "_"), "deny"])),
  };
}

function settings(request: SessionRequest): Record<string, unknown> {
  const { rolePrompt, mcpServers, model } = request;
  const theirs = inherited(request);
  return {
    ...theirs,
    ...lentProvider(theirs, providerOf(request), request),
    ...(model === undefined ? {} : { model }),
    agent: {
      [OPENCODE_AGENT]: { mode: "primary", prompt: rolePrompt, permission: permissions(request) },
      // Nobody reads the title of a session that is over with its task, and the model would be asked for it each time.
      title: { disable: true },
    },
    mcp: Object.fromEntries(
      mcpServers.map(({ name, command, args, env }) => [
        name,
        { type: "local", command: [command, ...args], environment: env, enabled: true },
      ]),
    ),
    // Otherwise the first refusal ends the turn without a report.
    experimental: { continue_loop_on_deny: true },
    permission: permissions(request),
    share: "disabled",
    autoupdate: false,
    snapshot: false,
  };
}

function inherited({ env }: Pick<SessionRequest, "env">): Record<string, unknown> {
  const folder = join(env.XDG_CONFIG_HOME || join(env.HOME ?? "/nonexistent", ".config"), "opencode");
  const files = ["opencode.json", "opencode.jsonc", "config.json"].map((name) => readIfThere(join(folder, name)));
  return Object.assign({}, ...files.map((content) => (content === null ? {} : pick(parse(content), MODEL_KEYS))));
}

function modelOf(request: SessionRequest): string | undefined {
  const { model } = inherited(request);
  return request.model ?? (typeof model === "string" ? model : undefined);
}

/** Whose model is asked; null when nothing says it. */
const providerOf = (request: SessionRequest): string | null => providerOfModel(modelOf(request), request.env);

export const keysOfOpencode = (env: SessionRequest["env"]): LoginKey[] => opencodeKeys(env, inherited({ env }));

/** The request with what is lent for the chosen model. */
export const forChosenModel = (request: SessionRequest): SessionRequest =>
  withoutOtherProviders(request, inherited(request), {
    provider: providerOf(request),
    variables: opencodeVariables(request),
  });

/** Variables the chosen model's provider is paid with, and those the person's settings read: `{env:NAME}`. */
export function opencodeVariables(request: SessionRequest): string[] {
  const theirs = inherited(request);
  const model = modelOf(request);
  const read = [...JSON.stringify(theirs).matchAll(/\{env:(\w+)\}/g)].map(([, name]) => name!);
  return [...providerVariables(model, request.env), ...read];
}

/**
 * What it knows of models, for the providers a session may ask: reading its list of every vendor's is a third of its start, and the
 * one it brings along may not know a model that the person's does. null: the session needs the list it brings along.
 */
function catalogue(request: SessionRequest): Record<string, unknown> | null {
  const { provider: described, small_model: small } = inherited(request) as Inherited;
  const [model, provider] = [modelOf(request), providerOf(request)];
  // Without a model it chooses one itself, of whoever lets it in.
  if (model === undefined || provider === null) return null;
  const theirs = knownModels(request.env);
  const asked = [provider, ...(typeof small === "string" ? [providerOfModel(small, request.env)] : [])];
  const known = asked.flatMap((name) => (name !== null && Object.hasOwn(theirs, name) ? [[name, theirs[name]]] : []));
  const name = model.slice(provider.length + 1);
  const own = described?.[provider];
  const listed = Object.hasOwn(theirs, provider) ? (theirs[provider] as Described | null) : null;
  const isDescribed = Object.hasOwn(own?.models ?? {}, name) && (own?.npm !== undefined || listed !== null);
  return isDescribed || Object.hasOwn(listed?.models ?? {}, name) ? Object.fromEntries(known) : null;
}

interface Described {
  readonly npm?: unknown;
  readonly models?: Readonly<Record<string, unknown>> | null;
}

interface Inherited {
  readonly provider?: Readonly<Record<string, Described | null | undefined>> | null;
  readonly small_model?: unknown;
}

/** The list its own runs have fetched. */
function knownModels({ XDG_CACHE_HOME, HOME }: SessionRequest["env"]): Readonly<Record<string, unknown>> {
  const text = readIfThere(join(XDG_CACHE_HOME || join(HOME ?? "/nonexistent", ".cache"), CATALOGUE));
  try {
    const read: unknown = text === null ? {} : JSON.parse(text);
    return typeof read === "object" && read !== null ? (read as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const CATALOGUE = "opencode/models.json";

/** A home it can start in: folders that stop it from installing packages over the network, and what it must know of models. */
export function prepareOpencodeHome(request: SessionRequest): void {
  const { home } = request;
  const models = catalogue(request);
  if (models !== null) writeInside(home, join(".cache", CATALOGUE), JSON.stringify(models), 0o644);
  const plugin = "node_modules/@opencode-ai/plugin/package.json";
  const files = {
    "package.json": "{}",
    "package-lock.json": "{}",
    "bun.lock": "",
    ".gitignore": "",
    [plugin]: '{"name":"@opencode-ai/plugin","version":"0.0.0"}',
  };
  for (const folder of [".config/opencode", ".opencode"]) {
    for (const [name, content] of Object.entries(files)) writeInside(home, join(folder, name), content, 0o644);
  }
}
