// Tasks in columns, one for each state.
import type { TaskRow } from "../../board/model.js";
import { Virtual } from "../virtual.js";
import { visible } from "../visible.js";
import { ORDER } from "./stages.js";

interface ColumnsProps {
  readonly rows: readonly TaskRow[];
  readonly chosen: number | null;
  readonly onChoose: (id: number) => void;
}

const CARD = 66;

export function Columns({ rows, chosen, onChoose }: ColumnsProps) {
  const columns = ORDER.map((stage) => ({ stage, rows: rows.filter((row) => row.stage === stage) }));
  return (
    <div class="stage-columns" tabIndex={0} role="group" aria-label="tasks by state">
      {columns
        .filter((column) => column.rows.length > 0)
        .map((column) => (
          <section key={column.stage} class="stage-column" aria-label={column.stage}>
            <h2>
              {column.stage} <span class="soft">{column.rows.length}</span>
            </h2>
            <Virtual
              label={`tasks that are ${column.stage}`}
              count={column.rows.length}
              rowHeight={CARD}
              row={(index) => {
                const row = column.rows[index]!;
                return (
                  <div role="listitem" key={row.id} style={{ height: `${CARD}px` }}>
                    <button
                      type="button"
                      class={`node ${row.stage.replace(" ", "-")}`}
                      aria-pressed={row.id === chosen}
                      onClick={() => onChoose(row.id)}
                    >
                      <span class="node-title">{visible(row.title)}</span>
                      <span class="node-facts">
                        {row.id}
                        {row.owner === "" ? "" : ` · ${visible(row.owner)}`}
                        {row.deps.length === 0 ? "" : ` · needs ${row.deps.slice(0, 6).join(", ")}`}
                      </span>
                    </button>
                  </div>
                );
              }}
            />
          </section>
        ))}
    </div>
  );
}
