// Checks that run a program in the tree: shell, custom, pytest, go-test, jest.
import { constants } from "node:os";
import { posix } from "node:path";
import type { ChildResult } from "../process/index.js";
import type { Check, Outcome } from "./model.js";
import { contains, failed, passed, skipped } from "./outcome.js";
import { inside } from "./plan/checks.js";
import type { PreparedRun, ReadRun, RunnerRoom, TreeView } from "./runners/runner.js";

type Prepared = PreparedRun | Outcome;

export async function prepareRun(check: Check, view: TreeView, room: RunnerRoom): Promise<Prepared> {
  switch (check.kind) {
    case "pytest":
      return pytest(check, view, room);
    case "go-test":
      return goTest(check, view, room);
    case "jest":
      return jest(check, view, room);
    default:
      return shell(check, view, room);
  }
}

export const readRun: ReadRun = (check, { note }, result) => ({
  ...judge(check, result),
  log: logOf(result),
  forgeable: false,
  ...(note === undefined ? {} : { note }),
});

export function logOf({ stdout, stderr }: ChildResult): string {
  return stderr.text === "" ? stdout.text : `${stdout.text}\n--- stderr ---\n${stderr.text}`;
}

/** Why a child's end alone is a failure; null when its output still has to be read. */
export function endFailure({ reason, code, signal }: ChildResult, check: Check): Outcome | null {
  if (reason === "timeout") return failed(`took longer than ${check.timeoutMs / 1000} s`);
  if (reason === "stopped") return failed("was interrupted");
  const wanted = check.expected?.exit_code ?? 0;
  // As a shell counts it, so that a sandbox in between makes no difference.
  const got = signal === null ? code : 128 + constants.signals[signal];
  return got === wanted ? null : { ...failed(`exit ${got}, expected ${wanted}`), failure: "assertion" };
}

function judge(check: Check, result: ChildResult): Outcome {
  const ended = endFailure(result, check);
  if (ended !== null) {
    return check.kind === "pytest" && result.code === 5 ? failed("no tests were collected") : ended;
  }
  if (check.kind === "go-test" && !/^ok\s/m.test(result.stdout.text)) return failed("no tests were run");
  return contains(result.stdout.text, check.expected?.stdout_contains, "standard output") ?? passed();
}

const run = (room: RunnerRoom, command: string, args: readonly string[], note?: string): PreparedRun => ({
  command,
  args,
  reportFiles: [],
  forgeable: false,
  reading: { tree: room.tree, read: readRun },
  ...(note === undefined ? {} : { note }),
});

/** The script's path from the tree's root, or why there is none. */
function scriptPath(view: TreeView, { script }: Check): string | Outcome {
  if (script === undefined) return skipped("there is no script to run");
  if (!inside(script)) return failed(`${script} leaves the bundle`);
  return view.exists(script) ? script : failed(`${script} does not exist`);
}

function shell(check: Check, view: TreeView, room: RunnerRoom): Prepared {
  if (check.script === undefined && check.command !== undefined) return run(room, "sh", ["-c", check.command]);
  const script = scriptPath(view, check);
  if (typeof script !== "string") return script;
  const [program, ...args] = interpreter(script, view.read(script) ?? "");
  const found = room.findProgram(program!);
  // Tools differ in whether they keep the executable bit, so the first line decides, not the mode.
  return found === null ? skipped(`${program} is not installed`) : run(room, found, [...args, script]);
}

function interpreter(path: string, text: string): string[] {
  const [line = ""] = text.slice(0, 512).split("\n");
  const words = line.startsWith("#!") ? line.slice(2).trim().split(/\s+/) : [];
  if (words[0]?.endsWith("/env")) return words.slice(words[1] === "-S" ? 2 : 1);
  if (words.length > 0 && words[0] !== "") return words;
  if (path.endsWith(".py")) return ["python3"];
  return /\.[cm]?js$/.test(path) ? ["node"] : ["sh"];
}

async function pytest(check: Check, view: TreeView, room: RunnerRoom): Promise<Prepared> {
  const script = check.script === undefined ? null : scriptPath(view, check);
  if (script !== null && typeof script !== "string") return script;
  const where = script === null ? [] : [script];
  const options = ["-q", "-p", "no:cacheprovider", ...where];
  // A shim may be on PATH with nothing behind it: only an answer counts.
  if (await room.answers("pytest", ["--version"])) return run(room, "pytest", options);
  const module = ["-m", "pytest"];
  if (await room.answers("python3", [...module, "--version"])) return run(room, "python3", [...module, ...options]);
  return skipped("pytest is not installed");
}

async function goTest(check: Check, view: TreeView, room: RunnerRoom): Promise<Prepared> {
  if (!(await room.answers("go", ["version"]))) return skipped("go is not installed");
  if (check.script === undefined) return run(room, "go", ["test", "-count=1", "./..."]);
  const script = scriptPath(view, check);
  if (typeof script !== "string") return script;
  const folder = script.endsWith(".go") ? posix.dirname(script) : script;
  const module = moduleRoot(view, folder);
  const target = `./${posix.relative(module, folder) || "."}`;
  return run(room, "go", ["-C", module === "" ? "." : module, "test", "-count=1", target]);
}

/** The nearest folder above that holds go.mod. */
function moduleRoot(view: TreeView, folder: string): string {
  for (let at = folder; ; at = posix.dirname(at)) {
    if (view.exists(posix.join(at, "go.mod"))) return at === "." ? "" : at;
    if (at === "." || at === "" || at === "/") return "";
  }
}

async function jest(check: Check, view: TreeView, room: RunnerRoom): Promise<Prepared> {
  const script = check.script === undefined ? null : scriptPath(view, check);
  if (script !== null && typeof script !== "string") return script;
  const args = script === null ? [] : ["--runTestsByPath", script];
  if (await room.answers("jest", ["--version"])) return run(room, "jest", args);
  for (const folder of ["", "files/"]) {
    const own = `${folder}node_modules/.bin/jest`;
    if (view.exists(own)) return run(room, posix.join(room.tree, own), args, "jest came from the tree under test");
  }
  return skipped("jest is not installed");
}
