// Push and pull of one bundle, against `skopeo copy` of the same blob to and from the same registry on this machine.
//   npx tsx bench/registry.bench.ts [--quick] [--megabytes 200] [--rounds 5]
// Needs docker-registry and skopeo; says so where one is missing.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packFolder } from "../src/bundle/index.js";
import { hasRegistry, hasSkopeo, startRegistry } from "../tests/registry/docker-registry.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const number = (flag: string, otherwise: number) => Number(process.argv[process.argv.indexOf(flag) + 1]) || otherwise;
const quick = process.argv.includes("--quick");
const megabytes = number("--megabytes", quick ? 32 : 200);
const rounds = number("--rounds", quick ? 3 : 5);
if (!hasRegistry || !hasSkopeo) {
  console.log("skipped: docker-registry and skopeo are needed (Debian packages of those names)");
  process.exit(0);
}
// Memory, where there is some: the disk is not what is measured.
const work = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "nut-registry-"));

function timed(program: string, args: readonly string[]): number {
  const start = performance.now();
  const env = { ...process.env, HOME: work, TMPDIR: work };
  const { status, stderr } = spawnSync(program, args, { cwd: work, env, encoding: "utf8" });
  const ms = performance.now() - start;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return ms;
}
const ours = (...args: string[]) => timed(process.execPath, [join(root, "bin/nutshell.js"), ...args, "--quiet"]);
const skopeo = (...args: string[]) => timed("skopeo", ["--insecure-policy", "copy", ...args]);

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const rows: string[][] = [["work", "ours", "peer", "ratio", "target", "ok"]];
function report(name: string, mine: readonly number[], theirs: readonly number[], target: number): void {
  const [a, b] = [median(mine), median(theirs)];
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
  rows.push([name, seconds(a), seconds(b), (a / b).toFixed(2), `≤ ${target}`, a / b <= target ? "yes" : "NO"]);
  console.error(rows.at(-1)!.join(" | "));
}

/** A registry of its own for every round and program: nothing is there already, and nothing can be mounted. */
async function round(at: number, mine: boolean): Promise<{ push: number; pull: number }> {
  const registry = await startRegistry(join(work, `registry-${mine ? "ours" : "theirs"}-${at}`));
  const place = `${registry.host}/task:v1`;
  try {
    if (mine) {
      const push = ours("push", "task.nut", `oci://${place}`);
      return { push, pull: ours("pull", `oci://${place}`, "-o", "pulled.nut") };
    }
    const push = skopeo("--dest-tls-verify=false", "dir:copy", `docker://${place}`);
    return { push, pull: skopeo("--src-tls-verify=false", `docker://${place}`, "dir:pulled") };
  } finally {
    await registry.stop();
    for (const name of [`registry-${mine ? "ours" : "theirs"}-${at}`, "pulled.nut", "pulled"]) {
      rmSync(join(work, name), { recursive: true, force: true });
    }
  }
}

/** The bundle, and the same as skopeo keeps it. */
async function prepare(): Promise<void> {
  const folder = join(work, "task");
  mkdirSync(folder);
  const ids = { nutshell_version: "0.2.0", bundle_type: "request", id: "nut-bench" };
  writeFileSync(join(folder, "nutshell.json"), JSON.stringify({ ...ids, task: { title: "b", summary: "b" } }));
  writeFileSync(join(folder, "noise.bin"), randomBytes(megabytes * 1024 ** 2));
  await packFolder(folder, { output: join(work, "task.nut") });
  rmSync(folder, { recursive: true });
  const registry = await startRegistry(join(work, "registry"));
  try {
    ours("push", "task.nut", `oci://${registry.host}/task:v1`);
    skopeo("--src-tls-verify=false", `docker://${registry.host}/task:v1`, "dir:copy");
  } finally {
    await registry.stop();
    rmSync(join(work, "registry"), { recursive: true });
  }
}

try {
  await prepare();
  const mine: { push: number; pull: number }[] = [];
  const theirs: { push: number; pull: number }[] = [];
  for (let at = 0; at < rounds; at += 1) {
    mine.push(await round(at, true));
    theirs.push(await round(at, false));
  }
  for (const kind of ["push", "pull"] as const) {
    const of = (list: typeof mine) => list.map((one) => one[kind]);
    report(
      `${kind} ${megabytes} MB / skopeo copy ${kind === "push" ? "to" : "from"} the registry`,
      of(mine),
      of(theirs),
      1.15,
    );
  }
  console.log(rows.map((row) => `| ${row.join(" | ")} |`).join("\n"));
} finally {
  rmSync(work, { recursive: true, force: true });
}
