import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import {
  type CriterionText,
  contentDigest,
  criteriaOfParts,
  DEFAULT_CRITERIA,
  type Manifest,
  newBundleId,
  type OpenedContent,
  type Part,
  partManifest,
  SplitPlan,
  type SplitRecord,
  splitByCount,
  splitByFolder,
  splitByPlan,
} from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { count, cyan } from "../../../cli/text.js";
import { fromSystemError, NutError, shellWord } from "../../../errors.js";
import { isNestedDeeper, parseJson } from "../../../files/index.js";
import type { Context } from "../../../operation.js";
import { bundleDigest } from "../../../request/consent/consent.js";
import { folderTarget, openTarget } from "../../../request/open/target.js";
import { makeFolders } from "../../../request/pack/new-folder.js";
import { Criteria, type Criterion } from "../../../schema/criteria.js";
import { mismatchLine } from "../../../schema/mismatch.js";
import { FOLDER_OR_DIR, namedFolder } from "../flags.js";

const MAX_PARTS = 100;

export default command({
  name: "split",
  summary: "take a task apart for several agents",
  input: z.object({
    ...FOLDER_OR_DIR,
    count: flag(z.coerce.number().int().min(2).max(MAX_PARTS).optional(), {
      short: "n",
      value: "<n>",
      about: "so many parts, about the same size each",
    }),
    byFolder: flag(z.boolean().default(false), { about: "one part for each folder under files/" }),
    plan: flag(z.string().optional(), { value: "<file>", about: "a JSON file that names the parts and their files" }),
    output: flag(z.string().optional(), {
      short: "o",
      value: "<name>",
      about: "parts are <name>-part-1 and so on (default: the folder's name)",
    }),
  }),
  output: z.object({
    parts: z.array(
      z.object({
        path: z.string(),
        id: z.string(),
        title: z.string(),
        files: z.int(),
        criteria: z.array(z.string()).describe("what this part must meet"),
      }),
    ),
    shared: z.int().describe("files that every part holds"),
    whole: z.array(z.string()).describe("criteria that no part can meet alone; they are checked on the whole"),
  }),
  about: [
    "What lies under files/ is shared out; context, tests and everything else goes to every part. Each part is a request of its own that remembers what it was given, so that nutshell merge can put the work together. A criterion whose script names files of one part is that part's; one that names files of several is checked on the whole.",
    'A plan looks like this: {"parts": [{"title": "Reader", "files": ["files/csv/"], "criteria": ["AC-1"]}, {"files": ["files/report/"]}]}',
  ],
  examples: [
    ["nutshell split my-task -n 3", "my-task-part-1, -2 and -3"],
    ["nutshell split my-task --plan parts.json", "as the plan says"],
  ],
  async run({ count, byFolder, plan, output, ...named }, context) {
    const { path, label } = folderTarget(namedFolder(named), context);
    const content = await openTarget(path, context);
    try {
      const entries = await content.entries();
      const parts = chooseParts({ count, byFolder, plan, named: label }, entries, context);
      const stem =
        output === undefined ? join(dirname(path), basename(path).replace(/\.nut$/, "")) : resolve(context.cwd, output);
      const given = parts.map(({ paths }) => new Set(paths));
      const [splitId, digest] = [newBundleId(), await digestOf(path, context)];
      const criteria = criteriaOfParts(await criterionTexts(content), parts);
      const folders = parts.map((part, i) => ({
        target: `${stem}-part-${i + 1}`,
        manifest: partManifest(content.manifest, part, entries, {
          id: newBundleId(),
          splitId,
          digest,
          criteria: criteria[i],
          index: i + 1,
          total: parts.length,
        }),
        files: entries
          .filter(({ path: name }) => given[i]!.has(name))
          .map(({ path: name, kind, size, executable, hash }) => ({
            path: name,
            kind,
            size,
            executable,
            hash,
            isFolder: kind === "folder",
            read: () => content.read(name),
          })),
      }));
      await makeFolders(folders, context.signal);
      const allCriteria = (await criterionTexts(content)).map(({ id }) => id);
      const answered = folders.map(({ manifest }) => recordedCriteria(manifest)).map((ids) => ids && new Set(ids));
      const everywhere = entries.filter((entry) => given.every((paths) => paths.has(entry.path)));
      return {
        parts: folders.map(({ target, manifest, files }) => ({
          path: target,
          id: manifest.id,
          title: manifest.task?.title ?? "",
          files: files.length,
          criteria: [...(recordedCriteria(manifest) ?? allCriteria)],
        })),
        shared: everywhere.length,
        whole: allCriteria.filter((one) => answered.every((ids) => ids?.has(one) === false)),
      };
    } finally {
      await content.close();
    }
  },
  text: ({ parts, shared, whole }) => [
    `${count(parts.length, "part")}, ${count(shared, "file")} in each of them`,
    ...parts.map(({ path, files, criteria }) => `  ${path}  ${count(files, "file")}${meets(criteria)}`),
    ...(whole.length === 0 ? [] : [`  for the whole, once it is merged: ${whole.join(", ")}`]),
    "",
    `Each is a request: ${cyan(`nexus run ${shellWord(parts[0]!.path)} -o part-1.nut`)}`,
    `Later: ${cyan("nutshell merge part-1.nut part-2.nut … -o '<dir>'")}`,
  ],
});

