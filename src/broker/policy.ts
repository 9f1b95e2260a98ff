// What a credential allows, in one vocabulary, read from the vault, the manifest and apis/endpoints.json. Pure. What is not
// understood here is nobody's limit but a promise, and is told as such.
import type { Endpoints } from "../schema/endpoints.js";
import type { CredentialScope, Manifest } from "../schema/manifest.js";
import type { Credential } from "../schema/vault.js";
import { type PathRule, pathRule } from "./path-rules.js";

/** Where the secret goes in a request. */
export type HttpAuth =
  | { readonly scheme: "bearer"; readonly secret: string }
  | { readonly scheme: "basic"; readonly user: string; readonly secret: string }
  | { readonly scheme: "header"; readonly header: string; readonly secret: string }
  | { readonly scheme: "query"; readonly parameter: string; readonly secret: string };

export interface HttpService {
  readonly kind: "http";
  /** Where it may be used, each with the path everything lies below; without a slash at the end. At least one. */
  readonly bases: readonly string[];
  readonly auth: HttpAuth;
}

export interface GitService {
  readonly kind: "git";
  /** The repository as it was written, without a slash at its end. */
  readonly repository: string;
  readonly auth: HttpAuth;
}

export interface PostgresService {
  readonly kind: "postgresql";
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly sslmode: string;
}

export interface SshService {
  readonly kind: "ssh";
  readonly key: string;
  /** Lines of a known_hosts file; without them no host can be told from another. */
  readonly knownHosts: readonly string[];
  readonly hosts: readonly string[];
  readonly user: string | null;
}

type Service = HttpService | GitService | PostgresService | SshService;

export interface Limits {
  /** Only what changes nothing. */
  readonly readOnly: boolean;
  /** null: every one, as far as `readOnly` allows. */
  readonly methods: readonly string[] | null;
  readonly paths: readonly PathRule[] | null;
  /** Pairs that were declared; one of them must fit. */
  readonly endpoints: readonly { readonly method: string; readonly path: PathRule }[] | null;
  readonly tables: readonly string[] | null;
  readonly rate: { readonly calls: number; readonly perMs: number } | null;
  readonly calls: number | null;
  readonly bytes: number | null;
  /** Times of a day in UTC, in minutes; it may go over midnight. */
  readonly window: { readonly from: number; readonly to: number } | null;
  readonly notBefore: string | null;
  readonly expiresAt: string | null;
  readonly roles: readonly string[] | null;
}

export interface Policy {
  readonly name: string;
  readonly type: string;
  readonly limits: Limits;
  /** null: it can only be handed out, for the reason `why`. */
  readonly service: Service | null;
  readonly why: string | null;
  /** Limits that are written down and that nothing here holds. */
  readonly promised: readonly string[];
}

export interface PolicyInput {
  readonly credential: Pick<Credential, "name" | "type" | "value" | "scopes" | "restrictions">;
  readonly scope: CredentialScope | undefined;
  readonly expiresAt: string | null;
  readonly manifest: Pick<Manifest, "apis" | "credentials">;
  readonly endpoints: Endpoints | null;
}

export function policyOf(input: PolicyInput): Policy {
  const { credential } = input;
  const { service, why } = serviceOf(input);
  const { limits, promised } = limitsOf(input, service);
  return { name: credential.name, type: credential.type, limits, service, why, promised };
}

type Served = Pick<Policy, "service" | "why">;

const HTTP_TYPES =
  /^(?:https?|bearer|bearer[_-]?token|token|api[_-]?token|access[_-]?token|oauth2?(?:[_-]?token)?|jwt|api[_-]?key|apikey|basic(?:[_-]?auth)?|http[_-]?basic|header|query(?:[_-]?key)?|webhook|rest(?:[_-]?api)?)$/i;
const POSTGRES_TYPES = /^postgres(?:ql)?$/i;
const GIT_TYPES = /^(?:git(?:[_-]?(?:https?|token|repository))?|github[_-]?token|gitlab[_-]?token)$/i;
const SSH_TYPES = /^ssh(?:[_-]?(?:private[_-]?)?key)?$/i;

/** Whether the type alone says that it can be used without being seen; the vault may be closed. */
export function servableType(type: string): "http" | "postgresql" | "git" | "ssh" | null {
  if (POSTGRES_TYPES.test(type)) return "postgresql";
  if (GIT_TYPES.test(type)) return "git";
  if (SSH_TYPES.test(type)) return "ssh";
  return HTTP_TYPES.test(type) ? "http" : null;
}

