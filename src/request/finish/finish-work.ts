// From done work to a delivery: compare, test what would be delivered and nothing else, write it down, pack it. Everything
// is made in a folder of our own; the person's folder and the output change at the very end, each in one step.
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Change,
  cleanTreeOf,
  type Judgement,
  judgeDelivery,
  planChecks,
  readConstraints,
  treeDigest,
  violations,
  writeArtifacts,
} from "../../acceptance/index.js";
import { newBundleId, openBundle, type Packed, writeManifest } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import { temporaryName } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { type Delivery, RESULT_FILE, type RepositoryBase } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import { identityOf } from "../../trees/git/identity.js";
import { GitStore } from "../../trees/git/store.js";
import { isResult } from "../../trees/result-tree.js";
import { readDelivery } from "../apply/delivered.js";
import { PATCH_FILE, workPatch, writePatch } from "../apply/delivery-patch.js";
import { type Accepted, hiddenUnrun } from "../hidden/hidden.js";
import type { OpenedFolder } from "../open/work-folder.js";
import { packBundle } from "../pack/pack-bundle.js";
import { finishResult, type Told } from "./finish-result.js";
import { findWork, type LeftOut } from "./work-changes.js";
import { findWorkPlace, type WorkPlace } from "./work-place.js";

export interface FinishRequest {
  /** The folder that was worked in. */
  readonly dir: string;
  readonly request: OpenedFolder;
  /** The request as a path, which is no part of the work when it lies in the folder. */
  readonly requestPath: string;
  readonly output: string;
  readonly at?: string | undefined;
  readonly base?: string | undefined;
  readonly include: readonly string[];
  /** Paths that may go although they look like secrets. */
  readonly allow?: readonly string[] | undefined;
  /** A folder of ours. */
  readonly work: string;
  /** Runs the acceptance on a tree; null when it is not to be run. */
  readonly accept: ((tree: AcceptedTree) => Promise<{ accepted: Accepted; credentials: readonly string[] }>) | null;
  /** Asked when it is known what was done. */
  readonly tell: (seen: Seen) => Promise<Told>;
}

export interface AcceptedTree {
  readonly base: string;
  readonly result: string;
  readonly logs: { readonly dir: string; readonly name: (file: string) => string };
}

export interface Seen {
  readonly changes: readonly Change[];
  readonly accepted: Accepted | null;
  readonly before: Delivery | null;
}

export interface Finished {
  readonly packed: Packed;
  readonly delivery: Delivery;
  readonly judgement: Judgement;
  readonly place: WorkPlace;
  readonly changes: readonly Change[];
  readonly left: readonly LeftOut[];
  readonly absent: readonly string[];
  readonly accepted: Accepted | null;
  /** Constraints that were broken, one sentence each. */
  readonly broken: readonly string[];
  /** Whether delivery/ was written into the folder too. */
  readonly written: boolean;
}

export async function finishWork(request: FinishRequest, context: Context): Promise<Finished> {
  const { dir, work, output } = request;
  const { manifest, dir: requestDir } = request.request;
  const place = await findWorkPlace({ ...request, scratch: join(work, "repository") }, context);
  const before = resultBefore(place);
  const id = place.manifest?.bundle_type === "delivery" ? place.manifest.id : (before?.id ?? newBundleId());
  const isNew = await isFree(output, id);
  const plan = planChecks(requestDir, manifest);
  const result = join(work, "result");
  const exclude = [output, request.requestPath];
  const done = await findWork({ place, plan, include: request.include, exclude, target: result }, context);
  if (done.changes.length === 0) throw unchanged(dir, place, done.left);
  const stage = join(work, "delivery");
  keepOwn(place, stage);
  writeArtifacts(result, stage, done.changes);
  const { base } = place;
  const logs = {
    dir: join(stage, "delivery/logs/acceptance"),
    name: (file: string) => `delivery/logs/acceptance/${file}`,
  };
  const ran = request.accept === null ? null : await request.accept({ base, result, logs });
  const accepted = ran?.accepted ?? null;
  const trees = accepted?.report.digests ?? cleanTreeOf({ base, request: requestDir, plan, result }).digests;
  const digests = { ...trees, request: await request.request.digest() };
  const broken = brokenRules(done.changes, manifest);
  const told = await request.tell({ changes: done.changes, accepted, before });
  context.signal.throwIfAborted();
  const made = finishResult({
    id,
    request: manifest,
    changes: done.changes,
    accepted,
    digests,
    base: repositoryBase(place),
    told,
    before,
    broken,
    hasLog: existsSync(join(stage, "delivery/logs/execution.log")),
    credentials: ran?.credentials ?? [],
    now: context.now(),
  });
  const delivery = await withPatch(
    made,
    { place, result, stage, changes: done.changes, title: manifest.task?.title, work },
    context,
  );
  writeFileSync(join(stage, RESULT_FILE), `${JSON.stringify(delivery, null, 2)}\n`);
  writeManifest(stage, deliveryManifest(manifest, delivery, context.now()));
  const packed = await packBundle(
    {
      dir: stage,
      output,
      isNew,
      compression: "gzip",
      level: "default",
      force: true,
      allow: request.allow,
      vaultFolder: requestDir,
    },
    context,
  );
  const written = place.manifest !== null;
  if (written) replaceFolder(join(stage, "delivery"), join(place.root, "delivery"));
  const judgement = judgeDelivery({
    delivery,
    has: (path) => existsSync(join(stage, path)),
    request: { checks: plan.checks, checklist: manifest.acceptance?.checklist ?? [] },
    digests,
    rerun: accepted?.report ?? null,
    hidden: accepted === null ? hiddenUnrun(requestDir, manifest) : accepted.hidden,
  });
  return { packed, delivery, judgement, place, ...done, accepted, broken, written };
}

