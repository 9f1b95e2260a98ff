// The task's own runner, as anybody would start it: once with the example and once without. What our acceptance costs, and
// what it could prove at all, is measured against this.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { CorpusOutcome } from "./rows.js";
import { layOver, type Prepared, run, type Where } from "./try-task.js";

const JARS = "/usr/share/java";
const JUNIT =
  "apiguardian-api assertj-core byte-buddy junit-jupiter-api junit-jupiter-engine junit-jupiter-params junit-platform-commons junit-platform-console junit-platform-engine junit-platform-launcher junit-platform-reporting opentest4j picocli univocity-parsers";
const CLASS_PATH = JUNIT.split(" ")
  .map((name) => `${JARS}/${name}.jar`)
  .join(":");

const COMMANDS: Readonly<Record<string, string>> = {
  python: "python3 -m pytest -q -p no:cacheprovider",
  go: "go test -count=1 ./...",
  rust: "cargo test --offline -q",
  javascript: "node_modules/.bin/jest",
  java: `if [ -f tests/install.sh ]; then sh tests/install.sh || exit; fi; mkdir -p out && javac -nowarn -d out -cp ".cache/jars/*:${CLASS_PATH}" $(find src -name '*.java') && java -cp "out:.cache/jars/*:${CLASS_PATH}" org.junit.platform.console.ConsoleLauncher --disable-banner --details=none --scan-classpath=out`,
  cpp: "sh tests/catch.sh",
};

export async function plainRun(prepared: Prepared, { place, signal }: Where): Promise<CorpusOutcome> {
  const command = COMMANDS[prepared.language];
  const nothing = { weakness: null, ms: 0, cpu_ms: null, runs: 0 };
  if (command === undefined) return { verdict: "unfit", reason: "no plain runner is known for it", ...nothing };
  const packages = prepared.language === "javascript" ? await javascriptPackages(prepared.request, signal) : null;
  const once = async (name: string, oracle: string | null) => {
    const work = join(place, `plain-${name}`);
    cpSync(prepared.request, work, { recursive: true });
    if (oracle !== null) layOver(oracle, work);
    if (packages !== null) symlinkSync(packages, join(work, "node_modules"));
    return run("sh", ["-c", command], { cwd: work, signal, timeoutMs: 10 * 60_000 });
  };
  const right = await once("oracle", prepared.oracle);
  if (right.code !== 0)
    return {
      verdict: "fails",
      reason: `${right.stdout}\n${right.stderr}`.trim().slice(-1500),
      weakness: null,
      ...right.took,
      runs: 1,
    };
  const untouched = await once("noop", null);
  const verdict = untouched.code === 0 ? "passes untouched" : "passes";
  return { verdict, reason: null, weakness: null, ...right.took, runs: 2 };
}

/** One installation for all that ask alike, kept beside the results of this machine. */
async function javascriptPackages(request: string, signal: AbortSignal): Promise<string> {
  const script = readFileSync(join(request, "tests/install.sh"), "utf8");
  const { createHash } = await import("node:crypto");
  const { tmpdir } = await import("node:os");
  const folder = join(tmpdir(), `corpus-npm-${createHash("sha256").update(script).digest("hex").slice(0, 16)}`);
  const done = join(folder, "node_modules");
  if (!existsSync(done) || readdirSync(done).length === 0) {
    mkdirSync(folder, { recursive: true });
    await run("sh", ["-c", script], { cwd: folder, signal, timeoutMs: 10 * 60_000 });
  }
  return done;
}
