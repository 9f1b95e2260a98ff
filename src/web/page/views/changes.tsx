import { useMemo } from "preact/hooks";
import type { Head } from "../../view/model.js";
import { type Source, useLoaded } from "../data.js";
import { ChangesPane } from "../diff/changes-pane.js";
import { Card, Empty, Loading } from "../parts.js";
import { type Params, routeTo } from "../shell.js";
import { TableScroll } from "../table-scroll.js";
import { plural, visible } from "../visible.js";

interface ChangesProps {
  readonly source: Source;
  readonly heads: readonly Head[];
  readonly path: string;
  readonly params: Params;
}

export function ChangesView({ source, heads, path, params }: ChangesProps) {
  const compared = useLoaded(() => source.compare(), []);
  const diffs = useMemo(
    () => ({
      counts: () => source.counts(),
      diff: (before: string, after: string) => source.diff(before, after),
      picture: (side: 0 | 1, name: string) => source.image(side, name),
    }),
    [source],
  );
  if (compared.state === "loading") return <Loading>comparing the two</Loading>;
  if (compared.state === "failed") return <Empty>{visible(compared.message)}</Empty>;
  const { files, fields, same, isAnswer } = compared.value;
  return (
    <>
      <h1>Changes</h1>
      <p class="lead">
        {isAnswer ? "What the delivery makes of the request: " : "From the first to the second: "}
        {plural(files.length, "file")} changed, {same.toLocaleString("en-US")} as before.
      </p>
      {fields.length === 0 ? null : (
        <Card title="Manifest">
          <TableScroll label="what differs in the manifest">
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
          </TableScroll>
        </Card>
      )}
      {files.length === 0 ? (
        <Empty>No file differs.</Empty>
      ) : (
        <ChangesPane
          source={diffs}
          files={files}
          path={path}
          words={params.find ?? ""}
          keptAs={heads.map(({ id }) => id).join(" ")}
          onChoose={(name) => {
            location.hash = routeTo("changes", name, params.find === undefined ? {} : { find: params.find });
          }}
        />
      )}
    </>
  );
}