/** What somebody wrote into delivery/result.json by hand is theirs, and is kept. */
function resultBefore({ root, manifest }: WorkPlace): Delivery | null {
  if (manifest === null || !existsSync(join(root, RESULT_FILE))) return null;
  return readDelivery(root, manifest);
}

/** A delivery of the same work may be replaced by its next try (false); anything else is somebody's. */
async function isFree(output: string, id: string): Promise<boolean> {
  if (!existsSync(output)) return true;
  try {
    const bundle = await openBundle(output);
    const same = bundle.manifest.bundle_type === "delivery" && bundle.manifest.id === id;
    await bundle.close();
    if (same) return false;
  } catch (error) {
    if (!(error instanceof NutError)) throw error;
  }
  throw new NutError("FILE_EXISTS", `${output}: already exists, and is not this delivery`, {
    hint: "name another file: -o '<file>'",
    data: { path: output },
  });
}

function unchanged(dir: string, { repository, prefix }: WorkPlace, left: readonly LeftOut[]): NutError {
  const side =
    repository === null
      ? `the request${prefix === "" ? "" : `'s ${prefix}`}`
      : `commit ${repository.commit.slice(0, 12)}`;
  const more =
    left.length === 0
      ? ""
      : `; left out: ${left
          .slice(0, 3)
          .map(({ path, why }) => `${path} (${why})`)
          .join(", ")}`;
  return new NutError("WORK_UNCHANGED", `nothing in ${dir} differs from ${side}${more}`, {
    hint:
      left.length === 0
        ? "name the folder that was worked in: nutshell finish '<dir>' --request '<request>'"
        : `count it as work: --with ${shellWord(left[0]!.path)}`,
    data: { path: dir },
  });
}

/** Parts of delivery/ that are made anew each time. */
const MADE: ReadonlySet<string> = new Set(["artifacts", "result.json", "changes.patch"]);

/** Logs and notes of the person's own stay in the delivery. */
function keepOwn({ root, manifest }: WorkPlace, stage: string): void {
  mkdirSync(join(stage, "delivery"), { recursive: true });
  const own = join(root, "delivery");
  if (manifest === null || !existsSync(own)) return;
  for (const name of readdirSync(own).filter((each) => !MADE.has(each))) {
    cpSync(join(own, name), join(stage, "delivery", name), { recursive: true, verbatimSymlinks: true });
  }
  rmSync(join(stage, "delivery/logs/acceptance"), { recursive: true, force: true });
}

function brokenRules(changes: readonly Change[], { harness }: Manifest): string[] {
  const { rules } = readConstraints(harness?.constraints ?? []);
  return violations(changes, rules).map(
    ({ path, constraint }) => `${path} was changed against the constraint "${constraint}"`,
  );
}

function repositoryBase({ repository, base }: WorkPlace): RepositoryBase | null {
  if (repository === null) return null;
  const { path: _path, ...facts } = repository;
  return { ...facts, digest: treeDigest(base, isResult) };
}

interface PatchParts {
  readonly place: WorkPlace;
  readonly result: string;
  readonly stage: string;
  readonly changes: readonly Change[];
  readonly title: string | undefined;
  readonly work: string;
}

async function withPatch(delivery: Delivery, parts: PatchParts, context: Context): Promise<Delivery> {
  const { place, result, stage, changes, title, work } = parts;
  if (place.repository === null) return delivery;
  const { path: repo, commit } = place.repository;
  const store = await GitStore.open({ repo, scratch: join(work, "patch") }, context);
  const base = { commit, folder: place.base };
  const author = await identityOf(repo, "AUTHOR", context);
  const named = author === null ? {} : { author };
  writePatch(stage, await workPatch({ store, base, result, changes, delivery, title, at: context.now(), ...named }));
  return { ...delivery, patch: PATCH_FILE };
}

function deliveryManifest(request: Manifest, delivery: Delivery, now: Date): Manifest {
  const { title, summary } = request.task ?? {};
  const { tags = {}, ...rest } = delivery;
  return {
    ...rest,
    nutshell_version: "0.2.0",
    bundle_type: "delivery",
    id: delivery.id!,
    created_at: now.toISOString(),
    task: { ...(title === undefined ? {} : { title }), ...(summary === undefined ? {} : { summary }) },
    tags: { ...(request.tags?.domains === undefined ? {} : { domains: request.tags.domains }), ...tags },
  } as Manifest;
}

/** In one step for whoever looks: the old folder is aside when the new one has its name. */
function replaceFolder(source: string, target: string): void {
  const fresh = temporaryName(target);
  const old = temporaryName(target);
  // Of our own making: what was planted under that name would be copied through.
  mkdirSync(fresh);
  cpSync(source, fresh, { recursive: true });
  try {
    if (existsSync(target)) renameSync(target, old);
    renameSync(fresh, target);
  } catch (error) {
    if (!existsSync(target) && existsSync(old)) renameSync(old, target);
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
  rmSync(old, { recursive: true, force: true });
}
