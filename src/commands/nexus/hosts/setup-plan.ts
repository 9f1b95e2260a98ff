// What setting up or removing would change, worked out before anything is touched.
import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { NutError, shellWord } from "../../../errors.js";
import type { InstallFile, TextEdit } from "../../../hosts/index.js";
import { isLeft, type Receipt } from "./receipt.js";

export interface PlannedChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** What to go back to when it is undone; null = no file. */
  readonly original: string | null;
  /** Written by an earlier version and not by this one: afterwards nothing of ours is there. */
  readonly dropped?: true;
  /** Changed since set-up, or set up elsewhere: our part goes, by our marks alone. */
  readonly partly?: true;
}

export interface SetupPlan {
  readonly changes: readonly PlannedChange[];
  /** Files of the person's under a name we wanted; left alone. */
  readonly kept: readonly string[];
  /** Written by an earlier set-up, and not looked at by this one: another folder of settings, or a person's by now. */
  readonly carried: Receipt["files"];
}

/** `others` are receipts of other hosts in the same place: AGENTS.md may be shared, and belongs to the last one that leaves. */
export function planSetup(
  files: readonly InstallFile[],
  receipt: Receipt | null,
  others: readonly Receipt[] = [],
): SetupPlan {
  const kept: string[] = [];
  const changes = files.flatMap((file): PlannedChange[] => {
    const before = readText(file.path);
    const known = recorded(file.path, [receipt, ...others]);
    const untouched = known !== undefined && before !== null && isLeft(before, known);
    if ("content" in file) {
      const isForeign = before !== null && before !== file.content && known === undefined;
      if (isForeign && file.isOurs !== undefined && !file.isOurs(before)) throw inTheWay(file.path);
      if (isForeign && file.isOurs === undefined) {
        kept.push(file.path);
        return [];
      }
      return [{ path: file.path, before, after: file.content, original: known?.before ?? null }];
    }
    return [
      {
        path: file.path,
        before,
        after: file.edit.add(before),
        original: untouched ? known.before : originalOf(before, known?.before, file.edit),
      },
    ];
  });
  const wanted = new Set(files.map(({ path }) => path));
  const beside = new Set(files.flatMap((file) => ("content" in file ? foldersAround(file.path) : [])));
  const earlier = (receipt?.files ?? []).filter(({ path }) => !wanted.has(path) && existsSync(path));
  const isDropped = (file: Receipt["files"][number]) =>
    foldersAround(file.path).some((folder) => beside.has(folder)) &&
    recorded(file.path, others) === undefined &&
    isLeft(readText(file.path) ?? "", file);
  const dropped = earlier.filter(isDropped).map(({ path, before }): PlannedChange => {
    return { path, before: readText(path), after: before, original: before, dropped: true };
  });
  return { changes: [...changes, ...dropped], kept, carried: earlier.filter((file) => !isDropped(file)) };
}

/** A role lies in a folder of roles, a skill in one of its own below a folder of skills. */
const foldersAround = (path: string): string[] => [dirname(path), dirname(dirname(path))];

const inTheWay = (path: string) =>
  new NutError("HOST_SETTINGS_INVALID", `${path} is yours, and the gate must lie there; nothing was changed`, {
    hint: `give it another name, then run the same command again: mv ${shellWord(path)} '<new name>'`,
    data: { path },
  });

/** What a later removal restores: what is there now without our part, and with what our part took the place of. */
function originalOf(before: string | null, earlier: string | null | undefined, edit: TextEdit): string | null {
  if (before === null) return null;
  return edit.holds(before) ? edit.remove(before, earlier) : before;
}

export function planRemoval(
  files: readonly InstallFile[],
  receipt: Receipt | null,
  others: readonly Receipt[] = [],
): SetupPlan {
  const kept: string[] = [];
  const wanted = new Map(files.map((file) => [file.path, file]));
  for (const { path } of receipt?.files ?? []) if (!wanted.has(path)) wanted.set(path, { path, content: "" });
  const changes = [...wanted.values()].flatMap((file): PlannedChange[] => {
    const before = readText(file.path);
    if (before === null || recorded(file.path, others) !== undefined) return [];
    const known = recorded(file.path, [receipt]);
    // Killed before it came to this one, or after it was put back.
    if (known !== undefined && before === known.before) return [];
    if (known !== undefined && isLeft(before, known))
      return [{ path: file.path, before, after: known.before, original: known.before }];
    if ("edit" in file) {
      const after = file.edit.remove(before, known?.before);
      return after === before ? [] : [{ path: file.path, before, after, original: after, partly: true }];
    }
    if (before === file.content) return [{ path: file.path, before, after: null, original: null }];
    kept.push(file.path);
    return [];
  });
  return { changes, kept, carried: [] };
}

function recorded(path: string, receipts: readonly (Receipt | null)[]) {
  return receipts.flatMap((receipt) => receipt?.files ?? []).find((file) => file.path === path);
}

/** null where there is none. Bytes that are no text could not be put back as they were. */
export function readText(path: string): string | null {
  if (!existsSync(path)) return null;
  const stat = statSync(path);
  // Reading a pipe would wait for somebody who writes into it.
  if (!stat.isFile()) {
    const kind = stat.isDirectory() ? "a folder" : "no regular file";
    throw new NutError("FILE_UNREADABLE", `${path} is ${kind}, and a file belongs there`, {
      hint: `mv ${shellWord(path)} ${shellWord(`${path}.old`)}`,
      data: { path },
    });
  }
  const bytes = readFileSync(path);
  if (isUtf8(bytes)) return bytes.toString("utf8");
  throw new NutError("HOST_SETTINGS_INVALID", `${path} is not UTF-8 text; nothing was changed`, {
    hint: `\${EDITOR:-vi} ${shellWord(path)}`,
    data: { path },
  });
}
