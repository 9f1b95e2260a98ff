// A scorecard as one page: tables and plots as text, no script, nothing loaded from anywhere.
import { createHash } from "node:crypto";
import type { ScoreRow, Try } from "../schema/scorecard.js";
import { isSolved } from "./rows.js";

export interface Page {
  readonly title: string;
  readonly about: readonly string[];
  readonly rows: readonly ScoreRow[];
  readonly requests: readonly string[];
  readonly tries: readonly Try[];
  readonly warnings: readonly string[];
}

export function scorecardPage(page: Page): string {
  const style = createHash("sha256").update(STYLE).digest("base64");
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'">`,
    `<title>${text(page.title)}</title><style>${STYLE}</style></head><body><main>`,
    `<h1>${text(page.title)}</h1>`,
    ...page.about.map((line) => `<p>${text(line)}</p>`),
    ...page.warnings.map((line) => `<p class="warning">${text(line)}</p>`),
    "<h2>Share of tries solved, with Wilson's 95 % interval</h2>",
    rates(page.rows),
    figures(page.rows),
    ...costs(page.rows),
    "<h2>Request by request</h2>",
    matrix(page),
    "</main></body></html>",
    "",
  ].join("\n");
}

const ROW = 34;
const LEFT = 170;
const WIDTH = 720;
const PLOT = WIDTH - LEFT - 70;

/** One bar for each contender, its interval as a line across the bar's end. */
function rates(rows: readonly ScoreRow[]): string {
  const height = rows.length * ROW + 30;
  const x = (rate: number) => round(LEFT + rate * PLOT);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (rate) =>
      `<line class="grid" x1="${x(rate)}" x2="${x(rate)}" y1="0" y2="${height - 26}"/><text class="tick" x="${x(rate)}" y="${height - 8}" text-anchor="middle">${rate * 100} %</text>`,
  );
  const bars = rows.map((row, at) => {
    const y = at * ROW + 4;
    const label = `<text x="${LEFT - 10}" y="${y + 17}" text-anchor="end">${text(cut(row.contender, 22))}</text>`;
    if (row.rate === null) return `${label}<text class="tick" x="${LEFT + 6}" y="${y + 17}">not known</text>`;
    const middle = y + 12;
    return [
      label,
      `<rect class="${row.stand_in ? "stand-in" : "bar"}" x="${LEFT}" y="${y}" width="${round(row.rate * PLOT)}" height="24"/>`,
      `<path class="range" d="M${x(row.low!)} ${middle}H${x(row.high!)}M${x(row.low!)} ${middle - 6}v12M${x(row.high!)} ${middle - 6}v12"/>`,
      `<text class="tick" x="${WIDTH - 4}" y="${y + 17}" text-anchor="end">${row.solved}/${row.tries}</text>`,
    ].join("");
  });
  return svg(height, "share of tries solved", [...grid, ...bars]);
}

/** Cost against rate, where programs tell what they cost. */
function costs(rows: readonly ScoreRow[]): string[] {
  const known = rows.filter(({ cost_usd: cost, rate }) => cost > 0 && rate !== null);
  if (known.length === 0) return [];
  const each = (row: ScoreRow) => row.cost_usd / row.tries;
  const most = Math.max(...known.map(each));
  const height = 260;
  const points = known.map((row) => {
    const [px, py] = [round(LEFT + (each(row) / most) * PLOT), round(20 + (1 - row.rate!) * 190)];
    return `<circle class="bar" cx="${px}" cy="${py}" r="6"/><text x="${Math.min(px, WIDTH - 140)}" y="${py - 10}">${text(cut(row.contender, 22))}</text>`;
  });
  const frame = `<path class="range" d="M${LEFT} 20V210H${LEFT + PLOT}"/><text class="tick" x="${LEFT - 10}" y="26" text-anchor="end">100 %</text><text class="tick" x="${LEFT - 10}" y="214" text-anchor="end">0 %</text><text class="tick" x="${LEFT}" y="232">$0</text><text class="tick" x="${LEFT + PLOT}" y="232" text-anchor="end">${dollars(most)} a try</text>`;
  return ["<h2>Solved against cost</h2>", svg(height, "share solved against cost of a try", [frame, ...points])];
}

