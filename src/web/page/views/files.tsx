import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { FileTuple } from "../../view/model.js";
import { Code } from "../code.js";
import { isImage, type Source, useLoaded } from "../data.js";
import { DataTable, JsonTree, useJson, useTable } from "../data-view.js";
import { languageOf } from "../format/languages.js";
import { LogView } from "../log-view.js";
import { Badge, Empty, Icon, Loading, type Tone } from "../parts.js";
import { Picture } from "../picture.js";
import { routeTo, useParam } from "../shell.js";
import { buildTree, firstOpen, foundRows, isWrong, openRows, type TreeRow } from "../tree.js";
import { Virtual } from "../virtual.js";
import { amount, bytes, plural, visible } from "../visible.js";
import { Document } from "./documents.js";

interface FilesProps {
  readonly source: Source;
  readonly side: number;
  readonly rows: readonly FileTuple[];
  readonly complete: boolean;
  readonly path: string;
}

const ROW = 30;

export function FilesView({ source, side, rows, complete, path }: FilesProps) {
  const tree = useMemo(() => buildTree(rows), [rows]);
  const [words, setWords] = useParam("find");
  const [open, setOpen] = useState<ReadonlySet<string>>(() => firstOpen(tree, path));
  const [at, setAt] = useState(0);
  const shown = useMemo(
    () => (words.trim() === "" ? openRows(tree, open) : foundRows(rows, words)),
    [tree, rows, open, words],
  );
  const chosen = rows.find((row) => row[0] === path);
  const toggle = (folder: string) => {
    const next = new Set(open);
    if (!next.delete(folder)) next.add(folder);
    setOpen(next);
  };
  const activate = (row: TreeRow | undefined) => {
    if (row?.kind === "folder") toggle(row.folder.path);
    else if (row !== undefined) location.hash = routeTo("files", row.file[0], words === "" ? {} : { find: words });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = shown[at];
    const moved = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (moved !== undefined) setAt(Math.max(0, Math.min(shown.length - 1, moved)));
    else if (event.key === "Enter" || event.key === " ") activate(row);
    else if (event.key === "ArrowRight" && row?.kind === "folder" && !row.open) toggle(row.folder.path);
    else if (event.key === "ArrowLeft" && row?.kind === "folder" && row.open) toggle(row.folder.path);
    else return;
    event.preventDefault();
  };
  return (
    <div class="files-view">
      <div class="files-list card">
        <header class="card-head">
          <h1 class="small">Files</h1>
          <span class="soft">
            {plural(rows.length, "file")}, {bytes(tree.size)}
            {tree.tokens > 0 ? `, ~${amount(tree.tokens)} tokens` : ""}
          </span>
        </header>
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            placeholder="Find a file"
            aria-label="Find a file"
            value={words}
            onInput={(event) => {
              setWords(event.currentTarget.value);
              setAt(0);
            }}
          />
        </label>
        {complete ? null : <Loading>reading the bundle and checking hashes</Loading>}
        {shown.length === 0 ? (
          <Empty>{rows.length === 0 ? "No files." : "No file has that in its name."}</Empty>
        ) : (
          <Virtual
            role="tree"
            label="files"
            count={shown.length}
            rowHeight={ROW}
            focus={at}
            onKeyDown={onKeyDown}
            row={(index) => (
              <Row
                key={rowKey(shown[index]!)}
                row={shown[index]!}
                active={index === at}
                chosen={path}
                total={tree.tokens}
                onClick={() => {
                  setAt(index);
                  activate(shown[index]);
                }}
              />
            )}
          />
        )}
      </div>
      <div class="file-pane">
        {chosen === undefined ? (
          <Empty>{path === "" ? "Choose a file to read it here." : "There is no such file in this bundle."}</Empty>
        ) : (
          <FilePane key={path} source={source} side={side} row={chosen} />
        )}
      </div>
    </div>
  );
}

const rowKey = (row: TreeRow) => (row.kind === "folder" ? `${row.folder.path}/` : row.file[0]);

interface RowProps {
  readonly row: TreeRow;
  readonly active: boolean;
  readonly chosen: string;
  readonly total: number;
  readonly onClick: () => void;
}

function Row({ row, active, chosen, total, onClick }: RowProps) {
  const isFolder = row.kind === "folder";
  const [size, tokens] = isFolder ? [row.folder.size, row.folder.tokens] : [row.file[1], row.file[4]];
  const share = total > 0 && tokens > 0 ? Math.round((tokens / total) * 100) : 0;
  const isChosen = !isFolder && row.file[0] === chosen;
  return (
    <div
      class={`row ${active ? "active" : ""} ${isChosen ? "chosen" : ""}`}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={isFolder ? row.open : undefined}
      aria-selected={isChosen}
      style={{ height: `${ROW}px`, paddingLeft: `${10 + row.depth * 16}px` }}
      onClick={onClick}
    >
      <span class={`twist ${isFolder ? (row.open ? "open" : "shut") : ""}`} aria-hidden="true" />
      <Icon name={isFolder ? "folder" : "file"} />
      <span class="name">{visible(isFolder ? row.folder.name : row.name)}</span>
      {isFolder ? (
        row.folder.wrong > 0 ? (
          <Badge tone="bad">{row.folder.wrong}</Badge>
        ) : null
      ) : (
        <State state={row.file[2]} />
      )}
      <span class="share" title={share > 0 ? `${share} % of the tokens` : undefined}>
        {share > 0 ? `${share} %` : ""}
      </span>
      <span class="size">{bytes(size)}</span>
    </div>
  );
}

