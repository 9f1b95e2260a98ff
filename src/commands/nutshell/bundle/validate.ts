import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { z } from "zod";
import {
  contentFindings,
  hashEntries,
  isNewer,
  judgeTree,
  listFolder,
  MAX_MANIFEST_BYTES,
  openBundle,
  parseManifest,
  readManifest,
} from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { count, dim, green, red, yellow } from "../../../cli/text.js";
import { type ErrorCode, type Finding, NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { bundleSource } from "../../../request/open/target.js";
import { dirWords } from "../../../request/vault/vault-folder.js";
import { FindingShape } from "../../../schema/finding.js";
import { unpackFirst } from "../flags.js";
import { LIMIT_FLAGS, limitsOf } from "../pack-flags.js";

/** What is judged rather than refused: a bundle that is damaged or unsafe is invalid, and saying so is the answer. */
const JUDGED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "BUNDLE_BAD_MAGIC",
  "BUNDLE_CORRUPT",
  "BUNDLE_LIMIT",
  "BUNDLE_MISMATCH",
  "BUNDLE_UNSAFE_ENTRY",
  "BUNDLE_UNSAFE_PATH",
  "MANIFEST_INVALID",
  "MANIFEST_MISSING",
  "MANIFEST_NEWER",
  "SOURCE_UNSAFE",
]);

export default command({
  name: "validate",
  summary: "check a bundle, folder or manifest against the specification",
  input: z.object({
    target: positional(z.string().default("."), {
      about: "a .nut file, a folder, a manifest (.json), or - (default: here)",
    }),
    ...LIMIT_FLAGS,
  }),
  output: z.object({
    valid: z.boolean(),
    errors: z.array(z.string()),
    warnings: z.array(z.string()),
    findings: z.array(FindingShape),
  }),
  about: ["Reads everything, changes nothing. A damaged or unsafe bundle is an answer (no), not a failure."],
  examples: [
    ["nutshell validate task.nut", "archive, hashes, schema, references"],
    ["nutshell validate --json ./my-task || exit 1", "in CI"],
  ],
  async run(input, context) {
    const findings = await findingsOf(input, context).catch((error: unknown) => {
      if (!(error instanceof NutError) || !JUDGED.has(error.code)) throw error;
      const path = typeof error.data.path === "string" ? error.data.path : input.target;
      return [{ code: error.code, severity: "error", path, message: error.message } satisfies Finding];
    });
    const told = findings.map((finding) => withFix(finding, input.target, context));
    const errors = messagesOf(findings, "error");
    return { valid: errors.length === 0, errors, warnings: messagesOf(findings, "warning"), findings: told };
  },
  text: ({ valid, findings, errors, warnings }) => [
    ...findings.map(({ severity, message, fix }) => {
      const mark = severity === "error" ? red("✗") : yellow("⚠");
      return `${mark} ${message}${fix === undefined ? "" : ` ${dim(`(${fix})`)}`}`;
    }),
    valid
      ? `${green("valid")}${warnings.length > 0 ? `, ${count(warnings.length, "warning")}` : ""}`
      : `${red("invalid")}: ${count(errors.length, "error")}`,
  ],
  exit: ({ valid }) => (valid ? 0 : 1),
});

interface Question {
  readonly target: string;
  readonly maxEntries?: number | undefined;
  readonly maxSize?: number | undefined;
}

async function findingsOf(input: Question, context: Context): Promise<Finding[]> {
  const source = bundleSource(input.target, context);
  if (typeof source !== "string") return findingsOfStream(source, input, context);
  const found = statSync(source, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new NutError("FILE_NOT_FOUND", `${source}: no such file or folder`, { data: { path: source } });
  }
  if (found.isDirectory()) return findingsOfFolder(source, context);
  if (found.isFile() && /\.json$/i.test(source)) {
    if (found.size > MAX_MANIFEST_BYTES) throw new NutError("BUNDLE_LIMIT", `${source}: too large for a manifest`);
    return findingsOfManifest(readFileSync(source), source);
  }
  return findingsOfBundle(source, input, context);
}

