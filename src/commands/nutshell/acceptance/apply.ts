import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { unpackBundle } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, count, dim, green, red, yellow } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import { atomicWrite } from "../../../files/index.js";
import type { Context } from "../../../operation.js";
import { type Applied, type ApplyMode, applyDelivery } from "../../../request/apply/apply-delivery.js";
import { readDelivery } from "../../../request/apply/delivered.js";
import { openFolder, withWorkFolder } from "../../../request/open/work-folder.js";
import { DeliveryStatus } from "../../../schema/delivery.js";

const ApplyInput = z.object({
  delivery: positional(z.string(), { about: "a delivery: a .nut file or a folder" }),
  repo: flag(z.string().default("."), { value: "<dir>", about: "the repository (default: here)" }),
  branch: flag(z.string().optional(), {
    value: "<name>",
    about: "make a branch with it, from the commit the work began with; nothing else is touched",
  }),
  commit: flag(z.boolean().default(false), { about: "commit it on what is checked out" }),
  index: flag(z.boolean().default(false), { about: "stage it without a commit (this is what happens by itself)" }),
  patch: flag(z.string().optional(), {
    value: "<file>",
    about: "write it as a mail for git am, - for standard output; nothing is changed",
  }),
  base: flag(z.string().optional(), {
    value: "<commit>",
    about: "take this commit as the one the work began with",
  }),
  trust: flag(z.array(z.string()).default([]), {
    value: "<path>",
    about: "bring this along although programs obey it (CLAUDE.md, .gitattributes…)",
  }),
  allowDirty: flag(z.boolean().default(false), { about: "although other files have uncommitted changes" }),
});
type ApplyInput = z.output<typeof ApplyInput>;

const ApplyResult = z.object({
  applied: z.boolean().describe("everything is where it was asked for, without a conflict"),
  how: z.enum(["branch", "commit", "index", "patch"]),
  repository: z.string(),
  base: z.string().describe("the commit the work began with"),
  commit: z.string().nullable().describe("the commit that holds the work now"),
  branch: z.string().optional(),
  patch: z.string().optional().describe("the file it was written to"),
  files: z.array(z.object({ path: z.string(), change: z.enum(["created", "modified", "deleted"]) })),
  left: z.array(z.string()).describe("empty folders, which no commit holds"),
  conflicts: z.array(z.string()),
  already_there: z.boolean(),
  undo: z.string().nullable().describe("the line that takes it back"),
  status: DeliveryStatus.describe("what the delivery says of itself"),
  delivery: z.string(),
});
type ApplyResult = z.output<typeof ApplyResult>;

export default command({
  name: "apply",
  summary: "bring a delivery's work into a git repository",
  input: ApplyInput,
  output: ApplyResult,
  about: [
    "The work becomes one commit on the commit it began with, and git merges that three-way into what is checked out: staged by default, committed with --commit, on a branch of its own with --branch, as a mail with --patch. Summary and decisions are the commit's message.",
    "Conflicts are left as git leaves them (exit 1). No hook runs. What programs obey, and what git itself obeys, comes along only with --trust. A patch inside the delivery that says something else than its artifacts is refused.",
    "Whether the work is any good is another question: nutshell verify answers it.",
  ],
  examples: [
    ["nutshell apply delivery.nut --branch fix/slugs", "on a branch, to look at and merge"],
    ["nutshell apply delivery.nut --commit", "one commit on what is checked out"],
    ["nutshell apply delivery.nut --patch - | git am", "by hand"],
  ],
  run: (input, context) => withWorkFolder(context, (work) => apply(input, work, context)),
  text: textOf,
  exit: ({ applied }) => (applied ? 0 : 1),
});

function modeOf({ branch, commit, index, patch }: ApplyInput): ApplyMode {
  const chosen: ApplyMode[] = [
    ...(branch === undefined ? [] : [{ kind: "branch" as const, name: branch }]),
    ...(commit ? [{ kind: "commit" as const }] : []),
    ...(index ? [{ kind: "index" as const }] : []),
    ...(patch === undefined ? [] : [{ kind: "patch" as const }]),
  ];
  if (chosen.length > 1) {
    throw new NutError("USAGE", "say one of --branch, --commit, --index and --patch", {
      hint: "nutshell apply '<delivery>' --branch '<name>'",
    });
  }
  return chosen[0] ?? { kind: "index" };
}

