// What of a folder is the work: what differs from the untouched tree, less what programs made, what they obey, what git or
// .nutignore leaves out, and the request's own tests. Nothing is left out in silence.
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import {
  applyChanges,
  type Change,
  type CheckPlan,
  compareTrees,
  copyTree,
  deliverable,
  isResult,
  listTree,
} from "../../acceptance/index.js";
import { isBuildOutput, isObeyed, listFolder } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import { byBytes, entryAt } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { ownGit, rows } from "../../trees/git/git.js";
import { changedSubmodules } from "../../trees/git/repository.js";
import type { WorkPlace } from "./work-place.js";

export interface LeftOut {
  readonly path: string;
  readonly why: string;
}

export interface WorkQuestion {
  readonly place: WorkPlace;
  readonly plan: CheckPlan;
  /** Paths that count although they would be left out. */
  readonly include: readonly string[];
  /** Files that are never part of the work: the request, the delivery itself. */
  readonly exclude: readonly string[];
  /** Where the tree after the work is built. */
  readonly target: string;
}

export interface WorkDone {
  /** What is delivered. */
  readonly changes: readonly Change[];
  readonly left: readonly LeftOut[];
  /** Folders of the request that are not in a copy of it, and are taken as untouched. */
  readonly absent: readonly string[];
}

/** Finds the changes and builds the tree after them. The folder itself is only read. */
export async function findWork(question: WorkQuestion, context: Context): Promise<WorkDone> {
  const { place, target, plan, include } = question;
  const { root, base, prefix } = place;
  const side = prefix === "" ? base : join(base, prefix);
  const sieve = await sieveOf(question, side, context);
  const absent = place.manifest === null && place.repository === null ? absentFrom(side, root) : [];
  const isAbsent = (path: string) => absent.some((top) => path === top || path.startsWith(`${top}/`));
  const all = compareTrees(side, root, sieve.counts).filter(({ path, kind }) => kind !== "deleted" || !isAbsent(path));
  const seen = place.repository === null ? all : await asGitSees(all, place, include, context);
  copyTree(base, target, isResult);
  applyChanges(
    target,
    seen.map((change) => ({ ...change, path: `${prefix}${change.path}` })),
    (path) => join(root, path.slice(prefix.length)),
  );
  setAside(base, target);
  const found = compareTrees(base, target);
  const changes = deliverable(found).filter(({ path }) => !plan.isOwnTest(path));
  const inside = await inSubmodules(place, context);
  return { changes, left: [...sieve.left(), ...inside, ...notDelivered(found, plan)], absent };
}

/** Nothing of another repository is in a tree of this one. */
async function inSubmodules({ repository }: WorkPlace, context: Context): Promise<LeftOut[]> {
  if (repository === null) return [];
  const found = await changedSubmodules(repository.path, repository.commit, context);
  return found.map((path) => ({ path, why: "a submodule: work in it is delivered from its own repository" }));
}

/** Tests and links that no delivery holds. */
function notDelivered(found: readonly Change[], plan: CheckPlan): LeftOut[] {
  return found.flatMap(({ path, link, target }) => {
    if (plan.isOwnTest(path)) return [{ path, why: "a test of the request, which counts as it was" }];
    return link === true && target === undefined ? [{ path, why: "a link that leads out of the folder" }] : [];
  });
}

interface Sieve {
  readonly counts: (path: string) => boolean;
  readonly left: () => LeftOut[];
}

