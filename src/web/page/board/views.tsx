// What goes on: now, plan, agents, activity. Tasks, runs and what was kept have files of their own.
import { useState } from "preact/hooks";
import type { AgentRow, LogRow, ProjectView } from "../../board/model.js";
import { Badge, Card, Empty, Facts, When } from "../parts.js";
import { routeTo } from "../shell.js";
import { Virtual } from "../virtual.js";
import { plural, span, visible } from "../visible.js";
import { ChangeForm } from "./change-form.js";
import { RunCard } from "./runs.js";
import { countStages, TaskMeter } from "./tasks.js";
import type { ViewProps } from "./view-props.js";

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
