// Checks that run a program in the tree: shell, custom, pytest, go-test, jest.
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import type { ChildResult, Environment, Sandbox } from "../process/index.js";
import { findProgram } from "../process/index.js";
import { type Check, inside } from "./checks.js";
import type { CleanRoom } from "./clean-room.js";
import { contains, failed, type Outcome, passed, skipped } from "./outcome.js";

export interface ScriptOptions {
  readonly env?: Environment;
  readonly network?: Sandbox["network"];
  readonly signal?: AbortSignal;
}

/** A command to run, or the outcome that makes running it pointless. */
type Prepared = { readonly command: string; readonly args: readonly string[]; readonly note?: string } | Outcome;

export async function runScriptCheck(room: CleanRoom, check: Check, options: ScriptOptions = {}): Promise<Outcome> {
  const prepared = await prepare(room, check);
  if ("status" in prepared) return prepared;
  const { command, args, note } = prepared;
  const result = await room.run({ command, args, timeoutMs: check.timeoutMs, ...options });
  return { ...scriptOutcome(check, result), log: logOf(result), ...(note === undefined ? {} : { note }) };
}

export function logOf({ stdout, stderr }: ChildResult): string {
  return stderr.text === "" ? stdout.text : `${stdout.text}\n--- stderr ---\n${stderr.text}`;
}

/** Runs a check's script and hands back what it did, for checks that read its output themselves. */
export async function runScript(room: CleanRoom, check: Check, options: ScriptOptions): Promise<ChildResult | Outcome> {
  const prepared = shell(room, check);
  if ("status" in prepared) return prepared;
  return room.run({ command: prepared.command, args: prepared.args, timeoutMs: check.timeoutMs, ...options });
}

/** Why a child's end alone is a failure; null when its output still has to be read. */
export function endFailure({ reason, code, signal }: ChildResult, check: Check): Outcome | null {
  if (reason === "timeout") return failed(`took longer than ${check.timeoutMs / 1000} s`);
  if (reason === "stopped") return failed("was interrupted");
  const wanted = check.expected?.exit_code ?? 0;
  // As a shell counts it, so that a sandbox in between makes no difference.
  const got = signal === null ? code : 128 + constants.signals[signal];
  return got === wanted ? null : failed(`exit ${got}, expected ${wanted}`);
}

function scriptOutcome(check: Check, result: ChildResult): Outcome {
  const ended = endFailure(result, check);
  if (ended !== null) {
    return check.kind === "pytest" && result.code === 5 ? failed("no tests were collected") : ended;
  }
  if (check.kind === "go-test" && !/^ok\s/m.test(result.stdout.text)) return failed("no tests were run");
  return contains(result.stdout.text, check.expected?.stdout_contains, "standard output") ?? passed();
}

async function prepare(room: CleanRoom, check: Check): Promise<Prepared> {
  switch (check.kind) {
    case "pytest":
      return pytest(room, check);
    case "go-test":
      return goTest(room, check);
    case "jest":
      return jest(room, check);
    default:
      return shell(room, check);
  }
}

/** The script's path from the tree's root, or why there is none. */
function scriptPath(room: CleanRoom, { script }: Check): string | Outcome {
  if (script === undefined) return skipped("there is no script to run");
  if (!inside(script)) return failed(`${script} leaves the bundle`);
  const path = join(room.tree, script);
  if (!existsSync(path)) return failed(`${script} does not exist`);
  if (!`${realpathSync(path)}${sep}`.startsWith(`${realpathSync(room.tree)}${sep}`))
    return failed(`${script} leads out of the bundle`);
  return script;
}

function shell(room: CleanRoom, check: Check): Prepared {
  if (check.script === undefined && check.command !== undefined) return { command: "sh", args: ["-c", check.command] };
  const script = scriptPath(room, check);
  if (typeof script !== "string") return script;
  const path = join(room.tree, script);
  const [program, ...args] = interpreter(path);
  const interpreterPath = findProgram(program!, room.environment());
  // Tools differ in whether they keep the executable bit, so the first line decides, not the mode.
  return interpreterPath === null
    ? skipped(`${program} is not installed`)
    : { command: interpreterPath, args: [...args, path] };
}

function interpreter(path: string): string[] {
  const [line = ""] = readFileSync(path, "utf8").slice(0, 512).split("\n");
  const words = line.startsWith("#!") ? line.slice(2).trim().split(/\s+/) : [];
  if (words[0]?.endsWith("/env")) return words.slice(words[1] === "-S" ? 2 : 1);
  if (words.length > 0 && words[0] !== "") return words;
  if (path.endsWith(".py")) return ["python3"];
  return /\.[cm]?js$/.test(path) ? ["node"] : ["sh"];
}

async function pytest(room: CleanRoom, check: Check): Promise<Prepared> {
  const script = check.script === undefined ? null : scriptPath(room, check);
  if (script !== null && typeof script !== "string") return script;
  const where = script === null ? [] : [script];
  const options = ["-q", "-p", "no:cacheprovider", ...where];
  // A shim may be on PATH with nothing behind it: only an answer counts.
  if (await answers(room, "pytest", ["--version"])) return { command: "pytest", args: options };
  const module = ["-m", "pytest"];
  if (await answers(room, "python3", [...module, "--version"]))
    return { command: "python3", args: [...module, ...options] };
  return skipped("pytest is not installed");
}

async function goTest(room: CleanRoom, check: Check): Promise<Prepared> {
  if (!(await answers(room, "go", ["version"]))) return skipped("go is not installed");
  if (check.script === undefined) return { command: "go", args: ["test", "-count=1", "./..."] };
  const script = scriptPath(room, check);
  if (typeof script !== "string") return script;
  const folder = statSync(join(room.tree, script)).isDirectory() ? script : dirname(script);
  const module = moduleRoot(room.tree, folder);
  const target = `./${relative(join(room.tree, module), join(room.tree, folder)) || "."}`;
  return { command: "go", args: ["-C", module === "" ? "." : module, "test", "-count=1", target] };
}

/** The nearest folder above that holds go.mod. */
function moduleRoot(tree: string, folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(tree, at, "go.mod"))) return at === "." ? "" : at;
    if (at === "." || at === "" || at === "/") return "";
  }
}

async function jest(room: CleanRoom, check: Check): Promise<Prepared> {
  const script = check.script === undefined ? null : scriptPath(room, check);
  if (script !== null && typeof script !== "string") return script;
  const args = script === null ? [] : ["--runTestsByPath", script];
  if (await answers(room, "jest", ["--version"])) return { command: "jest", args };
  for (const folder of ["", "files"]) {
    const local = join(room.tree, folder, "node_modules/.bin/jest");
    if (existsSync(local)) return { command: local, args, note: "jest came from the tree under test" };
  }
  return skipped("jest is not installed");
}

/** Asked once per program: starting some runners takes longer than the tests they run. */
const answered = new Map<string, Promise<boolean>>();

function answers(room: CleanRoom, command: string, args: readonly string[]): Promise<boolean> {
  const program = findProgram(command, room.environment());
  if (program === null) return Promise.resolve(false);
  const key = [program, ...args].join("\0");
  const answer = answered.get(key) ?? room.run({ command, args, timeoutMs: 30_000 }).then(({ code }) => code === 0);
  answered.set(key, answer);
  return answer;
}