async function apply(input: ApplyInput, work: string, context: Context): Promise<ApplyResult> {
  const mode = modeOf(input);
  const { dir, manifest } = await openWhole(input.delivery, join(work, "delivery"), context);
  if (manifest.bundle_type !== "delivery") {
    throw new NutError("USAGE", `${input.delivery} is a ${manifest.bundle_type}, not a delivery`, {
      hint: `nutshell inspect ${shellWord(input.delivery)}`,
    });
  }
  const delivery = readDelivery(dir, manifest, input.delivery);
  const { base, trust, allowDirty } = input;
  const applied = await applyDelivery(
    {
      name: input.delivery,
      dir,
      manifest,
      delivery,
      mode,
      base,
      trust,
      allowDirty,
      work,
      repo: resolve(context.cwd, input.repo),
    },
    context,
  );
  writeOut(applied, input.patch, context);
  const { changes, conflicts, left, isThere, repository, commit, undo } = applied;
  return {
    applied: conflicts.length === 0,
    how: mode.kind,
    repository,
    base: applied.base,
    commit,
    ...(mode.kind === "branch" ? { branch: mode.name } : {}),
    ...(input.patch === undefined ? {} : { patch: input.patch }),
    files: changes.map(({ path, kind }) => ({ path, change: kind })),
    left: [...left],
    conflicts: [...conflicts],
    already_there: isThere,
    undo,
    status: delivery.status,
    delivery: input.delivery,
  };
}

/** Nothing is set aside: no program is started in this folder, and what it holds is weighed path by path. */
async function openWhole(typed: string, target: string, context: Context) {
  const path = resolve(context.cwd, typed);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return openFolder(typed, context, target);
  return unpackBundle(path, target, { signal: context.signal, trustAll: true });
}

function writeOut({ patch }: Applied, file: string | undefined, context: Context): void {
  if (patch === null || file === undefined) return;
  if (file === "-") context.stdout().write(patch);
  else atomicWrite(resolve(context.cwd, file), patch);
}

function textOf(result: ApplyResult): string[] {
  const { how, files, conflicts, undo, branch, patch, commit, left, repository } = result;
  if (how === "patch")
    return patch === "-" ? [] : [`${green("✓")} written: ${patch}`, dim(`apply it: git am ${shellWord(patch ?? "")}`)];
  if (result.already_there) return [`${yellow("nothing to do")}: all of it is there already`];
  const of = (kind: string) => files.filter(({ change }) => change === kind).length;
  const what = `${count(of("created"), "file")} created, ${of("modified")} modified, ${of("deleted")} deleted`;
  const lines = conflicts.length > 0 ? conflictLines(result) : [`${green("✓")} ${placeWords(result)}: ${what}`];
  return [
    ...lines,
    ...left.map((path) => dim(`  an empty folder, which git does not keep: ${path}`)),
    ...(how === "branch"
      ? [dim(`look at it: git -C ${shellWord(repository)} log -p -1 ${shellWord(branch ?? "")}`)]
      : []),
    ...(how === "index" && conflicts.length === 0
      ? [dim(`look at it: git -C ${shellWord(repository)} diff --cached`)]
      : []),
    ...(commit === null
      ? []
      : [
          dim(
            `  commit ${commit.slice(0, 12)}; the delivery says ${result.status}, and nutshell verify says whether that holds`,
          ),
        ]),
    ...(undo === null ? [] : [`${bold("undo")}: ${undo}`]),
  ];
}

function placeWords({ how, branch }: ApplyResult): string {
  if (how === "branch") return `on branch ${branch}`;
  return how === "commit" ? "committed" : "staged";
}

function conflictLines({ conflicts, how }: ApplyResult): string[] {
  const goOn = how === "commit" ? "git add them, then: git cherry-pick --continue" : "git add them, then commit";
  return [
    `${red("✗")} ${count(conflicts.length, "conflict")}, as git status shows:`,
    ...conflicts.map((path) => `  both changed: ${path}`),
    `put the files right and ${goOn}`,
  ];
}
