// Runs: what came of each, how far it is, what it spent.
import type { Action } from "../../board/actions.js";
import { MOST_RUNS, type RunRow } from "../../board/model.js";
import { Card, Empty, Facts, Meter } from "../parts.js";
import { routeTo } from "../shell.js";
import { OutcomeBadge, VerdictBand } from "../verdict-band.js";
import { amount, day, span, visible } from "../visible.js";
import { StartRun } from "./start-run.js";
import { TaskMeter } from "./tasks.js";
import type { ViewProps } from "./view-props.js";

export function RunsView({ project, now, writing, params }: ViewProps) {
  return (
    <>
      <h1>Runs</h1>
      <StartRun
        project={project.id}
        writing={writing}
        isOpen={project.runs.length === 0 || params.start !== undefined}
      />
      {project.runs.length === 0 ? <Empty>No run was started in this project.</Empty> : null}
      {project.runs.map((run) => (
        <RunCard key={run.id} run={run} now={now} />
      ))}
      {project.runs.length < MOST_RUNS ? null : (
        <p class="soft">
          These are the latest {MOST_RUNS}; <code>nexus runs</code> lists all.
        </p>
      )}
    </>
  );
}

/** The same request with the same program, and what the last try should have done differently. */
export const tryAgain = (run: RunRow, answer: string): Action => ({
  ...{ action: "start", request: run.request, driver: run.driver, budget: "", answer },
  ...{ reviewPlan: false, allowInstall: false },
});

export const runLink = (id: string) => routeTo("run", id);

export function RunCard({ run, now }: { run: RunRow; now: number }) {
  const working = run.sessions.filter(({ outcome }) => outcome === "");
  return (
    <Card title={`Run: ${visible(run.title || run.id)}`} aside={<OutcomeBadge verdict={run.verdict} />}>
      <VerdictBand verdict={run.verdict} of={run.id} criterionLink={() => runLink(run.id)} />
      <TaskMeter rows={run.tasks.rows} isCalm={run.verdict.tone === "bad"} />
      {working.length === 0 ? null : (
        <p class="soft">
          at work:{" "}
          {working
            .map(({ role, task }) => (task === 0 ? visible(role) : `${visible(role)} on task ${task}`))
            .join(", ")}
        </p>
      )}
      <BudgetBurn run={run} now={now} />
      <Facts
        rows={[
          { name: "run", value: <a href={runLink(run.id)}>{run.id}</a> },
          { name: "program", value: run.driver },
          { name: "started", value: run.createdAt === "" ? "" : day(run.createdAt) },
          { name: "delivery", value: run.delivery === "" ? "" : <code>{visible(run.delivery)}</code> },
        ]}
      />
    </Card>
  );
}

export function BudgetBurn({ run, now }: { run: RunRow; now: number }) {
  const { spent, budget } = run;
  // Pauses cost nothing.
  const elapsed = spent.ms + (run.status === "running" ? Math.max(0, now - Date.parse(run.since)) : 0);
  return (
    <div class="budget">
      <Spent name="time" used={elapsed} of={budget.timeMs} say={span} />
      <Spent name="tokens" used={spent.tokens} of={budget.tokens} say={amount} />
      <Spent name="cost" used={spent.costUsd} of={budget.costUsd} say={(value) => `$${value.toFixed(2)}`} />
    </div>
  );
}

interface SpentProps {
  readonly name: string;
  readonly used: number;
  readonly of: number | undefined;
  readonly say: (value: number) => string;
}

function Spent({ name, used, of, say }: SpentProps) {
  if (used === 0 && of === undefined) return null;
  const share = of === undefined ? 0 : used / of;
  const words = of === undefined ? say(used) : `${say(used)} of ${say(of)}`;
  return (
    <div>
      <p>
        <span class="soft">{name}</span> {words}
      </p>
      {of === undefined ? null : (
        <Meter share={share} label={`${name}: ${words}`} tone={share > 0.9 ? "bad" : share > 0.7 ? "warn" : "accent"} />
      )}
    </div>
  );
}
