// Variables by which an agent program logs in and finds its model: of the person's environment these and no others, so that
// a program of one vendor never sees the key of another. Names are as the vendors' own documents have them.
import { basename } from "node:path";
import type { Environment } from "../process/index.js";
import type { DriverName } from "./driver.js";
import { programOf } from "./probe.js";

/** How the person's network is reached. */
const NETWORK = [
  ..."HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy".split(" "),
  ..."SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS".split(" "),
];

const AWS = [
  ..."AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION".split(" "),
  "AWS_BEARER_TOKEN_BEDROCK",
];
const GOOGLE_CLOUD = [
  ..."GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_LOCATION GOOGLE_APPLICATION_CREDENTIALS VERTEX_LOCATION".split(" "),
];
const OPENAI = "OPENAI_API_KEY OPENAI_BASE_URL OPENAI_ORGANIZATION OPENAI_PROJECT".split(" ");

interface Login {
  /** What a person types to log in, where the program has such a command. */
  readonly command?: string;
  readonly always: readonly string[];
  /** Of these, what lets nobody in: the program reads it for something else. */
  readonly unheard?: readonly string[];
  /** Only when the variable is set: another vendor serves the model. */
  readonly when?: Readonly<Record<string, readonly string[]>>;
}

const CLAUDE: Login = {
  command: "claude auth login",
  always: [
    ..."ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS".split(" "),
    ..."ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL".split(" "),
    ..."ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_DEFAULT_HAIKU_MODEL CLAUDE_CODE_OAUTH_TOKEN".split(" "),
  ],
  when: {
    CLAUDE_CODE_USE_BEDROCK: [...AWS, "ANTHROPIC_BEDROCK_BASE_URL", "CLAUDE_CODE_SKIP_BEDROCK_AUTH"],
    CLAUDE_CODE_USE_VERTEX: [
      ...GOOGLE_CLOUD,
      ..."ANTHROPIC_VERTEX_PROJECT_ID ANTHROPIC_VERTEX_BASE_URL CLOUD_ML_REGION CLAUDE_CODE_SKIP_VERTEX_AUTH".split(
        " ",
      ),
    ],
    CLAUDE_CODE_USE_FOUNDRY: "ANTHROPIC_FOUNDRY_API_KEY ANTHROPIC_FOUNDRY_RESOURCE ANTHROPIC_FOUNDRY_BASE_URL".split(
      " ",
    ),
  },
};
const CODEX: Login = { command: "codex login", always: [...OPENAI, "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"] };

/** By the program's name. */
const LOGINS: Readonly<Record<string, Login>> = {
  claude: CLAUDE,
  "claude-agent-acp": CLAUDE,
  // It sends no OPENAI_API_KEY, whatever stands there; codex-acp does.
  codex: { ...CODEX, unheard: ["OPENAI_API_KEY"] },
  "codex-acp": CODEX,
  opencode: { command: "opencode auth login", always: ["OPENCODE_API_KEY"] },
  // Asks for a login when it is started by hand.
  gemini: {
    command: "gemini",
    always: ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL"],
    when: { GOOGLE_GENAI_USE_VERTEXAI: [...GOOGLE_CLOUD, "GOOGLE_API_KEY"] },
  },
  qwen: { command: "qwen auth", always: [...OPENAI, "OPENAI_MODEL", "DASHSCOPE_API_KEY"] },
  copilot: {
    command: "copilot login",
    always: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
    // A provider of the person's own.
    when: {
      COPILOT_PROVIDER_BASE_URL: [
        ..."TYPE API_KEY BEARER_TOKEN WIRE_API AZURE_API_VERSION MODEL_ID WIRE_MODEL"
          .split(" ")
          .map((name) => `COPILOT_PROVIDER_${name}`),
        ..."COPILOT_MODEL COPILOT_OFFLINE".split(" "),
      ],
    },
  },
};

const loginNamed = (program: string): Login | undefined =>
  Object.hasOwn(LOGINS, program) ? LOGINS[program] : undefined;

/** Of the caller's environment what this program needs. `more` are variables its own settings name. */
export function loginEnvironment(
  name: DriverName,
  env: Environment,
  { command = "", more = [] }: { readonly command?: string | undefined; readonly more?: readonly string[] } = {},
): Record<string, string> {
  const program = name === "acp" ? basename(programOf(command)) : name;
  const { always, when = {} } = loginNamed(program) ?? { always: [] };
  const chosen = Object.entries(when).flatMap(([key, names]) => (env[key] === undefined ? [] : [key, ...names]));
  const names = name === "command" ? [] : [...NETWORK, ...always, ...chosen, ...more];
  return Object.fromEntries(names.flatMap((key) => (env[key] === undefined ? [] : [[key, env[key]]])));
}

/**
 * What gets a person in again: the program's own login, or another key where a key is what it was let in with. `own` is the variable a
 * provider of the person's own is paid with.
 */
