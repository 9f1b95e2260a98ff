// The small pieces both pages are made of.
import type { ComponentChildren } from "preact";
import type { Tone } from "../verdict.js";
import type { Segment } from "./board/stages.js";
import { day, relative, visible } from "./visible.js";

export type { Tone } from "../verdict.js";

/** `evidence`: proven, judged, said. What backs a claim is no verdict, and has no colour of one. */
export function Badge({ tone = "plain", children }: { tone?: Tone | "evidence"; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

interface CardProps {
  readonly title?: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}

export function Card({ title, aside, children, class: extra = "" }: CardProps) {
  return (
    <section class={`card ${extra}`}>
      {title === undefined ? null : (
        <header class="card-head">
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  );
}

export function Facts({ rows }: { rows: readonly { name: string; value: ComponentChildren }[] }) {
  const told = rows.filter(({ value }) => value !== "" && value !== null && value !== undefined);
  if (told.length === 0) return null;
  return (
    <dl class="facts">
      {told.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? visible(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function Loading({ children }: { children: ComponentChildren }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {children}
    </p>
  );
}

export function When({ at, now }: { at: string; now: number }) {
  if (Number.isNaN(Date.parse(at))) return <span>{visible(at)}</span>;
  return (
    <time dateTime={at} title={day(at)}>
      {relative(at, now)}
    </time>
  );
}

/** A share of a whole, told in words as well. */
export function Meter({ share, label, tone = "accent" }: { share: number; label: string; tone?: Tone }) {
  const percent = Math.max(0, Math.min(100, share * 100));
  return (
    <div class={`meter ${tone}`} role="img" aria-label={label}>
      <span style={{ width: `${percent}%` }} />
    </div>
  );
}

const VERDICT: Readonly<Record<string, readonly [Tone, string]>> = {
  passed: ["good", "✓"],
  failed: ["bad", "✗"],
  skipped: ["warn", "–"],
  unknown: ["plain", "?"],
  open: ["plain", "○"],
};

/** Parts of a whole, each in its own colour and told in words: done, failed, given up, running, waiting. */
export function Segments({
  segments,
  noun,
  isCalm = false,
}: {
  segments: readonly Segment[];
  noun: string;
  isCalm?: boolean;
}) {
  const there = segments.filter(({ count }) => count > 0);
  const total = there.reduce((sum, { count }) => sum + count, 0);
  const words = there.map(({ name, count }) => `${count} ${name}`).join(", ");
  return (
    <div class={`segments ${isCalm ? "calm" : ""}`}>
      <div class="segment-bar" role="img" aria-label={`${noun}: ${words || "none"}`}>
        {there.map(({ name, count }) => (
          <span key={name} class={name.replaceAll(" ", "-")} style={{ flexGrow: count }} />
        ))}
      </div>
      <p class="soft">
        {segments.find(({ name }) => name === "done")?.count ?? 0} of {total} done
        {there
          .filter(({ name }) => name !== "done")
          .map(({ name, count }) => (
            <span key={name} class={name === "failed" || name === "can never be ready" ? "bad" : undefined}>
              , {count} {name}
            </span>
          ))}
      </p>
    </div>
  );
}

export function Verdict({ verdict, word = verdict }: { verdict: string; word?: string | undefined }) {
  const [tone, mark] = VERDICT[verdict] ?? ["plain", "?"];
  return (
    <span class={`verdict ${tone}`}>
      <span aria-hidden="true">{mark}</span>
      <span class="word">{word}</span>
    </span>
  );
}

export function Tags({ values, tone = "plain" }: { values: readonly string[]; tone?: Tone }) {
  return (
    <span class="tags">
      {values.map((value) => (
        <Badge key={value} tone={tone}>
          {visible(value)}
        </Badge>
      ))}
    </span>
  );
}

/** One shape for every small drawing: 20 × 20, drawn in lines. */
const ICONS = {
  overview: "M3 4h14v12H3zM3 8h14M8 8v8",
  documents: "M5 2h7l4 4v12H5zM12 2v4h4M8 10h5M8 13h5",
  files: "M2 5h6l2 2h8v9H2z",
  apis: "M7 5 3 10l4 5M13 5l4 5-4 5",
  acceptance: "M3 10l4 4L17 5",
  timeline: "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM10 6v4l3 2",
  access: "M13 3a4 4 0 1 1-3.5 6L3 15.500V17h3v-2h2v-2h1.500l1.200-1.200",
  changes: "M6 3v14M6 17l-3-3M6 17l3-3M14 17V3M14 3l-3 3M14 3l3 3",
  more: "M4 10h.01M10 10h.01M16 10h.01",
  plan: "M4 4h12M4 10h12M4 16h7",
  tasks: "M3 4h4v4H3zM13 4h4v4h-4zM8 12h4v4H8zM7 6h6M10 8v4",
  agents: "M10 3a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM4 17c0-4 3-6 6-6s6 2 6 6",
  log: "M3 4h14v12H3zM6 8l2 2-2 2M10 12h4",
  history: "M4 10a6 6 0 1 0 2-4.500M6 2v4h4M10 7v3l2 2",
  artifacts: "M10 2l7 4v8l-7 4-7-4V6zM3 6l7 4 7-4M10 10v8",
  runs: "M6 4l10 6-10 6z",
  fleet: "M3 3h14v4H3zM3 8h14v4H3zM3 13h14v4H3zM6 5h.01M6 10h.01M6 15h.01",
  search: "M9 3a6 6 0 1 1 0 12A6 6 0 0 1 9 3zM13.500 13.500 18 18",
  folder: "M2 5h6l2 2h8v9H2z",
  file: "M5 2h7l4 4v12H5zM12 2v4h4",
} as const;

export type IconName = keyof typeof ICONS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}
