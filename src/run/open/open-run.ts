// A run put together: folders, trees, catalog, credentials, state; from nothing, or from what a journal says is there.
import { mkdirSync, rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { planChecks, readConstraints, untouchedFiles } from "../../acceptance/index.js";
import { startBroker } from "../../broker/index.js";
import { estimateTokens } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import { turns } from "../../process/index.js";
import { openInstaller } from "../../request/install/installer.js";
import { assertReady } from "../../request/judge/completeness.js";
import { loadBriefing } from "../../request/open/briefing.js";
import { RUN_VERSION } from "../../schema/run.js";
import {
  agentTracker,
  type Document,
  editTracker,
  openProject,
  type Project,
  planFile,
  tasksFile,
} from "../../state/index.js";
import { firstLook } from "../../trees/first-look.js";
import { Objects } from "../../trees/objects.js";
import { digestOf, skipping } from "../../trees/result-tree.js";
import { Slots } from "../../trees/slots.js";
import { lookAt, pathsIn, type Remembered, slowly, type Tree, type TreeEntry, withChanges } from "../../trees/tree.js";
import { AgentEvents } from "../agents/agent-events.js";
import { openSecrets, type RunSecrets } from "../agents/credentials.js";
import { brokerProgram } from "../agents/programs.js";
import { recordUse } from "../record/credential-uses.js";
import { assertRecorded } from "../record/damaged-file.js";
import type { RunFolder } from "../record/folder.js";
import { Journal } from "../record/journal.js";
import { knowledgeIndex } from "../record/mirror.js";
import { type Run, type RunInput, record } from "../run.js";
import { Room } from "./room.js";
import {
  baseDigest,
  counts,
  type OpenedRepository,
  openMain,
  openRepository,
  openRequest,
  putBack,
} from "./workspace.js";

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
  const { folder, context } = input;
  const { state } = journal;
  assertRecorded(folder, state.createdAt === "");
  if (state.createdAt === "") record({ journal, context }, { type: "created", version: RUN_VERSION, run: folder.id });
  const isNew = state.baseDigest === null;
  const files = await oneOpens(() => openFiles(input, journal));
  try {
    return await openRest(input, journal, isNew, files);
  } catch (error) {
    files.leave();
    throw error;
  }
}

async function openRest(input: RunInput, journal: Journal, isNew: boolean, files: OpenedFiles): Promise<Run> {
  const { folder, options, context } = input;
  const { manifest, warnings } = files;
  const { secrets, warnings: opening } = await openSecrets({
    request: folder.request,
    manifest,
    identity: options.identity ?? [],
    context,
    handOut: options.hand_out ?? [],
    allowOrigins: options.allow_origins ?? [],
    keys: [input.runner, ...(input.fallbacks ?? []), ...(input.reviewer === undefined ? [] : [input.reviewer])].flatMap(
      ({ keys = [] }) => keys,
    ),
    onUse: recordUse({ folder, journal, context }),
    openBroker: (asked) => startBroker({ ...brokerProgram(), env: context.env }, asked),
  });
  try {
    return await putTogether(input, journal, isNew, { ...files, secrets, warnings: [...warnings, ...opening] });
  } catch (error) {
    await secrets.close();
    throw error;
  }
}

/** Of several runs in one process: what they read on the way would add up, and most of it is soon of no use. */
const oneOpens = turns(1);
const room = new Room();

/** The request and the trees, with every file looked at, once there is room for them. */
async function openFiles(input: RunInput, journal: Journal): Promise<OpenedFiles> {
  await room.wait(input.context.signal);
  const { folder, options, context } = input;
  const { repo, identity = [] } = options;
  const isNew = journal.state.baseDigest === null;
  const opened = await openRequest(options.request, folder.request, identity, context, input.onOpened);
  const { manifest, digest } = opened;
  if (isNew && !options.force) await assertReady(options.request, identity, context);
  const layered = repo !== undefined && (await canLayer(input));
  const cloned =
    repo === undefined ? null : await openRepository({ ...options, repo, readOnly: layered }, folder.base, context);
  const trees = await openTrees(input, journal, { digest, cloned, layered });
  const leave = room.take({ files: trees.start.entries.size, layered });
  return { manifest, trees, leave, warnings: [...opened.warnings, ...(cloned?.warnings ?? [])] };
}

interface OpenedFiles extends Pick<Run, "manifest" | "leave"> {
  readonly trees: Awaited<ReturnType<typeof openTrees>>;
  readonly warnings: readonly string[];
}

interface OpenedParts extends OpenedFiles {
  readonly secrets: RunSecrets;
}

