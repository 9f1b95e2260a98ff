// Keys that OpenCode is let in with, and where its settings say they are used: lent, a provider is asked at another address.
import type { SessionRequest } from "./driver.js";
import { isDirect, keyIn, type LoginKey } from "./login-variables.js";

interface Vendor {
  readonly url: string;
  readonly header: string | null;
  readonly variables: readonly string[];
}

const GOOGLE = "https://generativelanguage.googleapis.com/v1beta";

/** As its own list of models has them. */
const VENDORS: Readonly<Record<string, Vendor>> = {
  anthropic: { url: "https://api.anthropic.com/v1", header: "x-api-key", variables: ["ANTHROPIC_API_KEY"] },
  openai: { url: "https://api.openai.com/v1", header: null, variables: ["OPENAI_API_KEY"] },
  google: { url: GOOGLE, header: "x-goog-api-key", variables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"] },
  openrouter: { url: "https://openrouter.ai/api/v1", header: null, variables: ["OPENROUTER_API_KEY"] },
};

/** How the packages that speak to providers carry a key. */
const HEADERS: Readonly<Record<string, string | null>> = {
  "@ai-sdk/openai-compatible": null,
  "@ai-sdk/openai": null,
  "@ai-sdk/anthropic": "x-api-key",
  "@ai-sdk/google": "x-goog-api-key",
};

type Provider = { readonly npm?: unknown; readonly options?: Readonly<Record<string, unknown>> };
type Providers = Readonly<Record<string, Provider | undefined>>;

const addressFor = (provider: string): string =>
  `OPENCODE_LENT_${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_URL`;

/** One for each provider that is paid with a variable and whose address is known. */
export function opencodeKeys(env: SessionRequest["env"], settings: Record<string, unknown>): LoginKey[] {
  if (!isDirect(env)) return [];
  const own = (settings.provider ?? {}) as Providers;
  // These move a vendor's address in a way that is the program's own affair.
  if ((env.ANTHROPIC_BASE_URL ?? env.OPENAI_BASE_URL) !== undefined) return [];
  return [...new Set([...Object.keys(VENDORS), ...Object.keys(own)])].flatMap((name) => {
    const { npm, options = {} } = own[name] ?? {};
    const vendor = VENDORS[name];
    const { baseURL: url = vendor?.url, apiKey } = options;
    const header = npm === undefined ? vendor?.header : HEADERS[String(npm)];
    const [, named] = /^\{env:(\w+)\}$/.exec(String(apiKey)) ?? [];
    const written = apiKey === undefined ? (vendor?.variables ?? []) : named === undefined ? [] : [named];
    const [variable] = written.filter((one) => (env[one] ?? "") !== "");
    if (variable === undefined || header === undefined || !/^https?:\/\/[^{]*$/.test(String(url))) return [];
    return keyIn(env, { variable, address: addressFor(name), url: String(url), header });
  });
}

/** The provider of the chosen model, at the address where its key is lent. */
export function lentProvider(
  settings: Record<string, unknown>,
  provider: string | null,
  { extraEnv = {} }: SessionRequest,
): Record<string, unknown> {
  const baseURL = provider === null ? undefined : extraEnv[addressFor(provider)];
  if (provider === null || baseURL === undefined) return {};
  const all = (settings.provider ?? {}) as Providers;
  const own = all[provider] ?? {};
  return { provider: { ...all, [provider]: { ...own, options: { ...own.options, baseURL } } } };
}

/** What is lent, without what the program would not have had: a variable of another provider would make it look chosen. */
export function withoutOtherProviders(
  { extraEnv = {}, ...request }: SessionRequest,
  settings: Record<string, unknown>,
  { provider, variables }: { readonly provider: string | null; readonly variables: readonly string[] },
): SessionRequest {
  const address = provider === null ? "" : addressFor(provider);
  const dropped = new Set(
    opencodeKeys(request.env, settings).flatMap((key) => [
      ...(key.address === address ? [] : [key.address]),
      ...(variables.includes(key.variable) ? [] : [key.variable]),
    ]),
  );
  return { ...request, extraEnv: Object.fromEntries(Object.entries(extraEnv).filter(([name]) => !dropped.has(name))) };
}
