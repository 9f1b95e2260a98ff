// What an agent is told instead of a value: where to ask, and a stand-in for programs that insist on a token. A program that
// reads the address and the token from the variables it always had works as it is.
import type { Credential } from "../schema/vault.js";
import { isPublicField, secretsOf, variablesOf } from "../vault/index.js";

/** Stands where a secret was. Whoever sends it anywhere sends nothing. */
export const PLACEHOLDER = "used-through-the-broker";

const ADDRESS = /^(?:base_?url|url|endpoint|origin|uri|api_?url)$/i;

/** What is told instead of a credential. */
export interface StandIn {
  readonly value: string | Record<string, unknown>;
  readonly env: Readonly<Record<string, string>>;
}

/** A web service: `<NAME>_URL` leads to it, and every field is as it was, its secrets excepted. */
export function httpStandIn({ name, value }: Pick<Credential, "name" | "value">, urls: readonly string[]): StandIn {
  const standIn = typeof value === "string" ? PLACEHOLDER : (replaced(value, urls[0]!) as Record<string, unknown>);
  const own = variablesOf({ name, value: standIn });
  const base = Object.keys(variablesOf({ name, value: "" }))[0]!;
  const more = urls.map((url, index) => [`${base}_URL${index === 0 ? "" : `_${index + 1}`}`, url]);
  const fields = typeof standIn === "string" ? { token: standIn } : standIn;
  return { value: { ...fields, url: urls[0]! }, env: { ...own, ...Object.fromEntries(more) } };
}

function replaced(value: unknown, url: string, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, url, key));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([field, item]) => [field, replaced(item, url, field)]));
  if (typeof value !== "string" && typeof value !== "number") return value;
  if (ADDRESS.test(key)) return url;
  const isSecret = !isPublicField(key) || secretsOf({ name: "", value: { [key]: value } }).length > 0;
  return isSecret ? PLACEHOLDER : value;
}

/**
 * git's own settings, as variables: the repository's address means another one. A credential helper would give git the
 * token, and with it whoever runs git.
 */
export function gitSettings(
  repositories: readonly { readonly from: string; readonly to: string }[],
): Record<string, string> {
  const rows = repositories.flatMap(({ from, to }) => {
    const bare = from.replace(/\.git$/, "");
    return [`${bare}.git`, bare].map((written) => [`url.${to}.insteadOf`, written] as const);
  });
  if (rows.length === 0) return {};
  return Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(rows.length)],
    // Nobody can be asked for a password.
    ["GIT_TERMINAL_PROMPT", "0"],
    ...rows.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
}

interface DatabaseDoor {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** A database: the same names, another way in. */
export function databaseStandIn({ name, value }: Pick<Credential, "name" | "value">, door: DatabaseDoor): StandIn {
  const { host, port, user, password, database } = door;
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  const url = `postgres://${login}@${host}:${port}/${encodeURIComponent(database)}?sslmode=disable`;
  const base = Object.keys(variablesOf({ name, value: "" }))[0]!;
  if (typeof value === "string") return { value: url, env: { [base]: url, [`${base}_URL`]: url } };
  const own: Record<string, unknown> = {
    ...renamed(value, ["host", "hostname"], host, "host"),
    ...renamed(value, ["port"], port, "port"),
    ...renamed(value, ["user", "username"], user, "user"),
    ...renamed(value, ["password"], password, "password"),
    ...renamed(value, ["database", "dbname", "db"], database, "database"),
    ...renamed(value, ["url", "connection_string", "dsn", "uri"], url, "url"),
    sslmode: "disable",
  };
  return { value: own, env: variablesOf({ name, value: own }) };
}

/** Under the names it had; under the usual one where it had none. */
function renamed(value: object, names: readonly string[], now: unknown, usual: string): Record<string, unknown> {
  const had = names.filter((name) => name in value);
  return Object.fromEntries((had.length === 0 ? [usual] : had).map((name) => [name, now]));
}

/** What makes usual programs go through the proxy and believe it: curl, git, Python, Node, and whatever OpenSSL serves. */
export function proxyVariables({
  url,
  authority,
  roots,
}: {
  readonly url: string;
  /** A file with our certificate alone. */
  readonly authority: string;
  /** A file with the usual roots and ours. */
  readonly roots: string;
}): Record<string, string> {
  const proxies = ["HTTPS_PROXY", "https_proxy"];
  const trusts = "SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT".split(" ");
  return {
    ...Object.fromEntries(proxies.map((name) => [name, url])),
    ...Object.fromEntries(trusts.map((name) => [name, roots])),
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
    NODE_EXTRA_CA_CERTS: authority,
    NODE_USE_ENV_PROXY: "1",
  };
}