function serviceOf(input: PolicyInput): Served {
  const { type } = input.credential;
  switch (servableType(type)) {
    case "postgresql":
      return postgresOf(input);
    case "git":
      return gitOf(input);
    case "ssh":
      return sshOf(input);
    case "http":
      return httpOf(input);
    default:
      return { service: null, why: `nothing here speaks for a credential of type ${type}` };
  }
}

function httpOf(input: PolicyInput): Served {
  const auth = authOf(input);
  if (auth === null) return { service: null, why: "its value does not say which of its fields is the secret" };
  const bases = basesOf(input);
  if (bases.length === 0) {
    return {
      service: null,
      why: "it names no address: nutshell add-credential --restrict base_url=https://… or apis/endpoints.json says where it may go",
    };
  }
  return { service: { kind: "http", bases, auth }, why: null };
}

const SECRET_FIELDS = [
  "token",
  "access_token",
  "bearer_token",
  "api_key",
  "apikey",
  "key",
  "secret",
  "value",
  "password",
];

function authOf({ credential, endpoints }: PolicyInput): HttpAuth | null {
  const { value, type, name, restrictions = {} } = credential;
  const fields = typeof value === "string" ? {} : value;
  const declared = endpoints?.auth?.credential_ref === name ? endpoints.auth : undefined;
  const secret = typeof value === "string" ? value : textIn(fields, SECRET_FIELDS);
  // What stands in a header's line must not end it.
  if (secret === null || secret === "" || /[\r\n\0]/.test(secret.trim()) || ANY_URL.test(secret)) return null;
  const word = (key: string) => text(restrictions[key]) ?? text(fields[key]) ?? text(declared?.[key]);
  const user = textIn(fields, ["username", "user"]);
  const kind = `${type} ${declared?.type ?? ""}`.toLowerCase();
  const parameter = word("query") ?? (word("in") === "query" ? word("name") : null);
  if (parameter !== null) return { scheme: "query", parameter, secret: secret.trim() };
  const header = word("header") ?? (word("in") === "header" ? word("name") : null);
  if (header !== null) return /^[\w-]+$/.test(header) ? { scheme: "header", header, secret: secret.trim() } : null;
  if (user !== null || kind.includes("basic")) {
    const pair = /^([^:]*):([\s\S]*)$/.exec(secret.trim());
    if (user === null && pair !== null) return { scheme: "basic", user: pair[1]!, secret: pair[2]! };
    return { scheme: "basic", user: user ?? "", secret: secret.trim() };
  }
  if (/query/.test(kind)) return { scheme: "query", parameter: "api_key", secret: secret.trim() };
  if (/api[_-]?key|header/.test(type.toLowerCase()) && !/bearer/.test(kind))
    return { scheme: "header", header: "X-API-Key", secret: secret.trim() };
  return { scheme: "bearer", secret: secret.trim() };
}

const ADDRESS_KEYS = ["base_url", "url", "urls", "origin", "origins", "host", "hosts", "domain", "domains", "endpoint"];

/** What the publisher wrote narrows what the value says, and that what the request says in general. */
function basesOf({ credential, manifest, endpoints }: PolicyInput): string[] {
  const { name, value, restrictions = {} } = credential;
  const written = ADDRESS_KEYS.flatMap((key) => list(restrictions[key]));
  if (written.length > 0) return unique(written.flatMap(baseOf));
  const fields = typeof value === "string" ? {} : value;
  const own = ADDRESS_KEYS.flatMap((key) => list(fields[key]));
  if (own.length > 0) return unique(own.flatMap(baseOf));
  if (endpoints?.auth?.credential_ref === name && endpoints.base_url !== undefined) return baseOf(endpoints.base_url);
  const urls = manifest.apis?.base_urls ?? {};
  if (Object.hasOwn(urls, name)) return baseOf(urls[name]!);
  const others = (manifest.credentials?.scopes ?? []).filter(({ type }) => servableType(type) === "http");
  // One key and one service: nothing else can be meant.
  if (others.length === 1 && others[0]!.name === name) {
    const all = unique([...Object.values(urls), ...list(endpoints?.base_url)].flatMap(baseOf));
    if (new Set(all.map((base) => new URL(base).origin)).size === 1) return all.slice(0, 1);
  }
  return [];
}

const ANY_URL = /^[a-z][a-z0-9+.-]*:\/\//i;

/** `api.example.org` is https. Anything with a user, a query or tricks in its path is no base. */
function baseOf(written: string): string[] {
  const url = ANY_URL.test(written) ? written : `https://${written}`;
  if (!URL.canParse(url)) return [];
  const { protocol, username, password, search, hash, origin, pathname, hostname } = new URL(url);
  if (!/^https?:$/.test(protocol) || username !== "" || password !== "" || search !== "" || hash !== "") return [];
  if (hostname.includes("*") || /%|\\/.test(pathname)) return [];
  return [`${origin}${pathname.replace(/\/+$/, "")}`];
}

