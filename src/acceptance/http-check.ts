// api_test: a script that prints an HTTP response, or an endpoint the request declares, asked by us.
// Only declared origins are asked, and those of this machine and its network only when the person named them. What was
// answered is told by its size: logs travel in deliveries.
import { join } from "node:path";
import type { Environment } from "../process/index.js";
import type { Endpoints } from "../schema/endpoints.js";
import type { Manifest } from "../schema/manifest.js";
import { type AcceptanceCredential, gatewayOf } from "./credential.js";
import { SOCKET } from "./line-programs.js";
import type { Check, Outcome } from "./model.js";
import { contains, failed, passed, refuted, skipped } from "./outcome.js";
import { askSocket, NotReached, reach, type ServiceAnswer } from "./reach.js";
import { runReaching, type Stage, serviceOf, unlessRefused } from "./run-program.js";
import { withService } from "./service.js";
import { servedUrls, waysTo } from "./ways-out.js";

export interface HttpOptions {
  readonly endpoints: Endpoints | null;
  readonly manifest: Manifest;
  readonly credential: AcceptanceCredential | null;
  /** Told before anything leaves this machine. */
  readonly onReach?: (url: string) => void;
  /** Origins the person named. */
  readonly allowOrigins?: readonly string[];
  /** Headers and bodies go into the log too. */
  readonly keepBodies?: boolean;
}

export async function runHttpCheck(check: Check, stage: Stage, options: HttpOptions): Promise<Outcome> {
  if (check.script !== undefined) return byScript(check, stage, options);
  if (check.endpoint === undefined) return skipped("there is neither a script nor an endpoint to ask");
  const [method = "", path = ""] = check.endpoint.split(/\s+/, 2);
  if (!/^[A-Z]+$/.test(method) || !path.startsWith("/"))
    return failed(`"${check.endpoint}" is not a method and a path`);
  if (!isDeclared(options.endpoints, method, path))
    return failed(`${check.endpoint} is not declared in apis/endpoints.json`);
  return check.start === undefined
    ? byRequest(check, method, path, { ...options, signal: stage.signal })
    : byService(check, method, path, stage, options);
}

async function byScript(check: Check, stage: Stage, options: HttpOptions): Promise<Outcome> {
  const base = baseUrl(check, options);
  const { exit_code } = check.expected ?? {};
  const script: Check = { ...check, kind: "shell", expected: exit_code === undefined ? {} : { exit_code } };
  const served = check.start !== undefined;
  const proxy = options.credential?.proxy;
  const address: Environment = base === null || served ? {} : { BASE_URL: base };
  const urls =
    base === null || served ? [] : [base, ...declaredUrls(options.endpoints, options.manifest), ...servedUrls(proxy)];
  const { outcome, stdout, refused } = await runReaching(script, stage, {
    ...(proxy === undefined ? {} : { proxy }),
    env: { ...options.credential?.env, ...address },
    ways: urls.length === 0 ? [] : waysTo(urls, options.allowOrigins ?? []),
  });
  const answer = readResponse(stdout);
  const judged = unlessRefused(
    outcome.status === "passed" ? { ...outcome, ...compareAnswer(check, answer) } : outcome,
    refused,
  );
  const isQuiet = base !== null && !served && options.keepBodies !== true;
  return isQuiet ? { ...judged, log: describeAnswer(answer, false) } : judged;
}

/** The last response in a text as `curl -i` prints it, or a bare status on the last line as `-w '%{http_code}'` does. */
export function readResponse(text: string): ServiceAnswer {
  const starts = [...text.matchAll(/^HTTP\/[\d.]+ (\d{3})[^\n]*\n/gm)];
  const last = starts.at(-1);
  if (last === undefined) {
    const bare = /(?:^|\n)\s*(\d{3})\s*$/.exec(text);
    return { status: bare === null ? null : Number(bare[1]), headers: {}, body: text };
  }
  const rest = text.slice(last.index + last[0].length);
  const end = /\r?\n\r?\n/.exec(rest);
  const head = end === null ? rest : rest.slice(0, end.index);
  const headers = head.split(/\r?\n/).flatMap((line) => {
    const colon = line.indexOf(":");
    return colon < 1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const];
  });
  const body = end === null ? "" : rest.slice(end.index + end[0].length);
  return { status: Number(last[1]), headers: Object.fromEntries(headers), body };
}

async function byRequest(
  check: Check,
  method: string,
  path: string,
  options: HttpOptions & { readonly signal?: AbortSignal },
): Promise<Outcome> {
  const base = baseUrl(check, options);
  if (base === null) return skipped("no address to ask: set base_url in apis/endpoints.json");
  const url = `${base.replace(/\/+$/, "")}${path}`;
  const allowed = declaredUrls(options.endpoints, options.manifest);
  const named = (options.allowOrigins ?? []).some((origin) => sameOrigin(origin, url));
  if (!named && !allowed.some((known) => sameOrigin(known, url))) {
    return failed(`${url} is neither declared by the request nor allowed: --allow-origin ${originOf(url)}`);
  }
  // Told is where it leads, not the way there.
  options.onReach?.(gatewayOf(options.credential) === null ? url : `${check.endpoint} through the broker`);
  const signals = [AbortSignal.timeout(check.timeoutMs), ...(options.signal === undefined ? [] : [options.signal])];
  const { headers, body } = payload(check, options.credential);
  try {
    const answer = await reach(new URL(url), { method, headers, body, named, signal: AbortSignal.any(signals) });
    const refusal = refusalOf(answer);
    if (refusal !== null) return skipped(refusal);
    return { ...compareAnswer(check, answer), log: describeAnswer(answer, options.keepBodies === true) };
  } catch (error) {
    const shown = gatewayOf(options.credential) === null ? url : check.endpoint!;
    if (error instanceof NotReached) return skipped(`${shown}: ${error.message}`);
    return failed(`${shown}: ${reasonOf(error, check)}`);
  }
}

