import type { Head } from "../../view/model.js";
import { isImage, type Source, useLoaded } from "../data.js";
import { Markdown } from "../markdown.js";
import { Empty, Loading } from "../parts.js";
import { Picture } from "../picture.js";
import { routeTo } from "../shell.js";
import { visible } from "../visible.js";

interface DocumentProps {
  readonly source: Source;
  readonly side: number;
  readonly path: string;
  readonly text: string;
  readonly under: 1 | 2;
}

export function Document({ source, side, path, text, under }: DocumentProps) {
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  return (
    <Markdown
      text={text}
      context={{
        folder,
        under,
        fileLink: (target) => (target === "" ? null : routeTo("files", target)),
        image: (target, alt) =>
          isImage(target) ? (
            <Picture load={() => source.image(side, target)} name={`${side} ${target}`} alt={alt || target} />
          ) : null,
      }}
    />
  );
}

export function DocumentsView({
  source,
  side,
  head,
  path,
}: {
  source: Source;
  side: number;
  head: Head;
  path: string;
}) {
  const chosen = head.documents.find((row) => row.path === path) ?? head.documents[0];
  if (chosen === undefined) return <Empty>This bundle has no context documents.</Empty>;
  return (
    <>
      <h1>Documents</h1>
      {head.documents.length > 1 ? (
        <nav class="tabs" aria-label="documents">
          {head.documents.map((row) => (
            <a key={row.path} href={routeTo("documents", row.path)} aria-current={row === chosen ? "true" : undefined}>
              {visible(row.label)}
            </a>
          ))}
        </nav>
      ) : null}
      <article class="card paper">
        <p class="soft path">{visible(chosen.path)}</p>
        <Read key={chosen.path} source={source} side={side} path={chosen.path} />
      </article>
    </>
  );
}

function Read({ source, side, path }: { source: Source; side: number; path: string }) {
  const preview = useLoaded(() => source.preview(side, path), [side, path]);
  if (preview.state === "loading") return <Loading>reading</Loading>;
  if (preview.state === "failed") return <Empty>{preview.message}</Empty>;
  if (preview.value.problem !== "") return <Empty>{preview.value.problem}</Empty>;
  return (
    <>
      <Document source={source} side={side} path={path} text={preview.value.text} under={1} />
      {preview.value.cut ? <p class="notice warn">Only the beginning is shown.</p> : null}
    </>
  );
}
