// One changed file, line by line: side by side where there is room, in one column where there is not.
import type { MutableRef } from "preact/hooks";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ComparedRow, DiffLine } from "../../view/model.js";
import { isImage, useLoaded } from "../data.js";
import { useFormatted } from "../format/formatter.js";
import { languageOf } from "../format/languages.js";
import { useInSight } from "../in-sight.js";
import { Empty, Loading } from "../parts.js";
import { Picture } from "../picture.js";
import { usePrinting, Virtual } from "../virtual.js";
import { bytes, plural, visible } from "../visible.js";
import { changeStarts, type ShownRow, shownRows } from "./fold.js";
import { type Coloured, colouredLines, piecesOf, type Range, wordRanges } from "./pieces.js";
import { RemarkForm, type Remarking } from "./remarks.js";
import type { DiffSource } from "./source.js";

interface FileProps {
  readonly source: DiffSource;
  readonly row: ComparedRow;
  readonly words: string;
  readonly isViewed: boolean;
  readonly onViewed: () => void;
  readonly remarking: Remarking | null;
  /** Filled here: goes to the next or the previous change. */
  readonly jump: MutableRef<(by: 1 | -1) => void>;
  /** There is no further change in this file. */
  readonly onPast: (by: 1 | -1) => void;
}

export function FileChange({ source, row, isViewed, onViewed, ...rest }: FileProps) {
  const isPicture = isImage(row.path);
  const nothing = { lines: [], note: "" };
  const diff = useLoaded(
    () => (isPicture ? Promise.resolve(nothing) : source.diff(row.before, row.after)),
    [row.before, row.after],
  );
  const lines = diff.state === "there" ? diff.value.lines : [];
  return (
    <article class="card file-change">
      <header class="file-head">
        <h2>{visible(row.path)}</h2>
        <p class="soft">
          {row.change === "added" ? "new" : bytes(row.sizeBefore)} →{" "}
          {row.change === "removed" ? "gone" : bytes(row.sizeAfter)}
          <label class="viewed-tick">
            <input type="checkbox" checked={isViewed} onChange={onViewed} /> Viewed
          </label>
        </p>
      </header>
      {diff.state === "loading" ? <Loading>comparing</Loading> : null}
      {diff.state === "failed" ? <Empty>{visible(diff.message)}</Empty> : null}
      {diff.state === "there" && diff.value.note !== "" ? <Empty>{visible(diff.value.note)}</Empty> : null}
      {isPicture ? <Pictures source={source} row={row} /> : null}
      {lines.length === 0 ? null : <Lines lines={lines} row={row} {...rest} />}
    </article>
  );
}

function Pictures({ source, row }: { source: DiffSource; row: ComparedRow }) {
  const one = (side: 0 | 1, path: string, name: string) =>
    path === "" ? null : (
      <figure key={side}>
        <figcaption class="soft">{name}</figcaption>
        <Picture
          class="picture"
          load={() => source.picture(side, path)}
          name={`${side} ${path}`}
          alt={`${name}: ${row.path}`}
        />
      </figure>
    );
  return (
    <div class="pictures">
      {one(0, row.before, "before")}
      {one(1, row.after, "after")}
    </div>
  );
}

interface LinesProps extends Omit<FileProps, "source" | "isViewed" | "onViewed"> {
  readonly lines: readonly DiffLine[];
}

/** Rows that may wrap have no height known before they are drawn; of a longer file they stay on one line. */
const MOST_WRAPPED = 300;
const LINE = 21;
const GAP_STEP = 20;

