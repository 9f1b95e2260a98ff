// A room without walls: a tree in a temporary folder, run as the engine runs it.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlsFor } from "../../src/acceptance/controls/index.js";
import type { Check, Control, Outcome } from "../../src/acceptance/model.js";
import { prepareRun, type RunnerRoom, readRun, type TreeView } from "../../src/acceptance/runners/index.js";
import { type Environment, findProgram, runChild } from "../../src/process/index.js";
import { put } from "./room.js";

const known = new Map<string, boolean>();

/** Asked once: starting some runners takes longer than the tests they run. */
export function answers(command: string, ...args: string[]): boolean {
  const key = [command, ...args].join(" ");
  const answer = known.get(key) ?? endsWell(command, args);
  known.set(key, answer);
  return answer;
}

function endsWell(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore", timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
}

export function checkOf(fields: Partial<Check>): Check {
  const more = { automatic: true, after: [], repeatable: false, timeoutMs: 60_000 };
  return { id: "AC-1", type: "shell", kind: "shell", ...more, ...fields } as Check;
}

export interface Bench {
  readonly tree: string;
  readonly view: TreeView;
  run(check: Check, control?: Control | null): Promise<Outcome>;
  controls(check: Check, outcome: Outcome): readonly Control[];
  remove(): void;
}

export interface BenchOptions {
  /** Folders of packages that are linked into the tree. */
  readonly links?: Readonly<Record<string, string>>;
  readonly env?: Environment;
}

export function runnerBench(
  files: Readonly<Record<string, string>>,
  { links = {}, env = {} }: BenchOptions = {},
): Bench {
  const folder = mkdtempSync(join(tmpdir(), "nut-runner-"));
  const tree = join(folder, "tree");
  const home = join(folder, "home");
  mkdirSync(tree);
  mkdirSync(home);
  put(tree, files);
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(tree, path));
  const view = viewOf(tree);
  const environment: Environment = {
    PATH: process.env.PATH,
    HOME: home,
    TMPDIR: folder,
    PYTHONDONTWRITEBYTECODE: "1",
    // A developer's machine may have dozens of plugins, and each takes its time to load.
    PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1",
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(process.env.HOME ?? "", ".rustup"),
    PYENV_VERSION: process.env.PYENV_VERSION,
    ...env,
  };
  let runs = 0;
  const run = async (check: Check, control: Control | null = null): Promise<Outcome> => {
    runs += 1;
    const reports = join(folder, `reports-${runs}`);
    mkdirSync(reports);
    const before = new Map([...(control?.files.keys() ?? [])].map((path) => [path, readFileSync(join(tree, path))]));
    const put1 = (entries: ReadonlyMap<string, Uint8Array>) => {
      for (const [path, content] of entries) put(tree, { [path]: Buffer.from(content).toString("utf8") });
    };
    put1(control?.files ?? new Map());
    try {
      return await runOnce({ ...check, ...control?.check } as Check, { tree, view, reports, environment });
    } finally {
      put1(before);
    }
  };
  return {
    tree,
    view,
    run,
    controls: (check, outcome) => controlsFor(check, view, outcome.tests ?? []),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface Place {
  readonly tree: string;
  readonly view: TreeView;
  readonly reports: string;
  readonly environment: Environment;
}

async function runOnce(check: Check, { tree, view, reports, environment }: Place): Promise<Outcome> {
  const child = (command: string, args: readonly string[], more: object = {}) =>
    runChild({ command, args, cwd: tree, env: environment, timeoutMs: check.timeoutMs, ...more });
  const room: RunnerRoom = {
    tree,
    reports,
    findProgram: (name) => findProgram(name, environment),
    answers: async (command, args) => findProgram(command, environment) !== null && answers(command, ...args),
  };
  const prepared = await prepareRun(check, view, room);
  if ("status" in prepared) return prepared;
  const { command, args, cwd = "", env = {}, stdin, maxOutputBytes, reportFiles } = prepared;
  const result = await child(command, args, {
    cwd: join(tree, cwd),
    env: { ...environment, ...env },
    ...(stdin === undefined ? {} : { stdin }),
    ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
  });
  return readRun(check, prepared, result, readBack(reportFiles));
}

function readBack(paths: readonly string[]): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  for (const path of paths) {
    if (!existsSync(path)) continue;
    if (!path.endsWith("/")) found.set(path, readFileSync(path));
    else
      for (const name of readdirSync(path))
        if (name.endsWith(".xml")) found.set(path + name, readFileSync(path + name));
  }
  return found;
}

function viewOf(tree: string): TreeView {
  return {
    exists: (path) => existsSync(join(tree, path)),
    read: (path) => {
      const full = join(tree, path);
      return existsSync(full) && statSync(full).isFile() ? readFileSync(full, "utf8") : null;
    },
    list: (folder) => {
      const full = join(tree, folder);
      if (!existsSync(full) || !statSync(full).isDirectory()) return [];
      return readdirSync(full, { withFileTypes: true }).map((entry) =>
        entry.isDirectory() ? `${entry.name}/` : entry.name,
      );
    },
  };
}

/** As weigh.ts reads it: whether a control failed the way right work must. */
export function failedAsAltered(control: Control, outcome: Outcome): string {
  if (outcome.status !== "failed") return `${control.name}: ${outcome.status}`;
  if (control.mustFail === null || outcome.tests === undefined) {
    return outcome.failure === "assertion"
      ? "ok"
      : `${control.name}: ${outcome.reason} (${outcome.failure})\n${outcome.log}`;
  }
  const byId = new Map(outcome.tests.map((test) => [test.id, test]));
  const wrong = control.mustFail.filter((id) => byId.get(id)?.status !== "failed" || byId.get(id)?.assertion === false);
  return wrong.length === 0
    ? "ok"
    : `${control.name}: ${wrong.join(", ")} did not fail by an assertion\n${outcome.log}`;
}
