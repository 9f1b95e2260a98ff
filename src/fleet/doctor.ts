// What a fleet's server gives and what it does not, and what is stuck on it.
import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { type Finding, NutError } from "../errors.js";
import { Worker } from "../schema/fleet.js";
import { refusalOf } from "./connect.js";
import { type Fleet, openFleet } from "./fleet.js";
import { infoOf, streamsOf } from "./layout.js";
import { WORK } from "./names.js";
import { newestOf } from "./newest-of.js";
import { knowsSync } from "./server-config.js";
import { reached, spentOn } from "./spending.js";

export interface Examined {
  readonly facts: string[];
  readonly findings: Finding[];
}

/** A queue whose oldest ticket waits longer than this has too few workers, or none that fits. */
const LONG_MS = 10 * 60_000;

export async function examine(nc: NatsConnection, jsm: JetStreamManager, server: string, now: Date): Promise<Examined> {
  const facts: string[] = [];
  const findings: Finding[] = [];
  const find = (severity: Finding["severity"], code: string, message: string, fix?: string) =>
    findings.push({ code, severity, path: server, message, ...(fix === undefined ? {} : { fix }) });
  const version = nc.info?.version ?? "0";
  const cluster = nc.info?.cluster;
  facts.push(`nats-server ${version}${cluster === undefined ? "" : `, cluster ${cluster}`}`);
  if (!isAtLeast(version, 2, 9)) {
    find(
      "error",
      "fleet_server_old",
      `version ${version} is too old: a fleet needs 2.9`,
      "install a newer nats-server",
    );
  }
  const fleet = await opened(nc, jsm, server, find);
  if (fleet === null) return { facts, findings };
  const copies = await copiesOf(jsm, fleet, find);
  facts.push(
    `${copies} ${copies === 1 ? "copy" : "copies"} of everything; what is not written to goes after ${days(fleet)}`,
  );
  if (copies < 3) {
    find(
      "warning",
      "fleet_few_replicas",
      `${copies === 1 ? "one copy" : `${copies} copies`}: a disk that dies takes jobs with it`,
      "a cluster of three, then: nexus fleet init",
    );
  }
  find(
    "warning",
    "fleet_flush",
    knowsSync(version)
      ? "unless its configuration says sync_interval: always, the server loses the last acknowledged messages when most of it loses power at once"
      : "this server writes to the disk every two minutes: when most of it loses power at once, the last acknowledged messages are gone",
    "after such a cut, every submitter runs: nexus fleet reconcile",
  );
  await lookAtWork(fleet, jsm, now, { facts, find });
  return { facts, findings };
}

type Find = (severity: Finding["severity"], code: string, message: string, fix?: string) => void;

async function opened(nc: NatsConnection, jsm: JetStreamManager, server: string, find: Find): Promise<Fleet | null> {
  try {
    return await openFleet(nc, jsm, server);
  } catch (error) {
    const refusal = refusalOf(error, server);
    if (!(refusal instanceof NutError)) throw error;
    find("error", refusal.code.toLowerCase(), refusal.message, refusal.hint);
    return null;
  }
}

async function copiesOf(jsm: JetStreamManager, { settings }: Fleet, find: Find): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (const { name } of streamsOf({ keepMs: settings.keep_ms })) {
    const info = await infoOf(jsm, name);
    if (info === null) {
      find("error", "fleet_stream_missing", `${name} is missing`, "nexus fleet init");
      continue;
    }
    least = Math.min(least, info.config.num_replicas);
    const away = (info.cluster?.replicas ?? []).filter(({ offline, current }) => offline === true || !current);
    if (away.length > 0) {
      find(
        "warning",
        "fleet_replica_behind",
        `${name}: ${away.map(({ name: peer }) => peer).join(", ")} is away or behind`,
      );
    }
  }
  return Number.isFinite(least) ? least : 0;
}

async function lookAtWork(
  fleet: Fleet,
  jsm: JetStreamManager,
  now: Date,
  { facts, find }: { readonly facts: string[]; readonly find: Find },
): Promise<void> {
  const { state } = await jsm.streams.info(WORK);
  const jobs = await fleet.jobs.all();
  const open = jobs.filter((job) => job.state === "queued" || job.state === "running");
  facts.push(`open jobs: ${open.length} of ${jobs.length}; tickets in the queue: ${state.messages}`);
  const workers = await newestOf(fleet.workers, (entry) => {
    // By the server's clock: a worker's own may be anywhere.
    const isHeard = now.getTime() - entry.created.getTime() < 2 * fleet.settings.lease_ms;
    return isHeard ? (Worker.safeParse(entry.json()).data ?? null) : null;
  });
  facts.push(`workers heard of within two leases: ${workers.length}`);
  if (open.length > state.messages) {
    find(
      "error",
      "fleet_ticket_lost",
      `open jobs without a ticket in the queue: ${open.length - state.messages}`,
      "nexus fleet reconcile",
    );
  }
  const served = (labels: readonly string[]) =>
    workers.some(({ labels: own, drivers }) => {
      const has = new Set([...own, ...drivers.map((driver) => `driver=${driver}`)]);
      return labels.every((label) => has.has(label));
    });
  const alone = open.filter(({ labels, state: at }) => at === "queued" && !served(labels));
  if (alone.length > 0) {
    const needs = [...new Set(alone.map(({ labels }) => (labels.length === 0 ? "any worker" : labels.join("+"))))];
    find(
      "error",
      "fleet_nobody_fits",
      `queued jobs that fit no worker that is there: ${alone.length} (${needs.slice(0, 5).join(", ")})`,
      `nexus fleet work${alone[0]!.labels.map(asFlag).join("")}`,
    );
  }
  const age = state.messages === 0 ? 0 : now.getTime() - Date.parse(String(state.first_ts));
  if (age > LONG_MS)
    find(
      "warning",
      "fleet_queue_old",
      `the oldest ticket is ${Math.round(age / 60_000)} minutes old`,
      "nexus fleet workers",
    );
  const limit = reached(fleet.settings, (await spentOn(fleet, now)).spent);
  if (limit !== null)
    find(
      "error",
      "fleet_limit_reached",
      `nothing more is begun today: the limit ${limit} is reached`,
      "nexus fleet init --budget … says otherwise",
    );
}

/** As a worker is told that it has it. */
const asFlag = (label: string): string =>
  label.startsWith("driver=") ? ` --driver ${label.slice("driver=".length)}` : ` --label ${label}`;

function days({ settings }: Fleet): string {
  const hours = Math.round(settings.keep_ms / 3_600_000);
  const [amount, unit] = hours % 24 === 0 ? [hours / 24, "day"] : [hours, "hour"];
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [a = 0, b = 0] = version.split(".").map(Number);
  return a > major || (a === major && b >= minor);
}
