// Plain scripts and commands. Their exit counts only when they reached their end: the nonce says so.
import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import type { ChildResult } from "../../process/index.js";
import { shellCommands } from "../controls/languages/shell-words.js";
import { isProgram } from "../controls/last-line.js";
import { namedTests } from "../controls/named-files.js";
import type { Check, Outcome } from "../model.js";
import { sharesProcess, shellShares } from "./in-process.js";
import { endFailure, exitOf, failed, outputFailure, skipped } from "./outcomes.js";
import type { Ending, PreparedRun, ReadRun, RunnerRoom, TreeView } from "./runner.js";
import { readTap } from "./tap.js";
import { nodeWrapper, PYTHON_WRAPPER, shellCommandWrapper, shellScriptWrapper } from "./wrappers.js";
import { readJUnitFile } from "./xml.js";

/** They travel in an argument. */
const MOST_CHECKERS = 100;

const SHELLS = /^(?:ba|da|z|k|a)?sh$/;

export function prepareScript(check: Check, view: TreeView, room: RunnerRoom): PreparedRun | Outcome {
  const named = check.script ?? commandScript(check.command, view);
  if (named === null || named === undefined) {
    if (check.command === undefined) return skipped("there is no script to run");
    const skips = letsSkip(check.command, null, view);
    return shellRun(check, room, { text: check.command, forgeable: shellShares(check.command, view, ""), skips }, [
      "-c",
      shellCommandWrapper(endReport(room)),
      "sh",
      check.command,
    ]);
  }
  const script = plainPath(named, view);
  if (typeof script !== "string") return script;
  const text = view.read(script) ?? "";
  const path = posix.join(room.tree, script);
  const [program = "sh", ...options] = interpreter(script, text);
  // Tools differ in whether they keep the executable bit, so the first line decides, not the mode.
  const command = room.findProgram(program);
  if (command === null) return skipped(`${program} is not installed`);
  const forgeable = sharesProcess(script, view);
  const skips = letsSkip(text, script, view);
  const name = program.split("/").at(-1)!;
  if (SHELLS.test(name)) {
    return shellRun(check, room, { text, forgeable, command, skips }, [
      ...options,
      "-c",
      shellScriptWrapper(endReport(room)),
      path,
    ]);
  }
  const ending = newEnding({ exits: true, silent: false, refusals: [], skips });
  const checkers = (view.checkers ?? []).slice(0, MOST_CHECKERS).map((checker) => posix.join(room.tree, checker));
  if (name === "node" || name === "nodejs") {
    const url = nodeWrapper(path, room.tree, endReport(room), checkers);
    return prepared(check, room, { command, args: [...options, "--import", url, path], forgeable, ending });
  }
  if (/^python[0-9.]*$/.test(name)) {
    const args = [...options, "-c", PYTHON_WRAPPER, path, room.tree, endReport(room), ...checkers];
    return prepared(check, room, { command, args, forgeable, ending });
  }
  return prepared(check, room, { command, args: [...options, path], forgeable, ending: null });
}

interface Run {
  readonly command: string;
  readonly args: readonly string[];
  readonly forgeable: boolean;
  /** null: nobody can say whether the end was reached. */
  readonly ending: Ending | null;
}

function prepared(check: Check, room: RunnerRoom, { command, args, forgeable, ending }: Run): PreparedRun {
  const own = reportOf(check);
  return {
    command,
    args,
    ...(ending === null ? {} : { stdin: { text: `${ending.nonce}\n` } }),
    reportFiles: [endReport(room), ...(own === null ? [] : [posix.join(room.tree, own)])],
    forgeable,
    reading: { tree: room.tree, read: readScript, ...(ending === null ? {} : { ending }) },
  };
}

const endReport = (room: RunnerRoom): string => `${room.reports}/end`;

/** A report of its own that the criterion names: JUnit's XML or TAP. */
function reportOf(check: Check): string | null {
  const path = check.report;
  return typeof path === "string" && !path.startsWith("/") && !path.split("/").includes("..") ? path : null;
}

function newEnding(words: Omit<Ending, "nonce">): Ending {
  return { nonce: randomBytes(16).toString("hex"), ...words };
}

interface ShellText {
  readonly text: string;
  readonly forgeable: boolean;
  readonly skips: boolean;
  readonly command?: string;
}

