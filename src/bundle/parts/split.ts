// Taking a task apart for several agents. What lies under files/ is shared out; everything else (context, interfaces,
// tests, credentials) goes to every part, because every agent needs it. Each part records what it was given, so that
// merge can tell a change from an untouched copy.
import { z } from "zod";
import { NutError } from "../../errors.js";
import { byBytes } from "../../files/index.js";
import type { Manifest } from "../../schema/manifest.js";
import type { ContentEntry } from "../read/content.js";

export const SplitPlan = z.object({
  parts: z
    .array(
      z.object({
        title: z.string().min(1).optional(),
        summary: z.string().min(1).optional(),
        files: z.array(z.string().min(1)).describe("paths; one that ends in / means everything below it"),
      }),
    )
    .min(1),
});
export type SplitPlan = z.infer<typeof SplitPlan>;

export interface Part {
  readonly title?: string | undefined;
  readonly summary?: string | undefined;
  readonly paths: readonly string[];
}

/** What stands under extensions.split of a part. */
export interface SplitRecord {
  readonly parent_id: string;
  readonly part_index: number;
  readonly part_total: number;
  readonly title?: string | undefined;
  readonly summary?: string | undefined;
  /** path → version of everything this part was given. */
  readonly base: Readonly<Record<string, string>>;
  /** The parent's own manifest, without what pack computes. */
  readonly manifest: Manifest;
}

/** One text that differs whenever a file does: its hash, and whether it can be run. */
export function versionOf({ kind, hash, executable }: ContentEntry): string {
  return kind === "folder" ? "folder" : `${hash}${executable ? " executable" : ""}`;
}

/** Shares files/ out to `count` parts: whole folders where possible, about the same size each. */
export function splitByCount(entries: readonly ContentEntry[], count: number): Part[] {
  const shares = Array.from({ length: count }, () => ({ bytes: 0, paths: [] as string[] }));
  const units = unitsOf(entries, count).sort((a, b) => b.bytes - a.bytes || byBytes(a.name, b.name));
  for (const { bytes, paths } of units) {
    const least = shares.reduce((best, share) => (share.bytes < best.bytes ? share : best));
    // An empty file still counts for something, or all of them would go to one part.
    least.bytes += bytes + 1;
    least.paths.push(...paths);
  }
  return withShared(entries, shares);
}

/** One part for each folder below files/; loose files beside them go to every part. */
export function splitByFolder(entries: readonly ContentEntry[]): Part[] {
  const folders = unitsOf(entries, 2).filter(({ isFolder }) => isFolder);
  if (folders.length < 2) {
    throw new NutError("USAGE", "files/ does not hold two folders to split by", { hint: "nutshell split -n 2" });
  }
  const parts = folders.map(({ name, paths }) => ({ title: name.slice("files/".length), paths }));
  return withShared(entries, parts);
}

export function splitByPlan(entries: readonly ContentEntry[], plan: SplitPlan): Part[] {
  const covers = (pattern: string, path: string) =>
    path === pattern || path.startsWith(pattern.endsWith("/") ? pattern : `${pattern}/`);
  for (const pattern of plan.parts.flatMap(({ files }) => files)) {
    if (!entries.some(({ path }) => covers(pattern, path))) {
      throw new NutError("USAGE", `the plan names ${pattern}, which is not in the task`, {
        hint: "nutshell pack --list shows every file of the task",
        data: { path: pattern },
      });
    }
  }
  const parts = plan.parts.map(({ files, ...part }) => ({
    ...part,
    paths: entries.map(({ path }) => path).filter((path) => files.some((pattern) => covers(pattern, path))),
  }));
  return withShared(entries, parts);
}

/** Whatever no part claims belongs to all of them: nothing is lost by splitting. */
function withShared(entries: readonly ContentEntry[], parts: readonly Part[]): Part[] {
  const claimed = new Set(parts.flatMap(({ paths }) => paths));
  const shared = entries.map(({ path }) => path).filter((path) => !claimed.has(path));
  return parts.map((part) => ({ ...part, paths: [...part.paths, ...shared].sort(byBytes) }));
}

interface Unit {
  readonly name: string;
  readonly isFolder: boolean;
  readonly bytes: number;
  readonly paths: readonly string[];
}

/** Files and folders below files/, folders opened (the largest first) until there are enough pieces. */
function unitsOf(entries: readonly ContentEntry[], wanted: number): Unit[] {
  const inside = entries.filter(({ path, kind }) => kind === "file" && path.startsWith("files/"));
  let units = children(inside, "files/");
  for (;;) {
    const folders = units.filter(({ isFolder }) => isFolder);
    const largest = folders.reduce<Unit | null>(
      (best, unit) => (best === null || unit.bytes > best.bytes ? unit : best),
      null,
    );
    if (units.length >= wanted || largest === null) return units;
    const opened = children(
      inside.filter(({ path }) => path.startsWith(`${largest.name}/`)),
      `${largest.name}/`,
    );
    units = [...units.filter((unit) => unit !== largest), ...opened];
  }
}

function children(entries: readonly ContentEntry[], folder: string): Unit[] {
  const found = new Map<string, { bytes: number; paths: string[]; isFolder: boolean }>();
  for (const { path, size } of entries) {
    const [first] = path.slice(folder.length).split("/");
    const name = folder + first;
    const unit = found.get(name) ?? { bytes: 0, paths: [], isFolder: name !== path };
    unit.bytes += size;
    unit.paths.push(path);
    found.set(name, unit);
  }
  return [...found].map(([name, unit]) => ({ name, ...unit }));
}

export interface PartIdentity {
  readonly id: string;
  readonly index: number;
  readonly total: number;
}

/** The manifest of one part: the parent's, with an identity and a title of its own and a record of what it was given. */
export function partManifest(
  parent: Manifest,
  part: Part,
  entries: readonly ContentEntry[],
  own: PartIdentity,
): Manifest {
  const author = authored(parent);
  const given = new Set(part.paths);
  const base = Object.fromEntries(
    entries.filter(({ path }) => given.has(path)).map((entry) => [entry.path, versionOf(entry)]),
  );
  const record: SplitRecord = {
    parent_id: parent.id,
    part_index: own.index,
    part_total: own.total,
    ...(part.title === undefined ? {} : { title: part.title }),
    ...(part.summary === undefined ? {} : { summary: part.summary }),
    base,
    manifest: author,
  };
  return { ...givenManifest(author, record), id: own.id, extensions: { ...author.extensions, split: record } };
}

/** A part's manifest as it was handed out, identity and record aside. Merge compares with it. */
export function givenManifest(parent: Manifest, { part_index, part_total, title, summary }: SplitRecord): Manifest {
  const whole = parent.task?.title ?? "task";
  const name =
    title === undefined ? `part ${part_index} of ${part_total}` : `${title} (${part_index} of ${part_total})`;
  return {
    ...parent,
    parent_id: parent.id,
    task: { ...parent.task, title: `${whole}: ${name}`, ...(summary === undefined ? {} : { summary }) },
  };
}

/** The manifest as its author wrote it; of the tree, what was said about files. */
function authored(manifest: Manifest): Manifest {
  const { files, compression: _, completeness: __, ...rest } = manifest;
  const notes = (files?.tree ?? []).filter(({ role }) => role !== undefined);
  return notes.length > 0 ? { ...rest, files: { tree: notes } } : rest;
}
