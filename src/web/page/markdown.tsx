// Markdown as elements, never as HTML: what a document says in HTML is shown as the text it is.
import type { Token, Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { CodeText } from "./code.js";
import { useFormatted } from "./format/formatter.js";
import { useParam } from "./shell.js";
import { TableScroll } from "./table-scroll.js";
import { leadsTo, plural, safeLink, visible } from "./visible.js";

export interface MarkdownContext {
  /** Folder of the document, for relative links and images. */
  readonly folder: string;
  /** Where a file of the bundle is shown; null when it is not there. */
  readonly fileLink: (path: string) => string | null;
  /** Of the heading it stands under; its own are below that. */
  readonly under: 1 | 2;
  /** An image of the bundle; null when it is none. */
  readonly image: (path: string, alt: string) => ComponentChildren;
}

interface Reading extends MarkdownContext {
  /** The latest heading so far. */
  readonly headings: { last: number };
}

/** Shorter documents are seen as a whole. */
const OUTLINE_FROM = 3;

export function Markdown({ text, context }: { text: string; context: MarkdownContext }) {
  const answer = useFormatted({ kind: "markdown", text });
  const box = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useParam("heading");
  useEffect(() => {
    const heading =
      chosen === "" ? null : box.current?.querySelector<HTMLElement>(`[data-heading="${Number(chosen)}"]`);
    heading?.scrollIntoView({ block: "start" });
    heading?.focus({ preventScroll: true });
  }, [chosen, answer]);
  if (answer?.kind === "markdown") {
    return (
      <div class="markdown" ref={box}>
        <Outline tokens={answer.tokens} onChoose={setChosen} />
        {blocks(answer.tokens, { ...context, headings: { last: context.under } })}
      </div>
    );
  }
  return (
    <div class="markdown plain">
      {answer?.kind === "plain" ? <p class="notice warn">Shown as plain text: {answer.why}.</p> : null}
      <pre class="as-is">{visible(text)}</pre>
    </div>
  );
}

/** A heading is known by its place among the document's blocks. */
function Outline({ tokens, onChoose }: { tokens: readonly Token[]; onChoose: (place: string) => void }) {
  const headings = tokens.flatMap((token, place) =>
    token.type === "heading" ? [{ ...(token as Tokens.Heading), place }] : [],
  );
  if (headings.length < OUTLINE_FROM) return null;
  return (
    <details class="outline">
      <summary>{plural(headings.length, "heading")}</summary>
      <ul>
        {headings.map((heading) => (
          <li key={heading.place} class={`outline-${heading.depth}`}>
            <button type="button" class="link" onClick={() => onChoose(String(heading.place))}>
              {visible(plainText(heading.tokens))}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

function blocks(tokens: readonly Token[], context: Reading): ComponentChildren[] {
  return tokens.map((token, index) => block(token as Tokens.Generic, context, index));
}

function block(token: Tokens.Generic, context: Reading, key: number): ComponentChildren {
  const inner = () => inlines(token.tokens ?? [], context);
  switch (token.type) {
    case "heading": {
      // A document that leaves a step out must not leave one out of the page.
      const level = Math.min(6, token.depth + context.under, context.headings.last + 1) as 2 | 3 | 4 | 5 | 6;
      context.headings.last = level;
      const Heading = `h${level}` as const;
      return (
        <Heading key={key} class={`depth-${token.depth}`} data-heading={key} tabIndex={-1}>
          {inner()}
        </Heading>
      );
    }
    case "paragraph":
      return <p key={key}>{inner()}</p>;
    case "text":
      return token.tokens === undefined ? visible(token.text) : inner();
    case "code":
      return <CodeText key={key} text={visible(token.text)} html={token.html} numbered={false} />;
    case "blockquote":
      return <blockquote key={key}>{blocks(token.tokens ?? [], context)}</blockquote>;
    case "list":
      return list(token as Tokens.List, context, key);
    case "table":
      return table(token as Tokens.Table, context, key);
    case "hr":
      return <hr key={key} />;
    case "html":
      return (
        <p key={key} class="raw">
          {visible(token.text.trim())}
        </p>
      );
    default:
      return null;
  }
}

function list(token: Tokens.List, context: Reading, key: number): VNode {
  const items = token.items.map((item, index) => (
    <li key={index} class={item.task ? "task" : undefined}>
      {item.task ? <span class="tick">{item.checked === true ? "☑" : "☐"}</span> : null}
      {blocks(
        item.tokens.filter(({ type }) => type !== "checkbox"),
        context,
      )}
    </li>
  ));
  return token.ordered ? (
    <ol key={key} start={Number(token.start) || 1}>
      {items}
    </ol>
  ) : (
    <ul key={key}>{items}</ul>
  );
}

function table(token: Tokens.Table, context: Reading, key: number): VNode {
  return (
    <TableScroll key={key}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index}>{inlines(cell.tokens, context)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{inlines(cell.tokens, context)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function inlines(tokens: readonly Token[], context: Reading): ComponentChildren[] {
  return tokens.map((token, index) => inline(token as Tokens.Generic, context, index));
}

function inline(token: Tokens.Generic, context: Reading, key: number): ComponentChildren {
  const inner = () => inlines(token.tokens ?? [], context);
  switch (token.type) {
    case "strong":
      return <strong key={key}>{inner()}</strong>;
    case "em":
      return <em key={key}>{inner()}</em>;
    case "del":
      return <del key={key}>{inner()}</del>;
    case "codespan":
      return <code key={key}>{visible(token.text)}</code>;
    case "br":
      return <br key={key} />;
    case "link":
      return link(token as Tokens.Link, inner(), context, key);
    case "image":
      return image(token as Tokens.Image, context, key);
    case "html":
      return visible(token.raw);
    case "text":
      return token.tokens === undefined ? visible(unescaped(token.text)) : inner();
    default:
      return visible(String(token.text ?? token.raw ?? ""));
  }
}

function link(token: Tokens.Link, inner: ComponentChildren, context: Reading, key: number): ComponentChildren {
  const target = safeLink(token.href);
  if (target !== null) return <Outside key={key} href={target} text={plainText(token.tokens)} children={inner} />;
  const inside = context.fileLink(resolved(context.folder, token.href));
  if (inside !== null) {
    return (
      <a key={key} href={inside}>
        {inner}
      </a>
    );
  }
  return <span key={key}>{inner}</span>;
}

interface OutsideProps {
  readonly href: string;
  /** What the link says, to be compared with where it leads. */
  readonly text: string;
  readonly children: ComponentChildren;
}

export function Outside({ href, text, children }: OutsideProps) {
  const elsewhere = leadsTo(text, href);
  return (
    <>
      <a href={href} title={visible(href)} rel="noreferrer noopener" target="_blank">
        {children}
      </a>
      {elsewhere === null ? null : <strong class="leads-to"> (leads to {visible(elsewhere)})</strong>}
    </>
  );
}

function plainText(tokens: readonly Token[]): string {
  return tokens.map((token) => ("tokens" in token && token.tokens ? plainText(token.tokens) : textOf(token))).join("");
}

const textOf = (token: Token) => ("text" in token ? unescaped(String(token.text)) : "");

/** Only from the bundle: an image from elsewhere would tell its owner that the bundle was opened. It is named instead. */
function image(token: Tokens.Image, context: Reading, key: number): VNode {
  const isElsewhere = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(token.href.trim());
  const named = (what: string) => (
    <span key={key} class="raw">{`[${what}: ${visible(token.text || token.href)}]`}</span>
  );
  if (isElsewhere) return named(`image that is not in the bundle, ${visible(token.href.slice(0, 200))}`);
  const found = context.image(resolved(context.folder, token.href), token.text);
  return found === null ? named("image") : <span key={key}>{found}</span>;
}

/** `../files/a.png` seen from `context/` is `files/a.png`; what climbs out is nothing. */
export function resolved(folder: string, target: string): string {
  const parts: string[] = [];
  const clean = target.split(/[?#]/)[0]!;
  const start = clean.startsWith("/") ? clean.slice(1) : `${folder}/${clean}`;
  for (const part of start.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return "";
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  try {
    return decodeURIComponent(parts.join("/"));
  } catch {
    return "";
  }
}

/** marked keeps character references as they were written. */
function unescaped(text: string): string {
  const names: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" };
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => names[name]!);
}
