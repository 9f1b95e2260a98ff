import { useMemo } from "preact/hooks";
import type { TaskRow, TaskStage } from "../../board/model.js";
import { Badge, Card, Empty, Facts, Icon, Segments, type Tone } from "../parts.js";
import { routeTo, setParam } from "../shell.js";
import { Virtual } from "../virtual.js";
import { plural, visible } from "../visible.js";
import { ActionButton, type Writing } from "./acting.js";
import { Columns } from "./columns.js";
import { Graph } from "./graph.js";
import { ScopeTabs, scopeOf } from "./scope.js";
import { countStages, ORDER, segmentsOf } from "./stages.js";
import type { ViewProps } from "./view-props.js";

export const STAGES: Readonly<Record<TaskStage, Tone>> = {
  done: "good",
  failed: "bad",
  "given up": "warn",
  running: "accent",
  ready: "info",
  waiting: "plain",
  never: "bad",
};
const ROW = 44;
const SHAPES = ["list", "graph", "columns"] as const;
type Shape = (typeof SHAPES)[number];

export function TasksView({ project, rest, writing, params }: ViewProps) {
  const scope = scopeOf(project, params);
  const [first = "", second = ""] = rest.split("/");
  const shape = SHAPES.find((name) => name === first) ?? "list";
  const chosen = Number.parseInt(shape === "list" ? first : second, 10) || null;
  const stage = ORDER.find((name) => name === params.stage) ?? "all";
  const words = params.find ?? "";
  const rows = scope.tasks?.rows ?? [];
  const counts = useMemo(() => countStages(rows), [rows]);
  const shown = useMemo(() => filtered(rows, words, stage), [rows, words, stage]);
  const row = rows.find(({ id }) => id === chosen);
  const go = (name: Shape, id: number | null) => {
    const parts = [name === "list" ? "" : name, id ?? ""].filter((part) => part !== "");
    location.hash = routeTo("tasks", parts.join("/"), params);
  };
  const onChoose = (id: number | null) => go(shape, id);
  const fitting = useMemo(() => new Set(shown.map(({ id }) => id)), [shown]);
  return (
    <>
      <h1>Tasks</h1>
      <ScopeTabs project={project} scope={scope} />
      {scope.tasks === null || rows.length === 0 ? (
        <Empty>No tasks yet: the first one appears here as soon as it is added.</Empty>
      ) : (
        <>
          {scope.tasks.goal === "" ? null : <p class="lead">{visible(scope.tasks.goal)}</p>}
          <TaskMeter rows={rows} isCalm={scope.run?.verdict.tone === "bad"} />
        </>
      )}
      {rows.length === 0 ? null : (
        <>
          <div class="tools">
            <div class="tabs" role="group" aria-label="how tasks are shown">
              {SHAPES.map((name) => (
                <button type="button" key={name} aria-pressed={shape === name} onClick={() => go(name, chosen)}>
                  {name[0]!.toUpperCase() + name.slice(1)}
                </button>
              ))}
            </div>
            <div class="tabs" role="group" aria-label="which tasks">
              {(["all", ...ORDER] as const).map((name) =>
                name !== "all" && counts[name] === 0 ? null : (
                  <button
                    type="button"
                    key={name}
                    aria-pressed={stage === name}
                    onClick={() => setParam("stage", name === "all" ? "" : name)}
                  >
                    {name} {name === "all" ? rows.length : counts[name]}
                  </button>
                ),
              )}
            </div>
            <label class="search">
              <Icon name="search" />
              <input
                type="search"
                placeholder="Find a task"
                aria-label="Find a task"
                value={words}
                onInput={(event) => setParam("find", event.currentTarget.value)}
              />
            </label>
          </div>
          <div class={`task-panes ${row === undefined ? "" : "with-detail"}`}>
            {shape === "graph" ? (
              <Graph rows={rows} isFitting={({ id }) => fitting.has(id)} chosen={chosen} onChoose={onChoose} />
            ) : shown.length === 0 ? (
              <Empty>No task fits.</Empty>
            ) : shape === "columns" ? (
              <Columns rows={shown} chosen={chosen} onChoose={onChoose} />
            ) : (
              <Virtual
                class="card task-list"
                fit
                label="tasks"
                count={shown.length}
                rowHeight={ROW}
                row={(index) => (
                  <TaskLine key={shown[index]!.id} row={shown[index]!} chosen={chosen} onChoose={onChoose} />
                )}
              />
            )}
            {row === undefined ? null : (
              <TaskDetail row={row} rows={rows} writing={writing} isOwn={scope.run === null} onChoose={onChoose} />
            )}
          </div>
        </>
      )}
    </>
  );
}