function gitOf(input: PolicyInput): Served {
  const { value, restrictions = {} } = input.credential;
  const fields = typeof value === "string" ? {} : value;
  const written = ["repository", "repo", "url", "base_url"].flatMap((key) => [
    ...list(restrictions[key]),
    ...list(fields[key]),
  ])[0];
  const secret = typeof value === "string" ? value.trim() : textIn(fields, SECRET_FIELDS);
  if (written === undefined)
    return { service: null, why: "it names no repository: nutshell add-credential --restrict repository=https://…" };
  const [repository] = baseOf(written);
  if (repository === undefined || new URL(repository).pathname === "/")
    return { service: null, why: "its repository is no https address" };
  if (secret === null || secret === "" || /[\r\n\0]/.test(secret))
    return { service: null, why: "its value does not say which of its fields is the secret" };
  const user = textIn(fields, ["username", "user"]) ?? "x-access-token";
  return { service: { kind: "git", repository, auth: { scheme: "basic", user, secret } }, why: null };
}

function sshOf({ credential }: PolicyInput): Served {
  const { value, restrictions = {} } = credential;
  const fields = typeof value === "string" ? {} : value;
  const key = typeof value === "string" ? value : textIn(fields, ["private_key", "key", "value"]);
  if (key === null || !/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key))
    return { service: null, why: "its value holds no private key that ssh-add reads" };
  const hosts = ["host", "hosts"].flatMap((word) => [...list(restrictions[word]), ...list(fields[word])]);
  const known = ["known_hosts", "host_key", "host_keys"].flatMap((word) => [
    ...lines(restrictions[word]),
    ...lines(fields[word]),
  ]);
  const user = text(restrictions.user) ?? textIn(fields, ["username", "user"]);
  return { service: { kind: "ssh", key: `${key.trim()}\n`, knownHosts: known, hosts: unique(hosts), user }, why: null };
}

function postgresOf({ credential }: PolicyInput): Served {
  const { value } = credential;
  const fields = typeof value === "string" ? { url: value } : value;
  const url = textIn(fields, ["url", "connection_string", "dsn", "uri"]);
  const login = url === null ? postgresFields(fields) : postgresUrl(url);
  if (login === null) return { service: null, why: "its value does not say where the database is, and as whom" };
  if (login.host.startsWith("/") || login.host.startsWith("@"))
    return { service: null, why: "its database is behind a socket of this machine" };
  return { service: login, why: null };
}

function postgresUrl(url: string): PostgresService | null {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(url);
  if (!/^postgres(ql)?:$/.test(protocol) || hostname === "") return null;
  const sslmode = searchParams.get("sslmode");
  return postgresFields({
    host: decodeURIComponent(hostname.replace(/^\[|\]$/g, "")),
    ...(port === "" ? {} : { port }),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ...(sslmode === null ? {} : { sslmode }),
  });
}

function postgresFields(fields: Readonly<Record<string, unknown>>): PostgresService | null {
  const host = textIn(fields, ["host", "hostname"]);
  const user = textIn(fields, ["user", "username"]);
  if (host === null || host === "" || user === null || user === "") return null;
  const port = Number(textIn(fields, ["port"]) ?? 5432);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return null;
  return {
    kind: "postgresql",
    host,
    port,
    user,
    password: textIn(fields, ["password"]) ?? "",
    database: textIn(fields, ["database", "dbname", "db"]) || user,
    sslmode: textIn(fields, ["sslmode"]) ?? "prefer",
  };
}

const WRITES = /^(?:write|rw|read-?write|admin|full|owner|all|push|delete|update|insert|create|maintain|invoke)$/i;
const READS = /^(?:r|ro|read|read-?only|readonly|select|pull|fetch|clone|get|view|list)$/i;

/** Keys of restrictions that say where, not how much. */
const PLACES = new Set([
  ...ADDRESS_KEYS,
  ..."repository repo header query in name known_hosts host_key host_keys user rate_limit".split(" "),
]);

