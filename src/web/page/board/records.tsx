// What was kept: closed cycles and artifacts.
import { useEffect, useState } from "preact/hooks";
import type { HistoryAnswer } from "../../board/model.js";
import { ask, askJson } from "../ask-server.js";
import { Code } from "../code.js";
import { useLoaded } from "../data.js";
import { languageOf } from "../format/languages.js";
import { Markdown } from "../markdown.js";
import { Card, Empty, Facts, Icon, Loading, When } from "../parts.js";
import { routeTo, useParam } from "../shell.js";
import { bytes, day, plural, visible } from "../visible.js";
import type { ViewProps } from "./view-props.js";

export function HistoryPage({ project }: ViewProps) {
  const [words, setWords] = useParam("find");
  const [query, setQuery] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => setQuery(words), 200);
    return () => clearTimeout(timer);
  }, [words]);
  const found = useLoaded(
    () => askJson<HistoryAnswer>(`/api/history?project=${project.id}&query=${encodeURIComponent(query)}`),
    [project.id, query, project.history.total],
  );
  return (
    <>
      <h1>History</h1>
      <label class="search wide">
        <Icon name="search" />
        <input
          type="search"
          placeholder="Topics, decisions, tasks"
          aria-label="Search the history"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </label>
      {found.state === "loading" ? <Loading>searching</Loading> : null}
      {found.state === "failed" ? <Empty>{visible(found.message)}</Empty> : null}
      {found.state === "there" && found.value.cycles.length === 0 ? (
        <Empty>{query === "" ? "No cycle was closed yet." : "No closed cycle has that in it."}</Empty>
      ) : null}
      {found.state === "there"
        ? [...found.value.cycles].reverse().map((cycle, index) => (
            <Card
              key={`${cycle.completed_at} ${index}`}
              title={visible(cycle.topic ?? "Without a plan")}
              aside={<span class="soft">{day(cycle.completed_at)}</span>}
            >
              <p class="soft">
                {["", "unknown"].includes(cycle.branch) ? "" : `${visible(cycle.branch)}, `}
                {plural(cycle.task_count ?? 0, "task")}
              </p>
              <Facts
                rows={(cycle.decisions ?? []).map(({ title, decision }) => ({ name: visible(title), value: decision }))}
              />
            </Card>
          ))
        : null}
    </>
  );
}

export function ArtifactsView({ project, now, rest }: ViewProps) {
  const chosen = project.artifacts.find(({ name }) => name === rest);
  return (
    <>
      <h1>Artifacts</h1>
      {project.artifacts.length === 0 ? (
        <Empty>No artifact was written in this session.</Empty>
      ) : (
        <div class="changes">
          <ul class="change-list card" aria-label="artifacts">
            {project.artifacts.map(({ name, size, at }) => (
              <li key={name}>
                <a href={routeTo("artifacts", name)} aria-current={name === rest ? "true" : undefined}>
                  <span class="name">{visible(name)}</span>
                  <span class="soft">
                    {bytes(size)}, <When at={at} now={now} />
                  </span>
                </a>
              </li>
            ))}
          </ul>
          {chosen === undefined ? (
            <Empty>Choose one to read it.</Empty>
          ) : (
            <Artifact key={`${chosen.name} ${chosen.at}`} project={project.id} name={chosen.name} />
          )}
        </div>
      )}
    </>
  );
}

function Artifact({ project, name }: { project: number; name: string }) {
  const text = useLoaded(async () => {
    const response = await ask(`/api/artifact?project=${project}&name=${encodeURIComponent(name)}`);
    const body = await response.text();
    if (!response.ok) throw new Error(body.trim());
    return body;
  }, [project, name]);
  return (
    <article class="card">
      <h2>{visible(name)}</h2>
      {text.state === "loading" ? <Loading>reading</Loading> : null}
      {text.state === "failed" ? <Empty>{visible(text.message)}</Empty> : null}
      {text.state !== "there" ? null : /\.md$/i.test(name) ? (
        <Markdown text={text.value} context={{ folder: "", under: 2, fileLink: () => null, image: () => null }} />
      ) : (
        <Code text={text.value} language={languageOf(name)} numbered />
      )}
    </article>
  );
}
