// The board: plans, tasks, agents and runs of one or more projects, as they change.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ProjectView } from "../board/model.js";
import type { Writing } from "./board/change-form.js";
import { ArtifactsView, HistoryPage } from "./board/records.js";
import { RunsView } from "./board/runs.js";
import { type Connection, useBoard } from "./board/store.js";
import { TasksView } from "./board/tasks.js";
import { ActivityView, AgentsView, NowView, PlanView } from "./board/views.js";
import { Badge, Loading } from "./parts.js";
import { Shell, useNow, useRoute, type View } from "./shell.js";
import { visible } from "./visible.js";

function App() {
  const { connection, projects, mayWrite } = useBoard();
  const [chosen, setChosen] = useState(0);
  const [view, rest] = useRoute();
  const now = useNow(1_000);
  const project = projects[chosen] ?? projects[0];
  useEffect(() => {
    document.title = project === undefined ? "Nexus" : `${visible(project.name)} · Nexus`;
  }, [project?.name]);
  if (project === undefined) {
    return (
      <main class="alone">
        <h1>Nexus</h1>
        {connection === "refused" ? (
          <p>Open the link that was printed in the terminal.</p>
        ) : (
          <Loading>connecting</Loading>
        )}
      </main>
    );
  }
  const views = viewsOf(project);
  const current = views.some(({ id }) => id === view) ? view : "now";
  const writing = mayWrite ? { project: project.id } : null;
  return (
    <Shell
      product="Nexus"
      views={views}
      current={current}
      bar={
        <>
          {projects.length > 1 ? (
            <div class="tabs sides" role="group" aria-label="which project">
              {projects.map(({ id, name }, index) => (
                <button type="button" key={id} aria-pressed={project.id === id} onClick={() => setChosen(index)}>
                  {visible(name)}
                </button>
              ))}
            </div>
          ) : (
            <span class="file">{visible(project.root)}</span>
          )}
          {writing === null ? null : <Badge tone="warn">may change things</Badge>}
          <Live connection={connection} />
        </>
      }
    >
      <Ended connection={connection} />
      <Body key={project.id} {...{ project, current, rest, now, writing }} />
    </Shell>
  );
}

interface BodyProps {
  readonly project: ProjectView;
  readonly current: string;
  readonly rest: string;
  readonly now: number;
  readonly writing: Writing | null;
}

function Body({ project, current, rest, now, writing }: BodyProps) {
  const common = { project, now, writing };
  switch (current) {
    case "plan":
      return <PlanView {...common} />;
    case "tasks":
      return <TasksView project={project} rest={rest} writing={writing} />;
    case "agents":
      return <AgentsView {...common} />;
    case "activity":
      return <ActivityView {...common} />;
    case "runs":
      return <RunsView {...common} />;
    case "history":
      return <HistoryPage {...common} />;
    case "artifacts":
      return <ArtifactsView {...common} rest={rest} />;
    default:
      return <NowView {...common} />;
  }
}

const WORDS: Readonly<Record<Connection, string>> = {
  connecting: "connecting",
  live: "live",
  lost: "connection lost, trying again",
  refused: "not let in: open the link in the terminal",
};

function Live({ connection }: { connection: Connection }) {
  return (
    <span class={`live ${connection}`} role="status">
      <span class="dot" aria-hidden="true" />
      {WORDS[connection]}
    </span>
  );
}

/** Over the last known facts: they may be old. */
function Ended({ connection }: { connection: Connection }) {
  if (connection === "live" || connection === "connecting") return null;
  return (
    <div class="notice warn ended" role="alert">
      {connection === "lost" ? (
        <>
          The board does not answer; this is what it last said. When it was ended, start it again and open the link it
          prints: <code class="fix">nexus board</code>
        </>
      ) : (
        "The board was started again; this is what the one before last said. Open the link that the terminal shows."
      )}
    </div>
  );
}

function viewsOf({ plan, tasks, agents, log, runs, history, artifacts }: ProjectView): View[] {
  const open = plan?.issues.filter(({ status }) => status === "pending").length ?? 0;
  const running = agents.filter((agent) => agent.running).length;
  const failed = log.filter(({ ok }) => !ok).length;
  const asking = runs.reduce((sum, { questions }) => sum + questions.length, 0);
  return [
    { id: "now", label: "Now", icon: "overview" },
    { id: "plan", label: "Plan", icon: "plan", ...(open > 0 ? { count: open, alert: true } : {}) },
    { id: "tasks", label: "Tasks", icon: "tasks", count: tasks?.rows.length ?? 0 },
    { id: "agents", label: "Agents", icon: "agents", count: running },
    { id: "activity", label: "Activity", icon: "log", ...(failed > 0 ? { count: failed, alert: true } : {}) },
    { id: "runs", label: "Runs", icon: "runs", count: asking > 0 ? asking : runs.length, alert: asking > 0 },
    { id: "history", label: "History", icon: "history", count: history.total },
    { id: "artifacts", label: "Artifacts", icon: "artifacts", count: artifacts.length },
  ];
}

render(<App />, document.getElementById("app")!);
