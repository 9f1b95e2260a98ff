// Everything on the board but the tasks: now, plan, agents, activity, runs, history, artifacts.
import { useEffect, useState } from "preact/hooks";
import type { AgentRow, HistoryAnswer, LogRow, ProjectView, RunRow } from "../../../operations/board/model.js";
import { Code, languageOf } from "../code.js";
import { useLoaded } from "../data.js";
import { Badge, Card, Empty, Facts, Icon, Loading, Meter, type Tone, When } from "../parts.js";
import { routeTo } from "../shell.js";
import { Virtual } from "../virtual.js";
import { amount, bytes, day, plural, span, visible } from "../visible.js";
import { ChangeForm, type Writing } from "./change-form.js";
import { countStages, TaskMeter } from "./tasks.js";

interface ViewProps {
  readonly project: ProjectView;
  readonly now: number;
  readonly writing: Writing | null;
}

export function NowView({ project, now, writing }: ViewProps) {
  const rows = project.tasks?.rows ?? [];
  const running = project.agents.filter((agent) => agent.running);
  const open = project.plan?.issues.filter(({ status }) => status === "pending") ?? [];
  const failed = project.log.filter(({ ok }) => !ok).slice(0, 6);
  const run = project.runs[0];
  const title = project.plan?.topic || project.tasks?.goal || project.name;
  return (
    <>
      <header class="task-head">
        <p class="eyebrow">
          <Badge tone="accent">{visible(project.name)}</Badge>
          {project.branch === "" ? null : <Badge>{visible(project.branch)}</Badge>}
        </p>
        <h1>{visible(title)}</h1>
      </header>
      <Problems project={project} />
      <div class="columns">
        <div>
          {run === undefined || run.status === "delivered" ? null : <RunCard run={run} now={now} writing={writing} />}
          <Card title="Tasks" aside={<a href={routeTo("tasks")}>All tasks</a>}>
            {rows.length === 0 ? (
              <Empty>No tasks yet.</Empty>
            ) : (
              <TaskMeter counts={countStages(rows)} total={rows.length} />
            )}
            <ul class="brief">
              {rows
                .filter(({ stage }) => stage === "running" || stage === "never")
                .slice(0, 8)
                .map(({ id, title, stage, owner }) => (
                  <li key={id}>
                    <Badge tone={stage === "running" ? "accent" : "bad"}>{stage}</Badge>
                    <a href={routeTo("tasks", String(id))}>
                      {id} {visible(title)}
                    </a>
                    <span class="soft">{visible(owner)}</span>
                  </li>
                ))}
            </ul>
          </Card>
          <Card title="Agents at work" aside={<a href={routeTo("agents")}>All agents</a>}>
            {running.length === 0 ? <Empty>Nobody is working right now.</Empty> : null}
            {running.slice(0, 8).map((agent) => (
              <AgentLine key={`${agent.harness} ${agent.id} ${agent.startedAt}`} agent={agent} now={now} />
            ))}
            {running.length > 8 ? <p class="soft">and {running.length - 8} more</p> : null}
          </Card>
        </div>
        <div>
          <Card title="To decide" aside={<a href={routeTo("plan")}>Plan</a>}>
            {open.length === 0 ? <Empty>Nothing waits for a decision.</Empty> : null}
            <ul class="plain-list">
              {open.slice(0, 8).map(({ id, title }) => (
                <li key={id}>{visible(title)}</li>
              ))}
            </ul>
          </Card>
          <Card title="Denied or failed" aside={<a href={routeTo("activity")}>Activity</a>}>
            {failed.length === 0 ? <Empty>Nothing was denied.</Empty> : null}
            <ul class="brief">
              {failed.map((row, index) => (
                <li key={`${row.at} ${index}`} class="denied">
                  <strong>{visible(row.tool)}</strong> <span class="soft">{visible(row.agent)}</span>{" "}
                  <When at={row.at} now={now} />
                  <p>{visible(row.error || row.path)}</p>
                </li>
              ))}
            </ul>
          </Card>
        </div>
      </div>
    </>
  );
}

function Problems({ project }: { project: ProjectView }) {
  return (
    <>
      {Object.entries(project.problems).map(([section, problem]) => (
        <div key={section} class="notice bad" role="alert">
          {visible(problem.message)}
          {problem.fix === "" ? null : <code class="fix">{visible(problem.fix)}</code>}
        </div>
      ))}
    </>
  );
}

