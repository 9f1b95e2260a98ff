import { useEffect, useState } from "preact/hooks";
import type { ComparedRow, DiffLine, Head } from "../../view/model.js";
import { type Source, useLoaded } from "../data.js";
import { Badge, Card, Empty, Loading } from "../parts.js";
import { routeTo } from "../shell.js";
import { Virtual } from "../virtual.js";
import { bytes, plural, visible } from "../visible.js";
import { type MarkedPart, wordMarks } from "../word-marks.js";

export function ChangesView({ source, heads, path }: { source: Source; heads: readonly Head[]; path: string }) {
  const compared = useLoaded(() => source.compare(), []);
  const all = compared.state === "there" ? compared.value.files : [];
  useKeys(all, all.find((row) => row.path === path) ?? all[0]);
  if (compared.state === "loading") return <Loading>comparing the two</Loading>;
  if (compared.state === "failed") return <Empty>{compared.message}</Empty>;
  const { files, fields, same, isAnswer } = compared.value;
  const chosen = files.find((row) => row.path === path) ?? files[0];
  return (
    <>
      <h1>Changes</h1>
      <p class="lead">
        {isAnswer ? "What the delivery makes of the request: " : "From the first to the second: "}
        {plural(files.length, "file")} changed, {same.toLocaleString("en-US")} as before.{" "}
        <span class="soft">j and k go from file to file.</span>
      </p>
      {fields.length === 0 ? null : (
        <Card title="Manifest">
          <div class="table-scroll">
            <table>
              <thead>
                <tr>
                  <th>Field</th>
                  <th>{visible(heads[0]?.side.label ?? "before")}</th>
                  <th>{visible(heads[1]?.side.label ?? "after")}</th>
                </tr>
              </thead>
              <tbody>
                {fields.map(({ field, before, after }) => (
                  <tr key={field}>
                    <td>
                      <code>{visible(field)}</code>
                    </td>
                    <td class="was">{visible(before) || "–"}</td>
                    <td class="is">{visible(after) || "–"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Card>
      )}
      {files.length === 0 ? (
        <Empty>No file differs.</Empty>
      ) : (
        <div class="changes">
          <Virtual
            class="change-list card"
            fit
            label="changed files"
            count={files.length}
            rowHeight={ROW}
            focus={chosen === undefined ? -1 : files.indexOf(chosen)}
            row={(index) => {
              const row = files[index]!;
              return (
                <div role="listitem" key={row.path} style={{ height: `${ROW}px` }}>
                  <a href={routeTo("changes", row.path)} aria-current={row === chosen ? "true" : undefined}>
                    <Badge>{row.change}</Badge>
                    <span class="name" title={visible(row.path)}>
                      {visible(row.path)}
                    </span>
                  </a>
                </div>
              );
            }}
          />
          {chosen === undefined ? null : <FileChange key={chosen.path} source={source} row={chosen} />}
        </div>
      )}
    </>
  );
}

const ROW = 38;

/** j and k go to the next and the previous file. */
function useKeys(files: readonly ComparedRow[], chosen: ComparedRow | undefined): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
      const by = { j: 1, k: -1 }[event.key];
      if (by === undefined || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const next = files[(chosen === undefined ? -1 : files.indexOf(chosen)) + by];
      if (next !== undefined) location.hash = routeTo("changes", next.path);
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, [files, chosen]);
}

function FileChange({ source, row }: { source: Source; row: ComparedRow }) {
  const [isWhole, setWhole] = useState(false);
  const diff = useLoaded(() => source.diff(row.before, row.after, isWhole), [row.before, row.after, isWhole]);
  // A file with one side only has nothing to stand beside.
  const isWide = useWide() && row.change === "changed";
  const lines = diff.state === "there" ? diff.value.lines : [];
  const added = lines.filter(({ kind }) => kind === "added" || kind === "changed").length;
  const removed = lines.filter(({ kind }) => kind === "removed" || kind === "changed").length;
  return (
    <article class="card">
      <header class="file-head">
        <h2>{visible(row.path)}</h2>
        <p class="soft">
          {row.change === "added" ? "new" : bytes(row.sizeBefore)} →{" "}
          {row.change === "removed" ? "gone" : bytes(row.sizeAfter)}
          {lines.length === 0 ? "" : `, +${added} −${removed} lines`}
        </p>
      </header>
      {diff.state === "loading" ? <Loading>comparing</Loading> : null}
      {diff.state === "failed" ? <Empty>{diff.message}</Empty> : null}
      {diff.state === "there" && diff.value.note !== "" ? <Empty>{diff.value.note}</Empty> : null}
      {lines.length === 0 ? null : isWide ? (
        <SideBySide lines={lines} onOpen={() => setWhole(true)} />
      ) : (
        <Unified lines={lines} onOpen={() => setWhole(true)} />
      )}
      {lines.length > MOST_LINES ? (
        <p class="soft">The first {MOST_LINES} lines; the rest is in the files themselves.</p>
      ) : null}
    </article>
  );
}

const MOST_LINES = 4_000;
/** Two columns of code need this much. */
const WIDE = "(min-width: 1100px)";

function useWide(): boolean {
  const [isWide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const look = () => setWide(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return isWide;
}

interface LinesProps {
  readonly lines: readonly DiffLine[];
  readonly onOpen: () => void;
}

function Marked({ parts }: { parts: readonly MarkedPart[] }) {
  return (
    <>
      {parts.map(({ text, isChanged }, index) =>
        isChanged ? <mark key={index}>{visible(text)}</mark> : <span key={index}>{visible(text)}</span>,
      )}
    </>
  );
}

function Gap({ line, columns, onOpen }: { line: DiffLine; columns: number; onOpen: () => void }) {
  return (
    <tr class="gap">
      <td colSpan={columns}>
        <button type="button" class="link" onClick={onOpen}>
          {line.left}: show them
        </button>
      </td>
    </tr>
  );
}

const sidesOf = ({ kind, left, right }: DiffLine): readonly [readonly MarkedPart[], readonly MarkedPart[]] =>
  kind === "changed"
    ? wordMarks(left, right)
    : [[{ text: left, isChanged: false }], [{ text: right, isChanged: false }]];

function SideBySide({ lines, onOpen }: LinesProps) {
  return (
    <div class="diff-scroll" tabIndex={0} role="group" aria-label="changes side by side">
      <table class="diff">
        <colgroup>
          <col class="number" />
          <col />
          <col class="number" />
          <col />
        </colgroup>
        <thead class="hidden">
          <tr>
            <th>line before</th>
            <th>before</th>
            <th>line after</th>
            <th>after</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, MOST_LINES).map((line, index) => {
            if (line.kind === "gap") return <Gap key={index} line={line} columns={4} onOpen={onOpen} />;
            const [left, right] = sidesOf(line);
            return (
              <tr key={index} class={line.kind}>
                <td class="number">{line.before ?? ""}</td>
                <td class={`text ${line.before === null ? "none" : "left"}`}>
                  <Marked parts={left} />
                </td>
                <td class="number">{line.after ?? ""}</td>
                <td class={`text ${line.after === null ? "none" : "right"}`}>
                  <Marked parts={right} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** One column: what was there, then what is. */
function Unified({ lines, onOpen }: LinesProps) {
  const row = (key: string, sign: string, number: number | null, side: string, parts: readonly MarkedPart[]) => (
    <tr key={key} class={sign === "−" ? "removed" : sign === "+" ? "added" : "same"}>
      <td class="number">{number ?? ""}</td>
      <td class={`text ${side}`}>
        <span class="sign">{sign}</span>
        <Marked parts={parts} />
      </td>
    </tr>
  );
  return (
    <div class="diff-scroll" tabIndex={0} role="group" aria-label="changes">
      <table class="diff unified">
        <colgroup>
          <col class="number" />
          <col />
        </colgroup>
        <thead class="hidden">
          <tr>
            <th>line</th>
            <th>text</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, MOST_LINES).flatMap((line, index) => {
            if (line.kind === "gap") return [<Gap key={index} line={line} columns={2} onOpen={onOpen} />];
            const [left, right] = sidesOf(line);
            if (line.kind === "same") return [row(`${index}`, " ", line.after, "", right)];
            return [
              ...(line.before === null ? [] : [row(`${index} -`, "−", line.before, "left", left)]),
              ...(line.after === null ? [] : [row(`${index} +`, "+", line.after, "right", right)]),
            ];
          })}
        </tbody>
      </table>
    </div>
  );
}
