import { chownSync, existsSync, rmdirSync, rmSync, type Stats, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, count, dim, green, red } from "../../../cli/text.js";
import { isSystemError, NutError } from "../../../errors.js";
import { atomicWrite, makeFolder } from "../../../files/index.js";
import { findHost, HOST_NAMES, type InstallInput, installFiles, localFiles } from "../../../hosts/index.js";
import type { Context } from "../../../operation.js";
import { sweepLeftovers } from "../../../process/index.js";
import { lineDiff } from "../../../trees/diff-text.js";
import { behindLinks } from "./behind-links.js";
import { installInput } from "./install-input.js";
import {
  digest,
  dropReceipt,
  movedReceipt,
  projectsSetUp,
  type Receipt,
  readReceipt,
  receiptPath,
  writeReceipt,
} from "./receipt.js";
import { type PlannedChange, planRemoval, planSetup, readText, type SetupPlan } from "./setup-plan.js";

const Line = z.object({ sign: z.enum([" ", "+", "-", "@"]), text: z.string() });

export default command({
  name: "setup",
  summary: "live inside Claude Code, Codex, OpenCode, Qwen or Gemini",
  input: z.object({
    host: positional(z.enum(HOST_NAMES), { about: "claude, codex, opencode, qwen or gemini" }),
    scope: flag(z.enum(["project", "user"]).default("project"), {
      value: "<scope>",
      about: "this project, or everything you do",
    }),
    dryRun: flag(z.boolean().default(false), { about: "show what would change and change nothing" }),
    remove: flag(z.boolean().default(false), {
      about: "take everything out again, to the byte where nobody changed it since",
    }),
    convert: flag(z.boolean().default(false), {
      about:
        "take out of settings what their host cannot read: trailing commas, for Claude Code and Codex comments; --remove brings them back",
    }),
    yes: flag(z.boolean().default(false), { short: "y", about: "do not ask" }),
  }),
  output: z.object({
    host: z.string(),
    scope: z.enum(["user", "project"]),
    applied: z.boolean(),
    removed: z.boolean(),
    changes: z.array(z.object({ path: z.string(), kind: z.enum(["create", "change", "delete"]), diff: z.array(Line) })),
    kept: z.array(z.string()).describe("files of yours under a name we wanted; left alone"),
    partly: z
      .array(z.string())
      .describe("files that changed since, or were set up elsewhere: only our part is taken out"),
    next: z.array(z.string()),
  }),
  about: [
    "Installs the roles, the skills, the hooks and the MCP server. Your own settings keep their order, and their comments where the host reads them; AGENTS.md, CLAUDE.md, QWEN.md and GEMINI.md are touched only between two markers. Running it again changes nothing.",
    "At a terminal it shows what would change and asks. Where nobody can be asked it goes ahead: --dry-run looks first.",
    "What it writes into a project can be committed: it names no path of this machine, and finds nexus on everybody's PATH.",
  ],
  examples: [
    ["nexus setup claude --dry-run", "see the diff first"],
    ["nexus setup codex --scope user", "for every project"],
    ["nexus setup opencode --remove", "as if it had never been"],
  ],
  async run({ host: name, scope, dryRun, remove, convert, yes }, context) {
    const host = findHost(name)!;
    const input = { ...(await installInput({ host, scope, node: process.execPath }, context)), convert };
    if (name === "claude" && scope === "user" && input.env.CLAUDE_CONFIG_DIR === "") throw nowhere();
    const files = behindLinks(installFiles(name, input), input);
    const path = receiptPath(input.home, context.env, { host: name, scope, root: input.root });
    if (!dryRun) sweepBeside([path, ...[...files, ...localFiles(input)].map((file) => file.path)]);
    const movedTo = (place: string, of: string) =>
      scope === "project" ? movedReceipt(place, { host: of, root: input.root }) : null;
    const own = readReceipt(path);
    const moved = own === null ? movedTo(path, name) : null;
    const receipt = own ?? moved?.receipt ?? null;
    const others = HOST_NAMES.filter((other) => other !== name).flatMap((other) => {
      const place = receiptPath(input.home, context.env, { host: other, scope, root: input.root });
      const found = readReceipt(place) ?? movedTo(place, other)?.receipt;
      return found === undefined ? [] : [found];
    });
    const plan = remove ? planRemoval(files, receipt, others) : planSetup(files, receipt, others);
    const changes = plan.changes.filter(({ before, after }) => before !== after);
    const shown = changes.map((change) => ({
      path: change.path,
      kind:
        change.before === null
          ? ("create" as const)
          : change.after === null
            ? ("delete" as const)
            : ("change" as const),
      diff: lineDiff(change.before, change.after),
    }));
    const applied = !dryRun && (yes || (await agreed(shown, context)));
    if (applied) {
      const key = { host: name, scope, root: input.root, version: input.version };
      const made = missingFolders(dirname(path));
      try {
        if (!remove && scope === "project") writeLocal(input);
        const top = scope === "project" ? input.root : input.home;
        apply(plan, changes, { path, receipt, key, remove, top });
      } catch (error) {
        if (!projectsSetUp(path)) removeLocal(input);
        removeFolders(made);
        throw error;
      }
      if (moved !== null) dropReceipt(moved.path);
      if (remove && !projectsSetUp(path)) removeLocal(input);
    }
    return {
      host: name,
      scope,
      applied,
      removed: applied && remove,
      changes: shown,
      kept: [...plan.kept],
      partly: changes.filter((change) => change.partly === true).map((change) => change.path),
      next: remove ? [] : nextSteps(name, scope),
    };
  },
  text: ({ host, scope, applied, removed, changes, kept, partly, next }, { quiet }) => {
    const lines: string[] = [];
    for (const { path, kind, diff } of changes) {
      lines.push(`${kind} ${bold(path)}${kind === "change" ? "" : dim(` (${count(diff.length, "line")})`)}`);
      if (kind === "change" && !quiet)
        lines.push(
          ...diff.map(
            ({ sign, text }) =>
              `  ${sign === "+" ? green(`+ ${text}`) : sign === "-" ? red(`- ${text}`) : dim(`  ${text}`)}`,
          ),
        );
    }
    for (const path of kept)
      lines.push(`kept ${bold(path)}: not written here by nexus setup, and ours would have the same name`);
    if (changes.length === 0) lines.push(`nothing to change: ${host} (${scope}) is as it should be`);
    else if (!applied) lines.push("nothing was changed");
    else if (removed && partly.length > 0)
      lines.push(
        `${host} (${scope}) is taken out; ${partly.join(", ")} changed since, or was set up elsewhere: only our part went, and what set-up had replaced did not come back`,
      );
    else lines.push(removed ? `${host} (${scope}) is as it was before` : `${host} (${scope}) is set up`);
    if (applied && !removed) lines.push(...next.map((step) => `next: ${step}`));
    return lines;
  },
});

