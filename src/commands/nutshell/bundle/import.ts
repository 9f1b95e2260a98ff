import { join, resolve } from "node:path";
import { z } from "zod";
import { contentDigest, newBundleId } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, count, cyan, dim, red, yellow } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import {
  IMPORT_KINDS,
  type ImportedTask,
  type ImportKind,
  readCommitTree,
  readExercism,
  readGithubIssue,
  readHarbor,
  readOpenSpec,
  readSourceFolder,
  readSpecKit,
  readSwebench,
  readTerminalBench,
  readTextFile,
  requestOf,
  withTree,
} from "../../../import/index.js";
import type { Context } from "../../../operation.js";
import { makeFolders, type NewFile } from "../../../request/pack/new-folder.js";
import { recordUnpacked } from "../../../request/records/consent-record.js";
import { VERSION } from "../../../version.js";
import { gitUser } from "../git-user.js";

const LeftOutShape = z.object({ what: z.string(), why: z.string() });

const TaskShape = z.object({
  name: z.string(),
  title: z.string(),
  path: z.string().describe("folder of the request"),
  id: z.string(),
  language: z.string().nullable(),
  criteria: z.int(),
  licence: z.string().nullable().describe("as SPDX names it; null when nobody could tell"),
  licence_file: z.string().nullable(),
  oracle: z.string().nullable().describe("folder of the example solution, where one was asked for"),
  not_carried_over: z.array(LeftOutShape),
});

export default command({
  name: "import",
  summary: "make a request of somebody else's task",
  input: z.object({
    kind: positional(z.enum(IMPORT_KINDS), { about: `what it is: ${IMPORT_KINDS.join(", ")}` }),
    sources: positional(z.array(z.string().min(1)).min(1), { name: "source", about: "folders or files of tasks" }),
    output: flag(z.string().min(1).optional(), {
      short: "o",
      value: "<dir>",
      about: "the request's folder; with several sources the folder they go into (default: here, by name)",
    }),
    oracle: flag(z.string().min(1).optional(), {
      value: "<dir>",
      about: "keep the example solution there, out of the request",
    }),
    repo: flag(z.string().min(1).optional(), {
      value: "<dir>",
      about: "swebench: a local clone of the row's repository, which is only read",
    }),
    only: flag(z.array(z.string()).default([]), { value: "<id>", about: "swebench: this row of the file" }),
  }),
  output: z.object({
    tasks: z.array(TaskShape),
    failed: z.array(z.object({ source: z.string(), code: z.string(), message: z.string() })),
  }),
  about: [
    "Reads the task and runs nothing of it. What cannot be carried over is listed, here and in the request (extensions.import); its licence is kept. The request counts as a stranger's: before its checks run, you are asked.",
    "exercism: a folder of one exercise (python, javascript, rust, go, java, cpp). Its tests become criteria, with those switched on that the track switches off.",
    "terminal-bench, harbor: a folder with task.yaml or task.toml. The tree is what the image's working folder would hold and is known by its name (/app) in rooms; RUN lines are listed and not run.",
    "github-issue: JSON of `gh issue view --json title,body,labels,comments,url,author`. spec-kit, openspec: the folder of a feature or a change; what they ask for becomes points to judge.",
    "swebench: rows as JSON, a list of them, or one a line, with --repo. The request holds the repository at the row's commit with its tests, FAIL_TO_PASS and PASS_TO_PASS are criteria.",
    "The example solution is never part of the request. `nexus run --oracle <dir>` takes it for an agent's work.",
    "Exit status: 0 all imported, 1 some could not be, 2 none could.",
  ],
  examples: [
    ["nutshell import github-issue issue.json -o task", "an issue"],
    ["nutshell import terminal-bench hello-world -o task --oracle right", "a task for a terminal"],
    ["nutshell import swebench rows.jsonl --only <id> --repo shop -o task", "a row, with a clone"],
    ["nutshell import exercism exercises/practice/two-fer -o two-fer", "one exercise"],
    [
      "nutshell import exercism exercises/practice/* -o tasks --oracle oracles",
      "a track, with its solutions elsewhere",
    ],
  ],
  async run({ kind, sources, output, oracle, repo, only }, context) {
    const single = sources.length === 1;
    const found: { source: string; task: ImportedTask }[] = [];
    const failed: { source: string; code: string; message: string }[] = [];
    for (const source of sources) {
      try {
        for (const task of await readTasks(kind, resolve(context.cwd, source), { repo, only }, context))
          found.push({ source, task });
      } catch (error) {
        if (single || !(error instanceof NutError)) throw error;
        failed.push({ source, code: error.code, message: error.message });
      }
    }
    if (found.length === 0 && failed.length > 0) {
      throw new NutError("IMPORT_UNFIT", `none of the ${failed.length} could be imported: ${failed[0]!.message}`, {
        hint: "nutshell import --help",
        data: { failed },
      });
    }
    const alone = single && found.length === 1;
    assertDistinct(found.map(({ task }) => task.name));
    const publisher = await gitUser(context.cwd, context);
    const tasks: z.infer<typeof TaskShape>[] = [];
    for (const { task } of found) {
      const place = (folder: string | undefined) =>
        alone ? resolve(context.cwd, folder ?? task.name) : resolve(context.cwd, folder ?? ".", task.name);
      tasks.push(
        await write(
          task,
          { path: place(output), oracle: oracle === undefined ? null : place(oracle), publisher },
          context,
        ),
      );
      context.progress({ type: "task_imported", done: tasks.length, total: found.length });
    }
    return { tasks, failed };
  },
  text: ({ tasks, failed }) => [
    ...tasks.flatMap((task) => (tasks.length === 1 ? oneTask(task) : shortTask(task))),
    ...failed.map(({ source, message }) => `${red("✗")} ${source}: ${message}`),
    ...(tasks.length < 2
      ? []
      : ["", `${count(tasks.length, "task")} imported${failed.length === 0 ? "" : `, ${failed.length} not`}`]),
  ],
  exit: ({ failed }) => (failed.length === 0 ? 0 : 1),
});

