// The board: plans, tasks, agents and runs of one or more projects, as they change.
import { render } from "preact";
import { useEffect } from "preact/hooks";
import type { FleetView, ProjectView, WaitingNow } from "../board/model.js";
import { waitingCount, waitingWords } from "../board/waiting.js";
import { foundBy, knownIn, knownInFleet } from "./board/find.js";
import { FleetPage } from "./board/fleet.js";
import { Notify } from "./board/notify.js";
import { NowView } from "./board/now.js";
import { ArtifactsView, HistoryPage } from "./board/records.js";
import { RunPage } from "./board/run-page.js";
import { RunsView } from "./board/runs.js";
import { atWork, denials, scopeOf } from "./board/scope.js";
import { type Connection, useBoard } from "./board/store.js";
import { TasksView } from "./board/tasks.js";
import { Told } from "./board/told.js";
import type { ViewProps } from "./board/view-props.js";
import { ActivityView, AgentsView, PlanView } from "./board/views.js";
import { Badge, Loading } from "./parts.js";
import { Search } from "./search.js";
import { Shell, useNow, useRoute, type View } from "./shell.js";
import { CopyButton } from "./verdict-band.js";
import { visible } from "./visible.js";

function App() {
  const { connection, projects, fleet, mayWrite, command, glanced } = useBoard();
  const [view, rest, params] = useRoute();
  const now = useNow(1_000);
  const project = projects.find(({ name }) => name === params.project) ?? projects[0];
  // Whoever looks elsewhere still sees that something waits for them.
  const waiting = glanced ?? waitingNow(projects);
  useEffect(() => {
    const title = project === undefined ? "Nexus" : `${visible(project.name)} · Nexus`;
    document.title = waiting.count === 0 ? title : `(${waiting.count}) ${title}`;
  }, [project?.name, waiting.count]);
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
  const views = [...(fleet === null ? [] : [fleetView(fleet)]), ...viewsOf(project)];
  const current = view === "run" ? "runs" : views.some(({ id }) => id === view) ? view : views[0]!.id;
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
              {projects.map(({ id, name }) => (
                <button type="button" key={id} aria-pressed={project.id === id} onClick={() => chooseProject(name)}>
                  {visible(name)}
                </button>
              ))}
            </div>
          ) : (
            <span class="file">{visible(project.root)}</span>
          )}
          {writing === null ? null : <Badge tone="warn">may change things</Badge>}
          <Search
            keys={[
              ["+ −", "zoom the graph"],
              ["0", "see all of the graph"],
              ["j k n p v", "in a diff: file, change, viewed"],
            ]}
            known={() => [...projects.flatMap(knownIn), ...(fleet === null ? [] : knownInFleet(fleet))]}
            ask={(words) => foundBy(project, words)}
          />
          <Notify waiting={waiting} />
          <Live connection={connection} />
        </>
      }
    >
      <Ended connection={connection} command={command} />
      <Told />
      {current === "fleet" && fleet !== null ? (
        <FleetPage {...{ fleet, now, rest, params }} />
      ) : (
        <Body key={project.id} view={view === "run" ? "run" : current} {...{ project, rest, params, now, writing }} />
      )}
    </Shell>
  );
}

function waitingNow(projects: readonly ProjectView[]): WaitingNow {
  return {
    count: projects.reduce((sum, each) => sum + waitingCount(each), 0),
    words: projects.map(waitingWords).find((words) => words !== "") ?? "",
  };
}

/** Tasks, runs and agents of one project are not those of another: only the view is kept. */
function chooseProject(name: string): void {
  const [view = "#/"] = location.hash.split("?")[0]!.match(/^#\/[a-z]*/) ?? [];
  location.hash = `${view}?project=${encodeURIComponent(name)}`;
}

function Body({ view, ...props }: ViewProps & { readonly view: string }) {
  switch (view) {
    case "plan":
      return <PlanView {...props} />;
    case "tasks":
      return <TasksView {...props} />;
    case "agents":
      return <AgentsView {...props} />;
    case "activity":
      return <ActivityView {...props} />;
    case "runs":
      return <RunsView {...props} />;
    case "run":
      return <RunPage {...props} />;
    case "history":
      return <HistoryPage {...props} />;
    case "artifacts":
      return <ArtifactsView {...props} />;
    default:
      return <NowView {...props} />;
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
function Ended({ connection, command }: { connection: Connection; command: string }) {
  if (connection === "live" || connection === "connecting") return null;
  return (
    <div class="notice warn ended" role="alert">
      {connection === "lost" ? (
        <>
          The board does not answer; this is what it last said. When it was ended, start it again and open the link it
          prints: <code class="fix">{visible(command || "nexus board")}</code>{" "}
          <CopyButton text={command || "nexus board"} />
        </>
      ) : (
        "The board was started again; this is what the one before last said. Open the link that the terminal shows."
      )}
    </div>
  );
}

const fleetView = ({ counts }: FleetView): View => ({
  id: "fleet",
  label: "Fleet",
  icon: "fleet",
  ...(counts.dead > 0 ? { count: counts.dead, alert: true } : { count: counts.running }),
});

function viewsOf(project: ProjectView): View[] {
  const { plan, runs, history, artifacts } = project;
  const scope = scopeOf(project, {});
  const open = plan?.issues.filter(({ status }) => status === "pending").length ?? 0;
  const failed = denials(project).length;
  const waiting = waitingCount(project);
  return [
    { id: "now", label: "Now", icon: "overview", ...(waiting > 0 ? { count: waiting, alert: true } : {}) },
    { id: "plan", label: "Plan", icon: "plan", ...(open > 0 ? { count: open, alert: true } : {}) },
    { id: "tasks", label: "Tasks", icon: "tasks", count: scope.tasks?.rows.length ?? 0 },
    { id: "agents", label: "Agents", icon: "agents", count: atWork(project).length },
    { id: "activity", label: "Activity", icon: "log", ...(failed > 0 ? { count: failed, alert: true } : {}) },
    { id: "runs", label: "Runs", icon: "runs", count: runs.length },
    { id: "history", label: "History", icon: "history", count: history.total },
    { id: "artifacts", label: "Artifacts", icon: "artifacts", count: artifacts.length },
  ];
}

render(<App />, document.getElementById("app")!);
