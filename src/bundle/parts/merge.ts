// Putting parts back together. Where a part records what it was given, a change wins over an untouched copy; two
// different changes are a conflict, both are kept, and nothing is ever overwritten.
import { NutError, shellWord } from "../../errors.js";
import { byBytes } from "../../files/index.js";
import { type Delivery, RESULT_FILE } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import { parseResult } from "../check/completeness-delivery.js";
import type { ContentEntry, OpenedContent } from "../read/content.js";
import { bare, mergeDeliveries, type Whole } from "./merge-deliveries.js";
import { givenManifest, type SplitRecord, versionOf } from "./split.js";

export interface Conflict {
  /** A file, or a manifest field. */
  readonly path: string;
  readonly message: string;
  /** Where each version stands now; empty for manifest fields. */
  readonly kept: readonly string[];
}

export interface MergedFile {
  readonly path: string;
  readonly executable: boolean;
  readonly isFolder: boolean;
  readonly read: () => Promise<Uint8Array>;
}

export interface Merged {
  readonly manifest: Manifest;
  readonly files: readonly MergedFile[];
  readonly conflicts: readonly Conflict[];
}

interface Side {
  readonly number: number;
  readonly content: OpenedContent;
  readonly entries: ReadonlyMap<string, ContentEntry>;
  readonly record: SplitRecord | null;
  /** Whether what the part was given is in it. */
  readonly carriesTree: boolean;
}

export interface MergeOptions {
  readonly newId: () => string;
  /** Accepts that some parts of a split are not there. */
  readonly partial?: boolean;
}

export async function mergeContents(contents: readonly OpenedContent[], options: MergeOptions): Promise<Merged> {
  const sides = await Promise.all(contents.map((content, index) => sideOf(content, index)));
  sides.sort((a, b) => a.number - b.number);
  assertBelongTogether(sides, options);
  const conflicts: Conflict[] = [];
  const files: MergedFile[] = [];
  let isChanged = false;
  const isDelivery = assertOneKind(sides);
  const results = isDelivery ? await readResults(sides) : null;
  const taken = new Set(sides.flatMap(({ entries }) => [...entries.keys()]));
  const given = sides.flatMap(({ record, carriesTree }) => (carriesTree ? Object.keys(record?.base ?? {}) : []));
  const paths = new Set([...taken, ...given]);
  for (const path of [...paths].sort(byBytes)) {
    if (path === RESULT_FILE && results !== null) continue;
    const outcome = mergePath(path, sides, taken);
    isChanged ||= outcome.isChanged;
    files.push(...outcome.files);
    if (outcome.conflict !== null) conflicts.push(outcome.conflict);
  }
  const result = results === null ? null : mergeDeliveries(results, wholeOf(sides));
  if (result !== null) conflicts.push(...deletionConflicts(result));
  const manifest = mergeManifests(sides, conflicts, { isChanged, result, newId: options.newId });
  if (result !== null) files.push(resultFile(result, manifest));
  return { manifest, files, conflicts };
}

async function sideOf(content: OpenedContent, index: number): Promise<Side> {
  const record = recordOf(content.manifest);
  const entries = new Map((await content.entries()).map((entry) => [entry.path, entry]));
  const given = Object.keys(record?.base ?? {});
  // A packed delivery holds what was made, not what was given; that is not a deletion.
  const carriesTree = content.manifest.bundle_type !== "delivery" || given.some((path) => entries.has(path));
  return { number: record?.part_index ?? index + 1, content, entries, record, carriesTree };
}

/** Whether all are deliveries. Finished work and untouched parts are not the same thing. */
function assertOneKind(sides: readonly Side[]): boolean {
  const isDelivery = ({ content }: Side) => content.manifest.bundle_type === "delivery";
  const odd = sides.find((side) => isDelivery(side) !== isDelivery(sides[0]!));
  if (odd === undefined) return isDelivery(sides[0]!);
  const kinds = [sides[0]!, odd].map(({ content: { path, manifest } }) => `${path} is a ${manifest.bundle_type}`);
  throw new NutError("MERGE_STRANGER", `${kinds.join(", ")}: parts are merged when all of them are the same`, {
    hint: `nexus run ${shellWord((isDelivery(odd) ? sides[0]! : odd).content.path)} makes a delivery of a part`,
  });
}