export function PlanView({ project, writing }: ViewProps) {
  const { plan } = project;
  if (plan === null) return <Empty>No plan is open.</Empty>;
  const decided = plan.issues.filter(({ status }) => status === "decided").length;
  return (
    <>
      <h1>{visible(plan.topic)}</h1>
      <p class="lead">
        Plan {plan.id}: {decided} of {plural(plan.issues.length, "issue")} decided.
      </p>
      {plan.issues.map((issue) => (
        <Card
          key={issue.id}
          title={`${issue.id}. ${visible(issue.title)}`}
          aside={
            <>
              {issue.reopened > 0 ? <Badge tone="warn">reopened</Badge> : null}
              <Badge tone={issue.status === "decided" ? "good" : "warn"}>
                {issue.status === "decided" ? "decided" : "open"}
              </Badge>
            </>
          }
        >
          {issue.decision === "" ? null : <p class="prose">{visible(issue.decision)}</p>}
          {issue.how.length === 0 ? null : (
            <details>
              <summary>what {plural(issue.how.length, "role")} said</summary>
              <Facts rows={issue.how.map(({ role, said }) => ({ name: role, value: said }))} />
            </details>
          )}
          {writing !== null && issue.status === "pending" ? (
            <ChangeForm
              writing={writing}
              label="The decision, with its reason"
              button="Decide"
              change={(decision) => ({ action: "decide", issue: issue.id, decision })}
            />
          ) : null}
        </Card>
      ))}
      {plan.research === "" ? null : (
        <Card title="Research">
          <p class="prose">{visible(plan.research)}</p>
        </Card>
      )}
    </>
  );
}

const AGENT_ROW = 92;

export function AgentsView({ project, now }: ViewProps) {
  const running = project.agents.filter((agent) => agent.running).length;
  return (
    <>
      <h1>Agents</h1>
      <p class="lead">
        {running} at work, {project.agents.length - running} done.
      </p>
      {project.agents.length === 0 ? (
        <Empty>No agent was started in this session.</Empty>
      ) : (
        <Virtual
          class="card agent-list"
          fit
          label="agents"
          count={project.agents.length}
          rowHeight={AGENT_ROW}
          row={(index) => {
            const agent = project.agents[index]!;
            return (
              <div
                role="listitem"
                key={`${agent.harness} ${agent.id} ${agent.startedAt}`}
                style={{ height: `${AGENT_ROW}px` }}
              >
                <AgentLine agent={agent} now={now} />
              </div>
            );
          }}
        />
      )}
    </>
  );
}

function AgentLine({ agent, now }: { agent: AgentRow; now: number }) {
  const until = agent.running ? now : Date.parse(agent.stoppedAt);
  const lasted = until - Date.parse(agent.startedAt);
  return (
    <article class="agent">
      <p>
        <span class={`dot ${agent.running ? "on" : ""}`} aria-hidden="true" />
        <strong>{visible(agent.role)}</strong>
        <Badge tone={agent.running ? "accent" : "plain"}>{agent.running ? "working" : "done"}</Badge>
        <span class="soft">
          {Number.isNaN(lasted) ? "" : span(lasted)}
          {agent.task === null ? "" : `, task ${agent.task}`}
          {agent.resumed > 0 ? `, resumed ${agent.resumed} ×` : ""}
        </span>
        <span class="soft where">
          {visible(agent.harness)} {visible(agent.id)}
        </span>
      </p>
      <p class="one-line soft">
        {agent.files.length === 0
          ? "no files touched"
          : `${plural(agent.files.length, "file")}: ${visible(agent.files.slice(0, 12).join(", "))}`}
      </p>
      {agent.lastMessage === "" ? null : <p class="one-line">{visible(agent.lastMessage.split("\n")[0]!)}</p>}
    </article>
  );
}

const LOG_ROW = 34;

export function ActivityView({ project, now }: ViewProps) {
  const [onlyFailed, setOnlyFailed] = useState(false);
  const rows = onlyFailed ? project.log.filter(({ ok }) => !ok) : project.log;
  const failed = project.log.filter(({ ok }) => !ok).length;
  return (
    <>
      <h1>Activity</h1>
      <div class="tabs" role="group" aria-label="which calls">
        <button type="button" aria-pressed={!onlyFailed} onClick={() => setOnlyFailed(false)}>
          everything {project.log.length}
        </button>
        <button type="button" aria-pressed={onlyFailed} onClick={() => setOnlyFailed(true)}>
          denied or failed {failed}
        </button>
      </div>
      {rows.length === 0 ? (
        <Empty>{onlyFailed ? "Nothing was denied." : "No tool was used in this session."}</Empty>
      ) : (
        <Virtual
          class="card log-list"
          fit
          label="tool calls, newest first"
          count={rows.length}
          rowHeight={LOG_ROW}
          row={(index) => <LogLine key={`${rows[index]!.at} ${rows.length - index}`} row={rows[index]!} now={now} />}
        />
      )}
    </>
  );
}

