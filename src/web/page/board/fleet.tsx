// A fleet: what is queued, who works, what its runs say, as it happens. Looks only; the commands that act are shown.
import {
  FLEET_STATES,
  type FleetEventRow,
  type FleetJobRow,
  type FleetState,
  type FleetView,
  type FleetWorkerRow,
  MOST_FLEET_JOBS,
} from "../../board/model.js";
import { Badge, Card, Empty, Facts, type Tone, When } from "../parts.js";
import { type Params, routeTo, setParam } from "../shell.js";
import { CopyButton } from "../verdict-band.js";
import { amount, day, plural, visible } from "../visible.js";

interface FleetProps {
  readonly fleet: FleetView;
  readonly now: number;
  /** The job that is looked at. */
  readonly rest: string;
  readonly params: Params;
}

const TONES: Readonly<Record<FleetState, Tone>> = {
  ...{ running: "accent", queued: "plain", delivered: "good", cancelled: "warn", dead: "bad" },
};
const WORKER_TONES: Readonly<Record<FleetWorkerRow["state"], Tone>> = {
  ...{ "at work": "accent", idle: "plain", draining: "warn", silent: "bad" },
};
const MOST_EVENTS = 60;

export function FleetPage({ fleet, now, rest, params }: FleetProps) {
  const { counts, workers } = fleet;
  const total = FLEET_STATES.reduce((sum, state) => sum + counts[state], 0);
  const asked = FLEET_STATES.find((state) => state === params.state);
  const job = rest === "" ? undefined : fleet.jobs.find(({ id }) => id === rest);
  return (
    <>
      <h1>Fleet</h1>
      <p class="lead">
        {visible(fleet.server)}: {plural(total, "job")}, {plural(workers.length, "worker")}.
      </p>
      {fleet.away === "" ? null : (
        <div class="notice bad" role="alert">
          {visible(fleet.away)}; this is what was last heard.
        </div>
      )}
      {rest === "" ? null : job === undefined ? (
        <Empty>
          Job {visible(rest)} is not among those shown here:{" "}
          <code>{visible(`nexus fleet show${fleet.words} ${rest}`)}</code>
        </Empty>
      ) : (
        <JobCard
          job={job}
          words={fleet.words}
          events={fleet.events.filter((event) => event.job === job.id)}
          now={now}
        />
      )}
      <div class="tabs" role="group" aria-label="which jobs">
        <button type="button" aria-pressed={asked === undefined} onClick={() => setParam("state", "")}>
          all {total}
        </button>
        {FLEET_STATES.map((state) => (
          <button type="button" key={state} aria-pressed={asked === state} onClick={() => setParam("state", state)}>
            {state} {counts[state]}
          </button>
        ))}
      </div>
      <div class="columns">
        <div>
          <JobList fleet={fleet} asked={asked} now={now} />
        </div>
        <div>
          <Card title="Workers">
            {workers.length === 0 ? (
              <Empty>
                Nobody works: <code>{visible(`nexus fleet work${fleet.words}`)}</code>
              </Empty>
            ) : null}
            <ul class="brief">
              {workers.map((worker) => (
                <WorkerLine key={worker.id} worker={worker} now={now} />
              ))}
            </ul>
          </Card>
          <Card title="What happened">
            <Events events={fleet.events} now={now} />
          </Card>
        </div>
      </div>
    </>
  );
}

function JobList({ fleet, asked, now }: Pick<FleetProps, "fleet" | "now"> & { asked: FleetState | undefined }) {
  const { counts } = fleet;
  const rows = asked === undefined ? fleet.jobs : fleet.jobs.filter(({ state }) => state === asked);
  const shown = rows.slice(0, MOST_FLEET_JOBS);
  const total = asked === undefined ? FLEET_STATES.reduce((sum, state) => sum + counts[state], 0) : counts[asked];
  return (
    <Card title="Jobs">
      {rows.length === 0 ? (
        <Empty>
          {asked === undefined ? "Nothing was handed in: " : `No job is ${asked}. `}
          {asked === undefined ? <code>{visible(`nexus fleet submit${fleet.words} task.nut`)}</code> : null}
        </Empty>
      ) : null}
      <ul class="brief jobs">
        {shown.map((job) => (
          <li key={job.id}>
            <Badge tone={TONES[job.state]}>{job.state}</Badge>
            <a href={routeTo("fleet", job.id, asked === undefined ? {} : { state: asked })}>
              {visible(job.title || job.id)}
            </a>
            <span class="soft">
              <When at={job.updatedAt} now={now} />
              {job.worker === "" ? "" : ` ${visible(job.worker)}`}
              {job.priority === "normal" ? "" : `, ${job.priority} priority`}
            </span>
            <JobNote job={job} />
          </li>
        ))}
      </ul>
      {shown.length === total ? null : (
        <p class="soft">
          These are the latest {shown.length} of {total}; <code>{visible(`nexus fleet jobs${fleet.words} --all`)}</code>{" "}
          lists every one.
        </p>
      )}
    </Card>
  );
}

