// How a registry is told who asks: what `docker login` left behind, a token it sends us to fetch, or nothing.
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { NutError } from "../errors.js";
import { neverShow, runChild } from "../process/index.js";
import { ask, bodyOf } from "./http.js";
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

/** What Docker's configuration says of a host; null for a visitor. Nothing of it is ever printed. */
export async function findLogin(host: string, env: Env, cwd: string): Promise<Login | null> {
  const home = env.HOME ?? "";
  const folder = env.DOCKER_CONFIG || (isAbsolute(home) ? join(home, ".docker") : "");
  const path = join(folder, "config.json");
  if (folder === "" || !existsSync(path)) return null;
  neverShow(path);
  let config: z.infer<typeof Config>;
  try {
    config = Config.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new NutError("REGISTRY_DENIED", `${path} is not a Docker configuration`, { hint: "docker login", cause });
  }
  const helper = config.credHelpers?.[host] ?? config.credsStore;
  if (helper !== undefined) return askHelper(helper, host, env, cwd);
  const { auth, identitytoken: token } = config.auths?.[host] ?? config.auths?.[`https://${host}`] ?? {};
  const [, user = "", secret = ""] =
    /^([^:]*):([\s\S]*)$/.exec(Buffer.from(auth ?? "", "base64").toString("utf8")) ?? [];
  if (token !== undefined && token !== "") return { user, secret: token, isToken: true };
  return user === "" ? null : { user, secret, isToken: false };
}

const Answer = z.looseObject({ Username: z.string(), Secret: z.string() });

async function askHelper(name: string, host: string, env: Env, cwd: string): Promise<Login | null> {
  if (!/^[\w.-]+$/.test(name)) {
    throw new NutError("REGISTRY_DENIED", "the configuration of Docker names no proper credential helper", {
      hint: "look at credsStore and credHelpers in ~/.docker/config.json",
    });
  }
  const run = {
    command: `docker-credential-${name}`,
    args: ["get"],
    cwd,
    env,
    stdin: { text: host },
    timeoutMs: 30_000,
  };
  const { code, stdout } = await runChild(run);
  // A helper that knows nothing of the host says so by failing.
  const parsed = code === 0 ? Answer.safeParse(parse(stdout.text)) : null;
  if (parsed?.success !== true) return null;
  const { Username: user, Secret: secret } = parsed.data;
  return { user, secret, isToken: user === "<token>" };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const basic = ({ user, secret }: Login): string => `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;

/** The header that answers a challenge; null when there is none to give. */
export async function answerChallenge(challenge: string, login: Login | null, scope: string): Promise<string | null> {
  if (/^basic\b/i.test(challenge)) return login === null || login.isToken ? null : basic(login);
  if (!/^bearer\b/i.test(challenge)) return null;
  const fields = new Map(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!.toLowerCase(), value!]),
  );
  const realm = fields.get("realm") ?? "";
  if (!URL.canParse(realm)) return null;
  const url = new URL(realm);
  // A password goes to nobody in plain text, whatever a registry asks for.
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) return null;
  const service = fields.get("service") ?? "";
  const answer =
    login?.isToken === true ? await refresh(url, login, service, scope) : await fetchToken(url, login, service, scope);
  const body = await bodyOf(answer, url);
  const token = answer.statusCode === 200 ? TokenAnswer.safeParse(parse(body.toString("utf8"))).data : undefined;
  const value = token?.token ?? token?.access_token;
  return value === undefined ? null : `Bearer ${value}`;
}

const TokenAnswer = z.looseObject({ token: z.string().optional(), access_token: z.string().optional() });

function fetchToken(realm: URL, login: Login | null, service: string, scope: string) {
  const url = new URL(realm);
  if (service !== "") url.searchParams.set("service", service);
  url.searchParams.set("scope", scope);
  return ask({ method: "GET", url, headers: login === null ? {} : { Authorization: basic(login) } });
}

function refresh(url: URL, { secret }: Login, service: string, scope: string) {
  const form = new URLSearchParams({
    grant_type: "refresh_token",
    service,
    scope,
    client_id: "nutshell",
    refresh_token: secret,
  });
  const body = Buffer.from(form.toString());
  const headers = { "Content-Type": "application/x-www-form-urlencoded", "Content-Length": String(body.length) };
  return ask({ method: "POST", url, headers, body: () => body });
}
