// A log: colours as the program gave them, a search, and the lines that say what went wrong to jump to.
import { type MutableRef, useEffect, useMemo, useState } from "preact/hooks";
import { isTelling } from "../log-lines.js";
import { LogLines, type Span, spansOf } from "./ansi.js";
import { useInSight } from "./in-sight.js";
import { Icon } from "./parts.js";
import { useParam } from "./shell.js";
import { Virtual } from "./virtual.js";
import { visible } from "./visible.js";

const LINE = 20;
/** Lines that may wrap have no height known before they are drawn; of a longer log they stay on one line. */
const MOST_WRAPPED = 2_000;

export function LogView({ text, label }: { text: string; label: string }) {
  const lines = useMemo(() => new LogLines(text.replace(/\n$/, "")), [text]);
  const [words, setWords] = useParam("words");
  const [wrap, setWrap] = useParam("wrap");
  const wraps = lines.count <= MOST_WRAPPED && (wrap === "" ? lines.count <= 400 : wrap === "yes");
  const [at, setAt] = useState(-1);
  const found = useMarked(lines, words);
  const isFound = useMemo(() => new Set(found), [found]);
  const jump = (by: 1 | -1) => {
    if (found.length === 0) return;
    const next = by === 1 ? found.find((line) => line > at) : found.findLast((line) => line < at);
    setAt(next ?? (by === 1 ? found[0]! : found.at(-1)!));
  };
  const row = (index: number) => (
    <LogLine
      key={index}
      number={index + 1}
      spans={lines.spans(index)}
      isMarked={isFound.has(index)}
      isAt={index === at}
    />
  );
  return (
    <div class={`log ${wraps ? "wraps" : ""}`}>
      <div class="log-tools">
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            placeholder="Find in the log"
            aria-label={`Find in ${label}`}
            value={words}
            onInput={(event) => {
              setWords(event.currentTarget.value);
              setAt(-1);
            }}
            onKeyDown={(event) => event.key === "Enter" && jump(event.shiftKey ? -1 : 1)}
          />
        </label>
        <span class="soft" role="status">
          {found.length === 0
            ? words === ""
              ? "no line that looks like an error"
              : "not found"
            : `${found.length} ${words === "" ? "that look like errors" : "found"}`}
        </span>
        <button type="button" class="plain" disabled={found.length === 0} onClick={() => jump(-1)}>
          Previous
        </button>
        <button type="button" class="plain" disabled={found.length === 0} onClick={() => jump(1)}>
          Next
        </button>
        <button
          type="button"
          class="plain"
          aria-pressed={wraps}
          disabled={lines.count > MOST_WRAPPED}
          onClick={() => setWrap(wraps ? "no" : "yes")}
        >
          Wrap lines
        </button>
      </div>
      {wraps ? (
        <div class="log-lines" tabIndex={0} role="group" aria-label={label}>
          {Array.from({ length: lines.count }, (_, index) => row(index))}
        </div>
      ) : (
        <Virtual
          class="log-lines"
          fit
          role="list"
          label={label}
          count={lines.count}
          rowHeight={LINE}
          focus={at}
          row={(index) => (
            <div role="listitem" key={index}>
              {row(index)}
            </div>
          )}
        />
      )}
    </div>
  );
}

interface LineProps {
  readonly number: number;
  readonly spans: readonly Span[];
  readonly isMarked: boolean;
  readonly isAt: boolean;
}

function LogLine({ number, spans, isMarked, isAt }: LineProps) {
  const element = useInSight(isAt, "nearest") as MutableRef<HTMLDivElement | null>;
  return (
    <div class={`log-row ${isMarked ? "marked" : ""} ${isAt ? "at" : ""}`} ref={element}>
      <span class="number" aria-hidden="true">
        {number}
      </span>
      <span class="text">
        <Spans spans={spans} />
      </span>
    </div>
  );
}

function Spans({ spans }: { spans: readonly Span[] }) {
  return (
    <>
      {spans.map((span, index) => (
        <span key={index} class={span.class === "" ? undefined : `sgr ${span.class}`}>
          {visible(span.text)}
        </span>
      ))}
    </>
  );
}

/** The end of a log, as it stands. */
export function LogTail({ text, lines = 12 }: { text: string; lines?: number }) {
  const shown = useMemo(() => spansOf(text.trimEnd()).slice(-lines), [text, lines]);
  return (
    <pre class="log-tail" tabIndex={0} role="group" aria-label="the end of the log">
      {shown.map((spans, index) => (
        <div key={index}>
          <Spans spans={spans} />
          {spans.length === 0 ? " " : null}
        </div>
      ))}
    </pre>
  );
}

/** Lines that look like errors, or hold the words. A long log is gone through in pieces, so that the page stays quick. */
function useMarked(lines: LogLines, words: string): readonly number[] {
  const [found, setFound] = useState<readonly number[]>([]);
  useEffect(() => {
    const wanted = words.trim().toLowerCase();
    const fits = wanted === "" ? isTelling : (line: string) => line.toLowerCase().includes(wanted);
    const marked: number[] = [];
    let at = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      const end = Math.min(lines.count, at + AT_ONCE);
      for (; at < end; at += 1) if (fits(lines.plain(at))) marked.push(at);
      setFound([...marked]);
      if (at < lines.count) timer = setTimeout(look);
    };
    look();
    return () => clearTimeout(timer);
  }, [lines, words]);
  return found;
}

const AT_ONCE = 4_000;
