// Taking a task apart for several agents. What lies under files/ is shared out; everything else (context, interfaces,
// tests, credentials) goes to every part, because every agent needs it. Each part records what it was given, so that
// merge can tell a change from an untouched copy.
import { z } from "zod";
import { NutError, shellWord } from "../../errors.js";
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
        criteria: z
          .array(z.string().min(1))
          .optional()
          .describe("ids of the criteria this part must meet; by default told by the files their scripts name"),
      }),
    )
    .min(1),
});
export type SplitPlan = z.infer<typeof SplitPlan>;

export interface Part {
  readonly title?: string | undefined;
  readonly summary?: string | undefined;
  readonly paths: readonly string[];
  /** Ids of the criteria it must meet; undefined: told by the files their texts name. */
  readonly criteria?: readonly string[] | undefined;
}

/** What stands under extensions.split of a part. */
export interface SplitRecord {
  readonly parent_id: string;
  /** The same in every part of one split, and in no other's. */
  readonly split_id?: string | undefined;
  /** Content digest of the whole. */
  readonly parent_digest?: string | undefined;
  readonly part_index: number;
  readonly part_total: number;
  readonly title?: string | undefined;
  readonly summary?: string | undefined;
  /** Ids of the criteria this part answers for; absent: all of them. The others are for the whole. */
  readonly criteria?: readonly string[] | undefined;
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
    for (const path of paths) least.paths.push(path);
  }
  return withShared(entries, shares);
}

/** One part for each folder below files/; loose files beside them go to every part. */
export function splitByFolder(entries: readonly ContentEntry[], dir = "."): Part[] {
  const folders = unitsOf(entries, 2).filter(({ isFolder }) => isFolder);
  if (folders.length < 2) {
    throw new NutError("USAGE", "files/ does not hold two folders to split by", {
      hint: `nutshell split ${shellWord(dir)} -n 2`,
    });
  }
  const parts = folders.map(({ name, paths }) => ({ title: name.slice("files/".length), paths }));
  return withShared(entries, parts);
}

export function splitByPlan(entries: readonly ContentEntry[], plan: SplitPlan, dir = "."): Part[] {
  const covers = (pattern: string, path: string) =>
    path === pattern || path.startsWith(pattern.endsWith("/") ? pattern : `${pattern}/`);
  for (const pattern of plan.parts.flatMap(({ files }) => files)) {
    if (!entries.some(({ path }) => covers(pattern, path))) {
      throw new NutError("USAGE", `the plan names ${pattern}, which is not in the task`, {
        hint: `nutshell pack --dir ${shellWord(dir)} --list shows every file of the task`,
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
  const units = new Map<string, { bytes: number; paths: string[]; isFolder: boolean }>();
  for (const { path, size } of entries) {
    const [first] = path.slice(folder.length).split("/");
    const name = folder + first;
    const unit = units.get(name) ?? { bytes: 0, paths: [], isFolder: name !== path };
    unit.bytes += size;
    unit.paths.push(path);
    units.set(name, unit);
  }
  return [...units].map(([name, unit]) => ({ name, ...unit }));
}

/** One criterion, and everything that is written about how it is checked. */
export interface CriterionText {
  readonly id: string;
  /** What it says of itself, and the scripts it names; many may name the same. */
  readonly texts: readonly string[];
  readonly after: readonly string[];
}

/**
 * Which criteria each part answers for, told by the files that their texts name: those of one part alone are that part's,
 * those of several are for the whole, and those that name none are everybody's. undefined for a part that has them all.
 */
export function criteriaOfParts(
  criteria: readonly CriterionText[],
  parts: readonly Part[],
): (readonly string[] | undefined)[] {
  const holders = new Map<string, number>();
  for (const { paths } of parts) for (const path of paths) holders.set(path, (holders.get(path) ?? 0) + 1);
  const own = parts.map(({ paths }) =>
    paths.filter((path) => path.startsWith("files/") && holders.get(path) !== parts.length),
  );
  const named = partsNamed(criteria, own);
  return parts.map(({ criteria: asked }, index) => {
    const ids =
      asked ??
      criteria
        .map(({ id }) => ({ id, parts: named.get(id)! }))
        .filter((one) => one.parts.size === 0 || (one.parts.size === 1 && one.parts.has(index)))
        .map(({ id }) => id);
    return ids.length === criteria.length ? undefined : ids;
  });
}

/** Of each criterion the parts whose files it names, itself or by what it comes after. Each is handed on once. */
function partsNamed(criteria: readonly CriterionText[], own: readonly (readonly string[])[]): Map<string, Set<number>> {
  const inText = new Map<string, readonly number[]>();
  const partsOf = (text: string) => {
    const known = inText.get(text);
    if (known !== undefined) return known;
    const found = own.flatMap((paths, index) => (paths.some((path) => names(text, path)) ? [index] : []));
    inText.set(text, found);
    return found;
  };
  const named = new Map(criteria.map(({ id, texts }) => [id, new Set(texts.flatMap(partsOf))]));
  const followers = new Map<string, string[]>(criteria.map(({ id }) => [id, []]));
  for (const { id, after } of criteria) for (const before of after) followers.get(before)?.push(id);
  const waiting = [...named].flatMap(([id, parts]) => [...parts].map((part) => ({ id, part })));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const id of followers.get(next.id)!) {
      const parts = named.get(id)!;
      if (parts.has(next.part)) continue;
      parts.add(next.part);
      waiting.push({ id, part: next.part });
    }
  }
  return named;
}

/** A test names a file by its path from the root, from files/, or from where it stands. */
function names(text: string, path: string): boolean {
  const below = path.slice("files/".length);
  const at = text.indexOf(below);
  if (at < 0) return false;
  return text.includes(path) || below.includes("/") || /["'\s/]/.test(text[at - 1] ?? " ");
}

export interface PartIdentity {
  readonly splitId: string;
  readonly digest: string;
  readonly criteria: readonly string[] | undefined;
  readonly id: string;
  readonly index: number;
  readonly total: number;
}

/** The manifest of one part: the parent's, with an identity and a title of its own and a record of what it was given. */
export function partManifest(
  parent: Manifest,
  part: Part,
  entries: readonly ContentEntry[],
  identity: PartIdentity,
): Manifest {
  const author = authored(parent);
  const paths = new Set(part.paths);
  const base = Object.fromEntries(
    entries.filter(({ path }) => paths.has(path)).map((entry) => [entry.path, versionOf(entry)]),
  );
  const record: SplitRecord = {
    parent_id: parent.id,
    split_id: identity.splitId,
    parent_digest: identity.digest,
    part_index: identity.index,
    part_total: identity.total,
    ...(part.title === undefined ? {} : { title: part.title }),
    ...(part.summary === undefined ? {} : { summary: part.summary }),
    ...(identity.criteria === undefined ? {} : { criteria: identity.criteria }),
    base,
    manifest: author,
  };
  return { ...givenManifest(author, record), id: identity.id, extensions: { ...author.extensions, split: record } };
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