/** Standard input may hold a bundle or a manifest: the first bytes tell. */
async function findingsOfStream(stream: Readable, input: Question, context: Context): Promise<Finding[]> {
  const parts: Buffer[] = [];
  let size = 0;
  const pieces = stream[Symbol.asyncIterator]();
  while (size < 4) {
    const { value, done } = await pieces.next();
    if (done) break;
    const piece = Buffer.from(value as Uint8Array);
    parts.push(piece);
    size += piece.length;
  }
  const head = Buffer.concat(parts);
  const rest = Readable.from(
    (async function* () {
      yield head;
      yield* { [Symbol.asyncIterator]: () => pieces };
    })(),
  );
  if (!/^\s*[{[]/.test(head.toString("latin1"))) return findingsOfBundle(rest, input, context);
  const whole: Buffer[] = [];
  let length = 0;
  for await (const piece of rest as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MAX_MANIFEST_BYTES) throw new NutError("BUNDLE_LIMIT", "standard input is too large for a manifest");
    whole.push(piece);
  }
  return findingsOfManifest(Buffer.concat(whole), "-");
}

function findingsOfManifest(bytes: Buffer, path: string): Promise<Finding[]> {
  const manifest = parseManifest(bytes, { lenient: true, path });
  return contentFindings({ manifest, files: null, read: async () => new Uint8Array() });
}

async function findingsOfBundle(source: string | Readable, input: Question, context: Context): Promise<Finding[]> {
  const options = { limits: limitsOf(input), signal: context.signal, lenient: true, newer: true };
  const bundle = await openBundle(source, options);
  try {
    if (isNewer(bundle.manifest)) {
      const message = `format ${bundle.manifest.nutshell_version} is newer than this tool and cannot be judged`;
      return [{ code: "MANIFEST_NEWER", severity: "error", path: "nutshell_version", message }];
    }
    const archive = await bundle.verify();
    const damaged = archive.some(({ code }) => JUDGED.has(code as ErrorCode) && code !== "MANIFEST_INVALID");
    const files = damaged ? null : new Map((await bundle.list()).map(({ path, size }) => [path, size]));
    const content = await contentFindings({ manifest: bundle.manifest, files, read: (path) => bundle.read(path) });
    const schema = new Set(content.map(({ message }) => message));
    return [...content, ...archive.filter(({ message }) => !schema.has(message))];
  } finally {
    await bundle.close();
  }
}

/** In a folder a stale tree is a warning: packing rebuilds it. */
async function findingsOfFolder(folder: string, context: Context): Promise<Finding[]> {
  const manifest = readManifest(folder, { lenient: true });
  const listing = listFolder(folder, { signal: context.signal });
  const findings = await contentFindings({
    manifest,
    files: new Map(listing.entries.map(({ path, size }) => [path, size])),
    read: async (path) => readFileSync(join(resolve(folder), path)),
  });
  if (manifest.files?.tree === undefined) return findings;
  const files = hashEntries(folder, listing).filter((entry) => entry.hash !== undefined);
  const stale = judgeTree(manifest, files as { path: string; size: number; hash: string }[]).findings;
  return [...findings, ...stale.map((finding): Finding => ({ ...finding, severity: "warning", fix: "nutshell pack" }))];
}

/** What is to be done, said of what was looked at: a folder is changed, a packed bundle unpacked first. */
function withFix(finding: Finding, target: string, { cwd }: Context): Finding {
  const { fix, code } = finding;
  if (fix === undefined) return finding;
  const path = target === "-" ? undefined : statSync(resolve(cwd, target), { throwIfNoEntry: false });
  if (path?.isDirectory() === true) return { ...finding, fix: `${fix}${dirWords(target)}` };
  if (/\.json$/i.test(target)) return { ...finding, fix: `${fix}${dirWords(dirname(target))}` };
  const first = unpackFirst(target);
  const dir = first.slice(first.indexOf(" -o ") + 4);
  const again = `nutshell pack --dir ${dir} -o ${target === "-" ? "'<file>.nut'" : shellWord(target)}`;
  return { ...finding, fix: code === "MANIFEST_NOT_FIRST" ? `${first} && ${again}` : first };
}

function messagesOf(findings: readonly Finding[], severity: Finding["severity"]): string[] {
  return findings.filter((finding) => finding.severity === severity).map(({ message }) => message);
}