/** Whether the tests that a script leads to say themselves that some may be skipped. */
function letsSkip(text: string, script: string | null, view: TreeView): boolean {
  const texts = [text, ...namedTests(text, script, view).map((path) => view.read(path) ?? "")];
  return texts.some((each) => /skip|expectedFailure|\btodo\b/i.test(each));
}

function shellRun(
  check: Check,
  room: RunnerRoom,
  { text, forgeable, skips, command = "sh" }: ShellText,
  args: readonly string[],
): PreparedRun {
  const commands = shellCommands(text).map(({ words }) => words.map((word) => word.text.replace(/^["']|["']$/g, "")));
  const exits = commands.filter(([name]) => name === "exit").map(([, status]) => status ?? "");
  const wanted = check.expected?.exit_code ?? 0;
  const own = exits.some((status) => !/^[0-9]+$/.test(status) || Number(status) === wanted);
  const traps = commands.some(([name, ...rest]) => name === "trap" && rest.some((word) => /^(?:EXIT|0)$/.test(word)));
  const takesOver = commands.some(([name, next]) => name === "exec" && isProgram(next));
  const refusals = exits.filter((status) => /^[0-9]+$/.test(status)).map(Number);
  const ending = newEnding({ exits: own, silent: takesOver || (traps && own), refusals, skips });
  return prepared(check, room, { command, args, forgeable, ending });
}

/** `python3 tests/check.py` is a script like any other. */
export function commandScript(command: string | undefined, view: TreeView): string | null {
  const [only, ...others] = shellCommands(command ?? "");
  if (only === undefined || others.length > 0 || only.negated || only.operator !== "\n") return null;
  const [program, word] = only.words.map(({ text }) => text);
  if (only.words.length !== 2 || !/^(?:sh|bash|node|python3?)$/.test(program!)) return null;
  const file = /^(["'])(.*)\1$/.exec(word!)?.[2] ?? word!;
  // Nothing that a shell would read otherwise than it stands there.
  if (/["'`$\\*?[\]<>~]/.test(file)) return null;
  const path = posix.normalize(file);
  const text = view.read(path);
  if (text === null) return null;
  const own = interpreter(path, text)[0]!
    .split("/")
    .at(-1)!
    .replace(/[0-9.]+$/, "");
  return own === program!.replace(/[0-9]+$/, "") ? path : null;
}

/** The script's path from the tree's root, or why there is none. */
export function plainPath(script: string, view: TreeView): string | Outcome {
  if (script.startsWith("/") || script.includes("\0") || script.split("/").includes(".."))
    return failed(`${script} leaves the bundle`);
  return view.exists(script) ? posix.normalize(script) : failed(`${script} does not exist`);
}

export function interpreter(path: string, text: string): string[] {
  const [line = ""] = text.slice(0, 512).split("\n");
  const words = line.startsWith("#!") ? line.slice(2).trim().split(/\s+/) : [];
  if (words[0]?.endsWith("/env")) return words.slice(words[1] === "-S" ? 2 : 1);
  if (words.length > 0 && words[0] !== "") return words;
  if (path.endsWith(".py")) return ["python3"];
  return /\.[cm]?js$/.test(path) ? ["node"] : ["sh"];
}

const BENT = "the work replaced a part of the language itself, which its test uses";
const EARLY = "it ended before its last line";

const readScript: ReadRun = (check, { reading, reportFiles }, result, reports) => {
  const said = readEnd(reports.get(reportFiles[0]!), reading.ending);
  const own = reportFiles[1] === undefined ? null : readOwnReport(reports.get(reportFiles[1]), reportFiles[1]);
  const told = own ?? readTap(result.stdout.text, check.kind === "tap");
  const tests = told === null ? {} : { tests: told };
  const bad = told?.find(({ status }) => status !== "passed");
  const ended = endFailure(check, result);
  const counted = bad !== undefined ? ({ failure: bad.assertion === false ? "other" : "assertion" } as const) : null;
  if (ended !== null) {
    const failure =
      result.reason !== "exited" ? "other" : (counted?.failure ?? howFailed(check, result, said, reading.ending));
    return { ...ended, failure, ...tests };
  }
  const reason = endProblem(check, result, said, reading.ending);
  if (reason !== null) return { ...failed(reason), ...tests };
  if (reading.ending?.skips === false && skippedTests(result) > 0) return { ...failed(SKIPPED), ...tests };
  if (told !== null && told.length === 0) return { ...failed("no tests were run"), tests: [] };
  if (bad !== undefined)
    return { ...failed(`${bad.id} ${bad.status === "failed" ? "failed" : "was skipped"}`), ...counted, ...tests };
  return { ...(outputFailure(check, result) ?? { status: "passed" }), ...tests };
};

const SKIPPED = "tests were skipped that do not say so themselves";

/** How many tests Python's unittest says it left out. */
function skippedTests({ stdout, stderr }: ChildResult): number {
  const said = `${stdout.text}\n${stderr.text}`.slice(-4000);
  if (!/^Ran [0-9]+ tests? in /m.test(said)) return 0;
  return Number(/^OK \((?:.*, )?(?:skipped|expected failures)=([0-9]+)/m.exec(said)?.[1] ?? 0);
}

interface Said {
  readonly how: string;
  readonly code: number | null;
  readonly raised: string;
}

function readEnd(bytes: Uint8Array | undefined, ending: Ending | undefined): Said | null {
  if (bytes === undefined || ending === undefined) return null;
  const [nonce, how = "", code, raised = "-"] = Buffer.from(bytes.subarray(0, 1024))
    .toString("utf8")
    .split("\n")[0]!
    .split(" ");
  return nonce === ending.nonce ? { how, code: code === undefined ? null : Number(code), raised } : null;
}

/** Why a script that ended as wanted did not reach its end; null when it did. */
function endProblem(check: Check, result: ChildResult, said: Said | null, ending: Ending | undefined): string | null {
  const got = exitOf(result);
  if (ending === undefined || got > 128) return null;
  if (said === null) return ending.silent ? null : EARLY;
  if (said.code !== null && said.code !== got) return `it was about to end with ${said.code} and ended with ${got}`;
  if (got === 0 && said.raised !== "-") return "an error that nobody caught did not end it";
  if (said.how === "bent") return BENT;
  if (said.how === "end" || said.how === "own") return null;
  if (said.how === "raised") return check.expected?.exit_code === undefined ? EARLY : null;
  if (said.how === "exit") return ending.exits || got !== 0 ? null : EARLY;
  return EARLY;
}

const TROUBLE =
  /^(?:\S*: )?(?:line [0-9]+: )?syntax error|^SyntaxError\b|ModuleNotFoundError|ERR_MODULE_NOT_FOUND|Cannot find module|: (?:command )?not found$|Syntax error:|fatal error:|: error: |^error(?:\[E[0-9]+\])?: (?!expect\b|assert)/m;
const SAYS_NO =
  /assert|fail|expected|not ok|mismatch|wrong|differ|^(?:g?make|ninja)(?:\[[0-9]+\])?: \*\*\* \[.*\] Error 1$/im;

/** Python's unittest tells failures from errors; what a failed comparison shows may look like trouble. */
const FAILURES_ONLY = /^FAILED \(failures=[0-9]+(?:, (?:skipped|expected failures)=[0-9]+)*\)$/m;

/** Whether a script failed by what it tests, told from its status and its words. */
function howFailed(
  check: Check,
  result: ChildResult,
  said: Said | null,
  ending: Ending | undefined,
): "assertion" | "other" {
  const output = `${result.stdout.text}\n${result.stderr.text}`;
  const marker = check.marker;
  if (typeof marker === "string") return output.includes(marker) ? "assertion" : "other";
  if (said !== null && said.raised !== "-") return said.raised === "assertion" ? "assertion" : "other";
  const got = exitOf(result);
  if (got === 126 || got === 127) return "other";
  if (check.expected?.exit_code !== undefined && got < 126) return "assertion";
  if (got === 1 && FAILURES_ONLY.test(output)) return "assertion";
  if (TROUBLE.test(output)) return "other";
  if (got === 1 || ending?.refusals.includes(got)) return "assertion";
  return SAYS_NO.test(output) ? "assertion" : "other";
}

function readOwnReport(bytes: Uint8Array | undefined, path: string) {
  if (bytes === undefined) return [];
  const text = Buffer.from(bytes).toString("utf8");
  return /\.xml$/.test(path) ? readJUnitFile(text) : (readTap(text, true) ?? []);
}
