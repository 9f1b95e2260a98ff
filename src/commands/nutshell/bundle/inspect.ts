import { z } from "zod";
import {
  type Bundle,
  estimateTokens,
  isNewer,
  MANIFEST_NAME,
  type Manifest,
  openBundle,
  treeRows,
} from "../../../bundle/index.js";
import type { Finding } from "../../../errors.js";
import { type Context, operation } from "../../../operation.js";
import { bundleSource, FindingShape, LimitInput, limitsOf } from "../../../request/shapes.js";

export const InspectInput = z.object({
  bundle: z.string().describe("path to a .nut file, or - for standard input"),
  manifestOnly: z.boolean().default(false).describe("read no further than the manifest; entries are then its own list"),
  ...LimitInput,
});

export const InspectedEntry = z.object({
  path: z.string(),
  kind: z.enum(["file", "folder"]),
  size: z.int(),
  hash: z.string().optional(),
  role: z.string().optional(),
  executable: z.boolean().optional(),
  tokens: z.int().optional().describe("an estimate; absent for what is not text"),
});

export const InspectOutput = z.object({
  manifest: z.record(z.string(), z.unknown()),
  entries: z.array(InspectedEntry),
  compression: z.string(),
  complete: z.boolean().describe("false: entries are what the manifest says, the archive was not read"),
  content_digest: z.string().optional(),
  findings: z.array(FindingShape),
});

type Entry = z.infer<typeof InspectedEntry>;

export const inspect = operation({
  name: "bundle_inspect",
  summary: "show what a bundle holds without unpacking it",
  input: InspectInput,
  output: InspectOutput,
  async run(input, context) {
    const bundle = await openBundle(bundleSource(input.bundle, context), {
      limits: limitsOf(input),
      signal: context.signal,
      lenient: true,
      newer: true,
    });
    try {
      const { manifest, compression } = bundle;
      const common = { manifest: manifest as Record<string, unknown>, compression };
      const findings = versionFindings(manifest);
      if (input.manifestOnly) return { ...common, entries: claimedEntries(manifest), complete: false, findings };
      const entries = await realEntries(bundle, context);
      findings.push(...(await bundle.verify()));
      return { ...common, entries, complete: true, content_digest: await bundle.contentDigest(), findings };
    } finally {
      await bundle.close();
    }
  },
});

function versionFindings(manifest: Manifest): Finding[] {
  if (!isNewer(manifest)) return [];
  const message = `format ${manifest.nutshell_version} is newer than this tool: look, but do not work on it`;
  return [{ code: "MANIFEST_NEWER", severity: "warning", path: "nutshell_version", message }];
}

function claimedEntries(manifest: Manifest): Entry[] {
  return treeRows(manifest).map(({ path, size, hash, role }) => ({ path, kind: "file", size, hash, role }));
}

/** One pass gives the list with its hashes; a second, over what is text, the tokens. */
async function realEntries(bundle: Bundle, context: Context): Promise<Entry[]> {
  const listed = await bundle.list();
  const roles = new Map(treeRows(bundle.manifest).map(({ path, role }) => [path, role]));
  const tokens = new Map<string, number>([[MANIFEST_NAME, estimateTokens(bundle.manifestBytes)]]);
  await bundle.each(({ path, kind }) => {
    if (kind === "folder") return null;
    context.signal.throwIfAborted();
    let count: number | undefined = 0;
    return {
      chunk: (bytes) => {
        if (count !== undefined) count = bytes.includes(0) ? undefined : count + estimateTokens(bytes);
      },
      end: () => {
        if (count !== undefined) tokens.set(path, count);
      },
    };
  });
  return listed.map((entry) => ({ ...entry, role: roles.get(entry.path), tokens: tokens.get(entry.path) }));
}
