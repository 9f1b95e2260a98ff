// One task, tried: imported by our own command, worked on by its example or by nobody, and judged by `nutshell accept`.
import { spawn } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { CorpusKind, CorpusTask } from "./find-tasks.js";
import { plainRun } from "./plain.js";
import { writeQuixbugs } from "./quixbugs.js";
import type { CorpusOutcome, Mode, Took } from "./rows.js";

export interface Prepared {
  readonly request: string;
  readonly oracle: string | null;
  readonly language: string;
  /** Why it could not be imported. */
  readonly unfit: string | null;
}

export interface Where {
  readonly place: string;
  /** The package. */
  readonly own: string;
  readonly signal: AbortSignal;
}

/** Longer than any task takes; what hangs is one miss and not the end of the run. */
const PATIENCE_MS = 20 * 60_000;

export async function prepareTask(task: CorpusTask, where: Where & { readonly kind: CorpusKind }): Promise<Prepared> {
  const request = join(where.place, "request");
  const oracle = join(where.place, "oracle");
  if (where.kind === "quixbugs") {
    writeQuixbugs(task, { request, oracle });
    return { request, oracle, language: "python", unfit: null };
  }
  const words = ["import", where.kind, task.path, "-o", request, "--oracle", oracle, "--json"];
  const { stdout, stderr, code } = await nutshell(words, where);
  if (code !== 0) return { request, oracle: null, language: task.name.split("-")[0]!, unfit: stderr.trim() };
  const [imported] = (JSON.parse(stdout) as { tasks: { language: string | null; oracle: string | null }[] }).tasks;
  return { request, oracle: imported!.oracle, language: imported!.language ?? where.kind, unfit: null };
}

interface How extends Where {
  readonly trials: number;
  readonly install: boolean;
}

export async function tryTask(prepared: Prepared, mode: Mode, how: How): Promise<CorpusOutcome> {
  const nothing = { weakness: null, ms: 0, cpu_ms: null, runs: 0 };
  if (prepared.unfit !== null) return { verdict: "unfit", reason: prepared.unfit, ...nothing };
  if (mode !== "noop" && prepared.oracle === null) return { verdict: "unfit", reason: "it has no example", ...nothing };
  if (mode === "plain") return plainRun(prepared, how);
  if (mode === "oracle" && !existsSync(join(prepared.oracle!, "files"))) return runOracle(prepared, how);
  const work = join(how.place, `work-${mode}`);
  cpSync(prepared.request, work, { recursive: true });
  if (mode === "oracle") layOver(prepared.oracle!, work);
  const words = ["accept", work, "--request", prepared.request, "--json", "--yes", "--trials", String(how.trials)];
  const { stdout, stderr, took } = await nutshell([...words, ...(how.install ? ["--allow-install"] : [])], how);
  return { ...judged(stdout, stderr), ...took };
}

/** A solution that has to be run is run as an agent is, by `nexus run --oracle`. */
async function runOracle({ request, oracle }: Prepared, how: How): Promise<CorpusOutcome> {
  const delivery = join(how.place, "delivery.nut");
  const words = ["run", request, "--oracle", oracle!, "--yes", "--trials", String(how.trials), "-o", delivery];
  const program = join(how.own, "bin/nexus.js");
  const options = { cwd: how.place, signal: how.signal, timeoutMs: PATIENCE_MS };
  const { stdout, stderr, code, took } = await run(process.execPath, [program, ...words], options);
  const completed = code === 0 && /^completed \(100 %\)/m.test(stdout);
  if (completed) return { verdict: "completed", reason: null, weakness: null, ...took, runs: 0 };
  const lines = `${stderr}\n${stdout}`.split("\n").map((line) => line.trim());
  const why =
    lines.findLast((line) => / does not hold: /.test(line)) ??
    lines.find((line) => /^[✗!]/.test(line)) ??
    lines.findLast((line) => line !== "") ??
    "no answer";
  const nothing = /also passes on the untouched request/.test(stdout);
  return { verdict: nothing ? "proves nothing" : "failed", reason: why, weakness: null, ...took, runs: 0 };
}

