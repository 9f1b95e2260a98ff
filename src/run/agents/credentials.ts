// The credentials a run may use: those the request scopes, opened once at the start if a key is there. What a broker can
// serve is lent: agents get a way to use it and never the value. The rest is in the environment of the agents, and said.
import { randomBytes } from "node:crypto";
import { type AcceptanceCredential, planChecks } from "../../acceptance/index.js";
import {
  type Admission,
  type Broker,
  type BrokerInput,
  type BrokerUse,
  describePolicy,
  PLACEHOLDER,
  type Policy,
} from "../../broker/index.js";
import type { LoginKey } from "../../drivers/index.js";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { RequestCredentials } from "../../request/vault/credentials.js";
import { Lending, type Opened, trustProxy } from "../../request/vault/lending.js";
import type { Manifest } from "../../schema/manifest.js";
import { expiryState } from "../../vault/index.js";

/** What one agent is given, until it ends. */
export interface AgentSecrets {
  readonly env: Readonly<Record<string, string>>;
  /** One line each, for its prompt. */
  readonly lines: readonly string[];
  readonly names: readonly string[];
  /** Folders it must be able to read. */
  readonly folders: readonly string[];
  close(): Promise<void>;
}

/** Values stay with us as far as that can be, and there is a way to take them out of any text. A run may outlast a credential. */
export interface RunSecrets {
  /** Those that have not expired by now. */
  readonly names: readonly string[];
  /** Variables of those that are handed out. */
  readonly env: Readonly<Record<string, string>>;
  readonly scrub: (text: string) => string;
  /** Whether bytes hold one of the values. */
  readonly leaks: (bytes: Uint8Array) => boolean;
  readonly read: (name: string) => Promise<AcceptanceCredential | null>;
  /** `keys` are the person's own, for the agent's program. */
  readonly admit: (agent: string, role: string, keys?: readonly LoginKey[]) => Promise<AgentSecrets>;
  /** Nobody can use anything any more. */
  readonly close: () => Promise<void>;
}

export interface SecretsInput {
  /** Folder of the request. */
  readonly request: string;
  readonly manifest: Manifest;
  readonly identity: readonly string[];
  readonly context: Context;
  /** Names that are handed out although they could be lent, by the person's word. */
  readonly handOut?: readonly string[];
  /** Origins of this machine or its network the person named. */
  readonly allowOrigins?: readonly string[];
  /** The person's keys for the programs of agents. Where they are used is the person's own choice, wherever that is. */
  readonly keys?: readonly LoginKey[];
  readonly onUse?: (use: BrokerUse) => void;
  readonly openBroker?: (input: BrokerInput) => Promise<Broker>;
}

export interface OpenedSecrets {
  readonly secrets: RunSecrets;
  /** What a person must know of them, one sentence each; told and recorded. */
  readonly warnings: readonly string[];
}

/** A key that was named and does not fit is an error; without one the agents go without, and a warning says so. */
export async function openSecrets(input: SecretsInput): Promise<OpenedSecrets> {
  const { request, manifest, identity, context, handOut = [], allowOrigins = [], keys = [], onUse } = input;
  const credentials = new RequestCredentials({ request, identity, context, onlyNamed: true });
  const scopes = manifest.credentials?.scopes ?? [];
  const lending = new Lending({
    credentials,
    manifest,
    endpoints: scopes.length === 0 ? null : planChecks(request, manifest).endpoints,
    handOut,
    broker: {
      allowOrigins: [...allowOrigins, ...keys.map(({ url }) => url)],
      onUse: (use) => {
        // What an agent asks its model is no use of the request's credentials.
        if (!isLogin(use.name)) onUse?.(use);
      },
    },
    ...(input.openBroker === undefined ? {} : { open: input.openBroker }),
  });
  const usable = new Map<string, Opened>();
  const taken = new Set<string>();
  const warnings: string[] = [];
  for (const { name } of scopes) {
    try {
      const opened = await lending.open(name, "run");
      const variables = Object.keys(opened.given.credential.env);
      const twice = variables.find((variable) => taken.has(variable));
      if (twice !== undefined) warnings.push(`credential "${name}" is not used: ${twice} is set by another`);
      else {
        usable.set(name, opened);
        for (const variable of variables) taken.add(variable);
        if (opened.handedOut !== null) warnings.push(handedOutWords(opened));
      }
    } catch (error) {
      if (!(error instanceof NutError) || (identity.length > 0 && isClosed(error))) {
        await lending.close();
        throw error;
      }
      if (isClosed(error)) {
        warnings.push(`agents go without the request's credentials: ${error.message}`);
        break;
      }
      warnings.push(`credential "${name}" is not used: ${error.message}`);
    }
  }
  const unknown = handOut.find((name) => !scopes.some((scope) => scope.name === name));
  if (unknown !== undefined) {
    await lending.close();
    throw new NutError("CREDENTIAL_NOT_FOUND", `--hand-out ${unknown}: the request has no such credential`, {
      hint: "nutshell credentials",
    });
  }
  const lasting = () =>
    [...usable.values()].filter(({ policy }) => {
      const state = expiryState(policy.limits.expiresAt, context.now());
      return state !== "expired" && state !== "unreadable";
    });
  const read = async (name: string): Promise<AcceptanceCredential | null> => {
    const opened = lasting().find((one) => one.name === name);
    if (opened === undefined) return null;
    if (opened.handedOut !== null) return opened.given.credential;
    return lending.lendToChecks(opened);
  };
  /** Where vendors are, by the variable of the key that is lent. */
  const vendors = new Map<string, string>();
  return {
    warnings,
    secrets: {
      get names() {
        return lasting().map(({ name }) => name);
      },
      get env() {
        return handedOutTo(lasting());
      },
      scrub: (text) => ofVendors(credentials.scrub(text), vendors),
      leaks: (bytes) => credentials.leaks(bytes),
      read,
      admit: async (agent, role, logins = []) => {
        for (const key of logins) await lendKey(lending, key);
        const own = lasting().filter(({ policy }) => isFor(policy, role));
        const names = own.filter(({ handedOut }) => handedOut === null).map(({ name }) => name);
        const all = [...names, ...logins.map(loginName)];
        const proxy = wantsProxy(own, context.env) ? { proxy: "tunnel" as const } : {};
        const admitted =
          all.length === 0 ? null : await (await lending.broker()).admit({ by: agent, role, names: all, ...proxy });
        for (const { variable, url } of logins) vendors.set(variable, url);
        const trust = admitted?.proxy === undefined ? null : trustProxy(admitted.proxy, context.env);
        return {
          env: {
            ...handedOutTo(own),
            ...withoutLogins(admitted?.env ?? {}, logins),
            ...Object.assign({}, ...logins.map((key) => loginVariables(key, admitted!))),
            ...trust?.env,
            ...(admitted === null ? {} : direct(context.env)),
          },
          lines: own.map(agentLine),
          names: own.map(({ name }) => name),
          folders: [...(admitted?.folders ?? []), ...(trust === null ? [] : [trust.folder])],
          close: async () => {
            trust?.remove();
            await admitted?.close();
          },
        };
      },
      close: () => lending.close(),
    },
  };
}

