// How a registry is told who asks: what `docker login` left behind, a token it sends us to fetch, or nothing.
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { fromSystemError, NutError } from "../errors.js";
import { findProgram, neverShow, runChild } from "../process/index.js";
import { type Ask, ask, bodyOf } from "./http.js";
import { isLoopback } from "./reference.js";

type Env = Readonly<Record<string, string | undefined>>;

export interface Login {
  readonly user: string;
  readonly secret: string;
  /** The secret is a token to be exchanged, not a password. */
  readonly isToken: boolean;
}

const Config = z.looseObject({
  auths: z
    .record(z.string(), z.looseObject({ auth: z.string().optional(), identitytoken: z.string().optional() }))
    .optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
  credsStore: z.string().optional(),
});

export interface LoginWorld {
  readonly env: Env;
  readonly cwd: string;
  readonly signal?: AbortSignal;
  readonly helperTimeoutMs?: number;
}

/** A keychain may ask its owner first. */
const HELPER_TIMEOUT_MS = 30_000;

/** What Docker's configuration says of a host; null for a visitor. Nothing of it is ever printed. */
export async function findLogin(
  host: string,
  { env, cwd, signal, helperTimeoutMs = HELPER_TIMEOUT_MS }: LoginWorld,
): Promise<Login | null> {
  const home = env.HOME ?? "";
  const folder = env.DOCKER_CONFIG || (isAbsolute(home) ? join(home, ".docker") : "");
  const path = join(folder, "config.json");
  if (folder === "" || !existsSync(path)) return null;
  neverShow(path);
  let config: z.infer<typeof Config>;
  try {
    config = Config.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    const unread = fromSystemError(cause, path);
    if (unread !== null) throw unread;
    throw new NutError("REGISTRY_DENIED", `${path} is not a Docker configuration`, { hint: "docker login", cause });
  }
  const helper = config.credHelpers?.[host] ?? config.credsStore;
  if (helper !== undefined)
    return askHelper(helper, host, { env, cwd, helperTimeoutMs, ...(signal === undefined ? {} : { signal }) });
  const { auth, identitytoken: token } = config.auths?.[host] ?? config.auths?.[`https://${host}`] ?? {};
  const [, user = "", secret = ""] =
    /^([^:]*):([\s\S]*)$/.exec(Buffer.from(auth ?? "", "base64").toString("utf8")) ?? [];
  if (token !== undefined && token !== "") return { user, secret: token, isToken: true };
  return user === "" ? null : { user, secret, isToken: false };
}

const Answer = z.looseObject({ Username: z.string(), Secret: z.string() });

/** A helper that knows nothing of the host says so by failing; one that says nothing, or nonsense, is not passed over. */
async function askHelper(
  name: string,
  host: string,
  { env, cwd, signal, helperTimeoutMs: timeoutMs }: Required<Omit<LoginWorld, "signal">> & Pick<LoginWorld, "signal">,
): Promise<Login | null> {
  if (!/^[\w.-]+$/.test(name)) throw helperRefusal("the configuration of Docker names no proper credential helper");
  const command = `docker-credential-${name}`;
  if (findProgram(command, env, cwd) === null) throw helperRefusal(`${command} is not installed`);
  const { code, stdout, reason } = await runChild({
    command,
    args: ["get"],
    cwd,
    env,
    stdin: { text: host },
    timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
  if (reason === "timeout") throw helperRefusal(`${command} gave no answer for ${timeoutMs / 1_000} seconds`);
  if (code !== 0) return null;
  const parsed = Answer.safeParse(parse(stdout.text));
  if (!parsed.success) throw helperRefusal(`${command} gave no login`);
  const { Username: user, Secret: secret } = parsed.data;
  return { user, secret, isToken: user === "<token>" };
}

const helperRefusal = (message: string): NutError =>
  new NutError("REGISTRY_DENIED", message, { hint: "look at credsStore and credHelpers in ~/.docker/config.json" });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const basic = ({ user, secret }: Login): string => `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;

export interface LoginQuestion {
  readonly scope: string;
  /** The registry that challenges. */
  readonly from: URL;
  readonly signal?: AbortSignal | undefined;
}

/** The header that answers a challenge; null when there is none to give. Of several ways a token is taken first. */
export async function answerChallenge(
  header: string,
  login: Login | null,
  asked: LoginQuestion,
): Promise<string | null> {
  const challenges = parseChallenges(header);
  const bearer = challenges.find(({ scheme }) => scheme === "bearer");
  if (bearer !== undefined) return answerBearer(bearer.fields, login, asked);
  const isBasic = challenges.some(({ scheme }) => scheme === "basic");
  return !isBasic || login === null || login.isToken ? null : basic(login);
}

interface Challenge {
  readonly scheme: string;
  readonly fields: ReadonlyMap<string, string>;
}

/** `Scheme name="value", name=value, Scheme …` (RFC 9110, 11.6.1): a word that no `=` follows begins the next one. */
function parseChallenges(header: string): Challenge[] {
  const found: { scheme: string; fields: Map<string, string> }[] = [];
  for (const match of header.matchAll(/([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,"]*)))?/g)) {
    const [whole, name, quoted, plain] = match as unknown as [string, string, string?, string?];
    if (!whole.includes("=")) found.push({ scheme: name.toLowerCase(), fields: new Map() });
    else found.at(-1)?.fields.set(name.toLowerCase(), quoted ?? plain ?? "");
  }
  return found;
}

async function answerBearer(
  fields: ReadonlyMap<string, string>,
  login: Login | null,
  { scope, from, signal }: LoginQuestion,
): Promise<string | null> {
  const realm = fields.get("realm") ?? "";
  if (!URL.canParse(realm)) return null;
  const url = new URL(realm);
  // A password goes to nobody in plain text, nor to this machine because somebody far away says so.
  const isLocal = isLoopback(url.hostname);
  if (isLocal ? !isLoopback(from.hostname) : url.protocol !== "https:") return null;
  if (!/^https?:$/.test(url.protocol)) return null;
  const service = fields.get("service") ?? "";
  const request =
    login?.isToken === true ? refresh(url, login, service, scope) : tokenRequest(url, login, service, scope);
  const answer = await ask({ ...request, signal });
  const body = await bodyOf(answer, url);
  const token = answer.statusCode === 200 ? TokenAnswer.safeParse(parse(body.toString("utf8"))).data : undefined;
  const value = token?.token ?? token?.access_token;
  // A token that is no word could add headers of its own.
  return value === undefined || !/^[\x21-\x7e]+$/.test(value) ? null : `Bearer ${value}`;
}

const TokenAnswer = z.looseObject({ token: z.string().optional(), access_token: z.string().optional() });

function tokenRequest(realm: URL, login: Login | null, service: string, scope: string): Ask {
  const url = new URL(realm);
  if (service !== "") url.searchParams.set("service", service);
  for (const one of scope.split(" ")) url.searchParams.append("scope", one);
  return { method: "GET", url, headers: login === null ? {} : { Authorization: basic(login) } };
}

function refresh(url: URL, { secret }: Login, service: string, scope: string): Ask {
  const form = new URLSearchParams({
    grant_type: "refresh_token",
    service,
    scope,
    client_id: "nutshell",
    refresh_token: secret,
  });
  const body = Buffer.from(form.toString());
  const headers = { "Content-Type": "application/x-www-form-urlencoded", "Content-Length": String(body.length) };
  return { method: "POST", url, headers, body };
}
