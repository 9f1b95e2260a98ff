// Requests to one registry: who asks, when to wait, whom to believe. What a registry answers is hostile until compared.
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { NutError } from "../errors.js";
import { answerChallenge, type Login } from "./auth.js";
import { type Ask, ask } from "./http.js";
import { baseUrl, isLoopback } from "./reference.js";

export const TRIES = 5;
const LONGEST_WAIT_MS = 30_000;

export interface RegistryOptions {
  readonly host: string;
  readonly repository: string;
  /** Asked for only when the registry wants to know. */
  readonly login: () => Promise<Login | null>;
  readonly signal?: AbortSignal | undefined;
}

export class Transport {
  readonly host: string;
  readonly repository: string;
  readonly base: URL;
  private readonly options: RegistryOptions;
  private readonly tokens = new Map<string, string>();

  constructor(options: RegistryOptions) {
    this.options = options;
    this.host = options.host;
    this.repository = options.repository;
    this.base = baseUrl(options.host);
  }

  url(path: string): URL {
    return new URL(`/v2/${this.repository}/${path}`, this.base);
  }

  get isAborted(): boolean {
    return this.options.signal?.aborted === true;
  }

  async wait(ms: number): Promise<void> {
    await sleep(ms, undefined, this.options.signal === undefined ? {} : { signal: this.options.signal });
  }

  /**
   * Asks the registry with what it wanted to know before; answers its challenge once, and waits when it says so. Any other
   * host is asked without our name: the address itself is the permission.
   */
  async send(request: Ask, actions = "pull"): Promise<IncomingMessage> {
    const signal = eitherOf(this.options.signal, request.signal);
    if (request.url.origin !== this.base.origin) return ask({ ...request, signal });
    const scope = this.scopeOf(actions);
    let challenged = false;
    for (let tries = 1; ; tries += 1) {
      const token = this.tokens.get(scope) ?? this.tokens.get("*");
      const headers = { ...request.headers, ...(token === undefined ? {} : { Authorization: token }) };
      const answer = await this.patiently({ ...request, headers, signal });
      if (isBusy(answer) && tries < TRIES) {
        answer.resume();
        await this.wait(this.pause(answer));
        continue;
      }
      const challenge = answer.headers["www-authenticate"];
      if (answer.statusCode !== 401 || challenge === undefined || challenged) return answer;
      answer.resume();
      challenged = true;
      const header = await answerChallenge(challenge, await this.options.login(), { scope, from: this.base, signal });
      if (header === null) throw this.denied();
      this.tokens.set(header.startsWith("Basic ") ? "*" : scope, header);
    }
  }

  /** A connection that was kept open may be gone when it is used again: what can be asked twice is asked twice. */
  private async patiently(request: Ask): Promise<IncomingMessage> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask(request);
      } catch (error) {
        if (request.once === true || tries >= 3 || !wasReset(error) || this.isAborted) throw error;
        await this.wait(100 * tries);
      }
    }
  }

  private pause({ headers }: IncomingMessage): number {
    const said = String(headers["retry-after"] ?? "1");
    const ms = /^\d+$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - Date.now();
    if (Number.isNaN(ms)) return 1_000;
    if (ms <= LONGEST_WAIT_MS) return Math.max(0, ms);
    const seconds = Math.ceil(ms / 1_000);
    throw new NutError("REGISTRY_REFUSED", `the registry at ${this.host} asks to come back in ${seconds} seconds`, {
      hint: "run the command again later",
      data: { host: this.host, seconds },
    });
  }

  private scopeOf(actions: string): string {
    const [own, from] = actions.split(" from ");
    const other = from === undefined ? "" : ` repository:${from}:pull`;
    return `repository:${this.repository}:${own}${other}`;
  }

  /** An address the registry gives for one more page must be its own. */
  within(location: string, from: URL): URL {
    const url = this.parse(location, from);
    if (url.host !== this.base.host) throw this.lie(`it leads to ${url.host}`);
    return new URL(url.pathname + url.search, this.base);
  }

  /** An address for bytes may be another host's, if nobody can listen on the way there. */
  elsewhere(location: string, from: URL): URL {
    const url = this.parse(location, from);
    // Behind a proxy a registry may not know that it is spoken to over https.
    if (url.host === this.base.host) return new URL(url.pathname + url.search, this.base);
    const isSafe = url.protocol === "https:" && !isLoopback(url.hostname);
    if (isSafe || (/^https?:$/.test(url.protocol) && isLoopback(url.hostname) && isLoopback(this.base.hostname))) {
      return url;
    }
    throw this.lie(`it leads to ${url.origin}, which is not safe`);
  }

  private parse(location: string, from: URL): URL {
    if (URL.canParse(location, from.href)) return new URL(location, from);
    throw this.lie("it leads to what is no address");
  }

  json(bytes: Buffer): unknown {
    try {
      const value: unknown = JSON.parse(bytes.toString("utf8"));
      if (typeof value === "object" && value !== null) return value;
    } catch {
      // Said below.
    }
    throw this.lie("what it sent is not JSON");
  }

  lie(why: string): NutError {
    return new NutError("REGISTRY_BAD_ANSWER", `the registry at ${this.host}: ${why}`, { data: { host: this.host } });
  }

  denied(): NutError {
    return new NutError("REGISTRY_DENIED", `the registry at ${this.host} does not let you do this`, {
      hint: `docker login ${this.host} (or skopeo login --authfile ~/.docker/config.json ${this.host})`,
      data: { host: this.host },
    });
  }

  expect(answer: IncomingMessage, status: number, body: Buffer): void {
    if (answer.statusCode === status) return;
    if (answer.statusCode === 401 || answer.statusCode === 403) throw this.denied();
    const said = body.toString("utf8").replace(/\s+/g, " ").slice(0, 200);
    throw new NutError("REGISTRY_REFUSED", `the registry at ${this.host} answered ${answer.statusCode}: ${said}`, {
      hint: `nutshell tags oci://${this.host}/${this.repository}`,
      data: { host: this.host, status: answer.statusCode },
    });
  }
}

const eitherOf = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);

/** Too many requests; or unavailable, with a time to come back. */
const isBusy = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 429 || (statusCode === 503 && headers["retry-after"] !== undefined);

export const isUnreachable = (error: unknown): boolean =>
  error instanceof NutError && error.code === "REGISTRY_UNREACHABLE";

function wasReset(error: unknown): boolean {
  const cause = error instanceof NutError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === "ECONNRESET" || cause?.code === "EPIPE";
}
