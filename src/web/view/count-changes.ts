// Lines gained and lost by every changed file: one pass over each bundle, and no more text held at once than fits.
import { setImmediate as turn } from "node:timers/promises";
import { isText } from "../../bundle/index.js";
import type { BaseFiles } from "./base-files.js";
import { IN_BASE } from "./compare.js";
import type { ComparedRow, CountRow } from "./model.js";
import { countSides } from "./side-by-side.js";
import type { ViewSource } from "./source.js";

const MOST_FILE = 1024 ** 2;
const MOST_HELD = 48 * 1024 ** 2;

/** Files that are no text, or too large to hold, are left out. */
export async function countChanges(
  files: readonly ComparedRow[],
  [before, after]: readonly [ViewSource, ViewSource],
  base: BaseFiles | null,
): Promise<CountRow[]> {
  const left = await textsOf(before, new Set(files.map((row) => row.before)));
  const right = await textsOf(after, new Set(files.map((row) => row.after)));
  const rows: CountRow[] = [];
  for (const [index, row] of files.entries()) {
    // Somebody waits for a file meanwhile.
    if (index % 20 === 0) await turn();
    const isInBase = row.before.startsWith(IN_BASE);
    const was = isInBase ? await base?.text(row.before.slice(IN_BASE.length)) : textIn(left, row.before);
    const is = textIn(right, row.after);
    if (typeof was === "string" && typeof is === "string") rows.push([row.path, ...countSides(was, is)]);
  }
  return rows;
}

const textIn = (texts: ReadonlyMap<string, string>, path: string) => (path === "" ? "" : texts.get(path));

async function textsOf(source: ViewSource, wanted: ReadonlySet<string>): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  let room = MOST_HELD;
  await source.each((path, size) => {
    if (!wanted.has(path) || size > MOST_FILE || size > room) return null;
    room -= size;
    const parts: Buffer[] = [];
    return {
      chunk: (bytes) => parts.push(Buffer.from(bytes)),
      end: () => {
        const bytes = Buffer.concat(parts);
        if (isText(bytes)) texts.set(path, bytes.toString("utf8"));
      },
    };
  });
  return texts;
}
