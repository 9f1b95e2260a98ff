// Work that was done by hand, or in any agent, on its way back to the one who asked.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, count, dim, green, red, yellow } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import type { Told } from "../../../request/finish/finish-result.js";
import { type AcceptedTree, type Finished, finishWork, type Seen } from "../../../request/finish/finish-work.js";
import { ReportShape, toShape } from "../../../request/judge/acceptance-shapes.js";
import { type OpenedFolder, openFolder, withWorkFolder } from "../../../request/open/work-folder.js";
import { defaultName } from "../../../request/pack/default-name.js";
import { DELIVERY_STATUSES, DeliveryStatus } from "../../../schema/delivery.js";
import { identityWords } from "../flags.js";
import { gitUser } from "../git-user.js";
import { acceptHere } from "./accept-here.js";
import { ACCEPTANCE_FLAGS } from "./acceptance-flags.js";
import { MARKS, reportLines } from "./acceptance-text.js";

const { base: _base, ...RUN_FLAGS } = ACCEPTANCE_FLAGS;

const FinishInput = z.object({
  dir: positional(z.string().default("."), { about: "the folder that was worked in (default: here)" }),
  request: flag(z.string({ error: "finish needs --request <request>" }), {
    short: "r",
    value: "<request>",
    about: "the untouched request, a bundle or a folder",
  }),
  output: flag(z.string().optional(), { short: "o", value: "<file>", about: "where the delivery goes" }),
  summary: flag(z.string().optional(), { short: "m", value: "<text>", about: "what was done" }),
  decisions: flag(z.array(z.string()).default([]), {
    name: "decision",
    value: "<text>",
    about: 'a decision worth keeping: "what because why"',
  }),
  open: flag(z.array(z.string()).default([]), { value: "<text>", about: "a point that is left open" }),
  points: flag(z.array(z.string()).default([]), {
    name: "point",
    value: "<n: why>",
    about: 'point n of the checklist holds, and why: "1: slug.mjs line 3 strips both ends"',
  }),
  by: flag(z.string().trim().min(1).optional(), { value: "<name>", about: "who did it (default: git's user.name)" }),
  status: flag(z.enum(DELIVERY_STATUSES).optional(), {
    value: "<status>",
    about: "how it ended, when that is less than what is found",
  }),
  at: flag(z.string().optional(), {
    value: "<dir>",
    about: "the folder is a copy of this folder of the request (default: found by comparing names)",
  }),
  base: flag(z.string().optional(), {
    value: "<commit>",
    about: "the work was done in this repository and began with this commit",
  }),
  include: flag(z.array(z.string()).default([]), {
    name: "with",
    value: "<path>",
    about: "count this as work although it would be left out",
  }),
  allow: flag(z.array(z.string()).optional(), {
    value: "<path>",
    about: "deliver this file although it looks like a secret",
  }),
  noAccept: flag(z.boolean().default(false), { about: "do not run the acceptance: nothing is proven then" }),
  ...RUN_FLAGS,
});
type FinishInput = z.output<typeof FinishInput>;

const Row = z.object({ path: z.string(), why: z.string() });

const FinishResult = z.object({
  delivery: z.string(),
  id: z.string(),
  status: DeliveryStatus,
  backed: z.boolean().describe("whether verify --rerun would say verified, as far as it can be known here"),
  gaps: z.array(z.string()).describe("what keeps it from being backed"),
  compared_with: z.string().describe("what the folder was compared with"),
  files: z.array(z.object({ path: z.string(), change: z.enum(["created", "modified", "deleted"]) })),
  left_out: z.array(Row),
  untouched: z.array(z.string()).describe("folders of the request that are not in the copy, taken as they were"),
  checklist: z.array(z.object({ item: z.string(), status: z.string(), note: z.string().optional() })),
  open: z.array(z.string()),
  written: z.string().nullable().describe("where the same lies as a folder"),
  hash: z.string(),
  content_digest: z.string(),
  acceptance: ReportShape.nullable().describe("null when it was not run"),
  next: z.string(),
});
type FinishResult = z.output<typeof FinishResult>;

