import { readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import {
  newBundleId,
  type Part,
  partManifest,
  SplitPlan,
  splitByCount,
  splitByFolder,
  splitByPlan,
} from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { count, cyan } from "../../../cli/text.js";
import { fromSystemError, NutError, shellWord } from "../../../errors.js";
import { parseJson } from "../../../files/index.js";
import type { Context } from "../../../operation.js";
import { makeFolders } from "../../../request/new-folder.js";
import { folderTarget, openTarget } from "../../../request/target.js";
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
    parts: z.array(z.object({ path: z.string(), id: z.string(), title: z.string(), files: z.int() })),
    shared: z.int().describe("files that every part holds"),
  }),
  about: [
    "What lies under files/ is shared out; context, tests and everything else goes to every part. Each part is a task of its own that remembers what it was given, so that nutshell merge can put the work together.",
    'A plan looks like this: {"parts": [{"title": "Reader", "files": ["files/csv/"]}, {"files": ["files/report/"]}]}',
  ],
  examples: [
    ["nutshell split my-task -n 3", "my-task-part-1, -2 and -3"],
    ["nutshell split my-task --plan parts.json", "as the plan says"],
  ],
  async run({ count, byFolder, plan, output, ...named }, context) {
    const { path } = folderTarget(namedFolder(named), context);
    const content = await openTarget(path, context);
    try {
      const entries = await content.entries();
      const parts = chooseParts({ count, byFolder, plan }, entries, context);
      const stem =
        output === undefined ? join(dirname(path), basename(path).replace(/\.nut$/, "")) : resolve(context.cwd, output);
      const given = parts.map(({ paths }) => new Set(paths));
      const folders = parts.map((part, i) => ({
        target: `${stem}-part-${i + 1}`,
        manifest: partManifest(content.manifest, part, entries, {
          id: newBundleId(),
          index: i + 1,
          total: parts.length,
        }),
        files: entries
          .filter(({ path: name }) => given[i]!.has(name))
          .map((entry) => ({ ...entry, isFolder: entry.kind === "folder", read: () => content.read(entry.path) })),
      }));
      await makeFolders(folders, context.signal);
      const everywhere = entries.filter((entry) => given.every((paths) => paths.has(entry.path)));
      return {
        parts: folders.map(({ target, manifest, files }) => ({
          path: target,
          id: manifest.id,
          title: manifest.task?.title ?? "",
          files: files.length,
        })),
        shared: everywhere.length,
      };
    } finally {
      await content.close();
    }
  },
  text: ({ parts, shared }) => [
    `${count(parts.length, "part")}, ${count(shared, "file")} in each of them`,
    ...parts.map(({ path, files }) => `  ${path}  ${count(files, "file")}`),
    "",
    `Later: ${cyan(`nutshell merge ${parts.map(({ path }) => shellWord(path)).join(" ")} -o <dir>`)}`,
  ],
});

interface Choice {
  readonly count: number | undefined;
  readonly byFolder: boolean;
  readonly plan: string | undefined;
}

function chooseParts(
  { count, byFolder, plan }: Choice,
  entries: Parameters<typeof splitByCount>[0],
  context: Context,
): Part[] {
  const ways = [count !== undefined, byFolder, plan !== undefined].filter(Boolean).length;
  if (ways !== 1) {
    throw new NutError("USAGE", "say how to split: -n <n>, --by-folder or --plan <file>", {
      hint: "nutshell split -n 2",
    });
  }
  if (count !== undefined) return splitByCount(entries, count);
  return byFolder ? splitByFolder(entries) : splitByPlan(entries, readPlan(resolve(context.cwd, plan!)));
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
