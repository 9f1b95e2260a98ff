// What differs between two bundles: manifest fields, files, and for a delivery what became of its request's checklist.
import { byBytes, isText } from "../../files/index.js";
import { type Delivery, RESULT_FILE } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import { unifiedDiff } from "../../trees/diff-text.js";
import { parseResult } from "../check/completeness-delivery.js";
import type { ContentEntry, OpenedContent } from "./content.js";

export interface Difference {
  /** A dotted manifest field, `files.<path>`, or `acceptance.<item>`. */
  readonly field: string;
  /** Text on each side; empty where it is absent. */
  readonly a: string;
  readonly b: string;
  readonly kind: "added" | "removed" | "changed" | "acceptance";
  readonly path?: string;
  /** Unified diff of a changed text file, on demand. */
  readonly text?: readonly string[];
}

export interface DiffOptions {
  readonly text?: boolean;
}

export async function diffContents(
  a: OpenedContent,
  b: OpenedContent,
  options: DiffOptions = {},
): Promise<Difference[]> {
  return [
    ...diffManifests(a.manifest, b.manifest),
    ...(await diffFiles(a, b, options)),
    ...(await acceptanceRows(a, b)),
  ];
}

/** Pack computes these; files are compared one by one instead. */
const COMPUTED = new Set(["files", "compression", "completeness"]);

export function diffManifests(a: Manifest, b: Manifest): Difference[] {
  const [left, right] = [flatten(a), flatten(b)];
  const fields = [...new Set([...left.keys(), ...right.keys()])];
  return fields.flatMap((field) => difference(field, left.get(field), right.get(field)) ?? []);
}

function difference(field: string, a: string | undefined, b: string | undefined): Difference | null {
  if (a === b) return null;
  return { field, a: a ?? "", b: b ?? "", kind: a === undefined ? "added" : b === undefined ? "removed" : "changed" };
}

/** Dotted field → text. A list is one value: its order is part of its meaning. */
function flatten(manifest: Manifest): Map<string, string> {
  const flat = new Map<string, string>();
  const visit = (value: unknown, field: string) => {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (field !== "" || !COMPUTED.has(key)) visit(item, field === "" ? key : `${field}.${key}`);
      }
    } else if (value !== undefined) flat.set(field, typeof value === "string" ? value : canonical(value));
  };
  visit(manifest, "");
  return flat;
}

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([x], [y]) => byBytes(x, y)))
      : item,
  );
}

async function diffFiles(a: OpenedContent, b: OpenedContent, { text = false }: DiffOptions): Promise<Difference[]> {
  const [left, right] = [byPath(await a.entries()), byPath(await b.entries())];
  const rows: Difference[] = [];
  for (const path of [...new Set([...left.keys(), ...right.keys()])].sort(byBytes)) {
    const [before, after] = [left.get(path), right.get(path)];
    const row = difference(`files.${path}`, before && describe(before), after && describe(after));
    if (row === null) continue;
    const isTextWanted = text && before?.kind !== "folder" && after?.kind !== "folder";
    rows.push({ ...row, path, ...(isTextWanted ? { text: await textDiff(a, b, path) } : {}) });
  }
  return rows;
}

const byPath = (entries: readonly ContentEntry[]) => new Map(entries.map((entry) => [entry.path, entry]));

function describe({ kind, size, hash, executable }: ContentEntry): string {
  return kind === "folder" ? "empty folder" : `${size} bytes ${hash}${executable ? " executable" : ""}`;
}

async function textDiff(a: OpenedContent, b: OpenedContent, path: string): Promise<string[]> {
  const read = async (content: OpenedContent) => (content.files.has(path) ? content.read(path) : new Uint8Array());
  const [before, after] = [await read(a), await read(b)];
  if (!isText(before) || !isText(after)) return ["binary files differ"];
  return unifiedDiff(Buffer.from(before).toString("utf8"), Buffer.from(after).toString("utf8"));
}

/** Every point of the request's checklist, with what the delivery says about it. Other points it answers come last. */
async function acceptanceRows(a: OpenedContent, b: OpenedContent): Promise<Difference[]> {
  if (b.manifest.bundle_type !== "delivery" || a.manifest.bundle_type === "delivery") return [];
  const result = await resultOf(b);
  const answers = new Map((result?.acceptance_results?.checklist ?? []).map((each) => [each.item, each]));
  const asked = a.manifest.acceptance?.checklist ?? [];
  const row = (item: string): Difference => {
    const answer = answers.get(item);
    const b =
      answer === undefined
        ? "unanswered"
        : answer.evidence === undefined
          ? answer.status
          : `${answer.status} (${answer.evidence})`;
    return { field: `acceptance.${item}`, a: asked.includes(item) ? "required" : "", b, kind: "acceptance" };
  };
  return [...asked, ...[...answers.keys()].filter((item) => !asked.includes(item))].map(row);
}

async function resultOf(content: OpenedContent): Promise<Partial<Delivery> | null> {
  if (!content.files.has(RESULT_FILE)) return content.manifest as Partial<Delivery>;
  const result = parseResult(await content.read(RESULT_FILE));
  return typeof result === "string" ? null : result;
}
