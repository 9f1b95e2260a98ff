// api_test: a script that prints an HTTP response, or an endpoint the request declares, asked by us.
// Only loopback and declared addresses are ever asked, redirects are not followed, and a body is read up to a limit.
import { request } from "node:http";
import { join } from "node:path";
import type { Environment } from "../process/index.js";
import type { Endpoints } from "../schema/endpoints.js";
import type { Manifest } from "../schema/manifest.js";
import type { AcceptanceCredential } from "./credential.js";
import { SOCKET } from "./line-programs.js";
import type { Check, Outcome } from "./model.js";
import { contains, failed, passed, refuted, skipped } from "./outcome.js";
import { runBesideService, runProgram, type Stage, serviceOf } from "./run-program.js";
import { withService } from "./service.js";

const BODY_LIMIT = 1024 * 1024;

export interface HttpOptions {
  readonly endpoints: Endpoints | null;
  readonly manifest: Manifest;
  readonly credential: AcceptanceCredential | null;
  /** Told before anything leaves this machine. */
  readonly onReach?: (url: string) => void;
}

interface Answer {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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
  const base = baseUrl(check, options.endpoints, options.manifest);
  const { exit_code } = check.expected ?? {};
  const script: Check = { ...check, kind: "shell", expected: exit_code === undefined ? {} : { exit_code } };
  const served = check.start !== undefined;
  const address: Environment = base === null || served ? {} : { BASE_URL: base };
  const { outcome, stdout } = await (served ? runBesideService : runProgram)(script, stage, {
    env: { ...options.credential?.env, ...address },
    network: base === null || served ? "none" : "host",
  });
  return outcome.status === "passed" ? { ...outcome, ...judge(check, readResponse(stdout)) } : outcome;
}

/** The last response in a text as `curl -i` prints it, or a bare status on the last line as `-w '%{http_code}'` does. */
export function readResponse(text: string): Answer {
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
  const base = baseUrl(check, options.endpoints, options.manifest);
  if (base === null) return skipped("no address to ask: set base_url in apis/endpoints.json");
  const url = `${base.replace(/\/+$/, "")}${path}`;
  const allowed = declaredUrls(options.endpoints, options.manifest);
  if (!isLoopback(url) && !allowed.some((known) => sameOrigin(known, url))) {
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
    return { ...judge(check, answer), log: describeAnswer(answer) };
  } catch (error) {
    return failed(`${url}: ${reasonOf(error, check)}`);
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
    const question = { method, path, ...payload(check, options.credential), timeoutMs: check.timeoutMs };
    const { answer, log, lastWords } = await withService(now, service, (line) =>
      askSocket(join(line, SOCKET), question).catch((error: unknown) => reasonOf(error, check)),
    );
    const words = log === "" ? "" : `\n--- the service ---\n${log}`;
    if (answer === null)
      return { ...failed(lastWords ?? `${check.start} did not listen on $PORT in time`), log: words };
    if (typeof answer === "string") return { ...failed(`${check.start}: ${answer}`), log: words };
    return { ...judge(check, answer), log: `${describeAnswer(answer)}${words}` };
  });
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly timeoutMs: number;
}

function askSocket(socketPath: string, { method, path, headers, body, timeoutMs }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const asked = request(
      { socketPath, method, path, headers: { host: "127.0.0.1", ...headers }, signal },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        const finish = () => {
          const named = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
          const text = Buffer.concat(chunks).subarray(0, BODY_LIMIT).toString("utf8");
          resolve({ status: response.statusCode ?? null, headers: Object.fromEntries(named), body: text });
          asked.destroy();
        };
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > BODY_LIMIT) finish();
        });
        response.on("end", finish);
        response.on("error", reject);
      },
    );
    asked.on("error", (error) => reject(signal.aborted ? signal.reason : error));
    asked.end(body);
  });
}

function judge({ expected = {} }: Check, { status, headers, body }: Answer): Outcome {
  if (expected.status_code !== undefined) {
    if (status === null)
      return refuted(`expected status ${expected.status_code}, but the script printed none (curl -i does)`);
    if (status !== expected.status_code) return refuted(`status ${status}, expected ${expected.status_code}`);
  }
  for (const [name, wanted] of Object.entries(expected.headers ?? {})) {
    const value = headers[name.toLowerCase()];
    if (value === undefined) return refuted(`there is no header ${name}`);
    if (!value.toLowerCase().includes(wanted.toLowerCase()))
      return refuted(`header ${name} is "${value}", expected "${wanted}"`);
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

function describeAnswer({ status, headers, body }: Answer): string {
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
