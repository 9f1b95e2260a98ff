// What proof costs: a room against a copy of the tree it shows, and a whole acceptance against the runs it makes.
// Run: npx tsx bench/acceptance.bench.ts
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { copyTree, runAcceptance } from "../src/acceptance/index.js";
import { layersOf } from "../src/acceptance/room/layers.js";
import { roomTree } from "../src/acceptance/room/room-tree.js";
import { openRooms } from "../src/acceptance/room/rooms.js";
import type { Manifest } from "../src/schema/manifest.js";

const work = mkdtempSync(join(tmpdir(), "nut-bench-accept-"));
const rounds = Number(process.env.ROUNDS ?? 3);
const FILES = 20_000;

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), text);
};
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const rows: string[][] = [["what", "ours", "peer", "ratio", "target", "met"]];
const row = (name: string, ours: number, peer: number, most: number) => {
  const ratio = ours / peer;
  const ms = (value: number) => `${Math.round(value)} ms`;
  rows.push([name, ms(ours), ms(peer), ratio.toFixed(2), `≤ ${most}`, ratio <= most ? "yes" : "NO"]);
  if (ratio > most) process.exitCode = 1;
};

async function roomAgainstCopy(): Promise<void> {
  for (let i = 0; i < FILES; i += 1) put(`tree/src/${i % 200}/file-${i}.js`, `export const value = ${i};\n`);
  put("tree/tests/a.sh", "true\n");
  put("tree/package.json", "{}\n");
  const rooms = await openRooms({ folder: join(work, "rooms"), env: process.env, sandbox: "auto" });
  const tree = roomTree(layersOf(join(work, "tree")), {
    isGuarded: (path) => path.startsWith("tests/") || path === "package.json",
  });
  const ours: number[] = [];
  const peer: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(
      await timed(async () => {
        const room = rooms.open(tree, { network: "none" });
        await room.run({ command: "true", timeoutMs: 60_000 });
        room.close();
      }),
    );
    peer.push(
      await timed(() => {
        spawnSync("cp", ["-r", "--reflink=auto", join(work, "tree"), join(work, "copy")]);
        spawnSync("rm", ["-rf", join(work, "copy")]);
      }),
    );
  }
  rooms.remove();
  row(`a room for ${FILES} files, peer: cp -r and rm -r`, median(ours), median(peer), 0.5);
}

/** A check that keeps one core busy for about a second, and whose expectation can be altered. */
const BUSY =
  "const assert = require('node:assert');\nconst until = Date.now() + 1000;\nwhile (Date.now() < until);\nassert.equal(require('../files/ok.js'), 1);\n";

async function acceptanceAgainstRuns(): Promise<void> {
  const manifest: Manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: "nut-11111111-1111-4111-8111-111111111111",
    acceptance: { criteria_file: "tests/criteria.json" },
  };
  const request = join(work, "request");
  put("request/nutshell.json", JSON.stringify(manifest));
  put("request/tests/criteria.json", '{"criteria":[{"id":"AC-1","type":"shell","command":"node tests/busy.js"}]}');
  put("request/tests/busy.js", BUSY);
  put("request/files/ok.js", "module.exports = 0;\n");
  copyTree(request, join(work, "result"));
  put("result/files/ok.js", "module.exports = 1;\n");
  const plain = await timed(() => spawnSync("node", ["tests/busy.js"], { cwd: join(work, "result") }));
  let runs = 0;
  const ours = await timed(async () => {
    const report = await runAcceptance({
      request,
      manifest,
      result: join(work, "result"),
      workDir: join(work, "accept"),
      env: process.env,
    });
    runs = report.runs;
  });
  row(`acceptance of ${runs} runs, peer: runs ÷ cores × one run`, ours, (runs / availableParallelism()) * plain, 1.2);
}

try {
  await roomAgainstCopy();
  await acceptanceAgainstRuns();
} finally {
  rmSync(work, { recursive: true, force: true });
}
const widths = rows[0]!.map((_, i) => Math.max(...rows.map((cells) => cells[i]!.length)));
for (const cells of rows) console.log(cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | "));