interface Shown {
  readonly path: string;
  readonly kind: string;
  readonly diff: readonly { readonly sign: string; readonly text: string }[];
}

/** Where a person can answer, they see the diff and are asked; elsewhere the command itself is the answer. */
async function agreed(shown: readonly Shown[], { ask, progress }: Context): Promise<boolean> {
  if (ask === null || shown.length === 0) return true;
  for (const { path, kind, diff } of shown) {
    progress({ type: "setup_change", message: `${kind} ${path}` });
    if (kind === "change")
      for (const { sign, text } of diff) progress({ type: "setup_diff", message: `  ${sign} ${text}` });
  }
  return ask.confirm(`change ${shown.length} files?`, { initial: true });
}

interface Applying {
  readonly path: string;
  readonly receipt: Receipt | null;
  readonly key: Pick<Receipt, "host" | "scope" | "root" | "version">;
  readonly remove: boolean;
  /** The project, or the person's home. */
  readonly top: string;
}

/**
 * All or nothing: what was written before a failure is put back. The receipt is written first and dropped last, so that
 * whenever this is killed it can be undone.
 */
function apply(
  plan: SetupPlan,
  changes: readonly PlannedChange[],
  { path, receipt, key, remove, top }: Applying,
): void {
  const done: PlannedChange[] = [];
  const made = changes.flatMap(({ path: file, after }) => (after === null ? [] : missingFolders(dirname(file))));
  const folders = [...new Set([...(receipt?.folders ?? []), ...made])];
  const entryOf = ({ path: file, after, original }: PlannedChange) => ({
    path: file,
    before: original,
    after: digest(after ?? ""),
  });
  const until = new Map(receipt?.files.map((file) => [file.path, file.after]));
  const under = plan.changes.map(entryOf).map((entry) => ({ ...entry, ...optional("until", until.get(entry.path)) }));
  // A host that runs may have written its own settings while the person was asked.
  const moved = changes.find((change) => readText(change.path) !== change.before);
  if (moved !== undefined) throw changedMeanwhile(moved.path);
  try {
    if (!remove) writeReceipt(path, { ...key, files: [...under, ...plan.carried], folders });
    for (const change of changes) {
      write(change.path, change.after);
      done.push(change);
    }
    if (!remove) {
      const left = plan.changes.filter(({ dropped }) => dropped !== true);
      removeFolders(folders.filter((folder) => !left.some((change) => change.path.startsWith(`${folder}${sep}`))));
      writeReceipt(path, { ...key, files: [...left.map(entryOf), ...plan.carried], folders });
      return;
    }
    // Set up by somebody else, or elsewhere: nobody noted which folders were made for it.
    const emptied = changes.filter(({ after }) => receipt === null && after === null);
    removeFolders([...folders, ...emptied.flatMap((change) => foldersBetween(top, dirname(change.path)))]);
    dropReceipt(path);
  } catch (error) {
    for (const change of done.reverse()) write(change.path, change.before);
    removeFolders(made);
    if (receipt === null) dropReceipt(path);
    else writeReceipt(path, receipt);
    throw error;
  }
}

