// One request to the daemon: no redirects, a time limit, a bounded body. What comes back is only bytes and a status.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { NutError } from "../errors.js";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: Uint8Array;
  readonly contentType?: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** The command that shows what became of it when no answer came. */
  readonly look: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The request may have been carried out although no answer came: the caller must look before it repeats. */
export class NoAnswer extends NutError {
  constructor(why: string, look: string) {
    super("MARKET_NO_ANSWER", `the daemon did not answer: ${why}`, {
      hint: `look at the task before trying again: ${look}`,
    });
  }
}

export function send(base: URL, request: HttpRequest): Promise<HttpAnswer> {
  const { method, path, body, contentType, timeoutMs, maxBytes, signal, look } = request;
  const start = base.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => outgoing.destroy(new NoAnswer(`no answer within ${timeoutMs / 1000} s`, look)),
      timeoutMs,
    );
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(signal?.aborted ? error : explain(error, base, look));
    };
    const headers: Record<string, string | number> = { Accept: "application/json", Connection: "close" };
    if (body !== undefined) {
      headers["Content-Type"] = contentType ?? "application/json";
      headers["Content-Length"] = body.length;
    }
    const outgoing = start(new URL(path, base), { method, headers, ...(signal === undefined ? {} : { signal }) });
    outgoing.on("error", fail);
    outgoing.on("response", (incoming) => {
      collect(incoming, { maxBytes, look }).then((bytes) => {
        clearTimeout(timer);
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: bytes });
      }, fail);
    });
    outgoing.end(body);
  });
}

async function collect(
  incoming: IncomingMessage,
  { maxBytes, look }: Pick<HttpRequest, "maxBytes" | "look">,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      incoming.destroy();
      throw new NutError("MARKET_BAD_ANSWER", `the daemon's answer is larger than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  if (!incoming.complete) throw new NoAnswer("the answer was cut off", look);
  return Buffer.concat(chunks);
}

const NOBODY = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"]);

function explain(error: Error & { code?: string }, base: URL, look: string): Error {
  if (error instanceof NutError) return error;
  if (NOBODY.has(error.code ?? "")) {
    return new NutError("MARKET_UNREACHABLE", `no ClawNet daemon answers at ${base.origin}`, {
      hint: "start the daemon (clawnet start), or name it: --clawnet host:port",
      data: { address: base.origin },
      cause: error,
    });
  }
  return new NoAnswer(error.message, look);
}