const meets = (criteria: readonly string[]): string => (criteria.length === 0 ? "" : `, meets ${criteria.join(", ")}`);

const recordedCriteria = ({ extensions }: Manifest): readonly string[] | undefined =>
  (extensions?.split as SplitRecord | undefined)?.criteria;

async function digestOf(path: string, context: Context): Promise<string> {
  return statSync(path).isDirectory() ? contentDigest(path) : bundleDigest(path, [], context);
}

/** Every criterion with all that is written about it: its command, and the scripts it names. */
async function criterionTexts({ manifest, files, read }: OpenedContent): Promise<CriterionText[]> {
  const { criteria_file: file = DEFAULT_CRITERIA, test_scripts: scripts = [] } = manifest.acceptance ?? {};
  const known = new Map<string, Promise<string>>();
  const textOf = (path: string | undefined): Promise<string> => {
    if (path === undefined || !files.has(path)) return Promise.resolve("");
    const text = known.get(path) ?? read(path).then((bytes) => Buffer.from(bytes).toString("utf8"));
    known.set(path, text);
    return text;
  };
  const parsed = Criteria.safeParse(parseJsonOrNull(await textOf(file)));
  const criteria = parsed.success ? parsed.data.criteria : [];
  const used = new Set(criteria.map(({ script }) => script));
  const rest = scripts.filter((script) => !used.has(script));
  const all: Criterion[] = [...criteria, ...rest.map((script) => ({ id: script, type: "shell", script }))];
  return Promise.all(
    all.map(async (one) => {
      const texts = await Promise.all([one.script, one.start, one.setup].map(textOf));
      return { id: one.id, texts: [JSON.stringify(one), ...texts], after: one.after ?? [] };
    }),
  );
}

function parseJsonOrNull(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isNestedDeeper(value) ? null : value;
  } catch {
    return null;
  }
}

interface Choice {
  readonly count: number | undefined;
  readonly byFolder: boolean;
  readonly plan: string | undefined;
  /** The task as it was named; absent for the current folder. */
  readonly named: string | undefined;
}

function chooseParts(
  { count, byFolder, plan, named }: Choice,
  entries: Parameters<typeof splitByCount>[0],
  context: Context,
): Part[] {
  const ways = [count !== undefined, byFolder, plan !== undefined].filter(Boolean).length;
  if (ways !== 1) {
    throw new NutError("USAGE", "say how to split: -n <n>, --by-folder or --plan <file>", {
      hint: `nutshell split${named === undefined ? "" : ` ${shellWord(named)}`} -n 2`,
    });
  }
  if (count !== undefined) return splitByCount(entries, count);
  if (byFolder) return splitByFolder(entries, named);
  return splitByPlan(entries, readPlan(resolve(context.cwd, plan!)), named);
}

const PLAN_HINT = 'a plan is {"parts":[{"title":"…","files":["files/a/"]}]}';

function readPlan(path: string): SplitPlan {
  let value: unknown;
  try {
    value = parseJson(readFileSync(path));
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    throw fromSystemError(error, path) ?? new NutError("USAGE", `${path}: ${why}`, { hint: PLAN_HINT, data: { path } });
  }
  const parsed = SplitPlan.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new NutError("USAGE", `${path}: ${mismatchLine(parsed.error.issues[0]!)}`, {
    hint: PLAN_HINT,
  });
}
