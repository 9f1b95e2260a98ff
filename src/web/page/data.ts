// Where the viewer's facts come from: the local server, or the page itself when it was exported.
import { useEffect, useState } from "preact/hooks";
import { linesWith } from "../view/lines-with.js";
import type { Comparison, CountRow, Details, Exported, FileDiff, Files, Head, LineFound } from "../view/model.js";
import { countSides, sideBySide } from "../view/side-by-side.js";
import { ask, askJson, download } from "./ask-server.js";

export interface Preview {
  readonly text: string;
  readonly cut: boolean;
  /** Why there is no text. */
  readonly problem: string;
}

export interface Source {
  readonly isExport: boolean;
  heads(): Promise<readonly Head[]>;
  details(side: number): Promise<Details>;
  /** `now`: what the manifest claims, without waiting for the archive. */
  files(side: number, now: boolean): Promise<Files>;
  preview(side: number, path: string): Promise<Preview>;
  /** Address of an image, or null when it cannot be shown. One that begins with blob: is the caller's to revoke. */
  image(side: number, path: string): Promise<string | null>;
  /** null: there is nothing to download from. */
  readonly download: ((side: number, path: string) => Promise<void>) | null;
  compare(): Promise<Comparison>;
  /** Lines of text files that hold these words. */
  search(words: string): Promise<readonly LineFound[]>;
  counts(): Promise<readonly CountRow[]>;
  diff(before: string, after: string): Promise<FileDiff>;
}

export function isImage(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp|avif|bmp)$/i.test(path);
}

export function openSource(): Source {
  const element = document.getElementById("nutshell-data");
  return element === null ? serverSource() : exportSource(JSON.parse(element.textContent ?? "") as Exported);
}

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");

function serverSource(): Source {
  const file = (side: number, path: string) => `/file/${side}/${encoded(path)}`;
  return {
    isExport: false,
    heads: () => askJson("/api/view"),
    details: (side) => askJson(`/details/${side}`),
    files: (side, now) => askJson(`/files/${side}${now ? "?now" : ""}`),
    preview: (side, path) => fetchPreview(`/preview/${side}/${encoded(path)}`),
    image: (side, path) => (isImage(path) ? fetchImage(file(side, path)) : Promise.resolve(null)),
    download: (side, path) => download(file(side, path), path.split("/").at(-1)!),
    compare: () => askJson("/api/compare"),
    counts: () => askJson("/api/counts"),
    search: (words) => askJson(`/api/search?words=${encodeURIComponent(words)}`),
    diff: (before, after) =>
      askJson(`/api/diff?before=${encodeURIComponent(before)}&after=${encodeURIComponent(after)}`),
  };
}

/** An element that loads an image sends no key: the page fetches it and shows the bytes. */
async function fetchImage(address: string): Promise<string | null> {
  try {
    const response = await ask(address);
    return response.ok ? URL.createObjectURL(await response.blob()) : null;
  } catch {
    return null;
  }
}

async function fetchPreview(address: string): Promise<Preview> {
  try {
    const response = await ask(address);
    if (!response.ok) return { text: "", cut: false, problem: (await response.text()).trim() };
    if (response.headers.get("x-nut-binary") === "1") return { text: "", cut: false, problem: "This is not text." };
    return { text: await response.text(), cut: response.headers.get("x-nut-cut") === "1", problem: "" };
  } catch {
    return { text: "", cut: false, problem: "The file could not be read whole: the server stopped sending it." };
  }
}

/** Everything is in the page; what is compared is compared here. */
function exportSource(page: Exported): Source {
  const embedded = page.sides.map((side) => new Map(side.embedded.map((file) => [file.path, file])));
  const missing = "This file is not in the exported page.";
  const textOf = (side: number, path: string): string | null => {
    if (path === "") return "";
    const file = embedded[side]?.get(path);
    return file?.kind === "text" ? file.content : null;
  };
  const compared = page.comparison ?? { isAnswer: false, files: [], fields: [], same: 0 };
  return {
    isExport: true,
    heads: async () => page.sides.map(({ head }) => head),
    details: async (side) => page.sides[side]!.details,
    files: async (side) => page.sides[side]!.files,
    preview: async (side, path) => {
      const text = textOf(side, path);
      return text === null ? { text: "", cut: false, problem: missing } : { text, cut: false, problem: "" };
    },
    image: async (side, path) => {
      const file = embedded[side]?.get(path);
      return file?.kind === "image" ? file.content : null;
    },
    download: null,
    compare: async () => compared,
    search: async (words) =>
      page.sides.flatMap((side, at) =>
        side.embedded.flatMap(({ kind, path, content }) =>
          kind === "text" ? linesWith(content, words, at, path) : [],
        ),
      ),
    counts: async () =>
      compared.files.flatMap(({ path, before, after }): CountRow[] => {
        const [left, right] = [textOf(0, before), textOf(1, after)];
        return left === null || right === null ? [] : [[path, ...countSides(left, right)]];
      }),
    diff: async (before, after) => {
      const [left, right] = [textOf(0, before), textOf(1, after)];
      if (left === null || right === null) return { lines: [], note: missing };
      return { lines: sideBySide(left, right), note: "" };
    },
  };
}

export type Loaded<T> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly message: string }
  | { readonly state: "there"; readonly value: T };

export function useLoaded<T>(load: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });
  useEffect(() => {
    let wanted = true;
    setLoaded({ state: "loading" });
    load().then(
      (value) => wanted && setLoaded({ state: "there", value }),
      (error: unknown) =>
        wanted && setLoaded({ state: "failed", message: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      wanted = false;
    };
  }, keys);
  return loaded;
}
