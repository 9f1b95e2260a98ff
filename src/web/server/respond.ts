// Every answer of the server passes here, so that none goes out without its headers.
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Nothing from elsewhere, no inline script or style, no frames, no forms, no plug-ins. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "cache-control": "no-store",
};

export interface AnswerHead {
  readonly type: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function send(
  response: ServerResponse,
  body: string | Uint8Array,
  { type, status = 200, headers = {} }: AnswerHead,
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  response.writeHead(status, { ...HEADERS, ...headers, "content-type": type, "content-length": bytes.length });
  response.end(response.req.method === "HEAD" ? undefined : bytes);
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  send(response, JSON.stringify(value), { type: "application/json; charset=utf-8", status });
}

export function sendError(response: ServerResponse, status: number, message: string): void {
  send(response, `${message}\n`, { type: "text/plain; charset=utf-8", status });
}

/** Bytes as they come. A failure after the first byte ends the connection: half a file must not look whole. */
export async function sendStream(response: ServerResponse, stream: Readable, answer: AnswerHead): Promise<void> {
  if (response.req.method === "HEAD") {
    stream.destroy();
    send(response, "", answer);
    return;
  }
  response.writeHead(answer.status ?? 200, { ...HEADERS, ...answer.headers, "content-type": answer.type });
  await pipeline(stream, response);
}

export function openEvents(response: ServerResponse): void {
  response.writeHead(200, {
    ...HEADERS,
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
  });
}
