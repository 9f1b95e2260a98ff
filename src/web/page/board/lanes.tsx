// A run over time: a lane per agent, a bar per session, a mark for every moment that counts.
import type { RunMark, RunRow, SessionRow } from "../../board/model.js";
import { amount, span, visible } from "../visible.js";
import { burnt } from "./burnt.js";

interface LanesProps {
  readonly run: RunRow;
  readonly now: number;
  readonly chosen: string;
  readonly onChoose: (agent: string) => void;
}

const MARKS: Readonly<Record<RunMark["kind"], string>> = {
  ...{ plan: "◇", merge: "✓", refusal: "✗", diagnosis: "?", question: "!", answer: "↩", acceptance: "★" },
  ...{ pause: "‖", cancel: "⊘", note: "·", end: "■" },
};

export function Lanes({ run, now, chosen, onChoose }: LanesProps) {
  const [start, end] = bounds(run, now);
  const share = (at: string) => (100 * (Date.parse(at) - start)) / (end - start);
  const lanes = [...new Set(run.sessions.map(({ lane }) => lane))];
  const marks = run.marks.filter(({ kind }) => kind !== "note");
  const places = apart(marks.map(({ at }) => share(at)));
  return (
    <div class="lanes" role="group" aria-label="sessions over time">
      {lanes.map((lane) => (
        <div class="lane" key={lane}>
          <span class="lane-name">{visible(lane)}</span>
          <div class="lane-bars">
            {rowsOf(run.sessions.filter((session) => session.lane === lane)).map((row, index) => (
              <div class="lane-row" key={index}>
                {row.map((session) => {
                  const left = share(session.startedAt);
                  const until =
                    session.endedAt === "" ? (session.outcome === "" ? now : end) : Date.parse(session.endedAt);
                  const width = Math.max(0.8, (100 * (until - start)) / (end - start) - left);
                  return (
                    <button
                      type="button"
                      key={session.agent}
                      class={`lane-bar ${session.purpose} ${outcomeOf(session)}`}
                      style={{ left: `${left}%`, width: `${width}%` }}
                      aria-pressed={session.agent === chosen}
                      title={words(session, until)}
                      onClick={() => onChoose(session.agent)}
                    >
                      {session.purpose}
                      {session.task === 0 ? "" : ` ${session.task}`}
                      <span class="hidden">, {words(session, until)}</span>
                    </button>
                  );
                })}
              </div>
            ))}
          </div>
        </div>
      ))}
      {marks.length === 0 ? null : (
        <div class="lane">
          <span class="lane-name">harness</span>
          <div class="lane-bars marks">
            {marks.map((mark, index) => (
              <span
                key={index}
                class={`lane-mark ${mark.kind}`}
                style={{ left: `${places[index]}%` }}
                role="img"
                aria-label={`${mark.kind}: ${visible(mark.text)}`}
                title={`${mark.kind}: ${visible(mark.text)}`}
              >
                {MARKS[mark.kind]}
              </span>
            ))}
          </div>
        </div>
      )}
      <Burn run={run} share={share} now={now} />
      <p class="lane-scale soft">
        <span>0 s</span>
        <span>{span(end - start)}</span>
      </p>
    </div>
  );
}

interface BurnProps {
  readonly run: RunRow;
  readonly share: (at: string) => number;
  readonly now: number;
}

/** Tokens and cost as they were used, under the sessions that used them. */
function Burn({ run, share, now }: BurnProps) {
  const isoNow = new Date(now).toISOString();
  const uses = (of: (session: SessionRow) => number) =>
    run.sessions.map((session) => ({
      from: share(session.startedAt),
      to: share(session.endedAt || (session.outcome === "" ? isoNow : session.startedAt)),
      amount: of(session),
    }));
  const kinds = [
    ["tokens", run.budget.tokens, uses(({ tokens }) => tokens), amount],
    ["cost", run.budget.costUsd, uses(({ costUsd }) => costUsd), (value: number) => `$${value.toFixed(2)}`],
  ] as const;
  return (
    <>
      {kinds.map(([name, limit, used, say]) => {
        const total = used.reduce((sum, each) => sum + each.amount, 0);
        if (total === 0) return null;
        const top = Math.max(total, limit ?? 0);
        const points = burnt(used).map(([x, sum]) => `${x},${40 - (38 * sum) / top}`);
        const words = `${name}: ${say(total)}${limit === undefined ? "" : ` of ${say(limit)}`}`;
        return (
          <div class="lane" key={name}>
            <span class="lane-name">{name}</span>
            <svg class="burn" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={words}>
              <title>{words}</title>
              <polyline points={points.join(" ")} />
            </svg>
          </div>
        );
      })}
    </>
  );
}

/** Marks of one moment stand beside one another, as far as there is room. */
function apart(shares: readonly number[]): number[] {
  const places: number[] = [];
  for (const share of shares) places.push(Math.max(share, (places.at(-1) ?? -2) + 1.8));
  for (let at = places.length - 1, most = 98.5; at >= 0; at -= 1, most -= 1.8) {
    if (places[at]! > most) places[at] = Math.max(0, most);
  }
  return places;
}

const outcomeOf = ({ outcome, problems }: SessionRow) =>
  outcome === "" ? "running" : outcome === "failed" || problems.length > 0 ? "failed" : outcome;

function words(session: SessionRow, until: number): string {
  const { agent, purpose, task, startedAt, problems } = session;
  const what = task === 0 ? purpose : `${purpose}, task ${task}`;
  const refused = problems.length === 0 ? "" : `; refused: ${visible(problems[0]!)}`;
  return `${visible(agent)}: ${what}, ${span(until - Date.parse(startedAt))}, ${outcomeOf(session)}${refused}`;
}

function bounds(run: RunRow, now: number): [number, number] {
  const times = [
    ...run.sessions.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]),
    ...run.marks.map(({ at }) => at),
  ]
    .map((at) => Date.parse(at))
    .filter((time) => !Number.isNaN(time));
  const start = Math.min(...times, now);
  const end = run.status === "running" ? now : Math.max(...times, start);
  return [start, Math.max(end, start + 1_000)];
}

/** Sessions that overlap stand below one another. */
function rowsOf(sessions: readonly SessionRow[]): SessionRow[][] {
  const rows: SessionRow[][] = [];
  for (const session of sessions) {
    const free = rows.find((row) => {
      const last = row.at(-1)!.endedAt;
      return last !== "" && last <= session.startedAt;
    });
    if (free === undefined) rows.push([session]);
    else free.push(session);
  }
  return rows;
}
