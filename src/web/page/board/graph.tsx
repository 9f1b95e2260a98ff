// Tasks as a graph. Only what is in sight is drawn: a thousand tasks cost what thirty do.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TaskRow } from "../../board/model.js";
import { Loading } from "../parts.js";
import { visible } from "../visible.js";
import { type LayoutAnswer, type LayoutQuestion, NODE_HEIGHT, NODE_WIDTH } from "./layout-shape.js";

interface GraphProps {
  readonly rows: readonly TaskRow[];
  readonly chosen: number | null;
  readonly onChoose: (id: number) => void;
}

/** Beyond this, the graph begins with what is being worked on and what is near it. */
const MOST_AT_ONCE = 150;

export function Graph({ rows, chosen, onChoose }: GraphProps) {
  const [everything, setEverything] = useState(false);
  // Which tasks are drawn depends on the links alone: a task that changes its state must not move the others.
  const shape = useMemo(() => rows.map(({ id, deps }) => `${id}:${deps.join()}`).join(" "), [rows]);
  const linked = useMemo(() => withLinks(rows), [shape]);
  const isLarge = linked.length > MOST_AT_ONCE;
  const shown = useMemo(
    () => (isLarge && !everything ? nearby(linked, chosen) : linked),
    [linked, isLarge, everything],
  );
  const answer = useLayout(shown);
  const byId = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows]);
  return (
    <div class="graph-box">
      {isLarge ? (
        <p class="soft graph-note">
          {everything
            ? `All ${linked.length} linked tasks.`
            : `${shown.length} of ${linked.length} linked tasks: what is open, and what is near it.`}{" "}
          <button type="button" class="plain" onClick={() => setEverything(!everything)}>
            {everything ? "Show what is open" : "Show all of them"}
          </button>
        </p>
      ) : null}
      {linked.length < rows.length ? (
        <p class="soft graph-note">{rows.length - linked.length} tasks need no other and are in the list only.</p>
      ) : null}
      {answer === null ? (
        <Loading>laying out {shown.length} tasks</Loading>
      ) : (
        <Canvas answer={answer} byId={byId} chosen={chosen} onChoose={onChoose} />
      )}
    </div>
  );
}

function withLinks(rows: readonly TaskRow[]): TaskRow[] {
  const ids = new Set(rows.map(({ id }) => id));
  const linked = new Set<number>();
  for (const { id, deps } of rows) {
    for (const dep of deps) {
      if (!ids.has(dep) || dep === id) continue;
      linked.add(id);
      linked.add(dep);
    }
  }
  return rows.filter(({ id }) => linked.has(id));
}

/** Running and ready tasks first, then outward along the links until there are enough. */
function nearby(rows: readonly TaskRow[], chosen: number | null): TaskRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const next = new Map<number, number[]>();
  for (const { id, deps } of rows) {
    for (const dep of deps) {
      if (!byId.has(dep)) continue;
      next.set(id, [...(next.get(id) ?? []), dep]);
      next.set(dep, [...(next.get(dep) ?? []), id]);
    }
  }
  const first = rows.filter(({ id, stage }) => id === chosen || stage === "running" || stage === "ready").slice(0, 40);
  const queue = (first.length === 0 ? rows.slice(0, 1) : first).map(({ id }) => id);
  const kept = new Set(queue);
  for (let at = 0; at < queue.length && kept.size < MOST_AT_ONCE; at += 1) {
    for (const id of next.get(queue[at]!) ?? []) {
      if (kept.size >= MOST_AT_ONCE || kept.has(id)) continue;
      kept.add(id);
      queue.push(id);
    }
  }
  return rows.filter(({ id }) => kept.has(id));
}

