// One fixture, in a fresh project of its own.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { NutError } from "../../../errors.js";
import type { Assertions, Fixture, Step } from "../../../schema/fixture.js";
import { openProject, trackComplete, trackResume, trackSpawn } from "../../../state/index.js";
import { broken, type LoadedFixture } from "./fixtures.js";
import { judge, judgeFiles } from "./judge.js";

export interface FixtureOutcome {
  readonly value: unknown;
  /** The text of the refusal, whatever form it took. */
  readonly error: string | null;
}

/** A way to reach the tools of one project. */
export interface Door {
  call(tool: string, params: Readonly<Record<string, unknown>>): Promise<FixtureOutcome>;
  close(): Promise<void>;
}

export type OpenDoor = (root: string) => Promise<Door> | Door;

export interface FixtureOptions {
  readonly open: OpenDoor;
  readonly harnessId: string;
  readonly now: () => Date;
}

/** What did not hold; empty when the fixture passes. Throws FIXTURE_INVALID for a fixture nobody could pass. */
export async function runFixture({ file, fixture }: LoadedFixture, options: FixtureOptions): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), "nexus-conformance-"));
  try {
    const paths = new Paths(file, fixture, options.harnessId);
    // A project of its own even when the temporary folder lies inside another one.
    mkdirSync(join(root, ".nexus"));
    establish(root, fixture, paths);
    const door = await options.open(root);
    try {
      return await perform({ root, fixture, paths, door, options });
    } finally {
      await door.close();
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface Run {
  readonly root: string;
  readonly fixture: Fixture;
  readonly paths: Paths;
  readonly door: Door;
  readonly options: FixtureOptions;
}

async function perform({ root, fixture, paths, door, options }: Run): Promise<string[]> {
  const failures: string[] = [];
  let last: FixtureOutcome = { value: null, error: null };
  const steps: readonly Step[] = fixture.steps ?? [fixture];
  for (const [index, step] of steps.entries()) {
    last = step.action
      ? await door.call(step.action.tool, step.action.params)
      : await fire(root, step.event!, paths.harnessId, options.now());
    const { assert_return, assert_state } = fixture.steps === undefined ? {} : step;
    const where = `step ${index + 1}`;
    if (assert_return !== undefined) failures.push(...judge(last.value, assert_return, where));
    if (assert_state !== undefined) {
      failures.push(...judgeFiles(root, paths.all(assert_state)).map((text) => `${where}: ${text}`));
    }
    // Later steps build on this one: their failures would only repeat it.
    if (failures.length > 0) return failures;
  }
  const { postcondition = {} } = fixture;
  failures.push(...judgeError(last, postcondition));
  if (postcondition.return_value !== undefined)
    failures.push(...judge(last.value, postcondition.return_value, "result"));
  if (postcondition.state_files !== undefined) failures.push(...judgeFiles(root, paths.all(postcondition.state_files)));
  return failures;
}

function judgeError(last: FixtureOutcome, postcondition: NonNullable<Fixture["postcondition"]>): string[] {
  const { error, error_contains, return_value = {} } = postcondition;
  const wanted = error === true || error_contains !== undefined;
  if (wanted && last.error === null) return ["it succeeds, and must not"];
  if (error_contains !== undefined && !last.error!.includes(error_contains)) {
    return [`the error is "${last.error}", which does not hold "${error_contains}"`];
  }
  const expected = wanted || Object.keys(return_value).some((path) => path.startsWith("$.error"));
  return last.error !== null && !expected ? [`it fails: ${last.error}`] : [];
}

interface EventParams {
  readonly agent_name?: string;
  readonly agent_id: string;
  readonly last_message?: string;
  readonly files_touched?: string[];
}

async function fire(
  root: string,
  event: NonNullable<Step["event"]>,
  harnessId: string,
  now: Date,
): Promise<FixtureOutcome> {
  const project = openProject(root, { env: { NEXUS_PROJECT_DIR: root }, harnessId });
  const { agent_name, agent_id, last_message, files_touched } = (event.params ?? {}) as unknown as EventParams;
  const agent =
    event.type === "agent_spawn"
      ? await trackSpawn(project, { agentName: agent_name, agentId: agent_id }, now)
      : event.type === "agent_complete"
        ? await trackComplete(
            project,
            { agentId: agent_id, lastMessage: last_message, filesTouched: files_touched },
            now,
          )
        : await trackResume(project, agent_id, now);
  project.store.forget();
  return agent === null ? { value: null, error: `no agent ${agent_id} is tracked` } : { value: agent, error: null };
}

function establish(root: string, { precondition }: Fixture, paths: Paths): void {
  for (const [path, content] of Object.entries(precondition?.state_files ?? {})) {
    if (content === null) continue;
    const full = join(root, paths.resolve(path));
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, `${JSON.stringify(content, null, 2)}\n`);
  }
}

/** Fixture paths with their two tokens filled in; any other token, or a path that leaves the project, is refused. */
class Paths {
  readonly harnessId: string;
  readonly #file: string;

  constructor(file: string, fixture: Fixture, harnessId: string) {
    const events = [fixture.event, ...(fixture.steps ?? []).map(({ event }) => event)];
    const named = events.map((event) => event?.params?.harness_id).find((id) => typeof id === "string");
    this.harnessId = (named as string | undefined) ?? harnessId;
    this.#file = `${file}: ${fixture.test_id}`;
    // All of them before anything runs: a mistake of the author must not hide behind a step that fails first.
    for (const path of pathsIn(fixture)) this.resolve(path);
    const token = /\{[A-Z][A-Z0-9_]*\}/.exec(JSON.stringify(valuesIn(fixture)));
    if (token !== null) throw broken(this.#file, `the token ${token[0]} stands where none is filled in`);
  }

  resolve(path: string): string {
    const filled = path.replaceAll("{STATE_ROOT}", ".nexus/state").replaceAll("{HARNESS_ID}", this.harnessId);
    if (/[{}]/.test(filled)) throw broken(this.#file, `unknown token in "${path}"`);
    const clean = normalize(filled);
    if (isAbsolute(clean) || clean.startsWith("..")) throw broken(this.#file, `"${path}" leaves the project`);
    return clean;
  }

  all(files: Readonly<Record<string, Assertions | null>>): Record<string, Assertions | null> {
    return Object.fromEntries(Object.entries(files).map(([path, value]) => [this.resolve(path), value]));
  }
}

/** Every path a fixture names. */
function pathsIn({ precondition, postcondition, steps = [] }: Fixture): string[] {
  const maps = [
    precondition?.state_files,
    postcondition?.state_files,
    ...steps.map(({ assert_state }) => assert_state),
  ];
  return maps.flatMap((map) => Object.keys(map ?? {}));
}

/** Everything a fixture says besides paths: what is asked, what lies there before, what must be there afterwards. */
function valuesIn({ action, event, precondition, postcondition = {}, steps = [] }: Fixture): unknown[] {
  const { state_files: files, ...rest } = postcondition;
  return [
    ...[action, event, Object.values(precondition?.state_files ?? {}), Object.values(files ?? {}), rest],
    ...steps.map((step) => [step.action, step.event, step.assert_return, Object.values(step.assert_state ?? {})]),
  ];
}

/** How a thrown refusal looks to a fixture: the same as one that was returned. */
export function refused(error: unknown): FixtureOutcome {
  if (!(error instanceof NutError)) throw error;
  return { value: { error: error.message }, error: error.message };
}
