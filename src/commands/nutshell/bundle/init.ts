import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import {
  type Issue,
  listFolder,
  MANIFEST_NAME,
  MAX_ISSUE_BYTES,
  newBundleId,
  newManifest,
  openContent,
  outline,
  parseIssue,
  readManifest,
  unpackBundle,
  writeManifest,
} from "../../../bundle/index.js";
import { findCoreFolder } from "../../../catalog/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { cyan } from "../../../cli/text.js";
import { fromSystemError, isSystemError, NutError, shellWord } from "../../../errors.js";
import { clearAway, makeFolder, temporaryName } from "../../../files/index.js";
import type { Context, Prompter } from "../../../operation.js";
import { sweepLeftovers } from "../../../process/index.js";
import { folderTarget } from "../../../request/open/target.js";
import { recordUnpacked } from "../../../request/records/consent-record.js";
import type { Manifest } from "../../../schema/manifest.js";
import { VERSION } from "../../../version.js";
import { FOLDER_OR_DIR, namedFolder } from "../flags.js";
import { gitUser } from "../git-user.js";

export default command({
  name: "init",
  summary: "start a task: a manifest to fill in",
  input: z.object({
    ...FOLDER_OR_DIR,
    folder: positional(FOLDER_OR_DIR.folder, {
      name: "dir",
      about: "the folder to start in; made when it is not there",
    }),
    yes: flag(z.boolean().default(false), { short: "y", about: "do not ask" }),
    from: flag(z.string().optional(), {
      value: "<template>",
      about: "start from bug-fix, feature, data-analysis, review, a .nut file or a folder",
    }),
    fromIssue: flag(z.string().optional(), {
      value: "<file>",
      about: "start from an issue: Markdown, or a tracker's JSON",
    }),
  }),
  output: z.object({ path: z.string(), id: z.string(), created: z.array(z.string()), label: z.string().optional() }),
  about: [
    "Writes nutshell.json and context/requirements.md with places to fill in; nothing that exists is touched. On a terminal it asks for title, summary, skills and what done means.",
  ],
  examples: [
    ["nutshell init --dir my-task", "a new task in my-task/"],
    ["nutshell init my-task --from bug-fix", "with the questions a bug fix has to answer"],
    ["nutshell init my-task --from api-template.nut", "from a template of your own"],
    ["nutshell init my-task --from-issue issue.md", "title, summary and checklist from an issue"],
  ],
  async run({ yes, from, fromIssue, ...named }, context) {
    if (from !== undefined && fromIssue !== undefined) {
      throw new NutError("USAGE", "--from and --from-issue cannot be combined", { hint: "nutshell init --help" });
    }
    const { path, label } = folderTarget(namedFolder(named), context);
    assertFree(join(path, MANIFEST_NAME));
    const facts = { id: newBundleId(), createdAt: wholeSeconds(context.now()), tool: `nutshell ${VERSION}` };
    const publisher = await gitUser(context.cwd, context);
    const issue = fromIssue === undefined ? null : readIssue(resolve(context.cwd, fromIssue));
    const ask = yes || issue !== null ? null : context.ask;
    if (from !== undefined) {
      const template = findTemplate(from, context.cwd);
      const begin = (found: Manifest) => answeredBegin(found, { ...facts, publisher }, ask);
      const created = await startFrom(template, path, begin, context);
      return { path, id: facts.id, created, label };
    }
    const answers = ask === null ? { publisher } : await interview(ask, publisher);
    const manifest =
      issue === null ? newManifest({ ...facts, ...answers }) : fromIssueText(issue, { ...facts, publisher });
    const requirements = join(path, "context/requirements.md");
    const created = [MANIFEST_NAME];
    let made: string | null = null;
    try {
      made = makeFolder(dirname(requirements)) ?? (existsSync(requirements) ? null : requirements);
      if (!existsSync(requirements)) {
        const text =
          issue === null || issue.body === "" ? outline(requirements) : `# ${issue.title}\n\n${issue.body}\n`;
        writeFileSync(requirements, text, { flag: "wx" });
        created.push("context/requirements.md");
      }
      // Last, because a folder with a manifest is a task: one cut off before it can simply be started again.
      writeManifest(path, manifest);
    } catch (error) {
      // Only what this command made; what appeared meanwhile is somebody's.
      if (made !== null && !(isSystemError(error) && error.code === "EEXIST"))
        rmSync(made, { recursive: true, force: true });
      throw fromSystemError(error, path) ?? error;
    }
    return { path, id: facts.id, created, label };
  },
  text({ path, created, label }) {
    const where = label === undefined ? "" : ` ${shellWord(label)}`;
    return [
      `Started a task in ${path}`,
      ...created.map((name) => `  ${name}`),
      "",
      `Next: ${cyan(`nutshell check${where}`)} tells what is missing`,
    ];
  },
});

