// What goes on, and what waits for a person. After a run: what came of it.
import { Badge, Card, Empty, When } from "../parts.js";
import { routeTo } from "../shell.js";
import { visible } from "../visible.js";
import { NeedsYou } from "./needs-you.js";
import { RunCard } from "./runs.js";
import { atWork, denials } from "./scope.js";
import { STAGES, TaskMeter } from "./tasks.js";
import type { ViewProps } from "./view-props.js";
import { AgentLine, Problems } from "./views.js";

const MOST = 8;

export function NowView({ project, now, writing }: ViewProps) {
  const own = project.tasks?.rows ?? [];
  const working = atWork(project);
  const failed = denials(project).slice(0, 6);
  const run = project.runs[0];
  const title = project.plan?.topic || project.tasks?.goal || run?.title || project.name;
  return (
    <>
      <header class="task-head">
        <p class="eyebrow">
          <Badge tone="accent">{visible(project.name)}</Badge>
          {project.branch === "" || project.branch === "unknown" ? null : <Badge>{visible(project.branch)}</Badge>}
        </p>
        <h1>{visible(title)}</h1>
      </header>
      <Problems project={project} />
      <NeedsYou project={project} writing={writing} />
      <div class="columns">
        <div>
          {run === undefined ? null : <RunCard run={run} now={now} />}
          {own.length === 0 ? null : (
            <Card title="Tasks" aside={<a href={routeTo("tasks", "", { of: "project" })}>All tasks</a>}>
              <TaskMeter rows={own} />
              <ul class="brief">
                {own
                  .filter(({ stage }) => stage === "running" || stage === "never")
                  .slice(0, MOST)
                  .map(({ id, title, stage, owner }) => (
                    <li key={id}>
                      <Badge tone={STAGES[stage]}>{stage}</Badge>
                      <a href={routeTo("tasks", String(id), { of: "project" })}>
                        {id} {visible(title)}
                      </a>
                      <span class="soft">{visible(owner)}</span>
                    </li>
                  ))}
              </ul>
            </Card>
          )}
          {run === undefined && own.length === 0 ? (
            <Card title="Nothing yet">
              <p>No plan, no task and no run in this project.</p>
              <p class="soft">
                <a href={routeTo("runs", "", { start: "yes" })}>Start a run</a>, here or with{" "}
                <code>nexus run task.nut</code>; or work in a host that <code>nexus setup</code> knows.
              </p>
            </Card>
          ) : null}
        </div>
        <div>
          {working.length === 0 && (run === undefined || run.status !== "running") ? null : (
            <Card title="Agents at work" aside={<a href={routeTo("agents")}>All agents</a>}>
              {working.length === 0 ? <Empty>No agent: the harness itself is at work.</Empty> : null}
              {working.slice(0, MOST).map((agent) => (
                <AgentLine key={`${agent.harness} ${agent.id} ${agent.startedAt}`} agent={agent} now={now} />
              ))}
              {working.length > MOST ? <p class="soft">and {working.length - MOST} more</p> : null}
            </Card>
          )}
          {failed.length === 0 ? null : (
            <Card title="Denied or failed" aside={<a href={routeTo("activity")}>Activity</a>}>
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
          )}
        </div>
      </div>
    </>
  );
}