function figures(rows: readonly ScoreRow[]): string {
  const head = ["", "solved", "rate", "95 %", "cost/solved", "tokens/solved", "median time", "unfinished"];
  const body = rows.map((row) => [
    row.contender,
    `${row.solved}/${row.tries}`,
    percent(row.rate),
    row.low === null ? "–" : `${percent(row.low)} – ${percent(row.high)}`,
    row.cost_per_solved_usd === null ? "–" : dollars(row.cost_per_solved_usd),
    row.tokens_per_solved === null ? "–" : String(Math.round(row.tokens_per_solved)),
    row.median_ms === null ? "–" : `${round(row.median_ms / 1_000)} s`,
    String(row.unfinished),
  ]);
  return tableOf(
    head,
    body.map((cells) => cells.map((cell) => ({ words: cell }))),
  );
}

function matrix({ rows, requests, tries }: Page): string {
  const body = requests.map((request) => [
    { words: request },
    ...rows.map(({ contender, stand_in: standIn }) => {
      const here = tries.filter((one) => one.request === request && one.contender === contender);
      const outcomes = here.map(({ result }) => result?.outcome ?? "at work");
      const solved = here.filter(({ result }) => result !== undefined && isSolved(standIn, result)).length;
      const kind = outcomes.length === 0 ? "none" : solved === outcomes.length ? "yes" : solved > 0 ? "some" : "no";
      return { words: outcomes.length === 0 ? "–" : outcomes.join(", "), kind };
    }),
  ]);
  return tableOf(["", ...rows.map(({ contender }) => contender)], body);
}

interface Cell {
  readonly words: string;
  readonly kind?: string;
}

function tableOf(head: readonly string[], body: readonly (readonly Cell[])[]): string {
  const cell = ({ words, kind }: Cell, at: number) =>
    at === 0
      ? `<th scope="row">${text(words)}</th>`
      : `<td${kind === undefined ? "" : ` class="${kind}"`}>${text(words)}</td>`;
  return [
    '<div class="wide"><table><thead><tr>',
    ...head.map((words) => (words === "" ? "<td></td>" : `<th scope="col">${text(words)}</th>`)),
    "</tr></thead><tbody>",
    ...body.map((cells) => `<tr>${cells.map(cell).join("")}</tr>`),
    "</tbody></table></div>",
  ].join("");
}

const svg = (height: number, label: string, parts: readonly string[]) =>
  `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${text(label)}">${parts.join("")}</svg>`;

const round = (value: number) => Math.round(value * 10) / 10;
const percent = (rate: number | null) => (rate === null ? "–" : `${round(rate * 100)} %`);
const dollars = (value: number) => `$${value < 1 ? value.toFixed(3) : value.toFixed(2)}`;
const cut = (words: string, most: number) => (words.length <= most ? words : `${words.slice(0, most - 1)}…`);

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const text = (words: string) => words.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

const STYLE = `
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6675; --line: #cfd6df; --bar: #2f6fd0; --pale: #9aa7b8; --yes: #d9f2df; --some: #fdf1cc; --no: #f9dddd; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #a6b1c0; --line: #3a4452; --bar: #6aa2f7; --pale: #66727f; --yes: #1d4028; --some: #4b3f14; --no: #4d2525; --paper: #14181e; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
svg { width: 100%; max-width: 45rem; height: auto; font-size: 14px; } svg text { fill: var(--ink); } svg .tick { fill: var(--soft); font-size: 12px; }
.grid { stroke: var(--line); } .bar { fill: var(--bar); } .stand-in { fill: var(--pale); } .range { stroke: var(--ink); stroke-width: 1.5; fill: none; }
.wide { overflow-x: auto; } table { border-collapse: collapse; } th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
.yes { background: var(--yes); } .some { background: var(--some); } .no { background: var(--no); } .warning { border-left: 4px solid var(--bar); padding-left: .8rem; }
`;