/** What is known of the whole: the files it had, and its digest. */
function wholeOf(sides: readonly Side[]): Whole | null {
  const records = sides.flatMap(({ record }) => record ?? []);
  if (records.length === 0) return null;
  const had = new Set(records.flatMap(({ base }) => Object.keys(base)));
  return { had: (path) => had.has(path), digest: records[0]!.parent_digest };
}

/** What one part deleted and another delivers. */
function deletionConflicts({ artifacts = {} }: Delivery): Conflict[] {
  const { files_created: made = [], files_modified: changed = [], files_deleted: gone = [] } = artifacts;
  const there = new Set([...made, ...changed].map(({ path }) => bare(path)));
  return gone
    .filter(({ path }) => there.has(bare(path)))
    .map(({ path }) => ({ path, message: "deleted by one part and delivered by another", kept: [] }));
}

/** Another tool's record may lack what ours holds; then there is no base to compare with. */
function recordOf(manifest: Manifest): SplitRecord | null {
  const record = manifest.extensions?.split as Partial<SplitRecord> | undefined;
  if (typeof record !== "object" || record === null || typeof record.part_index !== "number") return null;
  const isOurs = typeof record.base === "object" && typeof record.manifest === "object";
  return isOurs ? (record as SplitRecord) : null;
}

function assertBelongTogether(sides: readonly Side[], { partial = false }: MergeOptions): void {
  const records = sides.flatMap(({ record }) => record ?? []);
  if (records.length === 0) return;
  const [{ parent_id: parent, part_total: total }] = records as [SplitRecord];
  const [{ split_id: split }] = records as [SplitRecord];
  const stranger = sides.find(({ record }) => record?.parent_id !== parent);
  if (stranger !== undefined) {
    throw new NutError("MERGE_STRANGER", `${stranger.content.path} is not a part of ${parent}`, {
      hint: `nutshell diff ${shellWord(sides[0]!.content.path)} ${shellWord(stranger.content.path)}`,
    });
  }
  const other = sides.find(({ record }) => record?.split_id !== split || record?.part_total !== total);
  if (other !== undefined) {
    throw new NutError("MERGE_STRANGER", `${other.content.path} is a part of another split of ${parent}`, {
      hint: "merge parts that one nutshell split made",
    });
  }
  const numbers = records.map(({ part_index }) => part_index);
  const double = numbers.find((number, index) => numbers.indexOf(number) !== index);
  if (double !== undefined)
    throw new NutError("MERGE_STRANGER", `part ${double} is given twice`, {
      hint: "name every part once",
      data: { part: double },
    });
  const missing = Array.from({ length: total }, (_, i) => i + 1).filter((number) => !numbers.includes(number));
  if (missing.length > 0 && !partial) {
    throw new NutError(
      "MERGE_PART_MISSING",
      `part ${missing.join(", ")} of ${total} is not given, its files would be lost`,
      {
        hint: "name every part, or add --partial to merge those you have",
        data: { missing },
      },
    );
  }
}

interface PathOutcome {
  readonly files: readonly MergedFile[];
  readonly conflict: Conflict | null;
  readonly isChanged: boolean;
}

const DELETED = "deleted";

function mergePath(path: string, sides: readonly Side[], taken: Set<string>): PathOutcome {
  const base = sides.map((side) => givenVersion(side, path)).find((version) => version !== undefined);
  const versions = sides.flatMap((side) => {
    const entry = side.entries.get(path);
    if (entry !== undefined) return [{ side, version: versionOf(entry) }];
    return givenVersion(side, path) === undefined ? [] : [{ side, version: DELETED }];
  });
  const changes = versions.filter(({ version }) => version !== base);
  const distinct = changes.filter(({ version }, i) => changes.findIndex((other) => other.version === version) === i);
  if (distinct.length <= 1) {
    const { side, version } = distinct[0] ?? versions[0]!;
    const files = version === DELETED ? [] : [fileOf(side, path, path)];
    return { files, conflict: null, isChanged: distinct.length === 1 && base !== undefined };
  }
  const versionsLeft = distinct.filter(({ version }) => version !== DELETED);
  const files = versionsLeft.map(({ side }, i) =>
    fileOf(side, path, i === 0 ? path : freeName(path, side.number, taken)),
  );
  // Logs of two agents are two logs, not a disagreement.
  if (path.startsWith("delivery/logs/")) return { files, conflict: null, isChanged: true };
  const who = distinct.map(({ side, version }) => `part ${side.number}${version === DELETED ? " (deleted)" : ""}`);
  const conflict = {
    path,
    message: `changed differently by ${who.join(" and ")}`,
    kept: files.map((file) => file.path),
  };
  return { files, conflict, isChanged: true };
}

