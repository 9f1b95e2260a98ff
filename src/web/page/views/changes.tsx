import type { ComparedRow, Head } from "../../view/model.js";
import { type Source, useLoaded } from "../data.js";
import { Badge, Card, Empty, Loading, type Tone } from "../parts.js";
import { routeTo } from "../shell.js";
import { bytes, plural, visible } from "../visible.js";

const TONES: Readonly<Record<string, Tone>> = { added: "good", removed: "bad", changed: "info" };

export function ChangesView({ source, heads, path }: { source: Source; heads: readonly Head[]; path: string }) {
  const compared = useLoaded(() => source.compare(), []);
  if (compared.state === "loading") return <Loading>comparing the two</Loading>;
  if (compared.state === "failed") return <Empty>{compared.message}</Empty>;
  const { files, fields, same, isAnswer } = compared.value;
  const chosen = files.find((row) => row.path === path) ?? files[0];
  return (
    <>
      <h1>Changes</h1>
      <p class="lead">
        {isAnswer ? "What the delivery makes of the request: " : "From the first to the second: "}
        {plural(files.length, "file")} changed, {same.toLocaleString("en-US")} as before.
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
          <ul class="change-list card" aria-label="changed files">
            {files.slice(0, 500).map((row) => (
              <li key={row.path}>
                <a href={routeTo("changes", row.path)} aria-current={row === chosen ? "true" : undefined}>
                  <Badge tone={TONES[row.change] ?? "plain"}>{row.change}</Badge>
                  <span class="name">{visible(row.path)}</span>
                </a>
              </li>
            ))}
            {files.length > 500 ? <li class="soft">and {files.length - 500} more</li> : null}
          </ul>
          {chosen === undefined ? null : <FileChange key={chosen.path} source={source} row={chosen} />}
        </div>
      )}
    </>
  );
}

function FileChange({ source, row }: { source: Source; row: ComparedRow }) {
  const diff = useLoaded(() => source.diff(row.before, row.after), [row.before, row.after]);
  return (
    <article class="card">
      <header class="file-head">
        <h2>{visible(row.path)}</h2>
        <p class="soft">
          {row.change === "added" ? "new" : bytes(row.sizeBefore)} →{" "}
          {row.change === "removed" ? "gone" : bytes(row.sizeAfter)}
        </p>
      </header>
      {diff.state === "loading" ? <Loading>comparing</Loading> : null}
      {diff.state === "failed" ? <Empty>{diff.message}</Empty> : null}
      {diff.state === "there" && diff.value.note !== "" ? <Empty>{diff.value.note}</Empty> : null}
      {diff.state === "there" && diff.value.lines.length > 0 ? <SideBySide lines={diff.value.lines} /> : null}
    </article>
  );
}

function SideBySide({
  lines,
}: {
  lines: readonly { before: number | null; after: number | null; left: string; right: string; kind: string }[];
}) {
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
          {lines.slice(0, 4_000).map((line, index) =>
            line.kind === "gap" ? (
              <tr key={index} class="gap">
                <td colSpan={4}>{line.left}</td>
              </tr>
            ) : (
              <tr key={index} class={line.kind}>
                <td class="number">{line.before ?? ""}</td>
                <td class={`text ${line.before === null ? "none" : "left"}`}>{visible(line.left)}</td>
                <td class="number">{line.after ?? ""}</td>
                <td class={`text ${line.after === null ? "none" : "right"}`}>{visible(line.right)}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}
