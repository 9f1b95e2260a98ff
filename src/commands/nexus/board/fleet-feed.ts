// A fleet for the board: followed by one connection of the board's own, told in the page's words.
import { type Fleet, FleetFollower, type Followed, withFleet } from "../../../fleet/index.js";
import type { Context } from "../../../operation.js";
import type { FleetEvent } from "../../../schema/fleet.js";
import type { FleetFeed } from "../../../web/board/board.js";
import {
  FLEET_STATES,
  type FleetEventRow,
  type FleetJobRow,
  type FleetView,
  type FleetWorkerRow,
  MOST_FLEET_JOBS,
} from "../../../web/board/model.js";
import { settingsOf } from "../fleet/fleet-flags.js";
import { shapeOf } from "../fleet/job-shape.js";
import { type FleetInput, fleetWords } from "../fleet/server-flags.js";

/** For as long as `show` takes. Throws what the server refuses at first; one that goes away later is waited for. */
export async function withFleetFeed<T>(
  input: FleetInput,
  context: Context,
  show: (feed: FleetFeed) => Promise<T>,
): Promise<T> {
  const settings = await settingsOf(input, context);
  return withFleet(settings, { name: "nexus board", patient: true }, async (fleet) =>
    show(await follow(fleet, fleetWords(input), context.signal)),
  );
}

async function follow(fleet: Fleet, typed: readonly string[], signal: AbortSignal): Promise<FleetFeed> {
  let heard = () => {};
  const follower = new FleetFollower(fleet, signal, () => heard());
  await follower.start();
  const words = typed.map((word) => ` ${word}`).join("");
  return {
    view: (now) => viewOf(follower.at(now), { fleet, words, now, away: follower.away ?? "" }),
    tell: (next) => {
      heard = next;
    },
  };
}

interface Around {
  readonly fleet: Pick<Fleet, "server" | "settings">;
  readonly words: string;
  readonly now: Date;
  readonly away: string;
}

function viewOf({ jobs, workers, events }: Followed, { fleet, words, now, away }: Around): FleetView {
  // As `nexus fleet logs` does: what has no words is for programs.
  const worded = events.filter(({ message }) => message !== undefined);
  const said = new Map(worded.map(({ job, message }) => [job, message!]));
  const all = [...jobs.values()].map(({ value }) => value);
  const latest = FLEET_STATES.map((state) =>
    all.filter((job) => job.state === state).sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)),
  );
  const rows = latest.flatMap((some) => some.slice(0, MOST_FLEET_JOBS));
  return {
    server: fleet.server,
    words,
    counts: Object.fromEntries(FLEET_STATES.map((state, at) => [state, latest[at]!.length])) as FleetView["counts"],
    jobs: rows.map((job) => jobRow(shapeOf(job), said.get(job.id) ?? "")),
    workers: [...workers.values()]
      .map(({ value, at }) => workerRow(value, new Date(at), now.getTime() - at > fleet.settings.lease_ms))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
    events: worded.map(eventRow).reverse(),
    away,
  };
}

function jobRow(job: ReturnType<typeof shapeOf>, said: string): FleetJobRow {
  const { job: id, title, state, priority, labels, tries, deaths } = job;
  return {
    ...{ id, title, state, priority, labels, tries, deaths, said },
    worker: job.worker ?? "",
    status: job.status ?? "",
    tokens: job.tokens ?? 0,
    costUsd: job.cost_usd ?? 0,
    reason: job.reason ?? "",
    createdAt: job.created_at,
    updatedAt: job.updated_at,
  };
}

type Worker = Followed["workers"] extends Map<string, { readonly value: infer W }> ? W : never;

function workerRow(worker: Worker, heard: Date, isSilent: boolean): FleetWorkerRow {
  const { id, slots, jobs, done, failed, draining, labels, drivers } = worker;
  const state = isSilent ? "silent" : draining ? "draining" : jobs.length > 0 ? "at work" : "idle";
  return { id, state, has: [...labels, ...drivers], slots, jobs, done, failed, heardAt: heard.toISOString() };
}

const eventRow = ({ at, job, worker = "", type, message = "" }: FleetEvent): FleetEventRow => ({
  ...{ at, job, worker, type, message },
});
