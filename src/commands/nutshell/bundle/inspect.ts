import { resolve } from "node:path";
import { z } from "zod";
import {
  type Bundle,
  DEFAULT_CRITERIA,
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
import { aligned, bold, count, dim, red, size, table, yellow } from "../../../cli/text.js";
import { type Finding, grouped } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { bundleSource } from "../../../request/open/target.js";
import { unsealed } from "../../../request/pack/sealed.js";
import { subjectOf, vouchersOf } from "../../../request/signatures/signatures.js";
import { type VoucherRow, VoucherShape, voucherRow, voucherWords } from "../../../request/signatures/voucher-text.js";
import { Criteria } from "../../../schema/criteria.js";
import { Delivery, RESULT_FILE } from "../../../schema/delivery.js";
import { FindingShape } from "../../../schema/finding.js";
import { HiddenSummary } from "../../../schema/hidden.js";
import { SEALED_IDENTITY } from "../flags.js";
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
    ...SEALED_IDENTITY,
    ...LIMIT_FLAGS,
  }),
  output: z.object({
    manifest: z.record(z.string(), z.unknown()),
    entries: z.array(z.string()).describe("names, as other Nutshell tools list them"),
    details: z.array(Entry).describe("the same entries, with what is known of each"),
    criteria: z.array(z.object({ id: z.string(), type: z.string() })).describe("what decides whether the work is done"),
    delivery_status: z.string().optional().describe("what a delivery says of itself"),
    compression: z.string(),
    complete: z.boolean().describe("false: entries are what the manifest says, the archive was not read"),
    content_digest: z.string().optional(),
    signatures: z.array(VoucherShape).describe("who vouches for it; empty when the archive was not read"),
    findings: z.array(FindingShape),
  }),
  examples: [
    ["nutshell inspect task.nut", "what is asked, and every file with size, role and tokens"],
    ["nutshell inspect --manifest huge.nut", "at once, however large the bundle"],
    ["nutshell inspect sealed.nut --identity me.key", "a bundle sealed for you"],
    ["cat task.nut | nutshell inspect --json - | jq -r .manifest.task.title", "one field"],
  ],
  async run(input, context) {
    const source = await unsealed(bundleSource(input.bundle, context), input.identity, context);
    const bundle = await openBundle(source, {
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
        const details = claimedEntries(manifest);
        findings.push(...obeyedFindings(details));
        return { ...common, entries: names(details), details, criteria: [], complete: false, signatures: [], findings };
      }
      const details = await realEntries(bundle, context);
      findings.push(...(await bundle.verify()), ...obeyedFindings(details));
      return {
        ...common,
        entries: names(details),
        details,
        ...(await documentsOf(bundle, details)),
        complete: true,
        content_digest: await bundle.contentDigest(),
        signatures: await signaturesOf(input.bundle, bundle, context),
        findings,
      };
    } finally {
      await bundle.close();
    }
  },
  *text({ manifest, details, compression, complete, content_digest: digest, signatures, findings, ...documents }) {
    yield* head(manifest);
    yield* table([
      ["  Type:", `${line(manifest.bundle_type)}, format ${line(manifest.nutshell_version)}, ${compression}`],
      ["  Id:", line(manifest.id)],
      ...(digest === undefined ? [] : [["  Content:", digest]]),
      ...(complete ? signedRows(signatures) : []),
      ["  Files:", total(details)],
      ...aboutRows(manifest, documents),
      ...hiddenRow(manifest),
    ]);
    if (!complete) yield dim("  (as the manifest lists them; the archive was not read)");
    yield "";
    yield* tree(details);
    for (const { severity, message } of findings) yield `${severity === "error" ? red("✗") : yellow("⚠")} ${message}`;
  },
});

/** Of what came on standard input only what lies in the stream itself. */
async function signaturesOf(typed: string, bundle: Bundle, context: Context): Promise<VoucherRow[]> {
  const path = typed === "-" ? bundle.path : resolve(context.cwd, typed);
  return vouchersOf(path, subjectOf(bundle.manifest, await bundle.contentDigest()), context).map(voucherRow);
}

function signedRows(signatures: readonly VoucherRow[]): string[][] {
  if (signatures.length === 0) return [["  Signed:", dim("by nobody")]];
  return signatures.map((row, index) => [index === 0 ? "  Signed:" : "", voucherWords(row)]);
}

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
  const rows = treeRows(bundle.manifest).filter(({ role }) => role !== undefined);
  const roles = new Map(rows.map(({ path, role }) => [path, role]));
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
  return listed.map(({ path, kind, size: bytes, executable, hash }) => ({
    path,
    kind,
    size: bytes,
    executable,
    hash,
    role: roles.get(path),
    tokens: tokens.get(path),
  }));
}

