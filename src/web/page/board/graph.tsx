// Tasks as a graph. Only what is in sight is drawn: a thousand tasks cost what thirty do.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TaskRow } from "../../board/model.js";
import { Loading } from "../parts.js";
import { plural, visible } from "../visible.js";
import { criticalPath, related } from "./graph-links.js";
import { type LayoutAnswer, type LayoutQuestion, NODE_HEIGHT, NODE_WIDTH } from "./layout-shape.js";
import { ORDER } from "./stages.js";

interface GraphProps {
  readonly rows: readonly TaskRow[];
  /** By the same filters as the list; what does not fit is drawn faintly. */
  readonly isFitting: (row: TaskRow) => boolean;
  readonly chosen: number | null;
  readonly onChoose: (id: number) => void;
}

/** Beyond this, the graph begins with what is being worked on and what is near it. */
const MOST_AT_ONCE = 250;

export function Graph({ rows, isFitting, chosen, onChoose }: GraphProps) {
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
        <p class="soft graph-note">{plural(rows.length - linked.length, "task")} without links: in the list only.</p>
      ) : null}
      {answer === null ? (
        <Loading>laying out {shown.length} tasks</Loading>
      ) : (
        <Canvas {...{ answer, rows, byId, isFitting, chosen, onChoose }} />
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
  readonly rows: readonly TaskRow[];
  readonly byId: ReadonlyMap<number, TaskRow>;
  readonly isFitting: (row: TaskRow) => boolean;
  readonly chosen: number | null;
  readonly onChoose: (id: number) => void;
}

interface Sight {
  /** Where the upper left corner of the drawing is, and how large it is drawn. */
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const SPARE = 160;
const [SMALLEST, LARGEST] = [0.04, 2];
/** Below this not even numbers can be read; then the graph begins with what is near an open task, at this size. */
const [READABLE, NEAR] = [0.28, 0.5];
/** Below this a title cannot be read: its number is drawn large instead. */
const LEGIBLE = 0.55;
const MARGIN = 16;

function Canvas({ answer, rows, byId, isFitting, chosen, onChoose }: CanvasProps) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 1_000, height: 600 });
  const [sight, setSight] = useState<Sight>({ x: 0, y: 0, scale: 1 });
  const [near, setNear] = useState<number | null>(null);
  const [showsCritical, setCritical] = useState(true);
  const dragging = useRef<{ x: number; y: number; from: Sight; hasMoved: boolean } | null>(null);
  const showAll = () => {
    const { clientWidth: width, clientHeight: height } = box.current!;
    setSize({ width, height });
    setSight(fitting(answer, width, height));
  };
  /** As a whole where that can be read, else what is being worked on. */
  const begin = () => {
    const { clientWidth: width, clientHeight: height } = box.current!;
    const whole = fitting(answer, width, height);
    const active =
      answer.nodes.find(([id]) => ["running", "ready"].includes(byId.get(id)?.stage ?? "")) ?? answer.nodes[0];
    setSize({ width, height });
    if (whole.scale >= READABLE || active === undefined) setSight(whole);
    else setSight({ scale: NEAR, x: width / 3 - active[1] * NEAR, y: height / 2 - active[2] * NEAR });
  };
  useLayoutEffect(begin, [answer.width, answer.height, answer.nodes.length]);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = box.current!;
      setSize({ width, height });
    });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const zoom = (by: number, x = size.width / 2, y = size.height / 2) => setSight((before) => zoomed(before, by, x, y));
  useEffect(() => {
    const element = box.current!;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey)
        zoom(Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top);
      else setSight((before) => ({ ...before, x: before.x - event.deltaX, y: before.y - event.deltaY }));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ...{ ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] },
    };
    const move = moves[event.key];
    if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") showAll();
    else if (move !== undefined && event.target === box.current)
      setSight((before) => ({ ...before, x: before.x + move[0], y: before.y + move[1] }));
    else return;
    event.preventDefault();
  };
  const critical = useMemo(() => new Set(criticalPath(rows)), [rows]);
  const lit = useMemo(() => (near === null ? null : related(rows, near)), [rows, near]);
  const { x, y, scale } = sight;
  const seen = { x: -x / scale, y: -y / scale, width: size.width / scale, height: size.height / scale };
  const inSight = (nodeX: number, nodeY: number) =>
    nodeX > seen.x - NODE_WIDTH - SPARE &&
    nodeX < seen.x + seen.width + SPARE &&
    nodeY > seen.y - NODE_HEIGHT - SPARE &&
    nodeY < seen.y + seen.height + SPARE;
  const edges = answer.edges.filter(([, , points]) => crosses(points, seen));
  const edgeClass = (from: number, to: number): string => {
    if (lit !== null) return lit.has(from) && lit.has(to) ? "lit" : "dim";
    if (showsCritical && critical.has(from) && critical.has(to)) return "critical";
    if (from === chosen || to === chosen) return "lit";
    return byId.get(from)?.stage === "done" ? "met" : "open";
  };
  return (
    <>
      <div class="graph-tools">
        <button type="button" class="plain" aria-label="Zoom in" onClick={() => zoom(1.25)}>
          +
        </button>
        <button type="button" class="plain" aria-label="Zoom out" onClick={() => zoom(0.8)}>
          −
        </button>
        <button type="button" class="plain" onClick={showAll}>
          Fit
        </button>
        {critical.size === 0 ? null : (
          <button type="button" class="plain" aria-pressed={showsCritical} onClick={() => setCritical(!showsCritical)}>
            Longest chain of open tasks: {critical.size}
          </button>
        )}
        <span class="legend" aria-hidden="true">
          {ORDER.map((stage) => (
            <span key={stage} class={`legend-item ${stage.replace(" ", "-")}`}>
              {stage}
            </span>
          ))}
        </span>
      </div>
      <div
        class={`graph ${scale < LEGIBLE ? "far" : ""}`}
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="tasks and what they depend on; drag or use the arrow keys to move, plus and minus to zoom, 0 to see all"
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          dragging.current = { x: event.clientX, y: event.clientY, from: sight, hasMoved: false };
        }}
        onPointerMove={(event) => {
          const drag = dragging.current;
          if (drag === null) return;
          const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
          if (!drag.hasMoved && Math.abs(dx) + Math.abs(dy) < 5) return;
          if (!drag.hasMoved) box.current!.setPointerCapture(event.pointerId);
          drag.hasMoved = true;
          setSight({ ...drag.from, x: drag.from.x + dx, y: drag.from.y + dy });
        }}
        onPointerUp={() => {
          dragging.current = null;
        }}
        onPointerCancel={() => {
          dragging.current = null;
        }}
      >
        <div
          class="graph-space"
          style={{
            width: `${answer.width}px`,
            height: `${answer.height}px`,
            transform: `translate(${x}px, ${y}px) scale(${scale})`,
            "--far": String(Math.min(4, 1 / scale)),
          }}
        >
          <svg width={answer.width} height={answer.height} aria-hidden="true">
            <defs>
              {["met", "open", "lit", "critical", "dim"].map((kind) => (
                <marker
                  key={kind}
                  id={`head-${kind}`}
                  class={kind}
                  viewBox="0 0 8 8"
                  refX="8"
                  refY="4"
                  markerWidth="7"
                  markerHeight="7"
                  markerUnits="userSpaceOnUse"
                  orient="auto"
                >
                  <path d="M0,0L8,4L0,8z" />
                </marker>
              ))}
            </defs>
            {edges.map(([from, to, points]) => {
              const kind = edgeClass(from, to);
              return (
                <path
                  key={`${from}-${to}`}
                  class={`edge ${kind}`}
                  d={curve(points)}
                  marker-end={`url(#head-${kind})`}
                />
              );
            })}
          </svg>
          {answer.nodes
            .filter(([, nodeX, nodeY]) => inSight(nodeX, nodeY))
            .map(([id, nodeX, nodeY]) => {
              const row = byId.get(id);
              if (row === undefined) return null;
              const isOut = !isFitting(row) || (lit !== null && !lit.has(id));
              const isCritical = showsCritical && lit === null && critical.has(id);
              return (
                <button
                  type="button"
                  key={id}
                  class={`node ${row.stage.replace(" ", "-")} ${isOut ? "out" : ""} ${isCritical ? "critical" : ""}`}
                  aria-pressed={id === chosen}
                  title={visible(row.title)}
                  style={{
                    transform: `translate(${nodeX}px, ${nodeY}px)`,
                    width: `${NODE_WIDTH}px`,
                    height: `${NODE_HEIGHT}px`,
                  }}
                  onMouseEnter={() => setNear(id)}
                  onMouseLeave={() => setNear(null)}
                  onFocus={() => setNear(id)}
                  onBlur={() => setNear(null)}
                  onClick={() => {
                    if (dragging.current?.hasMoved !== true) onChoose(id);
                  }}
                >
                  <span class="node-number" aria-hidden="true">
                    {row.id}
                  </span>
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
    </>
  );
}

/** The whole drawing, in the middle; never larger than it is. */
function fitting(answer: LayoutAnswer, width: number, height: number): Sight {
  const room = Math.min((width - 2 * MARGIN) / answer.width, (height - 2 * MARGIN) / answer.height);
  const scale = Math.max(SMALLEST, Math.min(1, room));
  return { scale, x: (width - answer.width * scale) / 2, y: (height - answer.height * scale) / 2 };
}

/** What is under the pointer stays there. */
function zoomed({ x, y, scale }: Sight, by: number, atX: number, atY: number): Sight {
  const next = Math.max(SMALLEST, Math.min(LARGEST, scale * by));
  const share = next / scale;
  return { scale: next, x: atX - (atX - x) * share, y: atY - (atY - y) * share };
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
