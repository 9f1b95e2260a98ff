// Packing as every command does it: list, judge, pack. `pack` and `compress` differ in what they tell, not in what
// they let through.
import { resolve } from "node:path";
import {
  type Compression,
  type Level,
  type Listing,
  listFolder,
  type Manifest,
  type Packed,
  packFolder,
  readManifest,
} from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import type { Context } from "../operation.js";
import { defaultName } from "./default-name.js";

export interface PackRequest {
  readonly dir: string;
  readonly output?: string | undefined;
  readonly compression: Compression;
  readonly level: Level;
  readonly force: boolean;
}

export interface Prepared {
  readonly folder: string;
  readonly output: string;
  readonly manifest: Manifest;
  readonly listing: Listing;
}

/** What would be packed, and where to. */
export function prepare({ dir, output }: PackRequest, context: Context): Prepared {
  const folder = resolve(context.cwd, dir);
  const manifest = readManifest(folder);
  const target = resolve(context.cwd, output ?? defaultName(manifest.task?.title ?? ""));
  const listing = listFolder(folder, { exclude: [target], signal: context.signal });
  return { folder, output: target, manifest, listing };
}

export async function packBundle(request: PackRequest, context: Context): Promise<Packed> {
  const prepared = prepare(request, context);
  const completeness = judge(prepared);
  if (completeness?.status === "incomplete" && !request.force) throw incomplete(request, completeness.missing ?? []);
  return packFolder(prepared.folder, {
    output: prepared.output,
    compression: request.compression,
    level: request.level,
    manifest: prepared.manifest,
    listing: prepared.listing,
    completeness,
    signal: context.signal,
    onProgress: ({ done, total }) => context.progress({ type: "entry_packed", message: "packing", done, total }),
  });
}

/** Only what packing cannot do without, until the full judgement is asked. */
function judge({ manifest }: Prepared): Manifest["completeness"] {
  const needsTitle = manifest.bundle_type !== "delivery" && (manifest.task?.title ?? "").trim() === "";
  return needsTitle ? { status: "incomplete", missing: ["task.title is empty"] } : manifest.completeness;
}

function incomplete({ dir }: PackRequest, missing: readonly string[]): NutError {
  const more = missing.length > 1 ? ` (and ${missing.length - 1} more)` : "";
  return new NutError("BUNDLE_INCOMPLETE", `the bundle is incomplete: ${missing[0] ?? "see check"}${more}`, {
    hint: `nutshell check --dir ${dir} says what to do; --force packs it as it is`,
    data: { missing },
  });
}
