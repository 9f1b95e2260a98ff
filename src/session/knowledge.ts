// What tags put into .nexus/memory and .nexus/rules. Plain files that people read and commit.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { atomicWrite, makeFolder } from "../files/index.js";
import { assertFolderInside, type Layout } from "../state/index.js";

/** Lessons nobody touched for this long are named as stale; only a model or a person drops them. */
const STALE_MS = 90 * 24 * 60 * 60 * 1000;

/** Returns the file's path inside the project. */
export function storeMemory(layout: Layout, text: string, now: Date): string {
  const name = `${now.toISOString().slice(0, 10)}-${slug(text)}.md`;
  return append(layout, "memory", name, `${text.trim()}\n`);
}

export function storeRule(layout: Layout, tag: string, text: string): string {
  return append(layout, "rules", `${slug(tag)}.md`, `- ${text.trim().replace(/\n/g, "\n  ")}\n`);
}

function append(layout: Layout, folder: "memory" | "rules", name: string, text: string): string {
  const path = join(layout.nexus, folder, name);
  assertFolderInside(layout, join(layout.nexus, folder));
  makeFolder(join(layout.nexus, folder));
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  const gap = before === "" || before.endsWith("\n") ? "" : "\n";
  if (!before.split("\n").includes(text.trimEnd())) atomicWrite(path, before + gap + text);
  return `.nexus/${folder}/${name}`;
}

/** First words, safe as a file name on every system. */
function slug(text: string): string {
  const words =
    text
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const joined = words.slice(0, 6).join("-").slice(0, 60).replace(/-$/, "");
  return joined === "" || /^(?:con|prn|aux|nul|com\d|lpt\d)$/.test(joined)
    ? `note-${joined}`.replace(/-$/, "")
    : joined;
}

/** Merges exact repetitions; what needs judgement is asked of the model. */
export function collectMemory(layout: Layout, now: Date): string[] {
  const folder = join(layout.nexus, "memory");
  // A repository may bring a link to a folder whose files are not ours to merge.
  assertFolderInside(layout, folder);
  const names = existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith(".md"))
        .sort()
    : [];
  const seen = new Set<string>();
  let merged = 0;
  for (const name of names) {
    const text = readFileSync(join(folder, name), "utf8");
    const unique = paragraphs(text).filter((part) => !seen.has(part) && seen.add(part) !== undefined);
    if (unique.length === paragraphs(text).length) continue;
    merged += paragraphs(text).length - unique.length;
    atomicWrite(join(folder, name), unique.length === 0 ? "" : `${unique.join("\n\n")}\n`);
  }
  const stale = names.filter((name) => now.getTime() - statSync(join(folder, name)).mtimeMs > STALE_MS);
  return [
    `[m:gc] merged ${merged} repeated ${merged === 1 ? "lesson" : "lessons"} in ${names.length} ${names.length === 1 ? "file" : "files"}.`,
    names.length === 0
      ? "There is nothing to tidy."
      : `Now read .nexus/memory/ and propose which lessons to merge or drop${stale.length === 0 ? "" : `; untouched for 90 days: ${stale.join(", ")}`}. Change them only after the person agrees.`,
  ];
}

const paragraphs = (text: string): string[] =>
  text
    .split(/\n{2,}|\n(?=\S)/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
