// Where the fleet's server is and who asks: flags first, then the environment in the words of the nats program, then
// `.nexus/config.yml`, then a context of the nats program. Secrets come from files or the environment, never from arguments.
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { fromSystemError, NutError, shellWord } from "../errors.js";
import type { Context } from "../operation.js";
import type { FleetConfig } from "../schema/catalog.js";

/** As flags and the configuration name them. Paths are relative to whoever says them. */
export type Address = Readonly<Partial<FleetConfig>>;

export interface ServerSettings {
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly creds?: string;
  readonly nkey?: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly inbox?: string;
}

interface Sources {
  readonly flags: Address;
  readonly config: Address;
  /** The folder of `.nexus/config.yml`. */
  readonly root: string;
}

/** Throws FLEET_NO_SERVER, FLEET_INSECURE or a refusal that names the file. */
export function serverSettings({ flags, config, root }: Sources, { cwd, env, typed }: Context): ServerSettings {
  const named = flags.context ?? env.NATS_CONTEXT ?? config.context;
  const known = named === undefined ? selectedContext(env) : readContext(named, env);
  const path = (name: "creds" | "nkey" | "ca" | "cert" | "key", variable: string): string | undefined => {
    if (flags[name] !== undefined) return resolve(cwd, flags[name]);
    const own = env[variable] ?? "";
    if (own !== "") return resolve(cwd, own);
    if (config[name] !== undefined) return resolve(root, config[name]);
    return known[name] ?? undefined;
  };
  const server = flags.server ?? given(env.NATS_URL) ?? config.server ?? known.url;
  if (server === undefined) {
    const line = typed ?? "nexus fleet jobs";
    throw new NutError("FLEET_NO_SERVER", "no server is named for the fleet", {
      hint: `${line} --server nats://127.0.0.1:4222 (or NATS_URL, or fleet: server: in .nexus/config.yml)`,
    });
  }
  const servers = server.split(",").map((one) => one.trim());
  const tls = servers.map(isSecure).includes(true);
  const passwordFile =
    flags.password_file !== undefined
      ? resolve(cwd, flags.password_file)
      : config.password_file && resolve(root, config.password_file);
  const fields = {
    creds: path("creds", "NATS_CREDS"),
    nkey: path("nkey", "NATS_NKEY"),
    ca: path("ca", "NATS_CA"),
    cert: path("cert", "NATS_CERT"),
    key: path("key", "NATS_KEY"),
    user: flags.user ?? given(env.NATS_USER) ?? config.user ?? known.user,
    password:
      passwordFile === undefined ? (given(env.NATS_PASSWORD) ?? known.password) : readSecret(passwordFile).trim(),
    token: given(env.NATS_TOKEN) ?? known.token,
    inbox: config.inbox ?? known.inbox_prefix,
  };
  const secrets = [fields.creds, fields.nkey, fields.password, fields.token].some((one) => one !== undefined);
  for (const one of servers) assertHeldPrivate(one, tls, secrets);
  return {
    servers: servers.map((one) => one.replace(/^(?:nats|tls):\/\//, "")),
    tls,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  };
}

const given = (text: string | undefined): string | undefined => (text === undefined || text === "" ? undefined : text);

const isSecure = (server: string): boolean => /^tls:\/\//.test(server);

/** Off this machine, requests, results and whoever asks travel encrypted or not at all. */
function assertHeldPrivate(server: string, tls: boolean, secrets: boolean): void {
  if (/^[a-z]+:\/\/[^/]*@/.test(server)) {
    throw new NutError("USAGE", "a server's address holds no user or password: arguments are seen by everyone here", {
      hint: "nexus fleet jobs --server nats://host:4222 --user '<name>' --password-file '<file>'",
    });
  }
  if (!/^(?:nats:\/\/|tls:\/\/)?[\w.:[\]-]+$/.test(server)) {
    throw new NutError("USAGE", `"${server}" is no address of a NATS server`, {
      hint: "nexus fleet jobs --server nats://127.0.0.1:4222 (or tls://host:4222)",
    });
  }
  if (tls || isLoopback(server)) return;
  throw new NutError("FLEET_INSECURE", `${server} is another machine, and nats:// sends everything in clear`, {
    hint: `--server ${shellWord(server.replace(/^(?:nats:\/\/)?/, "tls://"))} (a certificate of your own: --ca '<file>')`,
    data: { server, secrets },
  });
}

function isLoopback(server: string): boolean {
  const host = server.replace(/^[a-z]+:\/\//, "").replace(/:\d+$/, "");
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/.test(host);
}

interface NatsContext {
  readonly url?: string;
  readonly creds?: string;
  readonly nkey?: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly inbox_prefix?: string;
}

function contextFolder(env: Context["env"]): string | null {
  const config = env.XDG_CONFIG_HOME ?? "";
  const home = env.HOME ?? "";
  if (isAbsolute(config)) return join(config, "nats");
  return isAbsolute(home) ? join(home, ".config", "nats") : null;
}

/** The context the nats program would use, where there is one. */
function selectedContext(env: Context["env"]): NatsContext {
  const folder = contextFolder(env);
  if (folder === null || !existsSync(join(folder, "context.txt"))) return {};
  const name = readFileSync(join(folder, "context.txt"), "utf8").trim();
  return name === "" ? {} : readContext(name, env);
}

function readContext(name: string, env: Context["env"]): NatsContext {
  const folder = contextFolder(env);
  const path = folder === null || !/^[\w.-]+$/.test(name) ? null : join(folder, "context", `${name}.json`);
  if (path === null || !existsSync(path)) {
    throw new NutError("FLEET_NO_SERVER", `there is no NATS context "${name}"`, { hint: "nats context ls" });
  }
  let fields: unknown;
  try {
    fields = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new NutError("FLEET_NO_SERVER", `${path} is no NATS context`, { hint: `nats context edit ${name}` });
  }
  const texts = Object.entries(fields as Record<string, unknown>).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string" && pair[1] !== "",
  );
  return Object.fromEntries(texts.map(([key, value]) => [key, value.replace(/^~(?=\/)/, env.HOME ?? "~")]));
}

export function readSecret(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}