function Lines({ lines, row, words, remarking, jump, onPast }: LinesProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [at, setAt] = useState(-1);
  const [remarked, setRemarked] = useState(-1);
  // A file with one side only has nothing to stand beside.
  const isSplit = useWide() && row.change === "changed";
  const isPrinting = usePrinting();
  const rows = useMemo(() => {
    const shown = shownRows(lines, isPrinting ? new Set(lines.keys()) : opened);
    return isSplit ? shown : shown.flatMap(unified);
  }, [lines, opened, isSplit, isPrinting]);
  const starts = useMemo(() => changeStarts(rows), [rows]);
  const colours = useColours(lines, row.path);
  jump.current = (by) => {
    const next = by === 1 ? starts.find((start) => start > at) : starts.findLast((start) => start < at);
    if (next === undefined) onPast(by);
    else setAt(next);
  };
  const wanted = words.trim().toLowerCase();
  const isFound = ({ left, right }: DiffLine) =>
    wanted !== "" && (left.toLowerCase().includes(wanted) || right.toLowerCase().includes(wanted));
  const found = useMemo(() => rows.filter((each) => each.kind === "line" && isFound(each.line)).length, [rows, wanted]);
  const open = (from: number, to: number) => {
    const next = new Set(opened);
    for (let place = from; place < to; place += 1) next.add(place);
    setOpened(next);
  };
  const lineRow = (index: number) => {
    const each = rows[index]!;
    if (each.kind === "gap") return <Gap key={`gap ${each.from}`} gap={each} onOpen={open} />;
    const { line } = each;
    const number = line.after ?? line.before ?? 0;
    const about = `${row.path}:${number}${line.after === null ? " (removed)" : ""}`;
    return (
      <div key={`${each.at} ${line.kind}`} role="listitem">
        <DiffRow
          line={line}
          isSplit={isSplit}
          isAt={index === at}
          isFound={isFound(line)}
          colours={colours}
          onRemark={remarking === null ? null : () => setRemarked(index === remarked ? -1 : index)}
        />
        {remarking !== null && remarked === index ? (
          <RemarkForm
            about={about}
            onLeave={() => setRemarked(-1)}
            onAdd={(text) => {
              remarking.add({ about, quote: line.right || line.left, text });
              setRemarked(-1);
            }}
          />
        ) : null}
      </div>
    );
  };
  const isLong = rows.length > MOST_WRAPPED && remarked < 0;
  const widest = isLong
    ? Math.min(400, Math.max(...lines.slice(0, 20_000).map(({ left, right }) => Math.max(left.length, right.length))))
    : 0;
  return (
    <>
      <p class="soft diff-keys">
        {plural(starts.length, "change")}
        {wanted === "" ? "" : `, ${plural(found, "line")} with “${visible(words.trim())}”`}
        {" · j k file, n p change, v viewed"}
      </p>
      {isLong ? (
        <div class={`dlines long ${isSplit ? "split" : ""}`} style={{ "--widest": `${widest}ch` }}>
          <Virtual label="changed lines" count={rows.length} rowHeight={LINE} fit focus={at} row={lineRow} />
        </div>
      ) : (
        <div class={`dlines ${isSplit ? "split" : ""}`} role="list" tabIndex={0} aria-label="changed lines">
          {rows.map((_, index) => lineRow(index))}
        </div>
      )}
    </>
  );
}

/** One column: what was there, then what is. */
function unified(row: ShownRow): ShownRow[] {
  if (row.kind === "gap" || row.line.kind !== "changed") return [row];
  const { line } = row;
  return [
    { ...row, line: { ...line, kind: "removed", after: null, right: "", other: line.right } },
    { ...row, line: { ...line, kind: "added", before: null, left: "", other: line.left } },
  ];
}

function Gap({ gap, onOpen }: { gap: { from: number; to: number }; onOpen: (from: number, to: number) => void }) {
  const { from, to } = gap;
  const many = to - from > 2 * GAP_STEP;
  return (
    <div class="drow gap" role="listitem">
      {many ? (
        <button type="button" class="link" onClick={() => onOpen(from, from + GAP_STEP)}>
          ↓ {GAP_STEP} more
        </button>
      ) : null}
      <button type="button" class="link" onClick={() => onOpen(from, to)}>
        {plural(to - from, "unchanged line")}: show them
      </button>
      {many ? (
        <button type="button" class="link" onClick={() => onOpen(to - GAP_STEP, to)}>
          ↑ {GAP_STEP} more
        </button>
      ) : null}
    </div>
  );
}

