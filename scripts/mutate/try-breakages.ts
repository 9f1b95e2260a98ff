// Tries breakages one after another in each of a few copies. Tests that start the built programs need a build of the
// broken tree, which takes longer than many tests: it is made only for tests that seem to start them, and for whatever
// survived without.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { runChild } from "../../src/process/index.js";
import { type Copy, copyTree } from "./copy.js";
import { type Breakage, problemsOf } from "./lists.js";
import type { Result } from "./results.js";

export interface Trying {
  readonly root: string;
  readonly jobs: number;
  readonly signal: AbortSignal;
  readonly onResult: (breakage: Breakage, result: Result) => void;
}

/** A run of tests takes at most this much longer than it took on the whole tree. */
const PATIENCE = 3;
const PATIENCE_MS = 60_000;
/** For the whole tree, of which nothing is known yet. */
const FIRST_MS = 15 * 60_000;
const BUILD_MS = 5 * 60_000;

export async function tryBreakages(breakages: readonly Breakage[], trying: Trying): Promise<void> {
  const rows = breakages.map((breakage) => ({ breakage, built: startsPrograms(breakage.tests, trying.root) }));
  // Without a build first: the copy's own build is whole until then.
  const queue = [...rows.filter(({ built }) => !built), ...rows.filter(({ built }) => built)];
  const wholes = new Map<string, Promise<Run>>();
  const work = async () => {
    const bench = await Bench.open(trying, wholes);
    try {
      for (let next = queue.shift(); next !== undefined && !trying.signal.aborted; next = queue.shift()) {
        const result = await bench.try(next.breakage, next.built);
        if (trying.signal.aborted) return;
        if (result.outcome === "survived" && !next.built && next.breakage.file.startsWith("src/"))
          queue.push({ breakage: next.breakage, built: true });
        else trying.onResult(next.breakage, result);
      }
    } finally {
      bench.close();
    }
  };
  // All of them clean up before anything is reported.
  const ended = await Promise.allSettled(Array.from({ length: Math.min(trying.jobs, queue.length) }, work));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}

interface Run {
  readonly passed: boolean;
  readonly by: string;
  readonly ms: number;
}

/** One copy and who works in it. */
class Bench {
  readonly #copy: Copy;
  readonly #trying: Trying;
  readonly #wholes: Map<string, Promise<Run>>;
  /** Whether dist is of the whole tree. */
  #isWhole = true;

  private constructor(copy: Copy, trying: Trying, wholes: Map<string, Promise<Run>>) {
    this.#copy = copy;
    this.#trying = trying;
    this.#wholes = wholes;
  }

  static async open(trying: Trying, wholes: Map<string, Promise<Run>>): Promise<Bench> {
    const copy = copyTree(trying.root);
    try {
      const bench = new Bench(copy, trying, wholes);
      const problem = await bench.#build(["--types"]);
      if (problem !== null) throw new Error(`the tree does not build: ${problem}`);
      return bench;
    } catch (error) {
      copy.remove();
      throw error;
    }
  }

  close(): void {
    this.#copy.remove();
  }

  async try(breakage: Breakage, built: boolean): Promise<Result> {
    const { id } = breakage;
    const problems = problemsOf(breakage, this.#copy.folder);
    if (problems.length > 0) return { id, outcome: "could not apply", by: problems.join("; "), ms: 0 };
    const whole = await this.#whole(breakage.tests);
    if (!whole.passed) return { id, outcome: "broken before", by: whole.by, ms: whole.ms };
    const mend = this.#copy.apply(breakage);
    try {
      if (built) {
        this.#isWhole = false;
        const problem = await this.#build();
        if (problem !== null) return { id, outcome: "could not apply", by: `it does not build: ${problem}`, ms: 0 };
      }
      const { passed, by, ms } = await this.#test(breakage.tests, PATIENCE * whole.ms + PATIENCE_MS);
      return passed ? { id, outcome: "survived", ms } : { id, outcome: "caught", by, ms };
    } finally {
      mend();
    }
  }

  /** The same tests without any breakage, once for all copies. */
  #whole(tests: readonly string[]): Promise<Run> {
    const key = tests.join("\0");
    const known = this.#wholes.get(key) ?? this.#testWhole(tests);
    this.#wholes.set(key, known);
    return known;
  }

  async #testWhole(tests: readonly string[]): Promise<Run> {
    if (!this.#isWhole) {
      await this.#build();
      this.#isWhole = true;
    }
    return this.#test(tests, FIRST_MS);
  }

  /** null, or what went wrong. */
  async #build(flags: readonly string[] = []): Promise<string | null> {
    const { code, stdout, stderr } = await this.#node(["scripts/build.mjs", ...flags], BUILD_MS);
    return code === 0 ? null : `${stdout.text}${stderr.text}`.trim().split("\n").slice(0, 5).join(" ");
  }

  async #test(tests: readonly string[], timeoutMs: number): Promise<Run> {
    const report = join(this.#copy.temporary, "report.json");
    rmSync(report, { force: true });
    const flags = ["--maxWorkers=1", "--bail=1", "--reporter=json", `--outputFile=${report}`];
    const vitest = ["node_modules/vitest/vitest.mjs", "run", ...flags, ...tests];
    const { reason, code, durationMs: ms, stderr } = await this.#node(vitest, timeoutMs);
    if (reason === "timeout") return { passed: false, by: `out of time after ${Math.round(ms / 1000)} s`, ms };
    const told = existsSync(report) ? firstFailure(readFileSync(report, "utf8")) : { ran: 0, failure: null };
    if (told.failure !== null || code !== 0)
      return { passed: false, by: told.failure ?? (stderr.text.trim().split("\n")[0] || `exit ${code}`), ms };
    return told.ran > 0 ? { passed: true, by: "", ms } : { passed: false, by: "no test ran", ms };
  }

  #node(args: readonly string[], timeoutMs: number) {
    const env = { ...process.env, NUTCRACKER_NO_BUILD: "1", TMPDIR: this.#copy.temporary };
    const { signal } = this.#trying;
    return runChild({ command: process.execPath, args, cwd: this.#copy.folder, env, timeoutMs, signal });
  }
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function firstFailure(text: string): { ran: number; failure: string | null } {
  const { numPassedTests: ran, testResults } = JSON.parse(text) as Report;
  const failed = testResults.find(({ status }) => status === "failed");
  if (failed === undefined) return { ran, failure: null };
  const test = failed.assertionResults.find(({ status }) => status === "failed");
  return { ran, failure: test?.fullName ?? failed.message.split("\n")[0]! };
}

const IMPORTS = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
/** How tests name the built programs. */
const PROGRAMS = /\bbin\/(?:nutshell|nexus)|["'`/]bin["'`/]|\bdist\b/;

/** Whether the tests, or what of tests/ they import, start what is built. A guess: survivors are tried with a build too. */
export function startsPrograms(tests: readonly string[], root: string): boolean {
  const seen = new Set<string>();
  const left = tests.map((test) => join(root, test));
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (seen.has(file) || !existsSync(file)) continue;
    seen.add(file);
    const text = readFileSync(file, "utf8");
    if (PROGRAMS.test(text)) return true;
    for (const [, target] of text.matchAll(IMPORTS)) {
      const path = resolve(dirname(file), target!.replace(/\.js$/, ".ts"));
      if (path.startsWith(join(root, "tests/"))) left.push(path);
    }
  }
  return false;
}
