// What a fleet needs on its server, made once and brought up to date when asked for again. Nothing that is there is emptied.
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { PRIORITIES } from "../schema/fleet.js";
import {
  BUNDLES,
  consumerName,
  EVENT_SUBJECTS,
  EVENTS,
  JOBS,
  RUNS,
  SETTINGS,
  WORK,
  WORK_SUBJECTS,
  WORKERS,
  workSubject,
} from "./names.js";

/** A message that is published again within this time is one message. */
const DUPLICATES_MS = 120_000;
/** How long a worker that says nothing is still listed. */
export const WORKER_MS = 10 * 60_000;
/** Events a job keeps; older ones make room. */
const MOST_EVENTS = 2_000;
const CLUSTER_REPLICAS = 3;

export interface LayoutOptions {
  readonly keepMs: number;
  /** undefined: three where the server is a cluster, one where it is alone. */
  readonly replicas?: number | undefined;
  readonly isCluster: boolean;
  readonly leaseMs: number;
}

type NewStream = Partial<StreamConfig> & { readonly name: string };

/** The streams of a fleet, as a server from 2.9 on understands them. */
export function streamsOf({ keepMs }: Pick<LayoutOptions, "keepMs">): NewStream[] {
  const max_age = nanos(keepMs);
  const common = { storage: StorageType.File, max_age, duplicate_window: nanos(Math.min(DUPLICATES_MS, keepMs)) };
  return [
    { ...common, name: WORK, subjects: [WORK_SUBJECTS], retention: RetentionPolicy.Workqueue },
    { ...common, name: EVENTS, subjects: [EVENT_SUBJECTS], max_msgs_per_subject: MOST_EVENTS },
    // Records are read from the leader: what was just written is what is read.
    { ...common, ...bucket(JOBS) },
    { ...common, ...bucket(SETTINGS), max_age: 0 },
    { ...common, ...bucket(WORKERS), max_age: nanos(WORKER_MS), duplicate_window: nanos(WORKER_MS / 5) },
    { ...common, ...objects(BUNDLES) },
    { ...common, ...objects(RUNS) },
  ];
}

const bucket = (name: string): NewStream => ({
  name: `KV_${name}`,
  subjects: [`$KV.${name}.>`],
  max_msgs_per_subject: 1,
  discard: DiscardPolicy.New,
  allow_rollup_hdrs: true,
  deny_delete: true,
  allow_direct: false,
});

const objects = (name: string): NewStream => ({
  name: `OBJ_${name}`,
  subjects: [`$O.${name}.C.>`, `$O.${name}.M.>`],
  discard: DiscardPolicy.New,
  allow_rollup_hdrs: true,
  allow_direct: true,
});

export interface Laid {
  readonly name: string;
  readonly replicas: number;
  readonly made: boolean;
}

export async function layOut(jsm: JetStreamManager, options: LayoutOptions): Promise<Laid[]> {
  const laid: Laid[] = [];
  // A server that is alone takes the word for three and keeps one.
  let replicas = options.replicas ?? (options.isCluster ? CLUSTER_REPLICAS : 1);
  for (const stream of streamsOf(options)) {
    try {
      laid.push(await ensureStream(jsm, { ...stream, num_replicas: replicas }));
    } catch (error) {
      if (options.replicas !== undefined || replicas === 1 || !isTooFew(error)) throw error;
      replicas = 1;
      laid.push(await ensureStream(jsm, { ...stream, num_replicas: 1 }));
    }
  }
  for (const priority of PRIORITIES) await ensureConsumer(jsm, workSubject(priority, []), options.leaseMs);
  return laid;
}

/** No cluster, or one with fewer servers than replicas were asked for. */
const isTooFew = (error: unknown): boolean => [10074, 10005, 10052].includes((error as { code?: number }).code ?? 0);

async function ensureStream(jsm: JetStreamManager, config: NewStream): Promise<Laid> {
  const { name, num_replicas: replicas = 1 } = config;
  const there = await infoOf(jsm, name);
  if (there === null) {
    await jsm.streams.add(config);
    return { name, replicas, made: true };
  }
  // A fleet that was given more replicas by hand keeps them.
  const kept = Math.max(replicas, there.config.num_replicas);
  const same = there.config.num_replicas === kept && there.config.max_age === config.max_age;
  if (!same) await jsm.streams.update(name, { ...there.config, max_age: config.max_age!, num_replicas: kept });
  return { name, replicas: kept, made: false };
}

export async function infoOf(jsm: JetStreamManager, stream: string) {
  try {
    return await jsm.streams.info(stream);
  } catch (error) {
    if ((error as { code?: number }).code === 10059) return null;
    throw error;
  }
}

/** One durable consumer for every subject: a server before 2.10 knows one filter each, and ours may not overlap. */
export async function ensureConsumer(jsm: JetStreamManager, subject: string, leaseMs: number): Promise<void> {
  await jsm.consumers.add(WORK, {
    durable_name: consumerName(subject),
    filter_subject: subject,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(leaseMs),
    max_deliver: -1,
    max_ack_pending: 10_000,
  });
}
