// Changes as a code host shows them: the tree of files, and one file's lines with their colours.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComparedRow } from "../../view/model.js";
import { Badge, Icon } from "../parts.js";
import { setParam } from "../shell.js";
import { Virtual } from "../virtual.js";
import { visible } from "../visible.js";
import { type ChangeRow, type Counted, type Counts, changeRows } from "./change-tree.js";
import { FileChange } from "./file-change.js";
import type { Remarking } from "./remarks.js";
import type { DiffSource } from "./source.js";
import { useViewed } from "./viewed.js";

interface PaneProps {
  readonly source: DiffSource;
  readonly files: readonly ComparedRow[];
  /** The file the address names. */
  readonly path: string;
  readonly onChoose: (path: string) => void;
  /** What is searched for in the names and in the lines. */
  readonly words: string;
  /** Under what name the ticks of these files are kept. */
  readonly keptAs: string;
  readonly remarking?: Remarking | null;
}

const ROW = 32;

export function ChangesPane({ source, files, path, onChoose, words, keptAs, remarking = null }: PaneProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const counts = useCounts(source, files);
  const viewed = useViewed(keptAs);
  const isFound = (row: ComparedRow) => row.path.toLowerCase().includes(words.trim().toLowerCase());
  const found = useMemo(() => (words.trim() === "" ? files : files.filter(isFound)), [files, words]);
  const rows = useMemo(
    () => changeRows(found.length === 0 ? files : found, closed, counts),
    [files, found, closed, counts],
  );
  const order = useMemo(() => rows.flatMap((row) => (row.kind === "file" ? [row.row] : [])), [rows]);
  const chosen = files.find((row) => row.path === path) ?? order[0];
  const step = (by: number): boolean => {
    const next = order[(chosen === undefined ? -1 : order.indexOf(chosen)) + by];
    if (next !== undefined) onChoose(next.path);
    return next !== undefined;
  };
  const jump = useRef<(by: 1 | -1) => void>(() => {});
  useKeys((key) => {
    if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
    else if (key === "n" || key === "p") jump.current(key === "n" ? 1 : -1);
    else if (key === "v" && chosen !== undefined) viewed.toggle(chosen);
  });
  const toggle = (folder: string) => {
    const next = new Set(closed);
    if (!next.delete(folder)) next.add(folder);
    setClosed(next);
  };
  const seen = files.filter((row) => viewed.has(row)).length;
  return (
    <div class="changes">
      <div class="change-side card">
        <p class="soft change-sum">
          {seen} of {files.length.toLocaleString("en-US")} viewed <Sum counted={sumOf(files, counts)} />
        </p>
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            placeholder="Find in names and lines"
            aria-label="Find in names and lines"
            value={words}
            onInput={(event) => setParam("find", event.currentTarget.value)}
          />
        </label>
        <Virtual
          class="change-list"
          label="changed files"
          count={rows.length}
          rowHeight={ROW}
          focus={rows.findIndex((row) => row.kind === "file" && row.row === chosen)}
          row={(index) => (
            <Line
              key={keyOf(rows[index]!)}
              row={rows[index]!}
              counts={counts}
              isChosen={rows[index]!.kind === "file" && rows[index]!.row === chosen}
              isViewed={(row) => viewed.has(row)}
              onChoose={onChoose}
              onToggle={toggle}
            />
          )}
        />
      </div>
      {files.length < 2 ? null : (
        <p class="on-paper">
          One of {files.length.toLocaleString("en-US")} changed files; the others are printed from their own pages.
        </p>
      )}
      {chosen === undefined ? null : (
        <FileChange
          key={`${chosen.path} ${chosen.after}`}
          source={source}
          row={chosen}
          words={words}
          isViewed={viewed.has(chosen)}
          onViewed={() => viewed.toggle(chosen)}
          remarking={remarking}
          jump={jump}
          onPast={(by) => step(by)}
        />
      )}
    </div>
  );
}

const keyOf = (row: ChangeRow) => (row.kind === "folder" ? `${row.path}/` : row.row.path);

interface LineProps {
  readonly row: ChangeRow;
  readonly counts: Counts;
  readonly isChosen: boolean;
  readonly isViewed: (row: ComparedRow) => boolean;
  readonly onChoose: (path: string) => void;
  readonly onToggle: (folder: string) => void;
}

const SIGNS = { added: "A", removed: "D", changed: "M" } as const;

function Line({ row, counts, isChosen, isViewed, onChoose, onToggle }: LineProps) {
  const style = { height: `${ROW}px`, paddingLeft: `${6 + row.depth * 14}px` };
  if (row.kind === "folder") {
    return (
      <div role="listitem" style={style}>
        <button type="button" class="change-row folder" aria-expanded={row.isOpen} onClick={() => onToggle(row.path)}>
          <span class={`twist ${row.isOpen ? "open" : "shut"}`} aria-hidden="true" />
          <span class="name">{visible(row.name)}</span>
          <Sum counted={row.counted} />
        </button>
      </div>
    );
  }
  const { path, change } = row.row;
  return (
    <div role="listitem" style={style}>
      <button
        type="button"
        class={`change-row ${isViewed(row.row) ? "viewed" : ""}`}
        aria-pressed={isChosen}
        title={visible(path)}
        onClick={() => onChoose(path)}
      >
        <Badge>
          <span aria-hidden="true">{SIGNS[change]}</span>
          <span class="hidden">{change}</span>
        </Badge>
        <span class="name">{visible(row.name)}</span>
        {isViewed(row.row) ? <span class="tick">viewed</span> : null}
        <Sum counted={counts.get(path) ?? null} />
      </button>
    </div>
  );
}

export function Sum({ counted }: { counted: Counted | null }) {
  if (counted === null) return null;
  return (
    <span class="sum">
      <span class="plus">+{counted.added}</span> <span class="minus">−{counted.removed}</span>
    </span>
  );
}

function sumOf(files: readonly ComparedRow[], counts: Counts): Counted | null {
  if (counts.size < files.length || files.length === 0) return null;
  const all = [...counts.values()];
  return {
    added: all.reduce((sum, { added }) => sum + added, 0),
    removed: all.reduce((sum, { removed }) => sum + removed, 0),
  };
}

/** They need every file read, so they come after the list. */
function useCounts(source: DiffSource, files: readonly ComparedRow[]): Counts {
  const [counts, setCounts] = useState<Counts>(new Map());
  useEffect(() => {
    let wanted = true;
    source.counts().then(
      (rows) => wanted && setCounts(new Map(rows.map(([path, added, removed]) => [path, { added, removed }]))),
      () => {},
    );
    return () => {
      wanted = false;
    };
  }, [source, files]);
  return counts;
}

function useKeys(hear: (key: string) => void): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => {
    const onKey = ({ target, key, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      const isTyping = target instanceof HTMLElement && target.matches("input, textarea, select");
      if (!isTyping && !ctrlKey && !metaKey && !altKey) latest.current(key);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