/** Asks the worker when the shape of the graph changed; a task that changes its state keeps its place. */
function useLayout(rows: readonly TaskRow[]): LayoutAnswer | null {
  const [answer, setAnswer] = useState<LayoutAnswer | null>(null);
  const question = useMemo((): LayoutQuestion => {
    const ids = new Set(rows.map(({ id }) => id));
    const edges = rows.flatMap(({ id, deps }) =>
      [...new Set(deps)].filter((dep) => ids.has(dep) && dep !== id).map((dep) => [dep, id] as const),
    );
    return { key: rows.map(({ id, deps }) => `${id}:${deps.join()}`).join(" "), nodes: [...ids], edges };
  }, [rows]);
  useEffect(() => {
    const worker = new Worker("/layout.js", { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
      setAnswer(data);
      worker.terminate();
    };
    worker.postMessage(question);
    return () => worker.terminate();
  }, [question.key]);
  return answer;
}

interface CanvasProps {
  readonly answer: LayoutAnswer;
  readonly byId: ReadonlyMap<number, TaskRow>;
  readonly chosen: number | null;
  readonly onChoose: (id: number) => void;
}

const SPARE = 160;

function Canvas({ answer, byId, chosen, onChoose }: CanvasProps) {
  const box = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ x: 0, y: 0, width: 1200, height: 700 });
  const look = () => {
    const { scrollLeft: x, scrollTop: y, clientWidth: width, clientHeight: height } = box.current!;
    setSight({ x, y, width, height });
  };
  useLayoutEffect(() => {
    const active = answer.nodes.find(([id]) => ["running", "ready"].includes(byId.get(id)?.stage ?? ""));
    if (active !== undefined) {
      box.current!.scrollLeft = active[1] - 80;
      box.current!.scrollTop = active[2] - 120;
    }
    look();
  }, [answer]);
  const inSight = (x: number, y: number) =>
    x > sight.x - NODE_WIDTH - SPARE &&
    x < sight.x + sight.width + SPARE &&
    y > sight.y - NODE_HEIGHT - SPARE &&
    y < sight.y + sight.height + SPARE;
  const edges = answer.edges.filter(([, , points]) => crosses(points, sight));
  return (
    <div class="graph" ref={box} onScroll={look} tabIndex={0} role="group" aria-label="tasks and what they depend on">
      <div class="graph-space" style={{ width: `${answer.width}px`, height: `${answer.height}px` }}>
        <svg width={answer.width} height={answer.height} aria-hidden="true">
          {edges.map(([from, to, points]) => (
            <path
              key={`${from}-${to}`}
              class={edgeClass(byId.get(from), from === chosen || to === chosen)}
              d={curve(points)}
            />
          ))}
        </svg>
        {answer.nodes
          .filter(([, x, y]) => inSight(x, y))
          .map(([id, x, y]) => {
            const row = byId.get(id);
            if (row === undefined) return null;
            return (
              <button
                type="button"
                key={id}
                class={`node ${row.stage.replace(" ", "-")}`}
                aria-pressed={id === chosen}
                style={{ transform: `translate(${x}px, ${y}px)`, width: `${NODE_WIDTH}px`, height: `${NODE_HEIGHT}px` }}
                onClick={() => onChoose(id)}
              >
                <span class="node-title">{visible(row.title)}</span>
                <span class="node-facts">
                  {row.id} · {row.stage}
                  {row.owner === "" ? "" : ` · ${visible(row.owner)}`}
                </span>
              </button>
            );
          })}
      </div>
    </div>
  );
}

function edgeClass(from: TaskRow | undefined, near: boolean): string {
  return `${from?.stage === "done" ? "met" : "open"} ${near ? "near" : ""}`;
}

function crosses(
  points: readonly number[],
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
): boolean {
  let [left, top, right, bottom] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ];
  for (let at = 0; at < points.length; at += 2) {
    left = Math.min(left, points[at]!);
    right = Math.max(right, points[at]!);
    top = Math.min(top, points[at + 1]!);
    bottom = Math.max(bottom, points[at + 1]!);
  }
  return right > x - SPARE && left < x + width + SPARE && bottom > y - SPARE && top < y + height + SPARE;
}

/** From the right side of one task to the left side of the other, through the points the layout left free. */
function curve(points: readonly number[]): string {
  let path = `M${points[0]},${points[1]}`;
  for (let at = 2; at < points.length; at += 2) {
    const [x, y, toX, toY] = [points[at - 2]!, points[at - 1]!, points[at]!, points[at + 1]!];
    const bend = (toX - x) / 2;
    path += `C${x + bend},${y} ${toX - bend},${toY} ${toX},${toY}`;
  }
  return path;
}
