// A fleet as a program sees it: one connection, and what hangs on it.
import { setTimeout as sleep } from "node:timers/promises";
import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import type { NatsConnection } from "@nats-io/transport-node";
import { NutError } from "../errors.js";
import { FLEET_VERSION, FleetSettings } from "../schema/fleet.js";
import { type ConnectOptions, connectTo, refusalOf } from "./connect.js";
import { Events } from "./events.js";
import { Jobs } from "./jobs.js";
import { BUNDLES, JOBS, RUNS, SETTINGS, WORKERS } from "./names.js";
import { Queue } from "./queue.js";
import type { ServerSettings } from "./settings.js";
import { StoredFiles } from "./stored-files.js";

export interface Fleet {
  readonly nc: NatsConnection;
  readonly jsm: JetStreamManager;
  /** As it was named, for messages. */
  readonly server: string;
  readonly settings: FleetSettings;
  readonly jobs: Jobs;
  readonly queue: Queue;
  readonly events: Events;
  readonly bundles: StoredFiles;
  readonly runs: StoredFiles;
  readonly workers: KV;
  readonly ownSettings: KV;
}

/** Time for one question: a cluster that chooses a leader answers late. */
const ASK_MS = 10_000;
/** Time for the last words to a server. */
const LEAVE_MS = 3_000;

/** Opens a connection for as long as `use` takes. What a server refuses comes out as a refusal of ours. */
export async function withServer<T>(
  settings: ServerSettings,
  options: ConnectOptions,
  use: (nc: NatsConnection, jsm: JetStreamManager) => Promise<T>,
): Promise<T> {
  const server = settings.servers.join(", ");
  const nc = await connectTo(settings, options);
  try {
    return await use(nc, await jetstreamManager(nc, { checkAPI: false, timeout: ASK_MS }));
  } catch (error) {
    throw refusalOf(error, server);
  } finally {
    await leave(nc);
  }
}

/** What was said is sent first; a server that is away is not waited for. */
async function leave(nc: NatsConnection): Promise<void> {
  const patience = new AbortController();
  const late = sleep(LEAVE_MS, undefined, { signal: patience.signal }).catch(() => {});
  await Promise.race([nc.drain().catch(() => {}), late]);
  patience.abort();
  await nc.close().catch(() => {});
}

export interface FleetOptions extends ConnectOptions {
  /** Files go over a line of their own, so that signs of life never wait behind them. */
  readonly filesApart?: boolean;
}

/** Throws FLEET_NOT_READY where `nexus fleet init` was never run, and FLEET_NEWER where a newer one was. */
export function withFleet<T>(
  settings: ServerSettings,
  { filesApart = false, ...options }: FleetOptions,
  use: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  const server = settings.servers.join(", ");
  return withServer(settings, options, async (nc, jsm) => {
    if (!filesApart) return use(await openFleet(nc, jsm, server));
    return withServer(settings, { ...options, name: `${options.name} (files)` }, async (...files) =>
      use(await openFleet(nc, jsm, server, files)),
    );
  });
}

export async function openFleet(
  nc: NatsConnection,
  jsm: JetStreamManager,
  server: string,
  [filesNc, filesJsm]: readonly [NatsConnection, JetStreamManager] = [nc, jsm],
): Promise<Fleet> {
  const js = jetstream(nc, { timeout: ASK_MS });
  const kvm = new Kvm(js);
  const objm = new Objm(filesNc === nc ? js : jetstream(filesNc, { timeout: ASK_MS }));
  const ownSettings = await kvm.open(SETTINGS);
  const [jobs, workers, bundles, runs, entry] = await Promise.all([
    kvm.open(JOBS),
    kvm.open(WORKERS),
    objm.open(BUNDLES),
    objm.open(RUNS),
    ownSettings.get("settings"),
  ]);
  return {
    nc,
    jsm,
    server,
    settings: readSettings(entry?.string() ?? null, server),
    jobs: new Jobs(jobs),
    queue: new Queue(nc, js, jsm),
    events: new Events(js),
    bundles: new StoredFiles(BUNDLES, bundles, filesJsm),
    runs: new StoredFiles(RUNS, runs, filesJsm),
    workers,
    ownSettings,
  };
}

function readSettings(text: string | null, server: string): FleetSettings {
  if (text === null) {
    throw new NutError("FLEET_NOT_READY", `no fleet was set up on ${server}`, { hint: "nexus fleet init" });
  }
  const value = JSON.parse(text) as { readonly version?: number };
  const parsed = FleetSettings.safeParse(value);
  if (parsed.success && parsed.data.version <= FLEET_VERSION) return parsed.data;
  throw new NutError("FLEET_NEWER", `the fleet on ${server} was set up by another version of nexus`, {
    hint: "npm install -g nutcracker@latest, then: nexus fleet init",
  });
}

/** What the fleet is set up with, for everybody who opens it from now on. */
export async function saveSettings(nc: NatsConnection, settings: FleetSettings): Promise<void> {
  await (await new Kvm(nc).open(SETTINGS)).put("settings", JSON.stringify(settings));
}