export function loginCommand(name: DriverName, env: Environment, command = "", own?: string): string | null {
  const login = loginNamed(name === "acp" ? basename(programOf(command)) : name);
  const isHeard = (variable: string) => (env[variable] ?? "") !== "" && login?.unheard?.includes(variable) !== true;
  const key = own ?? login?.always.find((variable) => /_(?:API_KEY|TOKEN)$/.test(variable) && isHeard(variable));
  return key === undefined ? (login?.command ?? null) : `export ${key}='<a key that works>'`;
}

/** Providers of OpenCode whose variables are not simply `<PROVIDER>_API_KEY`. */
const PROVIDERS: Readonly<Record<string, readonly string[]>> = {
  google: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  "google-vertex": GOOGLE_CLOUD,
  "google-vertex-anthropic": GOOGLE_CLOUD,
  "amazon-bedrock": AWS,
  azure: ["AZURE_API_KEY", "AZURE_RESOURCE_NAME"],
  "github-copilot": ["GITHUB_TOKEN"],
  openai: OPENAI,
  anthropic: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
};

/** Tried in this order where no model is named; the first that has a variable set is taken. */
const USUAL_PROVIDERS = ["opencode", "anthropic", "openai", "google", "openrouter"];

/** What OpenCode needs for a model such as `anthropic/claude-…`. */
export function providerVariables(model: string | undefined, env: Environment): readonly string[] {
  const provider = providerOfModel(model, env);
  return provider === null ? [] : variablesOf(provider);
}

/** Whose model it is; without one, the first of the usual providers that the person can pay. */
export function providerOfModel(model: string | undefined, env: Environment): string | null {
  if (model?.includes("/") === true) return model.slice(0, model.indexOf("/"));
  return USUAL_PROVIDERS.find((name) => variablesOf(name).some((variable) => env[variable] !== undefined)) ?? null;
}

const variablesOf = (provider: string): readonly string[] =>
  PROVIDERS[provider] ?? [`${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`];

/** A vendor's key in a variable, and the variable that tells the program where to use it. */
export interface LoginKey {
  readonly variable: string;
  readonly address: string;
  /** Where it is used: the person's own choice, or the vendor's address. */
  readonly url: string;
  /** The header that carries it; null: as a bearer. */
  readonly header: string | null;
  readonly value: string;
}

type KnownKey = Pick<LoginKey, "variable" | "address" | "header"> & { readonly vendor: string };

const ANTHROPIC = { address: "ANTHROPIC_BASE_URL", vendor: "https://api.anthropic.com" };
const CLAUDE_KEYS: readonly KnownKey[] = [
  { ...ANTHROPIC, variable: "ANTHROPIC_AUTH_TOKEN", header: null },
  { ...ANTHROPIC, variable: "ANTHROPIC_API_KEY", header: "x-api-key" },
];

/** Programs whose address is a variable beside their key. Where it is a setting, the driver knows: `Driver.keys`. */
const KEYS: Readonly<Record<string, readonly KnownKey[]>> = {
  claude: CLAUDE_KEYS,
  "claude-agent-acp": CLAUDE_KEYS,
  gemini: [
    {
      variable: "GEMINI_API_KEY",
      address: "GOOGLE_GEMINI_BASE_URL",
      vendor: "https://generativelanguage.googleapis.com",
      header: "x-goog-api-key",
    },
  ],
  qwen: [{ variable: "OPENAI_API_KEY", address: "OPENAI_BASE_URL", vendor: "https://api.openai.com/v1", header: null }],
};

/** A shorter one is no key, and would be found in every answer. */
const SHORTEST_KEY = 16;

/** The key in a variable, where it is one. */
export function keyIn(env: Environment, key: Omit<LoginKey, "value">): LoginKey[] {
  const value = env[key.variable] ?? "";
  return value.length < SHORTEST_KEY ? [] : [{ ...key, value }];
}

/** Whether the vendor is reached as it is: a broker uses no proxy. */
export const isDirect = (env: Environment): boolean =>
  ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].every((key) => (env[key] ?? "") === "");

/**
 * Keys of the person's that an agent need not see. Nothing where another service than the vendor's is asked for the model, or
 * where the vendor is reached through a proxy, which a broker does not use.
 */
export function loginKeys(name: DriverName, env: Environment, command = ""): LoginKey[] {
  const program = name === "acp" ? basename(programOf(command)) : name;
  const elsewhere = Object.keys(loginNamed(program)?.when ?? {}).some((key) => env[key] !== undefined);
  if (elsewhere || !isDirect(env)) return [];
  const found = (Object.hasOwn(KEYS, program) ? KEYS[program]! : []).flatMap(({ vendor, ...key }) =>
    keyIn(env, { ...key, url: env[key.address] || vendor }),
  );
  // Two keys for one address are two logins: which of them is used is the program's affair.
  return found.length > 1 ? [] : found;
}
