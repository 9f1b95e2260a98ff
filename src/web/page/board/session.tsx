// One session: what it was told, what it says as it says it, what it left.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunRow, SessionRow } from "../../board/model.js";
import { askJson } from "../ask-server.js";
import { useLoaded } from "../data.js";
import type { Remarking } from "../diff/remarks.js";
import { Markdown } from "../markdown.js";
import { Badge, Card, Empty, Facts, Icon, Loading } from "../parts.js";
import { type Params, setParam, useParam } from "../shell.js";
import { amount, clock, day, plural, span, visible } from "../visible.js";
import { RunChangesView } from "./run-changes.js";

interface SessionProps {
  readonly project: number;
  readonly run: RunRow;
  readonly session: SessionRow;
  readonly params: Params;
  readonly remarking: Remarking;
  readonly now: number;
}

const PARTS = ["transcript", "prompt", "report", "diff"] as const;

export function SessionView({ project, run, session, params, remarking, now }: SessionProps) {
  const shown = PARTS.find((name) => name === params.part) ?? "transcript";
  const isAtWork = session.outcome === "";
  const until = isAtWork ? now : Date.parse(session.endedAt);
  const key = `${project} ${run.id} ${session.agent}`;
  return (
    <Card
      title={`${visible(session.agent)}: ${session.purpose}${session.task === 0 ? "" : `, task ${session.task}`}`}
      aside={<Badge tone={isAtWork ? "accent" : "plain"}>{isAtWork ? "at work" : session.outcome}</Badge>}
    >
      <Facts
        rows={[
          { name: "started", value: day(session.startedAt) },
          { name: "took", value: Number.isNaN(until) ? "" : span(until - Date.parse(session.startedAt)) },
          { name: "tokens", value: session.tokens === 0 ? "" : amount(session.tokens) },
          { name: "cost", value: session.costUsd === 0 ? "" : `$${session.costUsd.toFixed(2)}` },
          { name: "refused", value: session.problems.join("; ") },
        ]}
      />
      <div class="tabs" role="group" aria-label="what of the session">
        {PARTS.map((name) => (
          <button type="button" key={name} aria-pressed={name === shown} onClick={() => setParam("part", name)}>
            {name}
          </button>
        ))}
      </div>
      {shown === "transcript" ? <Transcript key={key} {...{ project, run, session, now }} /> : null}
      {shown === "prompt" || shown === "report" ? (
        <Text key={`${key} ${shown}`} {...{ project, run, session, part: shown }} />
      ) : null}
      {shown === "diff" ? <RunChangesView {...{ project, run, params, remarking }} agent={session.agent} /> : null}
    </Card>
  );
}

const addressOf = (project: number, run: RunRow, session: SessionRow, part: string, from = 0) =>
  `/api/session?project=${project}&run=${encodeURIComponent(run.id)}&agent=${encodeURIComponent(session.agent)}&part=${part}&from=${from}`;

interface Part {
  readonly text: string;
  readonly next: number;
  readonly more: boolean;
}

function Text({ project, run, session, part }: Pick<SessionProps, "project" | "run" | "session"> & { part: string }) {
  const loaded = useLoaded(() => askJson<Part>(addressOf(project, run, session, part)), [session.outcome]);
  if (loaded.state === "loading") return <Loading>reading</Loading>;
  if (loaded.state === "failed") return <Empty>{visible(loaded.message)}</Empty>;
  if (loaded.value.text === "")
    return <Empty>{session.outcome === "" ? "There is none yet." : "There is none."}</Empty>;
  const none = { folder: "", under: 2 as const, fileLink: () => null, image: () => null };
  return <Markdown text={loaded.value.text} context={none} />;
}

interface Said {
  readonly at: string;
  readonly type: string;
  readonly text: string;
  readonly ok: boolean;
}

const EVERY_MS = 150;
const MOST_LINES = 3_000;

/** The agent's own log, followed while it grows. */
function Transcript({ project, run, session, now }: Omit<SessionProps, "params" | "remarking">) {
  const [said, setSaid] = useState<readonly Said[]>([]);
  const [words, setWords] = useParam("words");
  const [follow, setFollow] = useParam("follow");
  const follows = follow !== "no";
  const box = useRef<HTMLDivElement>(null);
  const isAtWork = session.outcome === "";
  useEffect(() => {
    let wanted = true;
    let next = 0;
    const look = async () => {
      for (let more = true; more && wanted; ) {
        const part = await askJson<Part>(addressOf(project, run, session, "log", next)).catch(() => null);
        if (part === null || !wanted) break;
        more = part.more && part.next > next;
        next = part.next;
        const lines = linesOf(part.text);
        if (lines.length > 0) setSaid((before) => [...before, ...lines].slice(-MOST_LINES));
      }
      if (wanted && isAtWork) setTimeout(look, document.hidden ? 5_000 : EVERY_MS);
    };
    setSaid([]);
    void look();
    return () => {
      wanted = false;
    };
  }, [isAtWork]);
  useEffect(() => {
    if (follows && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [said, follows]);
  const shown = useMemo(() => {
    const wanted = words.trim().toLowerCase();
    return wanted === "" ? said : said.filter(({ text, type }) => `${type} ${text}`.toLowerCase().includes(wanted));
  }, [said, words]);
  const silentMs = said.length === 0 ? 0 : now - Date.parse(said.at(-1)!.at);
  return (
    <>
      <div class="log-tools">
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            placeholder="Find in the transcript"
            aria-label="Find in the transcript"
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </label>
        <button type="button" class="plain" aria-pressed={follows} onClick={() => setFollow(follows ? "no" : "")}>
          Follow
        </button>
        <span class="soft" role="status">
          {plural(shown.length, "entry", "entries")}
          {isAtWork && silentMs > 10_000 ? `, silent for ${span(silentMs)}` : ""}
        </span>
      </div>
      {said.length === 0 ? (
        <Empty>{isAtWork ? "It has said nothing yet." : "It said nothing."}</Empty>
      ) : (
        <div class="transcript" ref={box} tabIndex={0} role="log" aria-label="transcript">
          {shown.map((line, index) => (
            <p key={index} class={`said ${line.type} ${line.ok ? "" : "no"}`}>
              <span class="soft">{clock(line.at)}</span> <strong>{line.type}</strong> {visible(line.text)}
            </p>
          ))}
        </div>
      )}
    </>
  );
}

export function linesOf(text: string): Said[] {
  return text.split("\n").flatMap((line) => {
    if (line === "") return [];
    try {
      const event = JSON.parse(line) as Record<string, unknown>;
      return [
        { at: String(event.at ?? ""), type: String(event.type ?? ""), text: wordsOf(event), ok: event.ok !== false },
      ];
    } catch {
      return [{ at: "", type: "unreadable", text: line.slice(0, 500), ok: false }];
    }
  });
}

function wordsOf(event: Record<string, unknown>): string {
  const { type, text, name, path, tokens, costUsd, message, id, model } = event;
  if (type === "usage") return `${amount(Number(tokens ?? 0))} tokens, $${Number(costUsd ?? 0).toFixed(2)}`;
  return [text, name, path, message, type === "session" ? id : undefined, model].filter(Boolean).map(String).join(" ");
}