export function layOver(oracle: string, work: string): void {
  const files = join(oracle, "files");
  if (existsSync(files)) cpSync(files, work, { recursive: true, force: true });
}

interface Report {
  readonly verdict: "passed" | "failed" | "incomplete";
  readonly results: readonly {
    status: string;
    reason?: string;
    weakness?: string;
    proves_nothing?: boolean;
    runs?: number;
    output: string;
  }[];
}

function judged(stdout: string, stderr: string): Omit<CorpusOutcome, keyof Took> {
  let report: Report;
  try {
    report = JSON.parse(stdout) as Report;
  } catch {
    return { verdict: "unfit", reason: stderr.trim().slice(-500) || "no answer", weakness: null, runs: 0 };
  }
  const { verdict, results } = report;
  const runs = results.reduce((sum, row) => sum + (row.runs ?? 0), 0);
  const bad = results.find(({ status, reason }) => status !== "passed" || reason !== undefined);
  const said =
    bad === undefined
      ? null
      : `${bad.reason ?? bad.status}${bad.status === "failed" ? `\n${bad.output.slice(-1500)}` : ""}`;
  const weakness = results.find((row) => row.weakness !== undefined)?.weakness ?? null;
  const nothing =
    results.length > 0 && results.every((row) => row.proves_nothing === true || NO_TESTS.test(row.reason ?? ""));
  if (verdict === "passed") return { verdict: "completed", reason: null, weakness: null, runs };
  if (nothing) return { verdict: "proves nothing", reason: said, weakness, runs };
  return { verdict, reason: said, weakness, runs };
}

/** A runner that finds nothing to run says nothing of the work. */
const NO_TESTS = /^no tests were (?:run|collected)/;

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly took: Took;
}

const nutshell = (words: readonly string[], { own, signal, place }: Where): Promise<Ended> =>
  run(process.execPath, [join(own, "bin/nutshell.js"), ...words], { cwd: place, signal, timeoutMs: PATIENCE_MS });

export interface RunOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Runs a command and writes the processor time of all that came of it, in milliseconds, to descriptor 3. A sandbox does not wait for
 * what ran in it, so this takes in what is left behind.
 */
const COUNTED = `
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
code = subprocess.Popen(sys.argv[1:]).wait()
try:
    while os.waitpid(-1, os.WNOHANG)[0] != 0: pass
except ChildProcessError: pass
used = resource.getrusage(resource.RUSAGE_CHILDREN)
os.write(3, str(round((used.ru_utime + used.ru_stime) * 1000)).encode())
sys.exit(code if code >= 0 else 128 - code)
`;

/** A process group of its own, ended as a whole. */
export function run(command: string, args: readonly string[], { cwd, signal, timeoutMs }: RunOptions): Promise<Ended> {
  return new Promise((done) => {
    const began = performance.now();
    const child = spawn("python3", ["-c", COUNTED, command, ...args], {
      cwd,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
    });
    const texts = { stdout: "", stderr: "", times: "" };
    const pipes = {
      stdout: child.stdio[1] as Readable,
      stderr: child.stdio[2] as Readable,
      times: child.stdio[3] as Readable,
    };
    for (const name of ["stdout", "stderr", "times"] as const)
      pipes[name].setEncoding("utf8").on("data", (text: string) => {
        if (texts[name].length < 32 * 1024 * 1024) texts[name] += text;
      });
    const end = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      } catch {}
    };
    const timer = setTimeout(end, timeoutMs);
    signal.addEventListener("abort", end, { once: true });
    const finish = (code: number | null) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      done({
        stdout: texts.stdout,
        stderr: texts.stderr,
        code,
        took: { ms: Math.round(performance.now() - began), cpu_ms: texts.times === "" ? null : Number(texts.times) },
      });
    };
    child.on("error", () => finish(null));
    child.on("close", finish);
  });
}
