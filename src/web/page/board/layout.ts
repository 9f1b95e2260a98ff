// Graph layout, in a worker: however long it takes, the page stays responsive.
import dagre from "@dagrejs/dagre";
import { type LayoutAnswer, type LayoutQuestion, NODE_HEIGHT, NODE_WIDTH } from "./layout-shape.js";

function layout({ key, nodes, edges }: LayoutQuestion): LayoutAnswer {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 16, ranksep: 56, marginx: 12, marginy: 12, ranker: "tight-tree" });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(String(id), { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const [from, to] of edges) graph.setEdge(String(from), String(to));
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    key,
    width: Math.ceil(width),
    height: Math.ceil(height),
    nodes: nodes.map((id) => {
      const { x, y } = graph.node(String(id)) as { x: number; y: number };
      return [id, Math.round(x - NODE_WIDTH / 2), Math.round(y - NODE_HEIGHT / 2)];
    }),
    edges: edges.map(([from, to]) => {
      const { points = [] } = graph.edge(String(from), String(to)) as { points?: { x: number; y: number }[] };
      const start = graph.node(String(from)) as { x: number; y: number };
      const end = graph.node(String(to)) as { x: number; y: number };
      // The layout ends edges somewhere on the border; the middle of a side is calmer.
      const way = [
        { x: start.x + NODE_WIDTH / 2, y: start.y },
        ...points.slice(1, -1).filter((_, at, inner) => inner.length > 1 && at % 2 === 1),
        { x: end.x - NODE_WIDTH / 2, y: end.y },
      ];
      return [from, to, way.flatMap(({ x, y }) => [Math.round(x), Math.round(y)])];
    }),
  };
}

self.onmessage = ({ data }: MessageEvent<LayoutQuestion>) => self.postMessage(layout(data));