function readIssue(path: string): Issue {
  try {
    const size = statSync(path).size;
    if (size > MAX_ISSUE_BYTES) {
      throw new NutError("ISSUE_INVALID", `${path} is too large for an issue (${size} bytes)`, {
        hint: "keep what is asked in the issue, and add the rest under context/ afterwards",
        data: { path, size },
      });
    }
    return parseIssue(readFileSync(path, "utf8"));
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

function fromIssueText({ title, summary, checklist, labels, url }: Issue, facts: Facts): Manifest {
  const manifest = newManifest({ ...facts, title, summary, checklist });
  return {
    ...manifest,
    tags: { ...manifest.tags, domains: [...labels] },
    extensions: url === undefined ? {} : { issue: { url } },
  };
}

/** A path that exists is meant as a path; any other word names one of the templates that come with the package. */
function findTemplate(from: string, cwd: string): string {
  const path = resolve(cwd, from);
  const templates = join(dirname(findCoreFolder()), "templates");
  if (existsSync(path) || !/^[a-z-]+$/.test(from) || !existsSync(templates)) return path;
  if (existsSync(join(templates, from, MANIFEST_NAME))) return join(templates, from);
  throw new NutError("FILE_NOT_FOUND", `there is no template or file called ${from}`, {
    hint: `nutshell init --from ${readdirSync(templates).sort()[0]} (or ${readdirSync(templates).sort().slice(1).join(", ")})`,
    data: { path },
  });
}

function assertFree(path: string): void {
  if (!existsSync(path)) return;
  throw new NutError("FILE_EXISTS", `${path} is already there, and init never overwrites`, {
    hint: `nutshell check ${shellWord(dirname(path))} shows what it still needs`,
    data: { path },
  });
}

const wholeSeconds = (time: Date) => time.toISOString().replace(/\.\d{3}Z$/, "Z");

async function interview(ask: Prompter, publisher: string | undefined) {
  const list = (answer: string) =>
    answer
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  const text = async (question: string, initial?: string) => {
    const answer = await ask.text(question, initial === undefined ? {} : { initial });
    return answer === "" ? undefined : answer;
  };
  const title = await text("What is to be done, in one line");
  const summary = await text("Why, and what must be true at the end");
  const skills = list((await text("Skills it takes (comma separated)")) ?? "");
  const checklist: string[] = [];
  for (let item = await text("Done means (one point; empty to go on)"); item !== undefined; ) {
    checklist.push(item);
    item = checklist.length < 20 ? await text("And (empty to go on)") : undefined;
  }
  const name = await text("Your name", publisher);
  return { title, summary, skills, checklist, publisher: name };
}

/** What the templates of the package have for an id: a task begun from them has no parent. */
const TEMPLATE_ID = "nut-template";

interface Facts {
  readonly id: string;
  readonly createdAt: string;
  readonly tool: string;
  readonly publisher: string | undefined;
}

/** Copies a template beside the target and moves it in piece by piece, once nothing of it would be overwritten. */
async function startFrom(
  template: string,
  path: string,
  begin: (template: Manifest) => Promise<Manifest>,
  context: Context,
): Promise<string[]> {
  // Looked at before anything is made, so that a wrong template leaves no trace.
  const source = await openContent(template, { signal: context.signal });
  const { isFolder } = source;
  await source.close();
  const parent = dirname(path);
  const above = makeFolder(parent);
  sweepLeftovers(parent);
  const work = temporaryName(path);
  try {
    mkdirSync(work, { mode: 0o700 });
    const copy = join(work, "content");
    const unpacked = isFolder ? null : await unpackBundle(template, copy, { signal: context.signal });
    if (isFolder) copyFolder(template, copy);
    writeManifest(copy, await begin(readManifest(copy)));
    const made = moveInto(copy, path);
    // Its checks are still the words of whoever packed the template.
    if (unpacked !== null) recordUnpacked(path, unpacked.contentDigest, context);
    return made;
  } catch (error) {
    if (above !== null) clearAway(above);
    throw fromSystemError(error) ?? error;
  } finally {
    clearAway(work);
  }
}

function copyFolder(from: string, to: string): void {
  const { entries } = listFolder(from);
  mkdirSync(to);
  for (const { path, kind } of [...entries, { path: MANIFEST_NAME, kind: "file" as const }]) {
    if (kind === "folder") makeFolder(join(to, path));
    else {
      makeFolder(dirname(join(to, path)));
      cpSync(join(from, path), join(to, path), { errorOnExist: true });
    }
  }
}

/** On a terminal the questions are asked here too; an empty answer leaves what the template has. */
async function answeredBegin(template: Manifest, facts: Facts, ask: Prompter | null): Promise<Manifest> {
  const manifest = begun(template, facts);
  if (ask === null) return manifest;
  const { title, summary, skills, checklist, publisher } = await interview(ask, facts.publisher);
  return {
    ...manifest,
    task: {
      ...manifest.task,
      ...(title === undefined ? {} : { title }),
      ...(summary === undefined ? {} : { summary }),
    },
    ...(skills.length === 0 ? {} : { tags: { ...manifest.tags, skills_required: skills } }),
    ...(checklist.length === 0 ? {} : { acceptance: { ...manifest.acceptance, checklist } }),
    publisher: { ...manifest.publisher, ...(publisher === undefined ? {} : { name: publisher }) },
  } as Manifest;
}

/** The template's manifest as the beginning of a new task: its own identity, nothing computed, no deadline long past. */
function begun(template: Manifest, { id, createdAt, tool, publisher }: Facts): Manifest {
  const { files, compression: _c, completeness: _d, expires_at: _e, ...rest } = template;
  const roles = files?.tree?.filter(({ role }) => role !== undefined);
  return {
    ...rest,
    bundle_type: "request",
    id,
    ...(template.id === TEMPLATE_ID ? {} : { parent_id: template.id }),
    created_at: createdAt,
    publisher: { ...(publisher === undefined ? {} : { name: publisher }), tool },
    ...(roles !== undefined && roles.length > 0 ? { files: { tree: roles } } : {}),
  };
}

function moveInto(from: string, to: string): string[] {
  const names = readdirSync(from).sort();
  const taken = names.filter((name) => existsSync(join(to, name)));
  for (const name of taken) assertFree(join(to, name));
  const made = makeFolder(to);
  // The manifest last: a folder that has one is a task.
  const ordered = [...names.filter((name) => name !== MANIFEST_NAME), MANIFEST_NAME];
  const moved: string[] = [];
  try {
    for (const name of ordered) {
      renameSync(join(from, name), join(to, name));
      moved.push(join(to, name));
    }
    return ordered;
  } catch (error) {
    for (const path of made === null ? moved : [made]) rmSync(path, { recursive: true, force: true });
    throw error;
  }
}
