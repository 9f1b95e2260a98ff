// What the author's own checks are worth, before anybody works: which pass on the untouched tree, which take work that does
// nothing, or always the same, for done, and which cannot be told from a false report because nothing of them can be altered.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { turns } from "../process/index.js";
import { isResult, lookAtFiles } from "../trees/result-tree.js";
import { controlsFor, type StandIn, standIns, suppliedControls } from "./controls/index.js";
import { withInstalled } from "./install/installed.js";
import type { Check, CheckPlan, Outcome } from "./model.js";
import { planChecks } from "./plan/checks.js";
import { findSubject } from "./plan/subject.js";
import { buildTrees, subjectFacts, type Trees } from "./room/build-trees.js";
import { openRooms, type Rooms } from "./room/rooms.js";
import {
  type AcceptanceOptions,
  type Floor,
  inOrderWords,
  layFloor,
  passesAfter,
  readRequest,
} from "./run-acceptance.js";
import { reachesOut } from "./run-check.js";

export type StrengthOptions = Omit<AcceptanceOptions, "result" | "baseline" | "trials" | "quick" | "logs" | "only">;

export interface CheckStrength {
  readonly id: string;
  readonly description?: string;
  /** What it comes to on the untouched tree; null when it was not run. */
  readonly untouched: Outcome["status"] | null;
  /** Stand-ins it takes for done; null when none was tried. */
  readonly standIns: readonly string[] | null;
  /** Whether its expectations can be altered; null when that was not looked at. */
  readonly alterable: boolean | null;
  /** Altered expectations it passes all the same. */
  readonly altered: readonly string[];
  /** weak: it can be passed without the work; guards: it passes already; untried: it was not run, or could not be. */
  readonly worth: "strong" | "guards" | "weak" | "untried";
  readonly reason?: string;
}

export interface StrengthReport {
  readonly checks: readonly CheckStrength[];
  /** Names of the stand-ins that could be made of this tree. */
  readonly standIns: readonly string[];
  readonly sandboxed: boolean;
}

export async function measureStrength(options: StrengthOptions): Promise<StrengthReport> {
  const { request, manifest, base = request, workDir, env, sandbox = "auto", signal } = options;
  const plan = planChecks(request, manifest);
  const rooms = await openRooms({ folder: join(workDir, "rooms"), env, sandbox, places: manifest.acceptance?.places });
  try {
    const parts = { request, manifest, plan, base, result: base, folder: rooms.place() };
    const trees = await withInstalled(buildTrees(parts), options.install);
    const stop = new AbortController();
    const floor = layFloor(
      { options: { ...options, result: base }, plan, trees, rooms },
      signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
    );
    const made = standIns(trees.base.view, subjectPaths(parts), wordsOf(plan, request));
    const turn = turns(availableParallelism());
    const all = plan.checks.map((check, index) =>
      turn(async () => {
        options.onProgress?.({ type: "check_started", id: check.id, index, total: plan.checks.length });
        return strengthOf(check, { options, plan, trees, rooms, floor, made });
      }),
    );
    try {
      return { checks: await Promise.all(all), standIns: made.map(({ name }) => name), sandboxed: rooms.sandboxed };
    } catch (error) {
      stop.abort();
      await Promise.allSettled(all);
      throw error;
    }
  } finally {
    rooms.remove();
  }
}

/** All that the checks of a request could look for: their own words, and those of the files they are written in. */
function wordsOf({ checks, ownFiles }: CheckPlan, request: string): string {
  const expected = checks.flatMap(({ expected: { stdout_contains: out = [], body_contains: body = [] } = {} }) => [
    ...[out].flat(),
    ...[body].flat(),
  ]);
  const files = [
    ...ownFiles,
    ...[...lookAtFiles(request, (path) => path === "tests" || path.startsWith("tests/")).entries.keys()],
  ];
  const texts = [...new Set(files)]
    .flatMap((path) => readRequest(request, path) ?? [])
    .map((bytes) => Buffer.from(bytes).toString("utf8"));
  const commands = checks.flatMap(({ command }) => command ?? []);
  return [...expected, ...commands, ...texts.filter((text) => !text.includes("\0"))].join("\n");
}

