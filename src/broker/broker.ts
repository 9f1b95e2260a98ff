// The broker: holds the secrets and lends what they open. It listens on a loopback port that means nothing without a word
// given to one agent; the secret is added out here, to what was judged, on its way to where it belongs.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Credential } from "../schema/vault.js";
import { type Scrubber, type Secret, scrubber, secretsOf } from "../vault/index.js";
import { makeAuthority } from "./authority.js";
import { type Door, Doors } from "./doors.js";
import { databaseStandIn, gitSettings, httpStandIn, type StandIn } from "./environment.js";
import { Agents, exchange, type Ground, refuse, type Target } from "./http/exchange.js";
import { Meter, Refused } from "./judge.js";
import { Pins, type Resolve } from "./pins.js";
import { type Policy, type PolicyInput, policyOf } from "./policy.js";
import { type Database, type DatabaseGateway, openDatabaseGateway } from "./postgres/gateway.js";
import { openProxy } from "./proxy.js";
import { openSshAgent, type SshAgent } from "./ssh-agent.js";
import { type BrokerUse, shortWhat } from "./use.js";

interface Lent {
  readonly credential: Pick<Credential, "name" | "value">;
  /** One with a service. */
  readonly policy: Policy;
  /** One for everybody who uses it. */
  readonly meter: Meter;
}

export interface BrokerInput {
  /** Origins of this machine or its network that the person named. */
  readonly allowOrigins?: readonly string[];
  readonly now?: () => Date;
  readonly onUse?: (use: BrokerUse) => void;
  readonly resolve?: Resolve;
  readonly ca?: string;
}

export interface Admission {
  /** Variables for whoever was let in; no secret in them. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of what can be used. */
  readonly names: readonly string[];
  /** Addresses that lead here. */
  readonly through: readonly string[];
  /** What stands for the value of each. */
  readonly values: Readonly<Record<string, string | Record<string, unknown>>>;
  /** Folders it must be able to read. */
  readonly folders?: readonly string[];
  /** A proxy for programs that insist on a service's own address, whom they must trust for it, and for which addresses it is. */
  readonly proxy?: { readonly url: string; readonly certificate: string; readonly serves: readonly string[] };
  close(): void | Promise<void>;
}

export interface Guest {
  readonly by: string;
  /** null: a person, or the harness itself. */
  readonly role: string | null;
  readonly names?: readonly string[];
  /** Set for programs that insist on a service's own address: other hosts are refused, or tunnelled as they are. */
  readonly proxy?: "only" | "tunnel";
}

export interface Broker {
  /** Where it listens. */
  readonly origin: string;
  /** From now on whoever is let in may use it. */
  lend(lent: PolicyInput): Promise<void>;
  /** Lets one agent or program in, until it is closed; to everything that is for its role, or to what is named. */
  admit(who: Guest): Promise<Admission>;
  close(): Promise<void>;
}

/** More at a time than any agent needs. */
const MOST_CONNECTIONS = 512;
const HEADER_MS = 30_000;

