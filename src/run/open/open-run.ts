// A run put together: folders, trees, catalog, credentials, state; from nothing, or from what a journal says is there.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { planChecks } from "../../acceptance/index.js";
import { assess, estimateTokens, listFolder } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import { loadBriefing } from "../../request/briefing.js";
import type { Manifest } from "../../schema/manifest.js";
import { RUN_VERSION, type RunOptions } from "../../schema/run.js";
import {
  agentTracker,
  type Document,
  editTracker,
  openProject,
  type Project,
  planFile,
  tasksFile,
} from "../../state/index.js";
import { Objects } from "../../trees/objects.js";
import { Slots } from "../../trees/slots.js";
import { lookAt, type Tree, type TreeEntry, withChanges } from "../../trees/tree.js";
import { AgentEvents } from "../agents/agent-events.js";
import { openSecrets } from "../agents/credentials.js";
import { readConstraints } from "../plan/constraints.js";
import type { RunFolder } from "../record/folder.js";
import { Journal } from "../record/journal.js";
import { knowledgeIndex } from "../record/mirror.js";
import { type Run, type RunInput, record } from "../run.js";
import { baseDigest, counts, openMain, openRepository, openRequest, putBack } from "./workspace.js";

export async function openRun(input: RunInput): Promise<Run> {
  const journal = new Journal(input.folder.journal);
  try {
    return await openWith(input, journal);
  } catch (error) {
    journal.close();
    throw error;
  }
}

async function openWith(input: RunInput, journal: Journal): Promise<Run> {
  const { folder, options, context } = input;
  const { env, now, signal } = context;
  const { state } = journal;
  const core = { journal, context };
  if (state.createdAt === "") record(core, { type: "created", version: RUN_VERSION, run: folder.id });
  const request = await openRequest(options.request, folder.request, signal);
  const warnings = [...request.warnings];
  if (state.baseDigest === null && !options.force)
    await assertComplete(folder.request, request.manifest, options, now());
  if (options.repo !== undefined) warnings.push(...(await openRepository(options.repo, folder.base, env, signal)));
  mkdirSync(folder.home, { recursive: true, mode: 0o700 });
  mkdirSync(folder.scratch, { recursive: true });
  openMain(folder);
  const skip = (path: string) => !counts(path);
  const start = lookAt(folder.base, { skip });
  const digest = baseDigest(folder.base);
  const first = state.baseDigest === null;
  if (first) record(core, { type: "opened", digest: request.digest, base: digest });
  else if (state.baseDigest !== digest) {
    throw new NutError("RUN_TREE_MOVED", `${folder.base} is no longer the tree this run began with`, {
      hint: `nexus run ${shellWord(options.request)}`,
    });
  }
  const objects = new Objects(folder.objects, folder.base);
  const main = mainTree(state.versions.reduce((tree: Tree, changes) => withChanges(tree, changes), start));
  if (!first) putBack(folder.main, main, objects);
  const opened = await openSecrets({
    request: folder.request,
    manifest: request.manifest,
    identity: options.identity ?? [],
    now: now(),
  });
  if (opened.warning !== null) warnings.push(opened.warning);
  const project = runProject(folder);
  const run: Run = {
    ...input,
    manifest: request.manifest,
    constraints: readConstraints(request.manifest.harness?.constraints ?? []),
    secrets: opened.secrets,
    state,
    journal,
    objects,
    slots: new Slots({ folder: folder.slots, base: folder.base, objects, counts }),
    start,
    main,
    held: new Map(),
    project,
    events: new AgentEvents({
      project,
      catalog: input.catalog,
      context,
      toolName: input.runner.toolName,
      canResume: input.runner.canResume,
      run: folder.id,
    }),
    knowledge: knowledgeIndex(input.outer.root),
    halt: haltOn(signal),
    live: new Map(),
    isOwnTest: planChecks(folder.request, request.manifest).isOwnTest,
    briefing: loadBriefing({ folder: folder.request, manifest: request.manifest, estimate: estimateTokens }),
    since: now().getTime(),
  };
  for (const message of warnings) {
    run.context.progress({ type: "warning", message });
    if (first) record(run, { type: "issue", message });
  }
  return run;
}

/** Completeness is checked before anybody works: an agent would only guess what is missing. */
async function assertComplete(folder: string, manifest: Manifest, options: RunOptions, now: Date): Promise<void> {
  const listing = listFolder(folder);
  const files = new Map(listing.entries.filter(({ kind }) => kind === "file").map(({ path, size }) => [path, size]));
  const read = async (path: string) => readFileSync(join(folder, path));
  const { status, missing } = await assess({ manifest, files, left: [], read }, { now, dir: options.request });
  if (status === "ready") return;
  const what = status === "draft" ? "still a draft" : "incomplete";
  throw new NutError("BUNDLE_INCOMPLETE", `the request is ${what}: ${missing[0] ?? "something is missing"}`, {
    hint: `nutshell check ${shellWord(options.request)}`,
    data: { missing },
  });
}

/** The run's own state files, in its own folder: a person's plan in the same project is left alone. */
function runProject(folder: RunFolder): Project {
  mkdirSync(`${folder.root}/.nexus/state/nutcracker`, { recursive: true, mode: 0o700 });
  const project = openProject(folder.root, { env: { NEXUS_PROJECT_DIR: folder.root }, durable: false });
  const documents: readonly Document<unknown>[] = [planFile, tasksFile, agentTracker, editTracker];
  for (const document of documents) {
    try {
      project.store.read(document);
    } catch (error) {
      // Everything in it is in the journal too, so a file a power cut left broken is written again from there.
      if (!(error instanceof NutError) || error.code !== "STATE_DAMAGED") throw error;
      rmSync(document.path(project.layout), { force: true });
    }
  }
  return project;
}

function mainTree(tree: Tree): Run["main"] {
  return { entries: new Map<string, TreeEntry>(tree.entries), takenMs: tree.takenMs };
}

function haltOn(signal: AbortSignal): AbortController {
  const halt = new AbortController();
  const stop = () => halt.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return halt;
}
