// Text made readable: Markdown as tokens, source with colours. Strangers write what is read here, and some of it makes any
// parser slow or its result too deep to draw, so this runs in a worker that is ended when it takes too long.
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
import { marked, type Token } from "marked";
import { visible } from "../visible.js";
import { languageNamed } from "./languages.js";

const LANGUAGES = {
  ...{ bash, c, cpp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, makefile, markdown, php, python },
  ...{ ruby, rust, sql, typescript, xml, yaml },
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

export type FormatQuestion =
  | { readonly kind: "markdown"; readonly text: string }
  | { readonly kind: "code"; readonly text: string; readonly language: string };

export type FormatAnswer =
  | { readonly kind: "markdown"; readonly tokens: readonly Token[] }
  /** Escaped text and spans with classes, nothing else. */
  | { readonly kind: "code"; readonly html: string }
  | { readonly kind: "plain"; readonly why: string };

/** Colouring is for reading; past this it only makes a page slow. */
const MAX_COLOURED = 120_000;
/** Deeper or longer than anything a person wrote, and too much for a page to draw at once. */
const MAX_DEPTH = 40;
const MAX_TOKENS = 20_000;

export function format(question: FormatQuestion): FormatAnswer {
  try {
    return question.kind === "markdown" ? document(question.text) : code(question.text, question.language);
  } catch {
    return { kind: "plain", why: "it cannot be formatted" };
  }
}

function code(text: string, language: string): FormatAnswer {
  if (language === "" || text.length > MAX_COLOURED) return { kind: "plain", why: "" };
  return { kind: "code", html: hljs.highlight(text, { language, ignoreIllegals: true }).value };
}

interface Walked {
  readonly type: string;
  readonly lang?: string;
  readonly text?: string;
  readonly tokens?: readonly Walked[];
  readonly items?: readonly Walked[];
  /** Of a cell it says whether it is one. */
  readonly header?: readonly Walked[] | boolean;
  readonly rows?: readonly (readonly Walked[])[];
  html?: string;
}

function document(text: string): FormatAnswer {
  const tokens = marked.lexer(text, { gfm: true });
  let count = 0;
  const open: (readonly [token: Walked, depth: number])[] = tokens.map((token) => [token as Walked, 1]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth] = next;
    count += 1;
    if (depth > MAX_DEPTH) return { kind: "plain", why: "it is nested too deep" };
    if (count > MAX_TOKENS) return { kind: "plain", why: "it has too many parts" };
    if (token.type === "code") colour(token);
    const { tokens: inner = [], items = [], header, rows = [] } = token;
    const cells = typeof header === "object" ? header : [];
    for (const child of [...inner, ...items, ...cells, ...rows.flat()]) open.push([child, depth + 1]);
  }
  return { kind: "markdown", tokens };
}

function colour(token: Walked): void {
  const language = languageNamed(String(token.lang ?? "").split(/\s/)[0]!);
  const answer = code(visible(token.text ?? ""), language);
  if (answer.kind === "code") token.html = answer.html;
}
