import { z } from "zod";
import {
  type Bundle,
  estimateTokens,
  isNewer,
  isObeyed,
  MANIFEST_NAME,
  type Manifest,
  openBundle,
  treeRows,
} from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, count, dim, grouped, red, size, table, yellow } from "../../../cli/text.js";
import type { Finding } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { bundleSource } from "../../../request/target.js";
import { FindingShape } from "../../../schema/finding.js";
import { HiddenSummary } from "../../../schema/hidden.js";
import { LIMIT_FLAGS, limitsOf } from "../pack-flags.js";

const Entry = z.object({
  path: z.string(),
  kind: z.enum(["file", "folder"]),
  size: z.int(),
  hash: z.string().optional(),
  role: z.string().optional(),
  executable: z.boolean().optional(),
  tokens: z.int().optional().describe("an estimate; absent for what is not text"),
});

type Entry = z.infer<typeof Entry>;

export default command({
  name: "inspect",
  summary: "show what a bundle holds",
  input: z.object({
    bundle: positional(z.string(), { about: "a .nut file, or - for standard input" }),
    manifestOnly: flag(z.boolean().default(false), {
      name: "manifest",
      about: "read no further than the manifest; files are then what it lists",
    }),
    ...LIMIT_FLAGS,
  }),
  output: z.object({
    manifest: z.record(z.string(), z.unknown()),
    entries: z.array(Entry),
    compression: z.string(),
    complete: z.boolean().describe("false: entries are what the manifest says, the archive was not read"),
    content_digest: z.string().optional(),
    findings: z.array(FindingShape),
  }),
  examples: [
    ["nutshell inspect task.nut", "what is asked, and every file with size, role and tokens"],
    ["nutshell inspect --manifest huge.nut", "at once, however large the bundle"],
    ["cat task.nut | nutshell inspect --json - | jq -r .manifest.task.title", "one field"],
  ],
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
      if (input.manifestOnly) {
        const entries = claimedEntries(manifest);
        return { ...common, entries, complete: false, findings: [...findings, ...obeyedFindings(entries)] };
      }
      const entries = await realEntries(bundle, context);
      findings.push(...(await bundle.verify()), ...obeyedFindings(entries));
      return { ...common, entries, complete: true, content_digest: await bundle.contentDigest(), findings };
    } finally {
      await bundle.close();
    }
  },
  text: ({ manifest, entries, compression, complete, content_digest: digest, findings }) => [
    ...head(manifest),
    ...table([
      ["  Type:", `${text(manifest.bundle_type)}, format ${text(manifest.nutshell_version)}, ${compression}`],
      ["  Id:", text(manifest.id)],
      ...(digest === undefined ? [] : [["  Content:", digest]]),
      ["  Files:", total(entries)],
      ...hiddenRow(manifest),
    ]),
    ...(complete ? [] : [dim("  (as the manifest lists them; the archive was not read)")]),
    "",
    ...tree(entries),
    ...findings.map(({ severity, message }) => `${severity === "error" ? red("✗") : yellow("⚠")} ${message}`),
  ],
});

function versionFindings(manifest: Manifest): Finding[] {
  if (!isNewer(manifest)) return [];
  const message = `format ${manifest.nutshell_version} is newer than this tool: look, but do not work on it`;
  return [{ code: "MANIFEST_NEWER", severity: "warning", path: "nutshell_version", message }];
}

function obeyedFindings(entries: readonly Entry[]): Finding[] {
  return entries
    .filter(({ path, kind }) => kind === "file" && isObeyed(path))
    .map(({ path }) => ({
      code: "PROGRAMS_OBEY",
      severity: "warning",
      path,
      message: `${path} is something programs obey; unpack sets it aside`,
    }));
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

function head(manifest: Record<string, unknown>): string[] {
  const task = (manifest.task ?? {}) as Record<string, unknown>;
  const title = text(task.title) || text(manifest.summary) || "(no title)";
  const priority = task.priority === undefined ? "" : ` ${dim(`[${text(task.priority)}]`)}`;
  return [`${bold(title)}${priority}`, ...(task.summary === undefined ? [] : [text(task.summary)])];
}

function hiddenRow({ acceptance }: Record<string, unknown>): string[][] {
  const parsed = HiddenSummary.safeParse((acceptance as Record<string, unknown> | undefined)?.hidden);
  if (!parsed.success) return [];
  const { count: checks, recipients, digest } = parsed.data;
  return [["  Hidden:", `${count(checks, "check")} for ${count(recipients, "key")}, ${digest}`]];
}

/** Lenient manifests may hold anything anywhere. */
function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

function total(entries: readonly Entry[]): string {
  const files = entries.filter(({ kind }) => kind === "file");
  const tokens = files.reduce((sum, { tokens: own = 0 }) => sum + own, 0);
  const bytes = files.reduce((sum, { size: own }) => sum + own, 0);
  return `${count(files.length, "file")}, ${size(bytes)}${tokens > 0 ? `, about ${count(tokens, "token")}` : ""}`;
}

/** Paths as a tree: each folder once, its content indented. */
function tree(entries: readonly Entry[]): string[] {
  const rows: string[][] = [];
  let open: readonly string[] = [];
  for (const entry of entries) {
    const steps = entry.path.split("/");
    const name = steps.pop()!;
    const folders = entry.kind === "folder" ? [...steps, name] : steps;
    let same = 0;
    while (same < folders.length && same < open.length && folders[same] === open[same]) same += 1;
    for (let depth = same; depth < folders.length; depth += 1) rows.push([`${indent(depth)}${folders[depth]}/`]);
    open = folders;
    if (entry.kind === "folder") continue;
    const tokens = entry.tokens === undefined ? "" : `~${grouped(entry.tokens)} tokens`;
    rows.push([`${indent(steps.length)}${name}`, dim(size(entry.size)), dim(tokens), entry.role ?? ""]);
  }
  return table(rows);
}

const indent = (depth: number) => "  ".repeat(depth + 1);