/** One line on what a person would ask next. */
function JobNote({ job }: { job: FleetJobRow }) {
  const note =
    job.state === "running"
      ? job.said
      : job.state === "queued"
        ? job.labels.length === 0
          ? ""
          : `needs ${job.labels.join(", ")}`
        : job.state === "delivered"
          ? job.status
          : job.reason;
  const cost = job.deaths === 0 ? "" : `cost ${plural(job.deaths, "worker")}`;
  const words = [note, cost].filter((part) => part !== "").join("; ");
  return words === "" ? null : <p class="soft">{visible(words)}</p>;
}

interface JobCardProps {
  readonly job: FleetJobRow;
  readonly words: string;
  readonly events: readonly FleetEventRow[];
  readonly now: number;
}

function JobCard({ job, words, events, now }: JobCardProps) {
  const command = commandFor(job, words);
  return (
    <Card
      title={visible(job.title || job.id)}
      aside={
        <span>
          <Badge tone={TONES[job.state]}>{job.state}</Badge> <a href={routeTo("fleet")}>all jobs</a>
        </span>
      }
    >
      <Facts
        rows={[
          { name: "job", value: <code>{visible(job.id)}</code> },
          { name: "worker", value: job.worker },
          { name: "needs", value: job.labels.join(", ") },
          { name: "priority", value: job.priority },
          {
            name: "given out",
            value: `${plural(job.tries, "time")}${job.deaths === 0 ? "" : `, cost ${plural(job.deaths, "worker")}`}`,
          },
          { name: "delivery", value: job.status },
          { name: "tokens", value: job.tokens === 0 ? "" : amount(job.tokens) },
          { name: "cost", value: job.costUsd === 0 ? "" : `$${job.costUsd.toFixed(2)}` },
          { name: "why", value: job.reason },
          { name: "handed in", value: day(job.createdAt) },
          {
            name: "next",
            value: (
              <>
                <code>{command}</code> <CopyButton text={command} />
              </>
            ),
          },
        ]}
      />
      <h3>What happened to it</h3>
      <Events events={events} now={now} isOfOne />
    </Card>
  );
}

function commandFor({ id, state }: FleetJobRow, words: string): string {
  if (state === "delivered") return `nexus fleet fetch${words} ${id} --rerun`;
  if (state === "dead" || state === "cancelled") return `nexus fleet retry${words} ${id}`;
  return state === "running" ? `nexus fleet logs${words} -f ${id}` : `nexus fleet show${words} ${id}`;
}

function WorkerLine({ worker, now }: { worker: FleetWorkerRow; now: number }) {
  const places = `${worker.jobs.length} of ${plural(worker.slots, "place")} taken`;
  return (
    <li>
      <Badge tone={WORKER_TONES[worker.state]}>{worker.state}</Badge>
      <strong>{visible(worker.id)}</strong>
      <p class="soft">
        {places}, {worker.done} done{worker.failed === 0 ? "" : `, ${worker.failed} failed`}; has{" "}
        {visible(worker.has.join(", "))}
        {worker.state === "silent" ? (
          <>
            ; last heard <When at={worker.heardAt} now={now} />
          </>
        ) : null}
      </p>
    </li>
  );
}

function Events({ events, now, isOfOne = false }: EventsProps) {
  if (events.length === 0) return <Empty>Nothing lately.</Empty>;
  return (
    <ul class="brief">
      {events.slice(0, MOST_EVENTS).map((event, index) => (
        <li key={`${event.at} ${event.job} ${event.type} ${events.length - index}`}>
          <span class="soft">
            <When at={event.at} now={now} />
          </span>
          {isOfOne ? null : <a href={routeTo("fleet", event.job)}>{visible(event.job.slice(0, 10))}</a>}
          <span>{visible(event.message)}</span>
        </li>
      ))}
    </ul>
  );
}

interface EventsProps {
  readonly events: readonly FleetEventRow[];
  readonly now: number;
  readonly isOfOne?: boolean;
}