async function putTogether(input: RunInput, journal: Journal, isNew: boolean, opened: OpenedParts): Promise<Run> {
  const { folder, options, context, runner, catalog, clock = () => performance.now() } = input;
  const { manifest, trees, leave, secrets, warnings } = opened;
  const { state } = journal;
  const plan = planChecks(folder.request, manifest);
  const install = openInstaller({ manifest, allowed: options.allow_install === true, silent: options.yes }, context);
  // Before an agent is paid for: what its checks need is there, or it is said what is missing.
  const installed = (await install?.(untouchedFiles(folder.base, folder.request, plan))) ?? null;
  const project = runProject(folder);
  const { toolName, canResume } = runner;
  const run: Run = {
    ...input,
    ...trees,
    leave,
    manifest,
    constraints: readConstraints(manifest.harness?.constraints ?? []),
    secrets,
    state,
    journal,
    held: new Map(),
    project,
    events: new AgentEvents({ project, catalog, context, toolName, canResume, run: folder.id }),
    knowledge: knowledgeIndex(input.outer.root),
    halt: haltOn(context.signal),
    live: new Map(),
    isOwnTest: plan.isOwnTest,
    install,
    installed,
    briefing: loadBriefing({ folder: folder.request, manifest, estimate: estimateTokens }),
    fallbacks: [...(input.fallbacks ?? [])],
    backOffs: new Map(),
    renewed: new Set(),
    clock,
    sleep: input.sleep ?? sleep,
    since: clock(),
    agentsBefore: state.agents.size,
  };
  for (const message of warnings) {
    context.progress({ type: "warning", message });
    if (isNew) record(run, { type: "issue", message });
  }
  return run;
}

/** The trees of a run: the base as it was when the run began, and the main tree as the journal says it must be. */
async function openTrees(
  { folder, options, context }: RunInput,
  journal: Journal,
  {
    digest,
    cloned,
    layered,
  }: { readonly digest: string; readonly cloned: OpenedRepository | null; readonly layered: boolean },
) {
  const { state } = journal;
  mkdirSync(folder.scratch, { recursive: true });
  const look = await lookAtBase(folder, cloned, options.repo);
  const start = look.tree;
  openMain(folder, look);
  const isNew = state.baseDigest === null;
  const tree = cloned === null ? undefined : digestOf(start);
  // Every file was read once already, and one digest is enough. Earlier runs wrote down a second one.
  const isEarlier = !isNew && state.baseDigest !== state.repository?.digest;
  const base = tree === undefined || isEarlier ? baseDigest(folder.base) : tree;
  const began = tree === undefined ? {} : { repository: { ...cloned!.facts, digest: tree } };
  if (isNew) record({ journal, context }, { type: "opened", digest, base, ...began });
  else if (state.baseDigest !== base) {
    throw new NutError("RUN_TREE_MOVED", `${folder.base} is no longer the tree this run began with`, {
      hint: `nexus run ${shellWord(options.request)}`,
    });
  }
  const objects = new Objects(folder.objects, folder.base);
  const main = mainTree(state.versions.reduce((tree: Tree, changes) => withChanges(tree, changes), start));
  if (!isNew) putBack(folder, main, { start, objects });
  return {
    objects,
    start,
    main,
    slots: new Slots({
      folder: folder.slots,
      base: folder.base,
      objects,
      counts,
      ...(layered ? { layersOver: start } : {}),
    }),
  };
}

/** Most requests are small, and looked at before a program is started; the names of a clone are compared as text. */
async function lookAtBase({ base }: RunFolder, cloned: OpenedRepository | null, repo = base): Promise<Remembered> {
  if (cloned !== null) return firstLook(base, skipping(base, counts, repo), cloned.written);
  const skip = (path: string) => !counts(path);
  return isLarge(base) ? firstLook(base, skip) : slowly(lookAt(base, { skip }));
}

const LARGE = 2_000;

function isLarge(folder: string): boolean {
  const paths = pathsIn(folder);
  for (let count = 0; count < LARGE; count += 1) if (paths.next().done === true) return false;
  return true;
}

/** A repository is not copied for every agent where all who may work on it are held by a sandbox. */
async function canLayer({ runner, reviewer, fallbacks = [], folder }: RunInput): Promise<boolean> {
  for (const one of [runner, ...(reviewer === undefined ? [] : [reviewer]), ...fallbacks]) {
    if ((await one.canLayer?.(folder.slots)) !== true) return false;
  }
  return true;
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

/** Ends early, and quietly, when the signal says so. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

function haltOn(signal: AbortSignal): AbortController {
  const halt = new AbortController();
  const stop = () => halt.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return halt;
}