function limitsOf(
  { credential, scope, expiresAt, endpoints }: PolicyInput,
  service: Service | null,
): { readonly limits: Limits; readonly promised: readonly string[] } {
  const { name, restrictions = {}, scopes = [] } = credential;
  const promised: string[] = [];
  const kind = service?.kind;
  const take = <T>(key: string, kinds: readonly (Service["kind"] | "any")[], read: (value: unknown) => T | null) => {
    if (restrictions[key] === undefined) return null;
    const taken = read(restrictions[key]);
    // Who it is for is held whichever way it is given.
    const isHeld = key === "roles" || (kind !== undefined && (kinds.includes("any") || kinds.includes(kind)));
    if (taken === null || !isHeld) promised.push(`${key}: ${shown(restrictions[key])}`);
    return taken;
  };
  const levels = [...scopes, ...(scope?.access_level ?? "").split(/[-,\s/]+/)].filter((level) => level !== "");
  const reads = levels.some((level) => READS.test(level)) || scope?.access_level === "read-only";
  const writes = levels.some((level) => WRITES.test(level));
  const rate = text(restrictions.rate_limit) ?? scope?.rate_limit ?? null;
  const readRate = rate === null ? null : rateOf(rate);
  if (rate !== null && (readRate === null || kind === undefined)) promised.push(`rate_limit: ${rate}`);
  for (const level of levels) {
    if (!READS.test(level) && !WRITES.test(level) && level !== "only") promised.push(`scope: ${level}`);
  }
  if (reads && !writes && (kind === undefined || kind === "ssh")) promised.push("access: read");
  const named = endpoints?.auth?.credential_ref === name && kind === "http" ? endpoints.endpoints : [];
  const declared = named.length === 0 ? null : named;
  const limits: Limits = {
    readOnly: reads && !writes,
    methods: take("methods", ["http"], (value) => list(value).map((method) => method.toUpperCase())),
    paths: take("paths", ["http"], (value) => list(value).map(pathRule)),
    endpoints: declared?.map(({ method, path }) => ({ method: method.toUpperCase(), path: pathRule(path) })) ?? null,
    tables: take("tables", ["postgresql"], list),
    rate: readRate,
    calls: take("calls", ["any"], whole) ?? take("max_calls", ["any"], whole),
    bytes: take("bytes", ["http", "git"], sizeOf) ?? take("max_bytes", ["http", "git"], sizeOf),
    window: take("window", ["any"], windowOf),
    notBefore: take("not_before", ["any"], (value) => (Number.isNaN(Date.parse(String(value))) ? null : String(value))),
    expiresAt,
    roles: take("roles", ["any"], list),
  };
  const known = "methods paths tables calls max_calls bytes max_bytes window not_before roles".split(" ");
  for (const [key, value] of Object.entries(restrictions)) {
    if (!known.includes(key) && !PLACES.has(key)) promised.push(`${key}: ${shown(value)}`);
  }
  if (service?.kind === "ssh" && service.hosts.length > 0 && service.knownHosts.length === 0)
    promised.push(`hosts: ${service.hosts.join(", ")} (known_hosts is missing)`);
  return { limits, promised };
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `100/min`, `5 per second`, `1000/h`. */
function rateOf(words: string): Limits["rate"] {
  const [, calls, unit] =
    /^\s*(\d{1,9})\s*(?:\/|per)\s*(s|sec|second|m|min|minute|h|hr|hour|d|day)s?\s*$/i.exec(words) ?? [];
  if (calls === undefined) return null;
  return { calls: Number(calls), perMs: UNITS[unit![0]!.toLowerCase()]! };
}

function windowOf(value: unknown): Limits["window"] {
  const [, ...parts] = /^(\d\d):(\d\d)\s*-\s*(\d\d):(\d\d)(?:\s*(?:Z|UTC))?$/.exec(String(value)) ?? [];
  if (parts.length < 4) return null;
  const [a, b, c, d] = parts.map(Number) as [number, number, number, number];
  return a > 24 || c > 24 || b > 59 || d > 59 ? null : { from: a * 60 + b, to: c * 60 + d };
}

function whole(value: unknown): number | null {
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 0 && String(value).trim() !== "" ? number : null;
}

/** `10MB`, `512k`, `1048576`. */
function sizeOf(value: unknown): number | null {
  const [, digits, unit = ""] = /^\s*(\d{1,12})\s*([kmg]?)i?b?\s*$/i.exec(String(value)) ?? [];
  if (digits === undefined) return null;
  return Number(digits) * ({ "": 1, k: 1e3, m: 1e6, g: 1e9 }[unit.toLowerCase()] ?? 1);
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

function textIn(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") return value;
    if (typeof value === "number") return String(value);
  }
  return null;
}

function list(value: unknown): string[] {
  const items = Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : [];
  return items.flatMap((item) => (typeof item === "string" && item.trim() !== "" ? [item.trim()] : []));
}

const lines = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((item) =>
    typeof item === "string" ? item.split("\n").filter((line) => line.trim() !== "") : [],
  );

const unique = (items: readonly string[]): string[] => [...new Set(items)];
const shown = (value: unknown): string =>
  Array.isArray(value) ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