function LogLine({ row, now }: { row: LogRow; now: number }) {
  return (
    <div class={`log-line ${row.ok ? "" : "denied"}`} role="listitem" style={{ height: `${LOG_ROW}px` }}>
      <span class="soft">
        <When at={row.at} now={now} />
      </span>
      <span class="who">{visible(row.agent)}</span>
      <strong>{visible(row.tool)}</strong>
      <span class="what">
        {row.ok ? "" : <Badge tone="bad">no</Badge>} {visible(row.error || row.path)}
      </span>
    </div>
  );
}

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

function RunCard({ run, now, writing }: { run: RunRow; now: number; writing: Writing | null }) {
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

export function HistoryPage({ project }: ViewProps) {
  const [words, setWords] = useState("");
  const [query, setQuery] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQuery(words), 200);
    return () => clearTimeout(timer);
  }, [words]);
  const found = useLoaded(async () => {
    const response = await fetch(`/api/history?project=${project.id}&query=${encodeURIComponent(query)}`);
    if (!response.ok) throw new Error((await response.text()).trim());
    return (await response.json()) as HistoryAnswer;
  }, [project.id, query, project.history.total]);
  return (
    <>
      <h1>History</h1>
      <label class="search wide">
        <Icon name="search" />
        <input
          type="search"
          placeholder="Topics, decisions, tasks"
          aria-label="Search the history"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </label>
      {found.state === "loading" ? <Loading>searching</Loading> : null}
      {found.state === "failed" ? <Empty>{visible(found.message)}</Empty> : null}
      {found.state === "there" && found.value.cycles.length === 0 ? (
        <Empty>No closed cycle has that in it.</Empty>
      ) : null}
      {found.state === "there"
        ? [...found.value.cycles].reverse().map((cycle, index) => (
            <Card
              key={`${cycle.completed_at} ${index}`}
              title={visible(cycle.topic ?? "Without a plan")}
              aside={<span class="soft">{day(cycle.completed_at)}</span>}
            >
              <p class="soft">
                {visible(cycle.branch)}, {plural(cycle.task_count ?? 0, "task")}
              </p>
              <Facts
                rows={(cycle.decisions ?? []).map(({ title, decision }) => ({ name: visible(title), value: decision }))}
              />
            </Card>
          ))
        : null}
    </>
  );
}

export function ArtifactsView({ project, now, rest }: ViewProps & { readonly rest: string }) {
  const chosen = project.artifacts.find(({ name }) => name === rest);
  return (
    <>
      <h1>Artifacts</h1>
      {project.artifacts.length === 0 ? (
        <Empty>No artifact was written in this session.</Empty>
      ) : (
        <div class="changes">
          <ul class="change-list card" aria-label="artifacts">
            {project.artifacts.map(({ name, size, at }) => (
              <li key={name}>
                <a href={routeTo("artifacts", name)} aria-current={name === rest ? "true" : undefined}>
                  <span class="name">{visible(name)}</span>
                  <span class="soft">
                    {bytes(size)}, <When at={at} now={now} />
                  </span>
                </a>
              </li>
            ))}
          </ul>
          {chosen === undefined ? (
            <Empty>Choose one to read it.</Empty>
          ) : (
            <Artifact key={`${chosen.name} ${chosen.at}`} project={project.id} name={chosen.name} />
          )}
        </div>
      )}
    </>
  );
}

function Artifact({ project, name }: { project: number; name: string }) {
  const text = useLoaded(async () => {
    const response = await fetch(`/api/artifact?project=${project}&name=${encodeURIComponent(name)}`);
    const body = await response.text();
    if (!response.ok) throw new Error(body.trim());
    return body;
  }, [project, name]);
  return (
    <article class="card">
      <h2>{visible(name)}</h2>
      {text.state === "loading" ? <Loading>reading</Loading> : null}
      {text.state === "failed" ? <Empty>{visible(text.message)}</Empty> : null}
      {text.state === "there" ? <Code text={text.value} language={languageOf(name)} numbered /> : null}
    </article>
  );
}
