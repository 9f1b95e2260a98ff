// One connection to the fleet's server, and what a server's refusals mean to a person.

import { setTimeout as sleep } from "node:timers/promises";
import {
  type Authenticator,
  AuthorizationError,
  ClosedConnectionError,
  ConnectionError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  NoRespondersError,
  nkeyAuthenticator,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";
import { NutError } from "../errors.js";
import { readSecret, type ServerSettings } from "./settings.js";

export interface ConnectOptions {
  readonly name: string;
  /** Waits for a server that is away, for ever; otherwise it is given up soon. */
  readonly patient: boolean;
}

/** Throws FLEET_UNREACHABLE or FLEET_DENIED. */
export async function connectTo(settings: ServerSettings, { name, patient }: ConnectOptions): Promise<NatsConnection> {
  const { servers, tls, ca, cert, key } = settings;
  try {
    return await connect({
      servers: [...servers],
      name,
      timeout: 5_000,
      reconnect: true,
      maxReconnectAttempts: patient ? -1 : 10,
      reconnectTimeWait: 250,
      // A line that is dead without a word is noticed within half a minute.
      pingInterval: 10_000,
      maxPingOut: 2,
      waitOnFirstConnect: false,
      ignoreAuthErrorAbort: patient,
      inboxPrefix: settings.inbox ?? inboxOf(settings.user),
      authenticator: authenticators(settings),
      ...(tls
        ? {
            tls: {
              ...(ca === undefined ? {} : { caFile: ca }),
              ...(cert === undefined ? {} : { certFile: cert }),
              ...(key === undefined ? {} : { keyFile: key }),
            },
          }
        : {}),
    });
  } catch (error) {
    throw refusalOf(error, servers.join(", "));
  }
}

/** Answers come where only this user may listen, when the server's permissions are those of `fleet init --print-config`. */
export const inboxOf = (user: string | undefined): string =>
  user !== undefined && /^[\w-]+$/.test(user) ? `_INBOX_${user}` : "_INBOX";

function authenticators({ creds, nkey, user, password, token }: ServerSettings): Authenticator[] {
  return [
    ...(creds === undefined ? [] : [credsAuthenticator(Buffer.from(readSecret(creds)))]),
    ...(nkey === undefined ? [] : [nkeyAuthenticator(Buffer.from(readSecret(nkey).trim()))]),
    ...(user === undefined ? [] : [usernamePasswordAuthenticator(user, password ?? "")]),
    ...(token === undefined ? [] : [tokenAuthenticator(token)]),
  ];
}

/** Whatever the client or the server throws, as a refusal. Nothing of the credentials is in any of these messages. */
export function refusalOf(error: unknown, server: string): unknown {
  if (error instanceof NutError || !(error instanceof Error)) return error;
  const data = { server };
  const violation = [error, error.cause].find((one) => one instanceof PermissionViolationError);
  if (violation instanceof PermissionViolationError) {
    const { operation, subject } = violation;
    return new NutError("FLEET_DENIED", `the server does not let this user ${operation} ${subject}`, {
      hint: "nexus fleet init --print-config shows what submitters, workers and watchers may do",
      data: { ...data, operation, subject },
      cause: error,
    });
  }
  if (error instanceof AuthorizationError || /authorization violation/i.test(error.message)) {
    return new NutError("FLEET_DENIED", `${server} does not know these credentials`, {
      hint: "name the right ones: --creds, --nkey, or --user with --password-file",
      data,
      cause: error,
    });
  }
  const isNobody = error instanceof NoRespondersError || error.cause instanceof NoRespondersError;
  if (isNobody || /jetstream (?:is )?not enabled/i.test(error.message)) {
    return new NutError(
      "FLEET_NOT_READY",
      `${server} answers, but has no JetStream for this account, or no leader now`,
      {
        hint: "a server needs --jetstream, an account needs jetstream: enabled, and a cluster most of its servers",
        data,
        cause: error,
      },
    );
  }
  if (isStreamMissing(error)) {
    return new NutError("FLEET_NOT_READY", `no fleet was set up on ${server}`, {
      hint: "nexus fleet init",
      data,
      cause: error,
    });
  }
  const isAway =
    error instanceof TimeoutError ||
    error instanceof ConnectionError ||
    error instanceof ClosedConnectionError ||
    error instanceof RequestError ||
    ["ConnectionError", "TimeoutError", "RequestError", "ClosedConnectionError"].includes(error.name) ||
    (error as NodeJS.ErrnoException).syscall === "connect";
  if (isAway) {
    return new NutError("FLEET_UNREACHABLE", `${server}: ${plain(error)}`, {
      hint: startHint(server),
      data,
      cause: error,
    });
  }
  return error;
}

/** One that is meant to run on this machine is started by a line that opens it to nobody else. */
function startHint(server: string): string {
  const [, host, port = "4222"] = /^(127\.0\.0\.1|localhost)(?::(\d+))?$/.exec(server) ?? [];
  if (host === undefined) return "is it running, and is its port open to this machine?";
  const at = port === "4222" ? "" : ` --port ${port}`;
  return `nats-server --jetstream --addr 127.0.0.1${at} --store_dir ~/nats starts one here`;
}

const isStreamMissing = (error: Error): boolean =>
  (error as { code?: unknown }).code === 10059 || /stream not found/i.test(error.message);

const plain = (error: Error): string => {
  const { message } = error.cause instanceof Error ? error.cause : error;
  return message === "" || message.includes("ECONNREFUSED") ? "nobody answers there" : message;
};

/** Whether doing it again may help: the server was away, slow or choosing a leader. */
export function isPassing(error: unknown): boolean {
  const refusal = refusalOf(error, "");
  if (!(refusal instanceof NutError)) return false;
  return (
    refusal.code === "FLEET_UNREACHABLE" || (refusal.code === "FLEET_NOT_READY" && !isStreamMissing(error as Error))
  );
}

/** How long a server that is away or choosing a leader is waited for in the middle of a job. */
const PATIENCE_MS = 60_000;

/** Asks again while the server is away, so `ask` may be called more than once. Throws what does not pass, and whoever stops waits no longer. */
export async function patiently<T>(ask: () => Promise<T>, stopped?: AbortSignal): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || performance.now() > until || stopped?.aborted === true) throw error;
      await sleep(200);
    }
  }
}
