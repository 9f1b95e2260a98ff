// The browser half, as the build left it in dist/web.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NutError } from "../../errors.js";

export type PageFile = "viewer.js" | "board.js" | "layout.js" | "formatter.js" | "style.css";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

const kept = new Map<PageFile, Buffer>();

export function pageFile(name: PageFile): Buffer {
  const known = kept.get(name);
  if (known !== undefined) return known;
  const bytes = readFileSync(join(pageFolder(), name));
  kept.set(name, bytes);
  return bytes;
}

export function pageType(name: PageFile): string {
  return TYPES[name.split(".").at(-1)!]!;
}

/** The first one found on the way up from the module: beside the bundled code, or in the project while developing. */
function pageFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const page = join(folder, "dist", "web");
    if (existsSync(join(folder, "package.json")) && existsSync(page)) return page;
    if (dirname(folder) === folder) break;
  }
  throw new NutError("FILE_NOT_FOUND", "the pages are not there: the package is not completely installed", {
    hint: "npm install -g nutcracker",
  });
}

const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 3C9 3 4 10 4 17c0 7 5 12 12 12s12-5 12-12C28 10 23 3 16 3Z" fill="#8f4f24"/><path d="M16 3v26M16 9c-4 2-6 5-6 9M16 9c4 2 6 5 6 9" fill="none" stroke="#f7efe4" stroke-width="1.8" stroke-linecap="round"/></svg>',
  );

export interface Frame {
  readonly title: string;
  /** What goes into the head: links, or the styles themselves. */
  readonly head: string;
  readonly body: string;
}

export function htmlPage({ title, head, body }: Frame): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">',
    `<title>${escapeHtml(title)}</title><link rel="icon" href="${escapeHtml(ICON)}">`,
    head,
    '</head><body><div id="app"></div><noscript>This page needs JavaScript.</noscript>',
    body,
    "</body></html>\n",
  ].join("");
}

export function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => names[character]!);
}