/** `isCalm`: beside a verdict that is bad, nothing is green. */
export function TaskMeter({ rows, isCalm = false }: { rows: readonly TaskRow[]; isCalm?: boolean }) {
  return (
    <div class="task-meter">
      <Segments noun="tasks" isCalm={isCalm} segments={segmentsOf(rows)} />
    </div>
  );
}

function filtered(rows: readonly TaskRow[], words: string, stage: TaskStage | "all"): TaskRow[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = rows.filter((row) => {
    if (stage !== "all" && row.stage !== stage) return false;
    const text = `${row.id} ${row.title} ${row.owner}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  return fits.sort((a, b) => ORDER.indexOf(a.stage) - ORDER.indexOf(b.stage) || a.id - b.id);
}

function TaskLine({ row, chosen, onChoose }: { row: TaskRow; chosen: number | null; onChoose: (id: number) => void }) {
  return (
    <div role="listitem" style={{ height: `${ROW}px` }}>
      <button type="button" class="task-line" aria-pressed={row.id === chosen} onClick={() => onChoose(row.id)}>
        <span class="task-id">{row.id}</span>
        <Badge tone={STAGES[row.stage]}>{row.stage}</Badge>
        <span class="name">{visible(row.title)}</span>
        {row.reopened > 0 ? <Badge tone="warn">reopened</Badge> : null}
        {row.failures > 0 ? <Badge tone="warn">{plural(row.failures, "failed try", "failed tries")}</Badge> : null}
        <span class="soft owner">{visible(row.owner)}</span>
      </button>
    </div>
  );
}

interface DetailProps {
  readonly row: TaskRow;
  readonly rows: readonly TaskRow[];
  readonly writing: Writing | null;
  /** Of the project itself, not of a run. */
  readonly isOwn: boolean;
  /** null: none. */
  readonly onChoose: (id: number | null) => void;
}

function TaskDetail({ row, rows, writing, isOwn, onChoose }: DetailProps) {
  const needed = row.deps.map((id) => [id, rows.find((other) => other.id === id)] as const);
  const unlocks = rows.filter(({ deps }) => deps.includes(row.id));
  const link = (id: number, other: TaskRow | undefined) => (
    <button type="button" class="link" key={id} onClick={() => onChoose(id)}>
      {id} {other === undefined ? "(unknown)" : visible(other.title)}
      {other === undefined ? null : <Badge tone={STAGES[other.stage]}>{other.stage}</Badge>}
    </button>
  );
  return (
    <Card class="task-detail" title={`Task ${row.id}`} aside={<Badge tone={STAGES[row.stage]}>{row.stage}</Badge>}>
      <button type="button" class="plain close-sheet" onClick={() => onChoose(null)}>
        Close
      </button>
      <p class="task-title">{visible(row.title)}</p>
      {row.why === "" || row.stage === "done" ? null : (
        <p class="notice bad">
          {row.stage === "never" ? `It can never be ready: it ${visible(row.why)}.` : visible(row.why)}
        </p>
      )}
      <Facts
        rows={[
          { name: "owner", value: row.owner },
          { name: "context", value: row.context },
          { name: "approach", value: row.approach },
          { name: "acceptance", value: row.acceptance },
          { name: "risk", value: row.risk },
          { name: "issue", value: row.issue === null ? "" : <a href={routeTo("plan")}>{row.issue}</a> },
          { name: "reopened", value: row.reopened === 0 ? "" : plural(row.reopened, "time") },
          { name: "tries", value: row.failures === 0 ? "" : `${row.failures} failed` },
          { name: "needs", value: needed.length === 0 ? "" : needed.map(([id, other]) => link(id, other)) },
          {
            name: "unlocks",
            value: unlocks.length === 0 ? "" : unlocks.slice(0, 12).map((other) => link(other.id, other)),
          },
        ]}
      />
      {isOwn && row.stage === "done" ? (
        <ActionButton writing={writing} label="Reopen this task" action={{ action: "reopen", task: row.id }} />
      ) : null}
    </Card>
  );
}
