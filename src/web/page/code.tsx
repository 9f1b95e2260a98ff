// Source with colours. The highlighter escapes what it is given and adds spans with classes, nothing else.
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { useMemo } from "preact/hooks";
import { visible } from "./visible.js";

const LANGUAGES = {
  ...{ bash, c, cpp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, makefile, markdown, php, python },
  ...{ ruby, rust, sql, typescript, xml, yaml },
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const EXTENSIONS: Readonly<Record<string, string>> = {
  ...{ sh: "bash", zsh: "bash", h: "c", cc: "cpp", hpp: "cpp", patch: "diff", toml: "ini", cfg: "ini", kt: "kotlin" },
  ...{ js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript", ts: "typescript", tsx: "typescript" },
  ...{ md: "markdown", py: "python", rb: "ruby", rs: "rust", html: "xml", svg: "xml", yml: "yaml", jsonl: "json" },
};

export function languageOf(path: string): string {
  const name = path.split("/").at(-1)!.toLowerCase();
  if (name === "dockerfile" || name === "makefile") return name;
  const extension = name.includes(".") ? name.split(".").at(-1)! : "";
  const language = EXTENSIONS[extension] ?? extension;
  return hljs.getLanguage(language) === undefined ? "" : language;
}

/** Colouring is for reading; past this it only makes a page slow. */
const MAX_COLOURED = 120_000;

export function coloured(text: string, language: string): string | null {
  if (language === "" || text.length > MAX_COLOURED || hljs.getLanguage(language) === undefined) return null;
  return hljs.highlight(text, { language, ignoreIllegals: true }).value;
}

export function Code({ text, language, numbered = false }: { text: string; language: string; numbered?: boolean }) {
  const shown = useMemo(() => visible(text.replaceAll("\r\n", "\n")), [text]);
  const html = useMemo(() => coloured(shown, language), [shown, language]);
  const lines = numbered ? shown.split("\n").length - (shown.endsWith("\n") ? 1 : 0) : 0;
  return (
    <div class={`code ${numbered ? "numbered" : ""}`} tabIndex={0} role="group" aria-label="source">
      {numbered ? (
        <pre class="numbers" aria-hidden="true">
          {Array.from({ length: lines }, (_, at) => at + 1).join("\n")}
        </pre>
      ) : null}
      <pre>{html === null ? <code>{shown}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}</pre>
    </div>
  );
}