const changedMeanwhile = (path: string) =>
  new NutError("SOURCE_CHANGED", `${path} was changed meanwhile; nothing was changed`, {
    hint: "run the same command again",
    data: { path },
  });

/** Claude Code then takes whichever folder it is started in for the person's, and no set-up is there. */
const nowhere = () =>
  new NutError("USAGE", "CLAUDE_CONFIG_DIR is set and names no folder", { hint: "unset CLAUDE_CONFIG_DIR" });

/** Settings of a project name no path: where we are on this machine is kept beside. */
function writeLocal(input: InstallInput): void {
  for (const { path, content, mode } of localFiles(input)) {
    makeFolder(dirname(path), 0o700);
    atomicWrite(path, content, { mode });
  }
}

/** With the last project, and its folder if nobody else has anything there. */
function removeLocal(input: InstallInput): void {
  const files = localFiles(input);
  for (const { path } of files) rmSync(path, { force: true });
  removeFolders(files.map(({ path }) => dirname(path)));
}

const optional = (name: string, value: string | undefined) => (value === undefined ? {} : { [name]: value });

/** Temporary files of a set-up that was killed, beside what it writes. */
function sweepBeside(paths: readonly string[]): void {
  for (const folder of new Set(paths.map((path) => dirname(path)))) sweepLeftovers(folder);
}

function write(path: string, text: string | null): void {
  if (text === null) {
    rmSync(path, { force: true });
    return;
  }
  makeFolder(dirname(path));
  const before = statSync(path, { throwIfNoEntry: false });
  atomicWrite(path, text, { mode: before === undefined ? 0o644 : before.mode & 0o777 });
  if (before !== undefined) keepOwner(path, before);
}

/** As root, for somebody else; anybody else may at most keep the group. */
function keepOwner(path: string, { uid, gid }: Stats): void {
  const now = statSync(path);
  if (now.uid === uid && now.gid === gid) return;
  try {
    chownSync(path, uid, gid);
  } catch (error) {
    if (!isSystemError(error) || error.code !== "EPERM") throw error;
  }
}

function missingFolders(folder: string): string[] {
  return existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder];
}

function foldersBetween(top: string, folder: string): string[] {
  return folder.startsWith(`${top}${sep}`) ? [...foldersBetween(top, dirname(folder)), folder] : [];
}

/** Innermost first, and only those nobody put anything else into. */
function removeFolders(folders: readonly string[]): void {
  for (const folder of [...new Set(folders)].sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") throw error;
    }
  }
}

function nextSteps(host: string, scope: string): string[] {
  const steps = ["nexus doctor"];
  if (host === "claude" && scope === "project")
    steps.unshift("start claude here once and trust the folder: it proposes No");
  if (host === "gemini" && scope === "project")
    steps.unshift("start gemini here once, trust the folder and accept the roles: before that it runs no hook");
  if (host === "codex")
    steps.unshift(
      scope === "project"
        ? "start codex here once and trust the project and its hooks (/hooks)"
        : "start codex once and trust the hooks (/hooks)",
    );
  return steps;
}