export default command({
  name: "finish",
  summary: "make a delivery of work done by hand or in any agent",
  input: FinishInput,
  output: FinishResult,
  about: [
    "Compares the folder with the request, moves nothing, runs the acceptance on what would be delivered, asks what it cannot know, and packs the delivery. The folder may be the unpacked request edited in place, a copy of it or of its files/, or a git repository.",
    "What programs made (node_modules, build outputs), what they obey (.claude/, .npmrc…), what git or .nutignore ignores and the request's own tests are left out and listed; --with counts a path as work. In an unpacked request delivery/ is written too; what you wrote into delivery/result.json is kept.",
    "Exit 0: completed, by what was found; 1: something less was delivered, or nothing was changed.",
  ],
  examples: [
    ["nutshell finish work -r task.nut", "compare, test, ask, pack"],
    ['nutshell finish work -r task.nut -m "no dashes" --point "1: slug.mjs:3"', "without questions"],
    ["nutshell finish . -r ../task.nut --base main", "work on a branch of a repository"],
  ],
  run: (input, context) => withWorkFolder(context, (work) => finish(input, work, context)),
  text: textOf,
  exit: ({ status }) => (status === "completed" ? 0 : 1),
});

async function finish(input: FinishInput, work: string, context: Context): Promise<FinishResult> {
  const request = await openFolder(input.request, context, join(work, "request"), input.identity);
  if (request.manifest.bundle_type !== "request") {
    throw new NutError("USAGE", `${input.request} is a ${request.manifest.bundle_type}, not a request`, {
      hint: "name the request the work answers: --request '<request>'",
    });
  }
  const dir = resolve(context.cwd, input.dir);
  const points = pointsOf(input.points, request.manifest.acceptance?.checklist ?? []);
  const finished = await finishWork(
    {
      dir,
      request,
      requestPath: resolve(context.cwd, input.request),
      output: outputOf(input, request, context),
      at: input.at,
      base: input.base,
      include: input.include.map((path) => path.replace(/^\.\//, "").replace(/\/+$/, "")),
      allow: input.allow,
      work,
      accept: input.noAccept ? null : (tree) => accept(tree, input, { request, work, dir }, context),
      tell: (seen) => told(seen, input, points, request, context),
    },
    context,
  );
  return resultOf(finished, input);
}

/** Never over another file: the next free name. */
function outputOf({ output }: FinishInput, { manifest }: OpenedFolder, { cwd }: Context): string {
  if (output !== undefined) return resolve(cwd, output);
  const slug = defaultName(manifest.task?.title ?? "").replace(/\.nut$/, "");
  return join(cwd, `${slug}-delivery.nut`);
}

interface Where {
  readonly request: OpenedFolder;
  readonly work: string;
  readonly dir: string;
}

async function accept(tree: AcceptedTree, input: FinishInput, { request, work, dir }: Where, context: Context) {
  const uses = existsSync(join(dir, "nutshell.json")) ? dir : null;
  const asked = {
    ...tree,
    request,
    work,
    sources: [{ typed: input.request, opened: request }, { typed: input.dir }],
    uses,
  };
  const { accepted, credentialsUsed } = await acceptHere(asked, input, context);
  return { accepted, credentials: credentialsUsed };
}

/** "1: why", or the point's own words. */
function pointsOf(given: readonly string[], checklist: readonly string[]): Map<string, string> {
  return new Map(
    given.map((text) => {
      const [, number, why] = /^\s*(\d+)\s*[:=]\s*(\S.*)$/s.exec(text) ?? [];
      const item = number === undefined ? undefined : checklist[Number(number) - 1];
      if (item !== undefined && why !== undefined) return [item, why.trim()];
      const words = checklist.find((each) => text.startsWith(`${each}:`) && text.slice(each.length + 1).trim() !== "");
      if (words !== undefined) return [words, text.slice(words.length + 1).trim()];
      const known = checklist.length === 0 ? "the request has no checklist" : `there are ${checklist.length} points`;
      throw new NutError("USAGE", `--point "${text}" names no point with a reason: ${known}`, {
        hint: '--point "1: what shows it"',
      });
    }),
  );
}

async function told(
  { accepted, before }: Seen,
  input: FinishInput,
  points: ReadonlyMap<string, string>,
  { manifest }: OpenedFolder,
  context: Context,
): Promise<Told> {
  const by =
    input.by ??
    before?.deliverer?.name ??
    (await gitUser(resolve(context.cwd, input.dir), context)) ??
    context.env.USER ??
    "unnamed";
  const given = {
    by,
    summary: input.summary,
    decisions: input.decisions,
    open: input.open,
    points,
    status: input.status,
  };
  const { ask } = context;
  // Whoever gave the words as flags is asked nothing.
  if (ask === null || input.summary !== undefined) return given;
  const summary = (await ask.text("What was done, in a sentence or two?", { initial: before?.summary ?? "" })).trim();
  const many = async (question: string, have: readonly string[]) => {
    const found = [...have];
    for (let text = "?"; text !== "" && found.length < 50; ) {
      text = (await ask.text(question)).trim();
      if (text !== "") found.push(text);
    }
    return found;
  };
  const decisions = await many("A decision worth keeping, as: what because why (empty: no more)", input.decisions);
  const open = await many("A point that is left open (empty: no more)", input.open);
  const judged = new Map(points);
  const proven =
    accepted?.report.results.filter(({ evidence, status }) => evidence === "proven" && status === "passed") ?? [];
  for (const item of manifest.acceptance?.checklist ?? []) {
    if (judged.has(item) || proven.some(({ id, description }) => (description ?? id) === item)) continue;
    const why = (await ask.text(`What shows that this holds? ${item} (empty: not judged)`)).trim();
    if (!/^(?:no?[.!]?)?$/i.test(why)) judged.set(item, why);
  }
  return { ...given, summary: summary === "" ? undefined : summary, decisions, open, points: judged };
}

function resultOf(finished: Finished, input: FinishInput): FinishResult {
  const { packed, delivery, judgement, place, changes, left, absent, accepted, broken, written } = finished;
  const { repository, prefix, root } = place;
  const side = repository === null ? "the request" : `commit ${repository.commit.slice(0, 12)} of ${repository.path}`;
  const issues = delivery.execution_log?.issues_encountered ?? [];
  // Found from any folder.
  const against = repository === null ? "" : ` --base ${shellWord(repository.path)}`;
  return {
    delivery: packed.path,
    id: packed.manifest.id,
    status: delivery.status,
    backed: judgement.backed && broken.length === 0 && delivery.status === "completed",
    gaps: [...broken, ...judgement.gaps],
    compared_with: prefix === "" ? side : `${prefix} of ${side}`,
    files: changes.filter(({ folder }) => folder !== true).map(({ path, kind }) => ({ path, change: kind })),
    left_out: left.map(({ path, why }) => ({ path, why })),
    untouched: [...absent],
    checklist: (delivery.acceptance_results?.checklist ?? []).map(({ item, status, note }) => ({
      item,
      status,
      ...(note === undefined ? {} : { note }),
    })),
    open: issues.map((issue) => (typeof issue === "string" ? issue : JSON.stringify(issue))),
    written: written ? join(root, "delivery") : null,
    hash: packed.hash,
    content_digest: packed.contentDigest,
    acceptance: accepted === null ? null : toShape(accepted, []),
    next: `nutshell verify ${shellWord(packed.path)} --request ${shellWord(input.request)}${against}${identityWords(input.identity)} --rerun`,
  };
}

const SHOWN = 20;
const SIGNS = { created: "+", modified: "~", deleted: "-" } as const;

function textOf(result: FinishResult): string[] {
  const { files, left_out: left, untouched, checklist, open, acceptance, status, gaps } = result;
  const paint = status === "completed" ? green : status === "failed" ? red : yellow;
  return [
    `${bold("changed")}, compared with ${result.compared_with}:`,
    ...files.slice(0, SHOWN).map(({ path, change }) => `  ${SIGNS[change]} ${path}`),
    ...(files.length > SHOWN ? [`  and ${files.length - SHOWN} more`] : []),
    ...left.slice(0, SHOWN).map(({ path, why }) => dim(`  left out: ${path} (${why})`)),
    ...(left.length > SHOWN ? [dim(`  and ${count(left.length - SHOWN, "path")} more left out`)] : []),
    ...(untouched.length === 0 ? [] : [dim(`  not in this folder, and taken as untouched: ${untouched.join(", ")}`)]),
    "",
    ...(acceptance === null ? [yellow("the acceptance was not run: nothing is proven")] : reportLines(acceptance)),
    ...checklist.map(
      ({ item, status: own, note }) =>
        `${MARKS[own as keyof typeof MARKS]} ${item}${note === undefined ? "" : dim(` (${note})`)}`,
    ),
    ...open.map((text) => `${yellow("!")} open: ${text}`),
    "",
    `${paint(status)}${status === "completed" ? "" : `: ${gaps.length === 0 ? "as you say" : gaps.join("; ")}`}`,
    `${bold("delivery")}: ${result.delivery}`,
    ...(status === "completed" ? [] : [dim(betterWords(result))]),
    `next: ${result.next}`,
  ];
}

function betterWords({ checklist }: FinishResult): string {
  const open = checklist.findIndex(({ status }) => status !== "passed");
  return open < 0
    ? "put it right and finish again: the same delivery is replaced"
    : `a point that holds is judged with --point "${open + 1}: what shows it"; finish again replaces the same delivery`;
}
