// Data to be looked at: CSV as a table, JSON as a tree.
import { useMemo, useState } from "preact/hooks";
import { csvRows } from "./csv.js";
import { TableScroll } from "./table-scroll.js";
import { amount, plural, visible } from "./visible.js";

const MOST_ROWS = 1_000;
const MOST_COLUMNS = 60;
const MOST_FIELD = 400;

/** null when the text is no table. */
export function useTable(text: string, isTable: boolean): string[][] | null {
  return useMemo(() => (isTable ? csvRows(text, MOST_ROWS + 1) : null), [text, isTable]);
}

export function DataTable({ rows }: { rows: readonly (readonly string[])[] }) {
  const [head = [], ...body] = rows;
  const columns = Math.min(MOST_COLUMNS, Math.max(...rows.map((row) => row.length)));
  const cells = (row: readonly string[]) =>
    Array.from({ length: columns }, (_, at) => shown((row[at] ?? "").slice(0, MOST_FIELD)));
  return (
    <>
      <TableScroll class="data">
        <table>
          <thead>
            <tr>
              {cells(head).map((cell, at) => (
                <th key={at}>{cell || "–"}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.slice(0, MOST_ROWS).map((row, index) => (
              <tr key={index}>
                {cells(row).map((cell, at) => (
                  <td key={at} class={/^-?[\d.,]+$/.test(cell) ? "figure" : undefined}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </TableScroll>
      <p class="soft">
        {rows.length > MOST_ROWS ? `The first ${amount(MOST_ROWS)} rows.` : plural(body.length, "row")}
      </p>
    </>
  );
}

const shown = (text: string) => visible(text);

/** undefined when the text is no JSON. */
export function useJson(text: string, isJson: boolean): unknown {
  return useMemo(() => {
    if (!isJson) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return undefined;
    }
  }, [text, isJson]);
}

export function JsonTree({ value }: { value: unknown }) {
  return (
    <div class="json-tree">
      <Node name="" value={value} depth={0} />
    </div>
  );
}

/** Branches are made when they are opened, so that a large document costs what is looked at. */
const MOST_CHILDREN = 200;

function Node({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  const [isOpen, setOpen] = useState(depth < 2);
  const [most, setMost] = useState(MOST_CHILDREN);
  const label = name === "" ? null : <span class="json-name">{visible(name)}: </span>;
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value) ?? "";
    return (
      <div class="json-leaf">
        {label}
        <span class={`json-${value === null ? "null" : typeof value}`}>
          {visible(text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text)}
        </span>
      </div>
    );
  }
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? plural(entries.length, "item") : plural(entries.length, "field");
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span class="soft">{size}</span>
      </summary>
      {isOpen
        ? entries.slice(0, most).map(([key, inner]) => <Node key={key} name={key} value={inner} depth={depth + 1} />)
        : null}
      {isOpen && entries.length > most ? (
        <button type="button" class="plain" onClick={() => setMost(most + MOST_CHILDREN)}>
          {entries.length - most} more
        </button>
      ) : null}
    </details>
  );
}
