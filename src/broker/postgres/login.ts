// A connection to the real server, logged in: TLS as the login asks for it, SCRAM or md5, the password never in clear unless the
// connection is encrypted for a name that was verified.
import { createHash } from "node:crypto";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, TLSSocket } from "node:tls";
import { Refused } from "../judge.js";
import { type Pins, pinned } from "../pins.js";
import type { PostgresService } from "../policy.js";
import {
  errorFields,
  Frames,
  int32,
  type Message,
  message,
  PROTOCOL,
  SSL_REQUEST,
  startup,
  startupBody,
} from "./messages.js";
import { Scram } from "./scram.js";

/** An error the server told, with its code. */
export class ServerError extends Error {
  readonly code: string;

  constructor(fields: Readonly<Record<string, string>>) {
    super(fields.M ?? "the server refused");
    this.code = fields.C ?? "";
  }
}

export interface Link {
  readonly socket: Socket;
  /** Everything the server said after the login, up to its being ready; as it was sent. */
  readonly greeting: readonly Message[];
}

export interface LoginInput {
  readonly service: PostgresService;
  readonly user: string;
  readonly password: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly pins: Pins;
  readonly ca: string | undefined;
}

const CONNECT_MS = 10_000;
/** Nothing a server says before it is ready is longer. */
const MOST_BYTES = 1024 * 1024;

const originOf = ({ host, port }: PostgresService): string =>
  `postgres://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** Throws ServerError, Refused, or what the network says. */
export async function logIn(input: LoginInput): Promise<Link> {
  const socket = await openSocket(input);
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error("no answer in time")));
  try {
    const { user, parameters } = input;
    const link = await authenticate(
      socket,
      input,
      startupBody({ user, database: input.service.database, ...parameters }),
    );
    socket.setTimeout(0);
    return link;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A connection to the server's address, encrypted where the login says so and the server can. */
export async function openSocket({ service, pins, ca }: Pick<LoginInput, "service" | "pins" | "ca">): Promise<Socket> {
  const addresses = await pins.addresses(originOf(service));
  const plain = await reached(connect({ host: service.host, port: service.port, lookup: pinned(addresses) }));
  plain.setNoDelay(true);
  const { sslmode, host } = service;
  if (sslmode === "disable" || sslmode === "allow") return plain;
  plain.write(startup(SSL_REQUEST));
  const [answer] = await firstBytes(plain);
  if (answer !== 0x53) {
    if (sslmode === "prefer") return plain;
    plain.destroy();
    throw new Refused(`${host} does not encrypt, and the login asks for it (sslmode=${sslmode})`, { status: 502 });
  }
  const verifies = /^verify/.test(sslmode);
  const secure = connectTls({
    socket: plain,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    rejectUnauthorized: verifies,
    ...(ca === undefined ? {} : { ca }),
    ...(sslmode === "verify-ca" ? { checkServerIdentity: () => undefined } : {}),
  });
  await new Promise<void>((resolve, reject) => {
    secure.once("secureConnect", resolve);
    secure.once("error", reject);
  });
  return secure;
}

function reached(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error("no answer in time")), CONNECT_MS);
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}

/** One byte and no more: what comes after it in one piece was never encrypted, and is not believed. */
function firstBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the server hung up")));
    socket.once("data", (bytes: Buffer) => {
      socket.pause();
      if (bytes.length === 1) resolve(bytes);
      else reject(new Error("the server said more than it was asked"));
    });
  });
}

async function authenticate(socket: Socket, input: LoginInput, body: Buffer): Promise<Link> {
  const frames = new Frames(MOST_BYTES);
  const greeting: Message[] = [];
  const scram = new Scram();
  let proven = false;
  let isIn = false;
  socket.write(startup(PROTOCOL, body));
  for (;;) {
    for (const one of frames.push(await nextChunk(socket))) {
      if (one.type === "E") throw new ServerError(errorFields(one.body));
      if (one.type !== "R") {
        if (!isIn) throw new Error("the server said something else before the login");
        greeting.push({ type: one.type, body: Buffer.from(one.body) });
        if (one.type === "Z") return { socket, greeting };
        continue;
      }
      const kind = one.body.readInt32BE(0);
      const rest = one.body.subarray(4);
      if (kind === 0) {
        isIn = true;
        continue;
      }
      if (kind === 10) {
        if (!rest.toString("latin1").split("\0").includes("SCRAM-SHA-256")) throw unknownLogin();
        const first = Buffer.from(scram.first);
        socket.write(message("p", "SCRAM-SHA-256\0", int32(first.length), first));
      } else if (kind === 11) {
        socket.write(message("p", await scram.answer(rest.toString("utf8"), input.password)));
      } else if (kind === 12) {
        proven = scram.isProven(rest.toString("utf8"));
        if (!proven) throw new Error("the server does not know the password itself");
      } else if (kind === 5) {
        socket.write(message("p", `${md5(input, rest.subarray(0, 4))}\0`));
      } else if (kind === 3) {
        // Whoever asks for it in clear may be anybody.
        if (!(socket instanceof TLSSocket && socket.authorized))
          throw new Refused("the server wants the password in clear over a connection nobody verified", {
            status: 502,
          });
        socket.write(message("p", `${input.password}\0`));
      } else throw unknownLogin();
    }
  }
}

const unknownLogin = () => new Refused("the server wants a login that is not spoken here", { status: 502 });

function md5({ user, password }: LoginInput, salt: Uint8Array): string {
  const inner = createHash("md5").update(`${password}${user}`).digest("hex");
  return `md5${createHash("md5").update(inner).update(salt).digest("hex")}`;
}

/** The next piece; throws when there is none. */
function nextChunk(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const off = () => {
      socket.off("data", onData);
      socket.off("error", onError);
      socket.off("close", onClose);
    };
    const onData = (chunk: Buffer) => {
      off();
      socket.pause();
      resolve(chunk);
    };
    const onError = (error: Error) => {
      off();
      reject(error);
    };
    const onClose = () => onError(new Error("the server hung up"));
    socket.on("data", onData);
    socket.once("error", onError);
    socket.once("close", onClose);
    socket.resume();
  });
}

/** Runs statements, one after the other; throws ServerError at the first that fails. Rows as text. */
export async function query({ socket }: Link, sql: string): Promise<string[][]> {
  const frames = new Frames(MOST_BYTES);
  const rows: string[][] = [];
  let failed: ServerError | null = null;
  socket.write(message("Q", `${sql}\0`));
  for (;;) {
    for (const { type, body } of frames.push(await nextChunk(socket))) {
      if (type === "E") failed ??= new ServerError(errorFields(body));
      else if (type === "D") rows.push(columns(body));
      else if (type === "Z") {
        if (failed !== null) throw failed;
        return rows;
      }
    }
  }
}

function columns(body: Buffer): string[] {
  const found: string[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left -= 1) {
    const length = body.readInt32BE(at);
    at += 4;
    found.push(length < 0 ? "" : body.toString("utf8", at, at + length));
    at += Math.max(0, length);
  }
  return found;
}

export const end = ({ socket }: Link): void => {
  socket.end(message("X"));
};