const STATES: Readonly<Record<string, readonly [Tone, string, string]>> = {
  verified: ["good", "✓", "hash checked"],
  differs: ["bad", "differs", "not what the manifest says"],
  missing: ["bad", "missing", "in the manifest, not in the bundle"],
  unlisted: ["bad", "unlisted", "in the bundle, not in the manifest"],
  unverified: ["plain", "", "no hash to check against"],
  claimed: ["plain", "", "not read yet"],
};

function State({ state }: { state: string }) {
  const [tone, mark, words] = STATES[state] ?? ["plain", "", ""];
  if (mark === "") return null;
  return (
    <span class={`state ${tone}`} title={words}>
      <span aria-hidden="true">{mark}</span>
      <span class="hidden">{words}</span>
    </span>
  );
}

function FilePane({ source, side, row }: { source: Source; side: number; row: FileTuple }) {
  const [path, size, state, role, tokens, hash, withheld] = row;
  const download = withheld === 1 ? null : source.download;
  return (
    <article class="card">
      <header class="file-head">
        <h2>{visible(path)}</h2>
        <p class="soft">
          {bytes(size)}
          {tokens > 0 ? ` · ~${amount(tokens)} tokens` : ""}
          {role === "" ? "" : ` · ${visible(role)}`} · {STATES[state]?.[2] ?? ""}
          {download === null ? null : (
            <>
              {" · "}
              <button type="button" class="link" onClick={() => void download(side, path)}>
                Download
              </button>
            </>
          )}
        </p>
        {hash === "" ? null : <p class="hash">{hash}</p>}
        {isWrong(state) ? <p class="notice bad">This file is {STATES[state]?.[2]}. Do not trust it.</p> : null}
      </header>
      {withheld === 1 ? (
        <Empty>{state === "missing" ? "There is nothing to show." : "Credentials are never shown here."}</Empty>
      ) : (
        <FileBody source={source} side={side} path={path} />
      )}
    </article>
  );
}

function FileBody({ source, side, path }: { source: Source; side: number; path: string }) {
  const preview = useLoaded(
    () => (isImage(path) ? Promise.resolve({ text: "", cut: false, problem: "" }) : source.preview(side, path)),
    [side, path],
  );
  if (isImage(path))
    return <Picture class="picture" load={() => source.image(side, path)} name={`${side} ${path}`} alt={path} />;
  if (preview.state === "loading") return <Loading>reading</Loading>;
  if (preview.state === "failed") return <Empty>{preview.message}</Empty>;
  const { text, cut, problem } = preview.value;
  if (problem !== "") return <Empty>{problem}</Empty>;
  if (text === "") return <Empty>This file is empty.</Empty>;
  return (
    <>
      <Readable source={source} side={side} path={path} text={text} />
      {cut ? <p class="notice warn">Only the beginning is shown; download the file to read all of it.</p> : null}
    </>
  );
}

/** As what it is (a document, a table, a tree, a log), and as its source. */
function Readable({ source, side, path, text }: { source: Source; side: number; path: string; text: string }) {
  const [as, setAs] = useParam("as");
  const raw = as === "source";
  const table = useTable(text, /\.(?:csv|tsv)$/i.test(path));
  const json = useJson(text, /\.json$/i.test(path));
  const [name, view]: readonly [string, (() => ComponentChildren) | null] = /\.(?:md|markdown)$/i.test(path)
    ? ["Document", () => <Document source={source} side={side} path={path} text={text} under={2} />]
    : table !== null
      ? ["Table", () => <DataTable rows={table} />]
      : typeof json === "object" && json !== null
        ? ["Tree", () => <JsonTree value={json} />]
        : /\.(?:log|out|err)$/i.test(path)
          ? ["Log", () => <LogView text={text} label={visible(path)} />]
          : ["", null];
  const asSource = <Code text={text} language={languageOf(path)} numbered />;
  if (view === null) return asSource;
  return (
    <>
      <div class="tabs">
        <button type="button" aria-pressed={!raw} onClick={() => setAs("")}>
          {name}
        </button>
        <button type="button" aria-pressed={raw} onClick={() => setAs("source")}>
          Source
        </button>
      </div>
      {raw ? asSource : view()}
    </>
  );
}