export async function openBroker(input: BrokerInput): Promise<Broker> {
  const now = input.now ?? (() => new Date());
  const lent: Lent[] = [];
  const secrets: Secret[] = [];
  const ground: Ground & { scrub: Scrubber } = {
    pins: new Pins(input.allowOrigins ?? [], input.resolve),
    scrub: scrubber([]),
    now,
    onUse: input.onUse ?? (() => {}),
    ca: input.ca,
    agents: new Agents(),
  };
  const doors = new Doors();
  const places = new Map<string, Place>();
  const databases = new Map<string, Database>();
  let gateway: Promise<DatabaseGateway> | null = null;
  const agents = new Set<SshAgent | null>();
  const server = createServer({
    keepAliveTimeout: 60_000,
    headersTimeout: HEADER_MS,
    requestTimeout: 0,
  });
  server.maxConnections = MOST_CONNECTIONS;
  await listen(server);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hall: Hall = { doors, places, databases, ground, origin };
  /** Opened with the first database. */
  const databasePort = async () => {
    gateway ??= openDatabaseGateway({ doors, databases, pins: ground.pins, ca: input.ca, now, onUse: ground.onUse });
    return (await gateway).port;
  };
  server.on("request", (request, response) => {
    void (/^http:/i.test(request.url ?? "") ? proxy.onAbsolute(request, response) : answer(request, response, hall));
  });
  server.on("upgrade", (request, socket) => turnAway(request, socket as Socket, hall));
  const proxy = openProxy(hall);
  server.on("connect", (request, socket, head) => proxy.onConnect(request, socket as Socket, head));
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    else socket.destroy();
  });
  return {
    origin,
    lend: async (asked) => {
      const policy = policyOf(asked);
      const one: Lent = { credential: asked.credential, policy, meter: new Meter(policy, now) };
      lent.push(one);
      secrets.push(...secretsOf(one.credential));
      ground.scrub = scrubber(secrets);
      for (const place of placesOf(one, places)) places.set(place.slug, place);
      if (policy.service?.kind === "postgresql")
        databases.set(slugOf(policy.name, databases), {
          policy,
          service: policy.service,
          meter: one.meter,
        });
    },
    admit: async ({ by, role, names, proxy: wanted }) => {
      const usable = lent.filter(({ policy }) => names?.includes(policy.name) ?? isFor(policy, role));
      const authority = wanted === undefined ? null : makeAuthority(hostsOf(usable), now());
      const own = new Set(usable.map(({ policy }) => policy.name));
      const door = doors.add({ by, role, names: own, tunnels: wanted === "tunnel", authority });
      const agent = await sshAgentFor(usable, door, ground);
      const hasDatabase = usable.some(({ policy }) => policy.service?.kind === "postgresql");
      const port = hasDatabase ? await databasePort() : 0;
      agents.add(agent);
      const told = usable.map((one) => [one.policy.name, standInOf(one, door, hall, port)] as const);
      return {
        env: Object.assign(
          {},
          ...told.map(([, { env }]) => env),
          gitSettings(usable.flatMap((one) => repositoryOf(one, door, hall))),
          agent?.env ?? {},
        ),
        names: usable.map(({ policy }) => policy.name),
        values: Object.fromEntries(told.map(([name, { value }]) => [name, value])),
        through: [origin, ...(hasDatabase ? [`tcp://127.0.0.1:${port}`] : [])],
        ...(authority === null
          ? {}
          : {
              proxy: {
                url: origin.replace("//", `//run:${door.token}@`),
                certificate: authority.certificate,
                serves: basesOf(usable),
              },
            }),
        ...(agent === null ? {} : { folders: [agent.folder] }),
        close: () => {
          doors.remove(door);
          agent?.close();
          agents.delete(agent);
        },
      };
    },
    close: async () => {
      doors.clear();
      ground.agents.close();
      proxy.close();
      for (const agent of agents) agent?.close();
      await (await gateway)?.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const hostsOf = (lent: readonly Lent[]): string[] =>
  basesOf(lent).map((base) => new URL(base).hostname.replace(/^\[|\]$/g, ""));

/** Addresses of web services, which a door's authority may vouch for. */
const basesOf = (lent: readonly Lent[]): string[] =>
  lent.flatMap(({ policy: { service } }) => {
    if (service?.kind === "http") return service.bases;
    return service?.kind === "git" ? [service.repository] : [];
  });

/** A reviewer needs no production database. */
const isFor = ({ limits: { roles } }: Policy, role: string | null): boolean =>
  roles === null || role === null || roles.includes(role);

interface Place extends Target {
  readonly slug: string;
}

/** Every base of a web service, by the word that stands for it in an address. */
function placesOf({ policy, meter }: Lent, taken: ReadonlyMap<string, Place>): Place[] {
  const { service } = policy;
  if (service?.kind !== "http" && service?.kind !== "git") return [];
  const bases = service.kind === "http" ? service.bases : [service.repository];
  const word = slugOf(policy.name, taken);
  return bases.map((base, index) => ({
    slug: index === 0 ? word : `${word}-${taken.size + index + 1}`,
    ...{ policy, service, base, meter },
  }));
}

/** A name as it stands in an address, once. */
function slugOf(name: string, taken: ReadonlyMap<string, unknown>): string {
  const word = name.replace(/[^A-Za-z0-9._-]+/g, "-");
  return taken.has(word) ? `${word}-${taken.size + 1}` : word;
}

function standInOf(
  { credential, policy }: Lent,
  { token }: Door,
  { places, databases, origin }: Hall,
  port: number,
): StandIn {
  // The key is behind $SSH_AUTH_SOCK, and nowhere else.
  if (policy.service?.kind === "ssh") return { value: "", env: {} };
  if (policy.service?.kind === "postgresql") {
    const [user] = [...databases].find(([, database]) => database.policy === policy)!;
    const { database } = policy.service;
    return databaseStandIn(credential, { host: "127.0.0.1", port, user, password: token, database });
  }
  const own = [...places.values()].filter((place) => place.policy === policy);
  return httpStandIn(
    credential,
    own.map(({ slug }) => `${origin}/${token}/${slug}`),
  );
}

/** One agent for a door, for the one key that is lent. Where none can be started nobody has the key, and the record says why. */
async function sshAgentFor(usable: readonly Lent[], door: Door, { now, onUse }: Ground): Promise<SshAgent | null> {
  for (const { policy, meter } of usable) {
    const { service, name } = policy;
    if (service?.kind !== "ssh") continue;
    try {
      return await openSshAgent({ policy, service, meter, door, now, onUse });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const told = { name, at: now().toISOString(), by: door.by, what: "start an SSH agent" };
      onUse({ ...told, allowed: false, why: error.message, sent: 0, received: 0 });
    }
  }
  return null;
}

/** Where git asks instead of the repository's own address. */
function repositoryOf({ policy }: Lent, { token }: Door, { places, origin }: Hall) {
  const place = [...places.values()].find((one) => one.policy === policy);
  if (place === undefined || policy.service?.kind !== "git") return [];
  return [{ from: policy.service.repository, to: `${origin}/${token}/${place.slug}` }];
}

/** `/<word>/<credential>/<path>?<query>`. */
const ADDRESS = /^\/([A-Za-z0-9_-]{32})\/([A-Za-z0-9._-]+)((?:\/[^?]*)?)(?:\?(.*))?$/s;

interface Hall {
  readonly doors: Doors;
  readonly places: ReadonlyMap<string, Place>;
  readonly databases: ReadonlyMap<string, Database>;
  readonly ground: Ground;
  readonly origin: string;
}

async function answer(request: IncomingMessage, response: ServerResponse, hall: Hall): Promise<void> {
  const { doors, places, ground, origin } = hall;
  const [, token = "", slug = "", path = "", query = ""] = ADDRESS.exec(request.url ?? "") ?? [];
  const door = doors.find(token);
  if (door === null) {
    refuse(
      request,
      response,
      new Refused("nobody is let in here without the address that was given", { status: 401 }),
      null,
    );
    return;
  }
  const place = places.get(slug);
  if (place === undefined || !door.names.has(place.policy.name)) {
    refuse(request, response, new Refused("no credential is used under this address", { status: 404 }), null);
    return;
  }
  door.open.add(response);
  response.once("close", () => door.open.delete(response));
  const home = `${origin}/${token}/${slug}`;
  await exchange(
    request,
    response,
    { target: place, path: path === "" ? "/" : path, query, by: door.by, role: door.role, home },
    ground,
  );
}

/** WebSockets and their like. */
function turnAway({ url = "" }: IncomingMessage, socket: Socket, { doors, places, ground }: Hall): void {
  const message = "an upgraded connection cannot be watched: use plain requests";
  const body = JSON.stringify({ error: { code: "BROKER_REFUSED", message } });
  const [, token = "", slug = ""] = ADDRESS.exec(url) ?? [];
  const [door, place] = [doors.find(token), places.get(slug)];
  if (door !== null && place !== undefined) {
    const what = shortWhat(`UPGRADE ${place.base}`);
    const at = ground.now().toISOString();
    ground.onUse({
      name: place.policy.name,
      at,
      by: door.by,
      what,
      allowed: false,
      why: message,
      sent: 0,
      received: 0,
    });
  }
  socket.end(
    `HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\nx-nutshell-broker: refused\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}