/** Files of the untouched tree that would be the work if they were changed. */
export function subjectPaths(parts: Parameters<typeof subjectFacts>[0]): string[] {
  const before = lookAtFiles(parts.base, isResult);
  const changes = [...before.entries].map(([path, { type }]) => ({
    path,
    kind: "modified" as const,
    lines: 0,
    diffLines: 0,
    ...(type === "link" ? { link: true as const } : {}),
  }));
  return findSubject(subjectFacts(parts, changes, before)).work.map(({ path }) => path);
}

interface Ground {
  readonly options: StrengthOptions;
  readonly plan: CheckPlan;
  readonly trees: Trees;
  readonly rooms: Rooms;
  readonly floor: Floor;
  readonly made: readonly StandIn[];
}

async function strengthOf(check: Check, ground: Ground): Promise<CheckStrength> {
  const { options, plan, trees, rooms, floor, made } = ground;
  const name = { id: check.id, ...(check.description === undefined ? {} : { description: check.description }) };
  const untried = (reason: string, untouched: CheckStrength["untouched"] = null): CheckStrength => {
    return { ...name, untouched, standIns: null, alterable: null, altered: [], worth: "untried", reason };
  };
  if (!check.automatic) return untried("a person judges it");
  if (reachesOut(check, floor.setting) && !check.repeatable) return untried("it reaches out, and is not run for this");
  const tree = await floor.outputs.treeFor(check, "base");
  const first = await floor.run(check, tree);
  if (first.status !== "passed" && first.status !== "failed") {
    return untried(first.reason ?? "it could not be run", first.status);
  }
  const fooled: string[] = [];
  // Over what other checks made, a stand-in would come too late.
  const tried = check.after.length === 0 ? made : [];
  for (const { name: standIn, files } of tried) {
    if ((await floor.run(check, rooms.alter(tree, files))).status === "passed") fooled.push(standIn);
  }
  const controls = [
    ...controlsFor(check, trees.base.view, first.tests ?? []),
    ...suppliedControls(plan.controls, (path) => readRequest(options.request, path)),
  ];
  const altered: string[] = [];
  for (const control of first.status === "passed" ? controls : []) {
    const { status } = await floor.run({ ...check, ...control.check }, rooms.alter(tree, control.files));
    if (status === "passed") altered.push(control.name);
  }
  const inOrder = first.status === "failed" ? await passesAfter(check, plan, floor, "base") : [];
  const row = { ...name, untouched: first.status, standIns: tried.length === 0 ? null : fooled, altered };
  const worth = worthOf({ first, fooled, altered, inOrder, controls: controls.length });
  return { ...row, alterable: controls.length > 0, ...worth };
}

interface Seen {
  readonly first: Outcome;
  readonly fooled: readonly string[];
  readonly altered: readonly string[];
  /** The checks after which it passes on the untouched tree, where alone it fails. */
  readonly inOrder: readonly string[];
  readonly controls: number;
}

/** Pure: what was seen, weighed. */
export function worthOf({ first, fooled, altered, inOrder, controls }: Seen): Pick<CheckStrength, "worth" | "reason"> {
  if (fooled.length > 0) return { worth: "weak", reason: `passes on ${fooled.join(", ")}` };
  if (altered.length > 0) return { worth: "weak", reason: `passes with ${altered.join(", ")}` };
  if (inOrder.length > 0) return { worth: "weak", reason: `fails alone on the untouched tree${inOrderWords(inOrder)}` };
  if (first.status === "passed") return { worth: "guards", reason: "passes on the untouched tree" };
  if (controls === 0 && first.forgeable !== false) {
    return { worth: "weak", reason: "nothing of it can be altered, so a false report would look the same" };
  }
  return { worth: "strong" };
}
