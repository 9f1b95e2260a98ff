// One request to a registry: no redirect is followed unseen, an answer that stops coming is given up.
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, Agent as SecureAgent } from "node:https";
import { NutError } from "../errors.js";
import { type FilePart, pieces } from "./file-part.js";

export interface Ask {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | FilePart;
  readonly signal?: AbortSignal | undefined;
  /** Asking twice would not be the same as asking once. */
  readonly once?: boolean;
}

/** Nothing came for this long. */
const IDLE_MS = 60_000;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

const agents = { "http:": new Agent({ keepAlive: true }), "https:": new SecureAgent({ keepAlive: true }) } as const;

/** Throws REGISTRY_UNREACHABLE when nobody answers or the connection breaks. */
export function ask({ method, url, headers = {}, body, signal }: Ask): Promise<IncomingMessage> {
  const secure = url.protocol === "https:";
  const start = secure ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...headers }, agent: agents[secure ? "https:" : "http:"], timeout: IDLE_MS };
    const outgoing = start(url, { ...options, ...(signal === undefined ? {} : { signal }) });
    outgoing.on("timeout", () => outgoing.destroy(new Error("nothing came for a minute")));
    outgoing.on("error", (error) => reject(signal?.aborted ? error : broken(url, error)));
    outgoing.on("response", resolve);
    if (body === undefined || body instanceof Uint8Array) outgoing.end(body);
    else sendPart(outgoing, body).catch((error: Error) => outgoing.destroy(error));
  });
}

/** Each piece is handed to the system before its memory is used again. */
async function sendPart(outgoing: ClientRequest, part: FilePart): Promise<void> {
  let isGone = false;
  const gone = new Promise<void>((resolve) => outgoing.once("close", resolve)).then(() => {
    isGone = true;
  });
  for await (const piece of pieces(part)) {
    await Promise.race([new Promise<void>((resolve) => outgoing.write(piece, () => resolve())), gone]);
    if (isGone) return;
  }
  outgoing.end();
}

export const broken = (url: URL, cause: unknown): NutError =>
  new NutError("REGISTRY_UNREACHABLE", `the registry at ${url.host} did not answer: ${(cause as Error).message}`, {
    hint: "check the address and the network, then run the command again",
    data: { host: url.host },
    cause,
  });

/** A small answer as a whole. */
export async function bodyOf(answer: IncomingMessage, url: URL): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > MAX_BODY_BYTES) {
        answer.destroy();
        throw new NutError("REGISTRY_BAD_ANSWER", `${url.host} answers with more than ${MAX_BODY_BYTES} bytes`);
      }
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof NutError ? error : broken(url, error);
  }
  return Buffer.concat(parts);
}
