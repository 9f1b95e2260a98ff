// One run, seen: what came of it, who did what when, and what each was told and said.
import type { RunRow } from "../../board/model.js";
import { useRemarks } from "../diff/remarks.js";
import { Badge, Card, Empty, Facts } from "../parts.js";
import { setParam } from "../shell.js";
import { OutcomeBadge, VerdictBand } from "../verdict-band.js";
import { clock, day, visible } from "../visible.js";
import { ActionButton, type Writing } from "./acting.js";
import { CredentialUses } from "./credential-uses.js";
import { Lanes } from "./lanes.js";
import { GoOn, JudgeForm, PlanForm, QuestionForm } from "./needs-you.js";
import { Remarks, RunChangesView } from "./run-changes.js";
import { BudgetBurn, tryAgain } from "./runs.js";
import { SessionView } from "./session.js";
import { STAGES, TaskMeter } from "./tasks.js";
import type { ViewProps } from "./view-props.js";

export function RunPage(props: ViewProps) {
  const run = props.project.runs.find(({ id }) => id === props.rest);
  if (run !== undefined) return <RunView key={run.id} run={run} {...props} />;
  return (
    <>
      <h1>Run</h1>
      <Empty>
        No run of this name is among the latest here; <code>nexus runs</code> lists all.
      </Empty>
    </>
  );
}

function RunView({ run, project, now, writing, params }: ViewProps & { readonly run: RunRow }) {
  const remarking = useRemarks(run.id);
  const session =
    run.sessions.find(({ agent }) => agent === params.agent) ??
    run.sessions.findLast(({ outcome }) => outcome === "") ??
    run.sessions.findLast(({ problems }) => problems.length > 0) ??
    run.sessions.at(-1);
  return (
    <>
      <header class="task-head">
        <p class="eyebrow">
          <Badge tone="accent">run</Badge>
          <OutcomeBadge verdict={run.verdict} />
        </p>
        <h1>{visible(run.title || run.id)}</h1>
      </header>
      <VerdictBand verdict={run.verdict} onRemark={(id) => setParam("remark", id)}>
        {nextHere(run, writing)}
      </VerdictBand>
      <Remarks {...{ run, writing, remarking, params }} />
      {run.questions.map((question) => (
        <QuestionForm key={question.task} run={run} question={question} writing={writing} />
      ))}
      {run.planToRead === "" ? null : <PlanForm run={run} writing={writing} />}
      {run.forPerson.map((item) => (
        <JudgeForm key={item.id} run={run} item={item} writing={writing} />
      ))}
      <Card title="Tasks">
        <TaskMeter rows={run.tasks.rows} isCalm={run.verdict.tone === "bad"} />
        <TaskTable run={run} />
      </Card>
      <Card title="Sessions" aside={<span class="soft">{run.driver}</span>}>
        {run.sessions.length === 0 ? (
          <Empty>No agent was started yet.</Empty>
        ) : (
          <Lanes run={run} now={now} chosen={session?.agent ?? ""} onChoose={(agent) => setParam("agent", agent)} />
        )}
        <BudgetBurn run={run} now={now} />
      </Card>
      {session === undefined ? null : (
        <SessionView
          key={session.agent}
          project={project.id}
          run={run}
          session={session}
          params={params}
          remarking={remarking}
          now={now}
        />
      )}
      <Card title="Changes of the whole run">
        {params.whole === undefined ? (
          <button type="button" class="plain" onClick={() => setParam("whole", "yes")}>
            Show them
          </button>
        ) : (
          <RunChangesView project={project.id} run={run} agent="" params={params} remarking={remarking} />
        )}
      </Card>
      <CredentialUses uses={run.uses} />
      <Happened run={run} />
      <Card title="About">
        <Facts
          rows={[
            { name: "run", value: run.id },
            { name: "program", value: run.driver },
            { name: "started", value: run.createdAt === "" ? "" : day(run.createdAt) },
            { name: "request", value: <code>{visible(run.request)}</code> },
            { name: "delivery", value: run.delivery === "" ? "" : <code>{visible(run.delivery)}</code> },
          ]}
        />
      </Card>
    </>
  );
}

/** What can be done next, as buttons; undefined where the band's own command says it. */
function nextHere(run: RunRow, writing: Writing | null) {
  if (run.status === "running") {
    return (
      <div class="acts">
        <ActionButton writing={writing} label="Pause" action={{ action: "pause", run: run.id }} />
        <ActionButton writing={writing} label="Cancel" action={{ action: "cancel", run: run.id }} />
      </div>
    );
  }
  if (run.status === "cancelled") {
    const action = { action: "resume", run: run.id, budget: "" } as const;
    return <ActionButton writing={writing} label="Take it up again" action={action} />;
  }
  if (run.planToRead !== "") return null;
  if (run.status === "interrupted" || (run.status === "paused" && run.questions.length === 0))
    return <GoOn run={run} writing={writing} />;
  if (run.verdict.word === "failed" || run.verdict.word === "blocked")
    return <ActionButton writing={writing} isPrimary label="Try it again" action={tryAgain(run, "")} />;
  return undefined;
}

function TaskTable({ run }: { run: RunRow }) {
  return (
    <ul class="brief">
      {run.tasks.rows.map(({ id, title, stage, owner, why }) => (
        <li key={id}>
          <Badge tone={STAGES[stage]}>{stage}</Badge> {id} {visible(title)} <span class="soft">{visible(owner)}</span>
          {why === "" || stage === "done" ? null : <p class="soft">{visible(why)}</p>}
        </li>
      ))}
    </ul>
  );
}

function Happened({ run }: { run: RunRow }) {
  if (run.marks.length === 0) return null;
  return (
    <Card title="What happened">
      <ol class="happened">
        {run.marks.map((mark, index) => (
          <li key={index} class={mark.kind}>
            <span class="soft">{clock(mark.at)}</span> <strong>{mark.kind}</strong>
            {mark.task === null ? "" : ` task ${mark.task}`} {visible(mark.text)}
          </li>
        ))}
      </ol>
    </Card>
  );
}