/** A file may be called `constructor`: only what the record itself holds counts. */
function givenVersion({ record, carriesTree }: Side, path: string): string | undefined {
  return record !== null && carriesTree && Object.hasOwn(record.base, path) ? record.base[path] : undefined;
}

function freeName(path: string, part: number, taken: Set<string>): string {
  let name = `${path}.part-${part}`;
  while (taken.has(name)) name += "-";
  taken.add(name);
  return name;
}

function fileOf({ content, entries }: Side, from: string, path: string): MergedFile {
  const { kind, executable } = entries.get(from)!;
  return { path, executable, isFolder: kind === "folder", read: () => content.read(from) };
}

async function readResults(sides: readonly Side[]): Promise<Delivery[]> {
  const results: Delivery[] = [];
  for (const { content } of sides) {
    const result = content.files.has(RESULT_FILE)
      ? parseResult(await content.read(RESULT_FILE))
      : (content.manifest as unknown as Delivery);
    if (typeof result !== "string") results.push(result);
    else
      throw new NutError("MANIFEST_INVALID", `${content.path}: ${RESULT_FILE}: ${result}`, {
        hint: `nutshell validate ${shellWord(content.path)}`,
      });
  }
  return results;
}

function resultFile(result: Delivery, { id, request_id }: Manifest): MergedFile {
  const document = { ...result, id, ...(request_id === undefined ? {} : { request_id, parent_id: request_id }) };
  const bytes = Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
  return { path: RESULT_FILE, executable: false, isFolder: false, read: async () => bytes };
}

interface ManifestFacts {
  readonly isChanged: boolean;
  readonly result: Delivery | null;
  readonly newId: () => string;
}

/** Fields that say which bundle this is, or that a delivery fills in: never carried from one part to the whole. */
const OWN_FIELDS = new Set(
  "id parent_id request_id bundle_type created_at extensions files compression completeness status summary completed_at deliverer completion_percentage artifacts acceptance_results execution_log".split(
    " ",
  ),
);

function mergeManifests(
  sides: readonly Side[],
  conflicts: Conflict[],
  { isChanged, result, newId }: ManifestFacts,
): Manifest {
  const first = sides[0]!;
  if (first.record === null) {
    const { files: _, compression: __, completeness: ___, ...rest } = first.content.manifest;
    return { ...rest, id: newId(), parent_id: rest.id };
  }
  const parent = first.record.manifest;
  if (result !== null && sides.every(({ carriesTree }) => !carriesTree)) return deliveryOf(parent, result, newId());
  const merged: Record<string, unknown> = { ...parent };
  const changed = new Map<string, string>();
  for (const { content, record, number } of sides) {
    const given: Record<string, unknown> = givenManifest(record!.manifest, record!);
    for (const [field, value] of Object.entries(content.manifest)) {
      const text = JSON.stringify(value);
      if (OWN_FIELDS.has(field) || text === JSON.stringify(given[field])) continue;
      const before = changed.get(field);
      if (before === undefined) merged[field] = value;
      else if (before !== text) {
        conflicts.push({ path: field, message: `manifest field set differently by part ${number}`, kept: [] });
      }
      changed.set(field, before ?? text);
    }
  }
  if (result === null && !isChanged && changed.size === 0) return parent;
  const whole = { ...(merged as Manifest), id: newId(), parent_id: parent.id };
  return result === null ? whole : { ...whole, bundle_type: "delivery", request_id: parent.id, status: result.status };
}

/** The manifest of packed deliveries put together: what was asked is the whole's. */
function deliveryOf(parent: Manifest, result: Delivery, id: string): Manifest {
  const { title, summary } = parent.task ?? {};
  return {
    nutshell_version: parent.nutshell_version,
    bundle_type: "delivery",
    id,
    request_id: parent.id,
    parent_id: parent.id,
    task: { ...(title === undefined ? {} : { title }), ...(summary === undefined ? {} : { summary }) },
    ...(parent.tags?.domains === undefined ? {} : { tags: { domains: parent.tags.domains } }),
    status: result.status,
  } as Manifest;
}