/** Serves the result in a room and asks it from here, so that what is read is out of the code's reach. */
async function byService(
  check: Check,
  method: string,
  path: string,
  stage: Stage,
  options: HttpOptions,
): Promise<Outcome> {
  const now: Stage = { ...stage, turn: (work) => work() };
  return stage.turn(async () => {
    const service = serviceOf(check, options.credential?.env);
    const question = { method, path, ...payload(check, options.credential) };
    const { answer, log, lastWords } = await withService(now, service, (line) =>
      askSocket(join(line, SOCKET), { ...question, signal: AbortSignal.timeout(check.timeoutMs) }).catch(
        (error: unknown) => reasonOf(error, check),
      ),
    );
    const words = log === "" ? "" : `\n--- the service ---\n${log}`;
    if (answer === null)
      return { ...failed(lastWords ?? `${check.start} did not listen on $PORT in time`), log: words };
    if (typeof answer === "string") return { ...failed(`${check.start}: ${answer}`), log: words };
    return { ...compareAnswer(check, answer), log: `${describeAnswer(answer, true)}${words}` };
  });
}

function compareAnswer({ expected = {} }: Check, { status, headers, body }: ServiceAnswer): Outcome {
  if (expected.status_code !== undefined) {
    if (status === null)
      return refuted(`expected status ${expected.status_code}, but the script printed none (curl -i does)`);
    if (status !== expected.status_code) return refuted(`status ${status}, expected ${expected.status_code}`);
  }
  for (const [name, wanted] of Object.entries(expected.headers ?? {})) {
    const value = headers[name.toLowerCase()];
    if (value === undefined) return refuted(`there is no header ${name}`);
    if (!value.toLowerCase().includes(wanted.toLowerCase())) return refuted(`header ${name} is not "${wanted}"`);
  }
  return (
    contains(body, expected.body_contains, "the body") ??
    contains(body, expected.stdout_contains, "the body") ?? { ...passed(), forgeable: false }
  );
}

function payload(
  check: Check,
  credential: AcceptanceCredential | null,
): { headers: Record<string, string>; body: string | undefined } {
  const token = typeof credential?.value === "string" ? credential.value : null;
  const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...check.headers };
  if (check.body === undefined) return { headers, body: undefined };
  if (typeof check.body === "string") return { headers, body: check.body };
  return { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(check.body) };
}

function isDeclared(endpoints: Endpoints | null, method: string, path: string): boolean {
  const [bare = ""] = path.split("?");
  const same = (declared: string) => {
    const [a, b] = [declared.split("/"), bare.split("/")];
    return a.length === b.length && a.every((part, i) => part === b[i] || (/^[:{]/.test(part) && b[i] !== ""));
  };
  return endpoints === null || endpoints.endpoints.some((row) => row.method.toUpperCase() === method && same(row.path));
}

/** A credential that is used through a broker is used there, wherever the service is. */
function baseUrl(check: Check, { endpoints, manifest, credential }: HttpOptions): string | null {
  const declared = check.base_url ?? endpoints?.base_url ?? Object.values(manifest.apis?.base_urls ?? {})[0] ?? null;
  return declared === null || check.start !== undefined ? declared : (gatewayOf(credential) ?? declared);
}

/** What the broker did not let through was not tried. */
function refusalOf({ headers, body }: ServiceAnswer): string | null {
  if (headers["x-nutshell-broker"] !== "refused") return null;
  try {
    return String((JSON.parse(body) as { error: { message: unknown } }).error.message);
  } catch {
    return "the broker refused it";
  }
}

export function declaredUrls(endpoints: Endpoints | null, manifest: Manifest): string[] {
  return [
    ...(endpoints?.base_url === undefined ? [] : [endpoints.base_url]),
    ...Object.values(manifest.apis?.base_urls ?? {}),
  ];
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}

function describeAnswer({ status, headers, body }: ServiceAnswer, whole: boolean): string {
  if (!whole) {
    const bytes = Buffer.byteLength(body);
    return `HTTP ${status}, ${Object.keys(headers).length} headers, ${bytes} bytes (--keep-bodies shows them)`;
  }
  return [`HTTP ${status}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), "", body].join(
    "\n",
  );
}

function reasonOf(error: unknown, check: Check): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError" || (error.cause instanceof Error && error.cause.name === "TimeoutError"))
    return `no answer within ${check.timeoutMs / 1000} s`;
  return "code" in error ? String(error.code) : error.message;
}
