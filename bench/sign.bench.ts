// What signing costs, against reading the same bundle once and against the same command without a signature.
//   npx tsx bench/sign.bench.ts [--quick] [--megabytes 1024] [--rounds 5]
// What signing and verifying add to work with a bundle: the whole `nutshell sign` (start of the program, its reading, copy and
// signature), and what `nutshell verify` of the signed file takes longer than of the unsigned one. Beside it, the same file read
// once (decompressed, every file hashed): by `nutshell validate`, which is what the target is held against; by our reader alone in
// a process that has loaded nothing else, whose memory is therefore collected four times cheaper; and by `gzip -dc | sha256sum`.
// The megabytes are those of the content.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packFolder } from "../src/bundle/index.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const nutshell = join(root, "bin/nutshell.js");
const number = (flag: string, otherwise: number) => Number(process.argv[process.argv.indexOf(flag) + 1]) || otherwise;
const quick = process.argv.includes("--quick");
const megabytes = number("--megabytes", quick ? 64 : 1024);
const rounds = number("--rounds", quick ? 3 : 5);
// Memory, where there is some: the disk is not what is measured.
const work = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "nut-sign-"));
const MB = 1024 ** 2;

/** Milliseconds of a command; a delivery that proves nothing is answered with 1, which is an answer too. */
function timed(...args: string[]): number {
  const start = performance.now();
  const env = { ...process.env, HOME: work, TMPDIR: work };
  const { status, stderr } = spawnSync(process.execPath, [nutshell, ...args, "--quiet"], {
    cwd: work,
    env,
    encoding: "utf8",
  });
  const ms = performance.now() - start;
  if (status !== 0 && status !== 1) throw new Error(`nutshell ${args.join(" ")}: ${stderr}`);
  return ms;
}

/** Our reader over the whole bundle, and nothing else. */
function readOnce(file: string): number {
  const script = `const { openBundle } = await import(${JSON.stringify(join(root, "dist/lib/bundle.js"))});
    const bundle = await openBundle(${JSON.stringify(join(work, file))});
    await bundle.verify();
    await bundle.close();`;
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return performance.now() - start;
}

/** The tools everybody has. */
function readByTools(file: string): number {
  const start = performance.now();
  const { status, stderr } = spawnSync("sh", ["-c", `tail -c +5 ${file} | gzip -dc | sha256sum`], {
    cwd: work,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return performance.now() - start;
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const rows: string[][] = [["work", "ours", "peer", "ratio", "target", "ok"]];
function report(name: string, mine: number, peer: number, target: number | null): void {
  const ratio = mine / peer;
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
  const judged = target === null ? ["", ""] : [`≤ ${target}`, ratio <= target ? "yes" : "NO"];
  rows.push([name, seconds(mine), seconds(peer), ratio.toFixed(2), ...judged]);
  console.error(rows.at(-1)!.join(" | "));
}

/** Real source, repeated until there is enough. */
function sourceText(bytes: number): Buffer {
  const modules = join(root, "node_modules");
  const pool: Buffer[] = [];
  for (const path of readdirSync(modules, { recursive: true, encoding: "utf8" }).sort()) {
    if (!/\.(?:[cm]?[jt]s|md|json)$/.test(path) || !statSync(join(modules, path)).isFile()) continue;
    pool.push(readFileSync(join(modules, path)));
    if (pool.reduce((sum, { length }) => sum + length, 0) > 32 * MB) break;
  }
  const text = Buffer.concat(pool);
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / text.length) }, () => text)).subarray(0, bytes);
}

/** A delivery whose result is mostly bytes. */
async function makeDelivery(name: string, bytes: number): Promise<string> {
  const folder = join(work, name);
  mkdirSync(join(folder, "delivery"), { recursive: true });
  const ids = { id: "nut-bench-delivery", request_id: "nut-bench" };
  const manifest = { nutshell_version: "0.2.0", bundle_type: "delivery", ...ids, task: { title: name, summary: name } };
  writeFileSync(join(folder, "nutshell.json"), JSON.stringify(manifest));
  const digests = { request: `sha256:${"a".repeat(64)}` };
  writeFileSync(
    join(folder, "delivery/result.json"),
    JSON.stringify({ status: "completed", request_id: "nut-bench", digests }),
  );
  const text = sourceText(Math.min(bytes, 16 * MB));
  for (let at = 0; at * 16 * MB < bytes; at += 1) {
    writeFileSync(join(folder, `part-${at}.txt`), text.subarray(0, Math.min(text.length, bytes - at * 16 * MB)));
  }
  await packFolder(folder, { output: join(work, `${name}.nut`) });
  rmSync(folder, { recursive: true });
  return `${name}.nut`;
}

async function large(key: string): Promise<void> {
  const file = await makeDelivery("large", megabytes * MB);
  const times = { read: 0, reader: 0, tools: 0, sign: 0, plain: 0, signed: 0 };
  const taken = Object.fromEntries(Object.keys(times).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    copyFileSync(join(work, file), join(work, "signed.nut"));
    taken.read!.push(timed("validate", file));
    taken.reader!.push(readOnce(file));
    taken.tools!.push(readByTools(file));
    taken.sign!.push(timed("sign", "signed.nut", "--key", key));
    taken.plain!.push(timed("verify", file));
    taken.signed!.push(timed("verify", "signed.nut"));
  }
  // The fastest of each: what else the machine does only ever adds, and a difference of two would carry it twice.
  for (const name of Object.keys(times) as (keyof typeof times)[]) times[name] = Math.min(...taken[name]!);
  const added = times.sign + Math.max(0, times.signed - times.plain);
  const what = `sign ${megabytes} MB, and what verify takes longer for it`;
  report(`${what} / nutshell validate`, added, times.read, 1.1);
  report(`${what} / our reader alone`, added, times.reader, null);
  report(`${what} / gzip -dc and sha256sum`, added, times.tools, 1.1);
}

async function small(key: string): Promise<void> {
  const file = await makeDelivery("small", 64 * 1024);
  copyFileSync(join(work, file), join(work, "small-signed.nut"));
  timed("sign", "small-signed.nut", "--key", key);
  const [plain, signed]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds * 6; round += 1) {
    plain.push(timed("verify", file));
    signed.push(timed("verify", "small-signed.nut"));
  }
  report("verify a small signed delivery / an unsigned one", median(signed), median(plain), 1.15);
}

try {
  timed("keygen", "--peer", "-o", "bench.key");
  await large("bench.key");
  await small("bench.key");
  console.log(rows.map((row) => `| ${row.join(" | ")} |`).join("\n"));
} finally {
  rmSync(work, { recursive: true, force: true });
}