interface Colours {
  readonly left: readonly (readonly Coloured[])[] | null;
  readonly right: readonly (readonly Coloured[])[] | null;
}

interface RowProps {
  readonly line: DiffLine;
  readonly isSplit: boolean;
  readonly isAt: boolean;
  readonly isFound: boolean;
  readonly colours: Colours;
  readonly onRemark: (() => void) | null;
}

function DiffRow({ line, isSplit, isAt, isFound, colours, onRemark }: RowProps) {
  const { kind, left, right, before, after, other = null } = line;
  const [inLeft, inRight] =
    kind === "changed"
      ? wordRanges(left, right)
      : other === null
        ? [[], []]
        : kind === "removed"
          ? [wordRanges(left, other)[0], []]
          : [[], wordRanges(other, right)[1]];
  const element = useInSight(isAt, "nearest") as MutableRef<HTMLDivElement | null>;
  const side = (
    number: number | null,
    text: string,
    ranges: readonly Range[],
    coloured: Colours["left"],
    name: string,
  ) => (
    <>
      <span class="dnum">{number ?? ""}</span>
      <span class={`dtext ${number === null ? "none" : name}`}>
        <span class="sign" aria-hidden="true">
          {number === null || kind === "same" ? " " : name === "left" ? "−" : "+"}
        </span>
        {number === null ? null : <Text text={text} ranges={ranges} coloured={coloured?.[number - 1]} />}
      </span>
    </>
  );
  const isLeft = kind === "removed";
  return (
    <div class={`drow ${kind} ${isAt ? "at" : ""} ${isFound ? "found" : ""}`} ref={element}>
      {isSplit ? (
        <>
          {side(before, left, inLeft, colours.left, "left")}
          {side(after, right, inRight, colours.right, "right")}
        </>
      ) : isLeft ? (
        side(before, left, inLeft, colours.left, "left")
      ) : (
        side(after, right, inRight, colours.right, "right")
      )}
      {onRemark === null ? null : (
        <button type="button" class="remark-button" aria-label={`Remark on line ${after ?? before}`} onClick={onRemark}>
          +
        </button>
      )}
    </div>
  );
}

function Text({
  text,
  ranges,
  coloured,
}: {
  text: string;
  ranges: readonly Range[];
  coloured: readonly Coloured[] | undefined;
}) {
  // Colours are of this text or of none: what a stranger's file makes of the highlighter is not shown in place of it.
  const same = coloured?.map((part) => part.text).join("") === text ? coloured : undefined;
  return (
    <>
      {piecesOf(text, same, ranges).map((piece, index) =>
        piece.isChanged ? (
          <mark key={index} class={piece.class || undefined}>
            {visible(piece.text)}
          </mark>
        ) : (
          <span key={index} class={piece.class || undefined}>
            {visible(piece.text)}
          </span>
        ),
      )}
    </>
  );
}

/** They come a moment after the text, from the worker. */
function useColours(lines: readonly DiffLine[], path: string): Colours {
  const language = languageOf(path);
  const [left, right] = useMemo(
    () => [
      lines
        .filter(({ before }) => before !== null)
        .map((line) => line.left)
        .join("\n"),
      lines
        .filter(({ after }) => after !== null)
        .map((line) => line.right)
        .join("\n"),
    ],
    [lines],
  );
  const before = useFormatted({ kind: "code", text: left, language });
  const after = useFormatted({ kind: "code", text: right, language });
  return useMemo(
    () => ({
      left: before?.kind === "code" ? colouredLines(before.html) : null,
      right: after?.kind === "code" ? colouredLines(after.html) : null,
    }),
    [before, after],
  );
}

/** Two columns of code need this much. */
const WIDE = "(min-width: 1100px)";

function useWide(): boolean {
  const [isWide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const look = () => setWide(query.matches);
    query.addEventListener("change", look);
    // It may have changed between the first look and now.
    look();
    return () => query.removeEventListener("change", look);
  }, []);
  return isWide;
}
