// Plan, agents, activity. The rest has files of its own.
import type { AgentRow, LogRow, ProjectView } from "../../board/model.js";
import { Badge, Card, Empty, Facts, When } from "../parts.js";
import { setParam } from "../shell.js";
import { Virtual } from "../virtual.js";
import { plural, span, visible } from "../visible.js";
import { DecideForm } from "./needs-you.js";
import { ScopeTabs, scopeOf } from "./scope.js";
import type { ViewProps } from "./view-props.js";

export function Problems({ project }: { project: ProjectView }) {
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
  if (plan === null) {
    return (
      <>
        <h1>Plan</h1>
        <Empty>No plan is open.</Empty>
      </>
    );
  }
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
          {issue.status === "pending" ? <DecideForm issue={issue} writing={writing} /> : null}
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

export function AgentsView({ project, now, params }: ViewProps) {
  const scope = scopeOf(project, params);
  const { agents } = scope;
  const running = agents.filter((agent) => agent.running).length;
  return (
    <>
      <h1>Agents</h1>
      <ScopeTabs project={project} scope={scope} />
      <p class="lead">
        {running} at work, {agents.length - running} ended.
      </p>
      {agents.length === 0 ? (
        <Empty>No agent was started in this session.</Empty>
      ) : (
        <Virtual
          class="card agent-list"
          fit
          label="agents"
          count={agents.length}
          rowHeight={AGENT_ROW}
          row={(index) => {
            const agent = agents[index]!;
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

export function AgentLine({ agent, now }: { agent: AgentRow; now: number }) {
  const until = agent.running ? now : Date.parse(agent.stoppedAt);
  const lasted = until - Date.parse(agent.startedAt);
  return (
    <article class="agent">
      <p>
        <span class={`dot ${agent.running ? "on" : ""}`} aria-hidden="true" />
        <strong>{visible(agent.role)}</strong>
        <Badge tone={agent.running ? "accent" : "plain"}>{agent.running ? "at work" : "ended"}</Badge>
        <span class="soft">
          {[
            Number.isNaN(lasted) ? "" : span(lasted),
            agent.task === null ? "" : `task ${agent.task}`,
            agent.resumed > 0 ? `resumed ${agent.resumed} ×` : "",
          ]
            .filter((words) => words !== "")
            .join(", ")}
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

export function ActivityView({ project, now, params }: ViewProps) {
  const scope = scopeOf(project, params);
  const onlyFailed = params.only === "failed";
  const denied = scope.log.filter(({ ok }) => !ok);
  const rows = onlyFailed ? denied : scope.log;
  return (
    <>
      <h1>Activity</h1>
      <ScopeTabs project={project} scope={scope} />{" "}
      <div class="tabs" role="group" aria-label="which entries">
        <button type="button" aria-pressed={!onlyFailed} onClick={() => setParam("only", "")}>
          everything {scope.log.length}
        </button>
        <button type="button" aria-pressed={onlyFailed} onClick={() => setParam("only", "failed")}>
          denied or failed {denied.length}
        </button>
      </div>
      {rows.length === 0 ? (
        <Empty>{onlyFailed ? "Nothing was denied." : "Nothing happened in this session."}</Empty>
      ) : (
        <Virtual
          class="card log-list"
          fit
          label="what happened, newest first"
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