/** No credential of a request can be called this. */
const LOGIN = `login-${randomBytes(8).toString("hex")}-`;
const loginName = ({ variable }: LoginKey): string => `${LOGIN}${variable}`;
const isLogin = (name: string): boolean => name.startsWith(LOGIN);

async function lendKey(lending: Lending, key: LoginKey): Promise<void> {
  const { value, url, header } = key;
  const restrictions = { base_url: url, ...(header === null ? {} : { header }) };
  const credential = { name: loginName(key), type: "bearer_token", value, restrictions };
  await lending.lendOnce({ credential, scope: undefined, expiresAt: null, manifest: {}, endpoints: null });
}

/** What the program reads, under the names it knows. */
function loginVariables(key: LoginKey, { values }: Admission): Record<string, string> {
  const value = values[loginName(key)];
  const url = typeof value === "object" ? String(value.url) : "";
  return { [key.variable]: PLACEHOLDER, [key.address]: url };
}

/** The way to a vendor through the broker, whichever session it was lent to. */
const WAY = new RegExp(`http://127\\.0\\.0\\.1:\\d+/[\\w-]+/${LOGIN}(\\w+)`, "g");

/** What a program says of the broker's address is about the vendor. */
function ofVendors(text: string, vendors: ReadonlyMap<string, string>): string {
  if (!text.includes(LOGIN)) return text;
  return text.replace(WAY, (way, variable: string) => vendors.get(variable) ?? way);
}

/** The names the broker gives them are of no use to a program. */
function withoutLogins(env: Readonly<Record<string, string>>, keys: readonly LoginKey[]): Record<string, string> {
  const given = keys.flatMap((key) => {
    const name = loginName(key)
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, "_");
    return [name, `${name}_URL`];
  });
  return Object.fromEntries(Object.entries(env).filter(([name]) => !given.includes(name)));
}

/** A service with an https address of its own is reached there too, unless the person's network has a proxy already. */
function wantsProxy(own: readonly Opened[], env: Context["env"]): boolean {
  const taken = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].some((name) => (env[name] ?? "") !== "");
  return !taken && own.some(({ handedOut, policy }) => handedOut === null && hasHttps(policy));
}

const hasHttps = ({ service }: Policy): boolean =>
  service?.kind === "http" && service.bases.some((base) => base.startsWith("https:"));

const isFor = ({ limits: { roles } }: Policy, role: string): boolean => roles === null || roles.includes(role);

const handedOutTo = (all: readonly Opened[]): Record<string, string> =>
  Object.assign({}, ...all.filter((one) => one.handedOut !== null).map(({ given }) => given.credential.env));

/** The broker is on this machine, and no proxy leads there. */
function direct(env: Context["env"]): Record<string, string> {
  const named = [env.NO_PROXY ?? env.no_proxy ?? "", "127.0.0.1"].filter((part) => part !== "").join(",");
  return { NO_PROXY: named, no_proxy: named };
}

function handedOutWords({ name, policy, handedOut }: Opened): string {
  const promised = policy.promised.length === 0 ? "" : `; only promised: ${policy.promised.join("; ")}`;
  return `credential "${name}" is handed out to agents, who see its value: ${handedOut}${promised}`;
}

/** What an agent is told of one credential. */
function agentLine({ name, policy, handedOut, given }: Opened): string {
  if (handedOut !== null) return name;
  const [variable] = Object.keys(given.credential.env);
  return describePolicy(policy, variable!);
}

/** The vault as a whole stays closed; one expired or unsafe credential is another matter. */
const isClosed = ({ code }: NutError) => code.startsWith("VAULT_") || code.startsWith("IDENTITY_");
