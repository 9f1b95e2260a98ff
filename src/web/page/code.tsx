// Source with colours. They come a moment after the text, from a worker.
import { useMemo } from "preact/hooks";
import { useFormatted } from "./format/formatter.js";
import { visible } from "./visible.js";

interface CodeProps {
  readonly text: string;
  readonly language: string;
  readonly numbered?: boolean;
}

export function Code({ text, language, numbered = false }: CodeProps) {
  const shown = useMemo(() => visible(text.replaceAll("\r\n", "\n")), [text]);
  const answer = useFormatted({ kind: "code", text: shown, language });
  return <CodeText text={shown} html={answer?.kind === "code" ? answer.html : undefined} numbered={numbered} />;
}

/** `html` is the highlighter's: escaped text and spans. */
export function CodeText({ text, html, numbered }: { text: string; html: string | undefined; numbered: boolean }) {
  const lines = numbered ? text.split("\n").length - (text.endsWith("\n") ? 1 : 0) : 0;
  return (
    <div class={`code ${numbered ? "numbered" : ""}`} tabIndex={0} role="group" aria-label="source">
      {numbered ? (
        <pre class="numbers" aria-hidden="true">
          {Array.from({ length: lines }, (_, at) => at + 1).join("\n")}
        </pre>
      ) : null}
      <pre>{html === undefined ? <code>{text}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}</pre>
    </div>
  );
}
