// A database through the broker. Whoever connects shows the word it was given; the login to the real server is ours. What is
// asked goes through unchanged and is recorded without its values; what comes back is passed on as it is.
import { randomBytes } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Door, Doors } from "../doors.js";
import { assertTime, type Meter, Refused } from "../judge.js";
import type { Pins } from "../pins.js";
import type { Policy, PostgresService } from "../policy.js";
import { type BrokerUse, shortWhat } from "../use.js";
import { type Link, logIn, openSocket, ServerError } from "./login.js";
import {
  CANCEL_REQUEST,
  errorMessage,
  GSS_REQUEST,
  int32,
  message,
  readParameters,
  SSL_REQUEST,
  startup,
} from "./messages.js";
import { makeRole, needsRole, type ShortRole } from "./role.js";
import { statementsIn } from "./statement.js";
import { Watch } from "./watch.js";

export interface Database {
  readonly policy: Policy;
  readonly service: PostgresService;
  readonly meter: Meter;
}

interface DatabaseGround {
  readonly doors: Doors;
  /** By the user's name that stands for each. */
  readonly databases: ReadonlyMap<string, Database>;
  readonly pins: Pins;
  readonly ca: string | undefined;
  readonly now: () => Date;
  readonly onUse: (use: BrokerUse) => void;
}

export interface DatabaseGateway {
  readonly port: number;
  close(): Promise<void>;
}

const MOST_STARTUP_BYTES = 10_000;
const STARTUP_MS = 30_000;
const MOST_CONNECTIONS = 128;
/** A role is made anew before its time is over. */
const RENEW_MS = 60_000;

export async function openDatabaseGateway(ground: DatabaseGround): Promise<DatabaseGateway> {
  const roles = new Map<Database, Promise<ShortRole | null>>();
  const cancels = new Map<string, () => Promise<void>>();
  const open = new Set<Socket>();
  const leaving = new Set<Promise<unknown>>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => open.delete(socket));
    void serve(socket, { ...ground, roles, cancels, open, leaving }).catch(() => socket.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      await Promise.all([...open].map(closed));
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all(leaving);
      const made = await Promise.all([...roles.values()].map((role) => role.catch(() => null)));
      await Promise.all(made.map((role) => role?.drop().catch(() => null)));
    },
  };
}

/** Ends it, and waits for that. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve()).destroy();
  });

interface Hall extends DatabaseGround {
  readonly roles: Map<Database, Promise<ShortRole | null>>;
  readonly cancels: Map<string, () => Promise<void>>;
  readonly open: Set<Socket>;
  /** Roles that are being taken back. */
  readonly leaving: Set<Promise<unknown>>;
}

async function serve(client: Socket, hall: Hall): Promise<void> {
  client.setTimeout(STARTUP_MS, () => client.destroy());
  const reader = new Reader(client);
  for (;;) {
    const length = (await reader.take(4)).readInt32BE(0);
    if (length < 8 || length > MOST_STARTUP_BYTES) throw new Error("no PostgreSQL");
    const body = await reader.take(length - 4);
    const code = body.readInt32BE(0);
    if (code === SSL_REQUEST || code === GSS_REQUEST) {
      // It is this machine's loopback.
      client.write("N");
      continue;
    }
    if (code === CANCEL_REQUEST) {
      await hall.cancels.get(body.subarray(4, 12).toString("hex"))?.();
      client.end();
      return;
    }
    if (code >> 16 !== 3) throw new Error("no PostgreSQL");
    await session(client, reader, readParameters(body.subarray(4)), code & 0xffff, hall);
    return;
  }
}

async function session(
  client: Socket,
  reader: Reader,
  parameters: Readonly<Record<string, string>>,
  minor: number,
  hall: Hall,
): Promise<void> {
  const refuse = (text: string, code = "28000") => void client.end(errorMessage(text, code));
  if (minor > 0) client.write(message("v", int32(0), int32(0)));
  client.write(message("R", int32(3)));
  const [type] = await reader.take(1);
  const length = (await reader.take(4)).readInt32BE(0);
  if (type !== 0x70 || length < 4 || length > 1_000) throw new Error("no password");
  const word = (await reader.take(length - 4)).toString("utf8").replace(/\0$/, "");
  const door = hall.doors.find(word);
  const database = hall.databases.get(parameters.user ?? "");
  if (door === null || database === undefined || !door.names.has(database.policy.name)) {
    refuse("nobody is let in here without the login that was given", "28P01");
    return;
  }
  const { policy } = database;
  const told = (fields: Pick<BrokerUse, "allowed" | "why">, what: string) =>
    hall.onUse({
      ...{ name: policy.name, at: hall.now().toISOString(), by: door.by, what: shortWhat(what) },
      ...{ ...fields, sent: 0, received: 0 },
    });
  let link: Link;
  try {
    if (parameters.replication !== undefined && !/^(?:false|off|no|0)$/i.test(parameters.replication))
      throw new Refused(`credential "${policy.name}" is not for replication`);
    judgeDoor(policy, door, hall.now());
    link = await logInFor(database, parameters, hall, told);
  } catch (error) {
    const why = error instanceof Error ? error.message : "it failed";
    const isOurs = error instanceof Refused;
    told({ allowed: !isOurs, why }, "connect");
    refuse(
      isOurs ? why : `the database could not be reached: ${why}`,
      error instanceof ServerError ? error.code : "08006",
    );
    return;
  }
  if (client.destroyed) {
    link.socket.destroy();
    return;
  }
  client.setTimeout(0);
  relay(client, reader, link, { door, database, hall, told });
}