/** What takes part. What the untouched tree holds always does; what is new has to be work by all appearances. */
async function sieveOf(question: WorkQuestion, side: string, context: Context): Promise<Sieve> {
  const { place, include, exclude } = question;
  const { root } = place;
  const ignored = await ignoredPaths(place, context);
  const excluded = new Set(exclude.map((path) => relative(root, path)));
  const isOwn = (path: string) =>
    place.repository === null && (path === "nutshell.json" || path === ".nutignore" || path === "delivery");
  const isKnown = (path: string) => existsSync(join(side, path)) || existsSync(join(side, "quarantine", path));
  const reason = (path: string): string | null => {
    if (isOwn(path) || excluded.has(path)) return OURS;
    const stats = entryAt(join(root, path));
    if (!isResult(path)) return stats === undefined || /(?:^|\/)\.(?:git|nexus)$/.test(path) ? OURS : MADE;
    if (stats === undefined || isKnown(path) || isIncluded(path, include)) return null;
    if (isBuildOutput(path, stats.isDirectory(), (other) => existsSync(join(root, other)))) return MADE;
    if (isObeyed(path)) return "programs would obey it";
    return ignored.has(path) ? "ignored" : null;
  };
  const known = new Map<string, string | null>();
  const why = (path: string): string | null => {
    if (!known.has(path)) known.set(path, reason(path));
    return known.get(path)!;
  };
  const left = () =>
    [...known].flatMap(([path, said]) => (said === null || said === OURS ? [] : [{ path, why: said }]));
  return { counts: (path) => why(path) === null, left: () => left().sort((a, b) => byBytes(a.path, b.path)) };
}

const OURS = "ours";
const MADE = "made by a program";

/** A path that was named, what lies below it, and the folders above it. */
const isIncluded = (path: string, include: readonly string[]): boolean =>
  include.some((one) => path === one || path.startsWith(`${one}/`) || one.startsWith(`${path}/`));

/** What git or .nutignore leaves out; folders without their slash. */
async function ignoredPaths({ root, repository }: WorkPlace, context: Context): Promise<ReadonlySet<string>> {
  const found: string[] = [];
  if (existsSync(join(root, ".git"))) {
    const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
    found.push(...rows((await ownGit(args, { cwd: root, fine: [0, 128] }, context)).out));
  }
  if (repository === null && existsSync(join(root, ".nutignore"))) found.push(...nutIgnored(root, context));
  return new Set(found.map((path) => path.replace(/\/$/, "")));
}

function nutIgnored(root: string, { signal }: Context): string[] {
  try {
    return listFolder(root, { signal }).left.flatMap(({ path, reason }) => (reason === "ignored" ? [path] : []));
  } catch (error) {
    // A link or a pipe keeps a bundle from being packed of it; here it only means that nothing more is left out.
    if (error instanceof NutError && error.code === "SOURCE_UNSAFE") return [];
    throw error;
  }
}

/** In a copy without the manifest, a folder that is not there was not copied; nobody deleted it. */
function absentFrom(side: string, root: string): string[] {
  const tops = readdirSync(side).filter((name) => name !== "nutshell.json" && isResult(name));
  return tops.filter((name) => !existsSync(join(root, name)));
}

/** In a repository git knows better what a person changed: its filters and line ends are no work. */
async function asGitSees(
  changes: readonly Change[],
  { repository }: WorkPlace,
  include: readonly string[],
  context: Context,
): Promise<Change[]> {
  const { commit, path: repo } = repository!;
  const ask = async (args: readonly string[]) => rows((await ownGit(args, { cwd: repo }, context)).out);
  const changed = await ask(["diff", "--name-only", "--no-renames", "-z", commit, "--"]);
  const known = new Set([...changed, ...(await ask(["ls-files", "--others", "--exclude-standard", "-z"]))]);
  return changes.filter(({ path, folder }) => folder === true || known.has(path) || isIncluded(path, include));
}

/** Unpacking set aside what programs obey; with --trust it lies in its place, and is the same file. */
function setAside(base: string, target: string): void {
  if (!existsSync(join(base, "quarantine"))) return;
  for (const path of listTree(join(base, "quarantine")).keys()) {
    const [there, aside] = [join(target, path), join(target, "quarantine", path)];
    if (existsSync(aside) || !existsSync(there)) continue;
    mkdirSync(dirname(aside), { recursive: true });
    renameSync(there, aside);
  }
}
