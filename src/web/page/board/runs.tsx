// Runs: how far each is, what it spent, what it asks.
import type { RunRow } from "../../board/model.js";
import { Badge, Card, Empty, Facts, Meter, type Tone } from "../parts.js";
import { amount, day, span, visible } from "../visible.js";
import { ChangeForm, type Writing } from "./change-form.js";
import type { ViewProps } from "./view-props.js";

export function RunsView({ project, now, writing }: ViewProps) {
  return (
    <>
      <h1>Runs</h1>
      {project.runs.length === 0 ? <Empty>No run was started in this project.</Empty> : null}
      {project.runs.map((run) => (
        <RunCard key={run.id} run={run} now={now} writing={writing} />
      ))}
    </>
  );
}

const RUN_STATUS: Readonly<Record<string, Tone>> = {
  ...{ running: "accent", paused: "warn", interrupted: "bad", delivered: "good", damaged: "bad" },
};

export function RunCard({ run, now, writing }: { run: RunRow; now: number; writing: Writing | null }) {
  const { tasks, spent, budget } = run;
  const elapsed = run.status === "running" ? Math.max(spent.ms, now - Date.parse(run.createdAt)) : spent.ms;
  return (
    <Card
      title={`Run: ${visible(run.title || run.id)}`}
      aside={<Badge tone={RUN_STATUS[run.status] ?? "plain"}>{run.status}</Badge>}
    >
      <Meter
        share={tasks.total === 0 ? 0 : tasks.done / tasks.total}
        label={`${tasks.done} of ${tasks.total} tasks of the run done`}
        tone={tasks.failed > 0 ? "warn" : "good"}
      />
      <p class="soft">
        {tasks.done} of {tasks.total} done, {tasks.running} running{tasks.failed > 0 ? `, ${tasks.failed} failed` : ""}
      </p>
      {run.detail === "" ? null : <p>{visible(run.detail)}</p>}
      <div class="budget">
        <Spent name="time" used={elapsed} of={budget.timeMs} say={span} />
        <Spent name="tokens" used={spent.tokens} of={budget.tokens} say={amount} />
        <Spent name="cost" used={spent.costUsd} of={budget.costUsd} say={(value) => `$${value.toFixed(2)}`} />
      </div>
      {run.working.length === 0 || run.status !== "running" ? null : (
        <p class="soft">
          at work: {run.working.map(({ role, task }) => `${visible(role)} on task ${task}`).join(", ")}
        </p>
      )}
      {run.questions.map(({ task, question }) => (
        <div key={task} class="question">
          <p class="notice warn">{visible(question)}</p>
          {writing === null ? (
            <code class="fix">nexus resume {run.id} --answer "…"</code>
          ) : (
            <ChangeForm
              writing={writing}
              label="What the next try should do differently"
              button="Answer"
              change={(text) => ({ action: "answer", run: run.id, task, text })}
            />
          )}
        </div>
      ))}
      <Facts
        rows={[
          { name: "run", value: run.id },
          { name: "program", value: run.driver },
          { name: "started", value: run.createdAt === "" ? "" : day(run.createdAt) },
          {
            name: "acceptance",
            value:
              run.accepted === "" ? (
                ""
              ) : (
                <Badge tone={run.accepted === "passed" ? "good" : "bad"}>{run.accepted}</Badge>
              ),
          },
          { name: "delivery", value: run.delivery === "" ? "" : <code>{visible(run.delivery)}</code> },
          { name: "issues", value: run.issues.length === 0 ? "" : run.issues.join("; ") },
        ]}
      />
    </Card>
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