/** Throws Refused for a role or a time it is not for. */
function judgeDoor(policy: Policy, { role }: Door, now: Date): void {
  assertTime(policy, now);
  const { roles } = policy.limits;
  if (roles !== null && role !== null && !roles.includes(role))
    throw new Refused(`credential "${policy.name}" is for ${roles.join(", ")}, not for ${role}`);
}

type Told = (fields: Pick<BrokerUse, "allowed" | "why">, what: string) => void;

/** Settings of a session that a client may bring along. */
const PARAMETERS = [
  "client_encoding",
  "application_name",
  "DateStyle",
  "TimeZone",
  "extra_float_digits",
  "search_path",
  "options",
];

async function logInFor(
  database: Database,
  given: Readonly<Record<string, string>>,
  hall: Hall,
  told: Told,
): Promise<Link> {
  const { policy, service } = database;
  const passed = Object.fromEntries(
    Object.entries(given).filter(([name]) => PARAMETERS.some((known) => known.toLowerCase() === name.toLowerCase())),
  );
  const { pins, ca } = hall;
  const own = { service, user: service.user, password: service.password, parameters: passed, pins, ca };
  if (!needsRole(policy)) return logIn(own);
  const role = await roleFor(database, hall, told);
  if (role !== null) {
    const { link, drop } = await role.connect(passed);
    link.socket.once("close", () => leave(drop, hall));
    return link;
  }
  // Nothing but a wish of ours: said so when the role could not be made.
  const wish = policy.limits.readOnly ? "-c default_transaction_read_only=on" : "";
  return logIn({ ...own, parameters: { ...passed, options: `${wish} ${passed.options ?? ""}`.trim() } });
}

function leave(drop: () => Promise<void>, { leaving }: Hall): void {
  const gone = drop().catch(() => null);
  leaving.add(gone);
  void gone.then(() => leaving.delete(gone));
}

async function roleFor(database: Database, hall: Hall, told: Told): Promise<ShortRole | null> {
  const { policy, service } = database;
  const known = await hall.roles.get(database)?.catch(() => undefined);
  if (known !== undefined && (known === null || known.until.getTime() - hall.now().getTime() > RENEW_MS)) return known;
  const made = makeRole(policy, service, { pins: hall.pins, ca: hall.ca }, hall.now());
  hall.roles.set(database, made);
  made.catch(() => hall.roles.delete(database));
  const role = await made;
  if (role === null) {
    told(
      { allowed: true, why: "its login may not make roles, so read-only and tables are only promised" },
      "use the login itself",
    );
  } else await known?.drop().catch(() => null);
  return role;
}

interface Talk {
  readonly door: Door;
  readonly database: Database;
  readonly hall: Hall;
  readonly told: Told;
}

function relay(client: Socket, reader: Reader, { socket, greeting }: Link, { door, database, hall, told }: Talk): void {
  const { policy, service, meter } = database;
  const own = randomBytes(8);
  const key = own.toString("hex");
  client.write(message("R", int32(0)));
  for (const one of greeting) {
    if (one.type !== "K") client.write(message(one.type, one.body));
    else {
      const real = Buffer.from(one.body);
      // A key of the server's would let anybody cancel; ours leads back here.
      hall.cancels.set(key, () => cancel(real, service, hall));
      client.write(message("K", own));
    }
  }
  const stop = () => {
    hall.cancels.delete(key);
    hall.open.delete(socket);
    door.open.delete(client);
    client.destroy();
    socket.destroy();
  };
  hall.open.add(socket);
  door.open.add(client);
  socket.on("error", stop);
  socket.once("close", () => {
    hall.cancels.delete(key);
    client.end();
  });
  client.once("close", stop);
  // Several statements in one message are several uses.
  const watch = new Watch((seen) => {
    for (const statement of statementsIn(seen)) {
      try {
        meter.take(door.role);
        told({ allowed: true }, statement);
      } catch (error) {
        told({ allowed: false, why: (error as Error).message }, statement);
        throw error;
      }
    }
  });
  const forward = (chunk: Buffer) => {
    try {
      watch.push(chunk);
    } catch (error) {
      const why = error instanceof Refused ? error.message : `credential "${policy.name}" is not used that way`;
      client.end(errorMessage(why, "53400"));
      socket.destroy();
      return;
    }
    if (!socket.write(chunk)) {
      client.pause();
      socket.once("drain", () => client.resume());
    }
  };
  const early = reader.release();
  client.on("data", forward);
  if (early.length > 0) forward(early);
  client.resume();
  socket.pipe(client);
}

/** What a client asks to be cancelled is cancelled at the real server. */
async function cancel(key: Buffer, service: PostgresService, { pins, ca }: Hall): Promise<void> {
  const socket = await openSocket({ service, pins, ca });
  socket.end(startup(CANCEL_REQUEST, key));
}

/** Exactly so many bytes of a connection, one piece after the other. */
class Reader {
  readonly #socket: Socket;
  #held: Buffer = Buffer.alloc(0);
  #wake: (() => void) | null = null;
  #ended = false;
  readonly #onData = (chunk: Buffer) => {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    if (this.#held.length > MOST_STARTUP_BYTES * 2) this.#socket.pause();
    this.#wake?.();
  };
  readonly #onEnd = () => {
    this.#ended = true;
    this.#wake?.();
  };

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", this.#onData);
    socket.once("close", this.#onEnd);
  }

  async take(count: number): Promise<Buffer> {
    while (this.#held.length < count) {
      if (this.#ended) throw new Error("the client hung up");
      this.#socket.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  /** Gives the connection back, with what was read too early. */
  release(): Buffer {
    this.#socket.off("data", this.#onData);
    this.#socket.off("close", this.#onEnd);
    this.#socket.pause();
    return this.#held;
  }
}
