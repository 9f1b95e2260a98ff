// api_test: a script that prints an HTTP response, or an endpoint the request declares, asked by us.
// Only loopback and declared addresses are ever asked, redirects are not followed, and a body is read up to a limit.
import { javascriptEngine } from "../process/index.js";
import type { Endpoints } from "../schema/endpoints.js";
import type { Manifest } from "../schema/manifest.js";
import type { Check } from "./checks.js";
import type { CleanRoom } from "./clean-room.js";
import type { AcceptanceCredential } from "./credential.js";
import { contains, failed, type Outcome, passed, skipped } from "./outcome.js";
import { endFailure, logOf, runScript } from "./script-check.js";
import { SERVE_AND_ASK } from "./serve-and-ask.js";

const BODY_LIMIT = 1024 * 1024;

export interface HttpOptions {
  readonly endpoints: Endpoints | null;
  readonly manifest: Manifest;
  readonly credential: AcceptanceCredential | null;
  readonly signal?: AbortSignal;
  /** Told before anything leaves this machine. */
  readonly onReach?: (url: string) => void;
}

interface HttpResponse {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export async function runHttpCheck(room: CleanRoom, check: Check, options: HttpOptions): Promise<Outcome> {
  if (check.script !== undefined) return byScript(room, check, options);
  if (check.endpoint === undefined) return skipped("there is neither a script nor an endpoint to ask");
  const [method = "", path = ""] = check.endpoint.split(/\s+/, 2);
  if (!/^[A-Z]+$/.test(method) || !path.startsWith("/"))
    return failed(`"${check.endpoint}" is not a method and a path`);
  if (!isDeclared(options.endpoints, method, path))
    return failed(`${check.endpoint} is not declared in apis/endpoints.json`);
  return check.start === undefined
    ? byRequest(check, method, path, options)
    : byService(room, check, method, path, options);
}

async function byScript(
  room: CleanRoom,
  check: Check,
  { endpoints, manifest, credential, signal }: HttpOptions,
): Promise<Outcome> {
  const base = baseUrl(check, endpoints, manifest);
  const env = { ...credential?.env, ...(base === null ? {} : { BASE_URL: base }) };
  const result = await runScript(room, check, { env, signal, network: base === null ? "none" : "host" });
  if ("status" in result) return result;
  const log = logOf(result);
  return { ...(endFailure(result, check) ?? responseOutcome(check, readResponse(result.stdout.text))), log };
}

/** The last response in a text as `curl -i` prints it, or a bare status on the last line as `-w '%{http_code}'` does. */
export function readResponse(text: string): HttpResponse {
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

async function byRequest(check: Check, method: string, path: string, options: HttpOptions): Promise<Outcome> {
  const base = baseUrl(check, options.endpoints, options.manifest);
  if (base === null) return skipped("no address to ask: set base_url in apis/endpoints.json");
  const url = `${base.replace(/\/+$/, "")}${path}`;
  const allowed = declaredUrls(options.endpoints, options.manifest);
  if (!isLoopback(url) && !allowed.some((declared) => sameOrigin(declared, url))) {
    return failed(`${url} is neither on this machine nor declared by the request`);
  }
  if (!isLoopback(url)) options.onReach?.(url);
  const signals = [AbortSignal.timeout(check.timeoutMs), ...(options.signal === undefined ? [] : [options.signal])];
  const { headers, body } = payload(check, options.credential);
  try {
    const response = await fetch(url, { method, headers, body, redirect: "manual", signal: AbortSignal.any(signals) });
    const answer = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await readBody(response),
    };
    return { ...responseOutcome(check, answer), log: describeAnswer(answer) };
  } catch (error) {
    return failed(`${url}: ${reasonOf(error, check)}`);
  }
}

/** Serves the result and asks it inside one clean room, so the code under test never sees the real network. */
async function byService(
  room: CleanRoom,
  check: Check,
  method: string,
  path: string,
  options: HttpOptions,
): Promise<Outcome> {
  const { headers, body } = payload(check, options.credential);
  const engine = javascriptEngine();
  const result = await room.run({
    command: engine.command,
    args: ["-e", SERVE_AND_ASK],
    stdin: { text: JSON.stringify({ start: check.start, method, path, headers, body, timeoutMs: check.timeoutMs }) },
    timeoutMs: check.timeoutMs + 5_000,
    env: { ...options.credential?.env, ...engine.env },
    signal: options.signal,
  });
  const log = logOf(result);
  if (result.reason !== "exited" || result.code !== 0) {
    return { ...failed(result.stderr.text.trim().split("\n").at(-1) || `${check.start} did not serve anything`), log };
  }
  const answer = JSON.parse(result.stdout.text) as HttpResponse;
  return { ...responseOutcome(check, answer), log: `${describeAnswer(answer)}\n--- stderr ---\n${result.stderr.text}` };
}

function responseOutcome({ expected = {} }: Check, { status, headers, body }: HttpResponse): Outcome {
  if (expected.status_code !== undefined) {
    if (status === null)
      return failed(`expected status ${expected.status_code}, but the script printed none (curl -i does)`);
    if (status !== expected.status_code) return failed(`status ${status}, expected ${expected.status_code}`);
  }
  for (const [name, wanted] of Object.entries(expected.headers ?? {})) {
    const value = headers[name.toLowerCase()];
    if (value === undefined) return failed(`there is no header ${name}`);
    if (!value.toLowerCase().includes(wanted.toLowerCase()))
      return failed(`header ${name} is "${value}", expected "${wanted}"`);
  }
  return (
    contains(body, expected.body_contains, "the body") ??
    contains(body, expected.stdout_contains, "the body") ??
    passed()
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

function baseUrl(check: Check, endpoints: Endpoints | null, manifest: Manifest): string | null {
  return check.base_url ?? endpoints?.base_url ?? Object.values(manifest.apis?.base_urls ?? {})[0] ?? null;
}

function declaredUrls(endpoints: Endpoints | null, manifest: Manifest): string[] {
  return [
    ...(endpoints?.base_url === undefined ? [] : [endpoints.base_url]),
    ...Object.values(manifest.apis?.base_urls ?? {}),
  ];
}

function isLoopback(url: string): boolean {
  return URL.canParse(url) && /^(127(\.\d+){3}|localhost|\[::1\])$/.test(new URL(url).hostname);
}

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > BODY_LIMIT) break;
  }
  return Buffer.concat(chunks).subarray(0, BODY_LIMIT).toString("utf8");
}

function describeAnswer({ status, headers, body }: HttpResponse): string {
  return [`HTTP ${status}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), "", body].join(
    "\n",
  );
}

function reasonOf(error: unknown, check: Check): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer within ${check.timeoutMs / 1000} s`;
  const { cause } = error;
  return cause instanceof Error && "code" in cause ? String(cause.code) : error.message;
}
