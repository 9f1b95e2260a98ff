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
    agent: { [OPENCODE_AGENT]: { mode: "primary", prompt: rolePrompt, permission: permissions(request) } },
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

/** A home it can start in: folders that stop it from installing packages over the network. */
export function prepareOpencodeHome({ home }: SessionRequest): void {
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