function head(manifest: Record<string, unknown>): string[] {
  const task = (manifest.task ?? {}) as Record<string, unknown>;
  const title = line(task.title) || line(manifest.summary) || "(no title)";
  const priority = task.priority === undefined ? "" : ` ${dim(`[${line(task.priority)}]`)}`;
  return [`${bold(title)}${priority}`, ...(task.summary === undefined ? [] : [line(task.summary, LONGEST_SUMMARY)])];
}

interface Documents {
  readonly criteria: { id: string; type: string }[];
  readonly delivery_status?: string | undefined;
}

const names = (entries: readonly Entry[]): string[] => entries.map(({ path }) => path);

/** What the criteria and the result say. Content is data: what cannot be read says nothing. */
async function documentsOf(bundle: Bundle, entries: readonly Entry[]): Promise<Documents> {
  const { acceptance, bundle_type: kind } = bundle.manifest;
  const readable = new Set(entries.filter(({ size: bytes }) => bytes <= LARGEST_DOCUMENT).map(({ path }) => path));
  const read = async <T>(path: string, schema: z.ZodType<T>): Promise<T | null> => {
    if (!readable.has(path)) return null;
    try {
      return schema.parse(JSON.parse(Buffer.from(await bundle.read(path)).toString("utf8")));
    } catch {
      return null;
    }
  };
  const criteria = await read(acceptance?.criteria_file ?? DEFAULT_CRITERIA, Criteria);
  const result = kind === "delivery" ? await read(RESULT_FILE, Delivery) : null;
  const status = result?.status ?? (typeof bundle.manifest.status === "string" ? bundle.manifest.status : undefined);
  return {
    criteria: (criteria?.criteria ?? []).map(({ id, type }) => ({ id, type })),
    ...(status === undefined ? {} : { delivery_status: status }),
  };
}

const LARGEST_DOCUMENT = 4 * 1024 * 1024;

/** What a stranger must know before saying yes: who asks, under which rules, what decides, what it wants to open. */
function aboutRows(manifest: Record<string, unknown>, { criteria, delivery_status: status }: Documents): string[][] {
  const { publisher, harness, acceptance, credentials } = manifest as Partial<Record<string, Record<string, unknown>>>;
  const rows: [string, readonly string[]][] = [
    ["Status", status === undefined ? [] : [`${status}, says the delivery; nutshell verify says whether it is so`]],
    [
      "From",
      [
        [line(publisher?.name), line(publisher?.contact), line(publisher?.tool)]
          .filter((part) => part !== "")
          .join(", "),
      ],
    ],
    ["Deadline", [line(manifest.expires_at)]],
    ["Rules", some(list(harness?.constraints).map((rule) => line(rule)))],
    ["Done when", some(list(acceptance?.checklist).map((item) => line(item)))],
    ["Criteria", [some(criteria.map(({ id, type }) => `${line(id)} (${line(type)})`)).join(", ")]],
    ["Credentials", [some(list(credentials?.scopes).map(scopeWords)).join(", ")]],
  ];
  return rows.flatMap(([label, values]) =>
    values.filter((value) => value !== "").map((value, index) => [index === 0 ? `  ${label}:` : "", value]),
  );
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A stranger's text fits a page, however much of it there is; what is not shown is counted. */
const MOST_ITEMS = 40;
const LONGEST = 400;
const LONGEST_SUMMARY = 2_000;

function some(items: readonly string[]): string[] {
  const said = items.filter((item) => item !== "");
  if (said.length <= MOST_ITEMS) return said;
  return [...said.slice(0, MOST_ITEMS), `… and ${grouped(said.length - MOST_ITEMS)} more: --json shows all`];
}

function line(value: unknown, longest = LONGEST): string {
  const said = text(value).replace(/\s+/g, " ").trim();
  if (said.length <= longest) return said;
  return `${[...said.slice(0, longest)].slice(0, -1).join("")}… (${grouped(said.length)} characters)`;
}

function scopeWords(scope: unknown): string {
  const { name, access_level: access } = (scope ?? {}) as Record<string, unknown>;
  return access === undefined ? line(name) : `${line(name)} (${line(access)})`;
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
const tree = (entries: readonly Entry[]): Iterable<string> => aligned(() => treeRowsOf(entries));

function* treeRowsOf(entries: readonly Entry[]): Generator<string[]> {
  let open: readonly string[] = [];
  for (const entry of entries) {
    const steps = entry.path.split("/");
    const name = steps.pop()!;
    const folders = entry.kind === "folder" ? [...steps, name] : steps;
    let same = 0;
    while (same < folders.length && same < open.length && folders[same] === open[same]) same += 1;
    for (let depth = same; depth < folders.length; depth += 1) yield [`${indent(depth)}${folders[depth]}/`];
    open = folders;
    if (entry.kind === "folder") continue;
    const tokens = entry.tokens === undefined ? "" : `~${grouped(entry.tokens)} tokens`;
    yield [`${indent(steps.length)}${name}`, dim(size(entry.size)), dim(tokens), line(entry.role)];
  }
}

const indent = (depth: number) => "  ".repeat(depth + 1);