const FOLDERS = {
  exercism: readExercism,
  harbor: readHarbor,
  "terminal-bench": readTerminalBench,
  "spec-kit": readSpecKit,
  openspec: readOpenSpec,
} as const;

interface Reading {
  readonly repo: string | undefined;
  readonly only: readonly string[];
}

async function readTasks(
  kind: ImportKind,
  path: string,
  { repo, only }: Reading,
  context: Context,
): Promise<readonly ImportedTask[]> {
  if (kind === "github-issue") return [readGithubIssue(readTextFile(path))];
  if (kind !== "swebench") return [FOLDERS[kind](readSourceFolder(path))];
  if (repo === undefined) {
    throw new NutError("USAGE", "a row of SWE-bench needs its repository: --repo <dir>", {
      hint: `nutshell import swebench ${shellWord(path)} --repo '<dir>'`,
    });
  }
  const tasks: ImportedTask[] = [];
  for (const row of readSwebench(readTextFile(path), only)) {
    const clone = resolve(context.cwd, repo);
    const { env, signal } = context;
    tasks.push(withTree(row, await readCommitTree({ clone, ...row.wants, env, signal })));
  }
  return tasks;
}

function assertDistinct(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new NutError("USAGE", `two of the tasks are called ${twice}`, {
    hint: "import them one by one, each with its own -o",
  });
}

interface Place {
  readonly path: string;
  readonly oracle: string | null;
  readonly publisher: string | undefined;
}

async function write(task: ImportedTask, { path, oracle, publisher }: Place, context: Context) {
  const createdAt = context
    .now()
    .toISOString()
    .replace(/\.\d{3}Z$/, "Z");
  const { manifest, files } = requestOf(task, { id: newBundleId(), createdAt, tool: `nutshell ${VERSION}`, publisher });
  const solution = oracle === null || task.oracle === null ? null : oracleFiles(task.oracle);
  await makeFolders(
    [
      { target: path, manifest, files: newFiles(files) },
      ...(solution === null ? [] : [{ target: oracle!, manifest: null, files: solution }]),
    ],
    context.signal,
  );
  // Its checks are a stranger's words, as those of an unpacked bundle are.
  recordUnpacked(path, contentDigest(path, { signal: context.signal }), context);
  return {
    name: task.name,
    title: task.title,
    path,
    id: manifest.id,
    language: task.language,
    criteria: task.criteria.length,
    licence: task.licence?.name ?? null,
    licence_file: task.licence?.file ?? null,
    oracle: solution === null ? null : oracle,
    not_carried_over: task.leftOut.map((each) => ({ ...each })),
  };
}

const newFiles = (files: ImportedTask["files"]): NewFile[] =>
  [...files].map(([path, { data, executable }]) => ({ path, executable, isFolder: false, read: async () => data }));

function oracleFiles({ files, script }: NonNullable<ImportedTask["oracle"]>): NewFile[] {
  const laid = newFiles(files).map((file) => ({ ...file, path: join("files", file.path) }));
  const solve = { data: script?.data ?? Buffer.from(LAY_OVER), executable: true };
  return [...laid, ...newFiles(new Map([["solve.sh", solve]]))];
}

/** The example as `nexus run --oracle` runs it: in the tree that is worked on. */
const LAY_OVER = `#!/bin/sh
# Lays the example solution over the tree it is started in.
set -e
cp -R "$(dirname "$0")/files/." .
`;

type Task = z.infer<typeof TaskShape>;

const licenceWords = ({ licence, licence_file: file }: Task): string =>
  licence === null && file === null
    ? yellow("no licence was found: ask its owner before you hand it on")
    : `licence: ${licence ?? "not recognised"}${file === null ? "" : ` (${file})`}`;

const oneTask = (task: Task): string[] => [
  `${bold("Imported")} ${task.title} into ${task.path}`,
  `  ${count(task.criteria, "criterion", "criteria")}; ${licenceWords(task)}`,
  ...(task.oracle === null ? [] : [`  example solution: ${task.oracle}`]),
  ...(task.not_carried_over.length === 0 ? [] : ["  not carried over as it was:"]),
  ...task.not_carried_over.map(({ what, why }) => dim(`    ${what}: ${why}`)),
  "",
  `Next: ${cyan(`nutshell check ${shellWord(task.path)}`)}`,
];

const shortTask = (task: Task): string[] => [
  `${task.name}: ${count(task.criteria, "criterion", "criteria")}; ${licenceWords(task)}; ${task.not_carried_over.length} not carried over as it was`,
];
