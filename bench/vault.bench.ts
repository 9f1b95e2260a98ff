// Credentials and leak scan: what they cost, against the same work without them in the same run.
// Run: npx tsx bench/vault.bench.ts [megabytes of source, default 200] [--only=open|noise|scan]
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Decrypter } from "age-encryption";
import { packFolder } from "../src/bundle/index.js";
import { leakGuard } from "../src/request/pack/leak-guard.js";
import { generateAgeIdentity, leakScanner, type Secret, sealVault } from "../src/vault/index.js";

const words = process.argv.slice(2);
const megabytes = Number(words.find((word) => !word.startsWith("-")) ?? 200);
const only = words.find((word) => word.startsWith("--only="))?.slice("--only=".length);
const root = mkdtempSync(join(tmpdir(), "nut-bench-"));
const installed = fileURLToPath(new URL("../node_modules", import.meta.url));
const rows: string[][] = [["work", "ours", "peer", "ratio", "target", "ok"]];

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Takes turns, so that a busy machine slows both alike. */
async function compare(
  rounds: number,
  ours: () => Promise<unknown>,
  peer: () => Promise<unknown>,
): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, work] of (round % 2 === 0 ? [ours, peer] : [peer, ours]).entries()) {
      const started = performance.now();
      await work();
      times[(i + round) % 2 === 0 ? 0 : 1]!.push(performance.now() - started);
    }
  }
  return [median(times[0]), median(times[1])];
}

function row(work: string, [ours, peer]: [number, number], target: number): void {
  const ratio = ours / peer;
  rows.push([
    work,
    `${ours.toFixed(1)} ms`,
    `${peer.toFixed(1)} ms`,
    ratio.toFixed(2),
    `≤ ${target}`,
    ratio <= target ? "yes" : "NO",
  ]);
}

async function vaultOpening(): Promise<void> {
  // As it is installed: what translates sources on the way in adds to every call.
  const { openVault }: typeof import("../src/vault/index.js") = await import(
    new URL("../dist/lib/vault.js", import.meta.url).href
  );
  const { identity, recipient } = await generateAgeIdentity();
  const credentials = Array.from({ length: 1000 }, (_, i) => ({
    name: `credential-${i}`,
    type: "postgresql",
    value: { host: "db.internal", port: 5432, username: "agent", password: `password-of-number-${i}` },
    scopes: ["read", "write"],
    restrictions: { tables: ["users", "sessions"], max_rows_per_query: 1000 },
    expires_at: "2099-01-01T00:00:00Z",
  }));
  const keys = { identities: [identity] };
  const file = await sealVault(
    { vault_version: "0.2.0", credentials },
    "age",
    { recipients: [recipient], armored: false },
    keys,
  );
  const library = () => {
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    return decrypter.decrypt(file);
  };
  for (let i = 0; i < 10; i += 1) await Promise.all([library(), openVault(file, "age", keys)]);
  row(
    "open a vault of 1,000 credentials / decrypt it with age-encryption",
    await compare(60, () => openVault(file, "age", keys), library),
    0.6,
  );
}

/** Source as it is found in the wild: scripts, types, documents of whatever is installed, repeated until there is enough. */
function sourceTree(): { dir: string; bytes: number; files: number } {
  const dir = join(root, "source");
  mkdirSync(dir);
  const manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: "nut-bench",
    task: { title: "bench", summary: "bench" },
  };
  writeFileSync(join(dir, "nutshell.json"), JSON.stringify(manifest));
  const kinds = new Set([
    ".js",
    ".ts",
    ".mjs",
    ".cjs",
    ".mts",
    ".cts",
    ".tsx",
    ".json",
    ".md",
    ".css",
    ".html",
    ".yml",
  ]);
  const names = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter((name) =>
    kinds.has(extname(name)),
  );
  let bytes = 0;
  let files = 0;
  for (let copy = 0; bytes < megabytes * 1e6; copy += 1) {
    for (const name of names) {
      const path = join(installed, name);
      const size = statSync(path, { throwIfNoEntry: false });
      // A file of several megabytes is a build product, not source.
      if (size?.isFile() !== true || size.size > 1e6) continue;
      const target = join(dir, "files", String(copy), name);
      mkdirSync(dirname(target), { recursive: true });
      cpSync(path, target);
      bytes += size.size;
      files += 1;
      if (bytes >= megabytes * 1e6) break;
    }
  }
  return { dir, bytes, files };
}

async function leakScan(): Promise<void> {
  const { dir, bytes, files } = sourceTree();
  const knownValues: Secret[] = Array.from({ length: 20 }, (_, i) => ({
    name: `c${i}`,
    value: `the-value-of-credential-${i}-${i * 7919}`,
  }));
  const output = join(root, "out.nut");
  const plain = () => packFolder(dir, { output, ignoreRules: false });
  const guarded = async () => {
    const guard = await leakGuard(dir, { knownValues });
    await packFolder(dir, { output, ignoreRules: false, observe: guard.observe });
  };
  row(
    `pack ${Math.round(bytes / 1e6)} MB of source (${files} files) with the leak scan / without`,
    await compare(5, guarded, plain),
    1.3,
  );
}

async function noise(): Promise<void> {
  const scanner = await leakScanner();
  let files = 0;
  for (const name of readdirSync(installed, { recursive: true, encoding: "utf8" })) {
    const path = join(installed, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) continue;
    files += 1;
    scanner.scan(name, readFileSync(path));
  }
  const found = scanner.leaks().length;
  const rate = (found / files) * 1000;
  rows.push([
    "findings in node_modules, per 1,000 files",
    `${found} in ${files}`,
    "-",
    rate.toFixed(2),
    "≤ 1",
    rate <= 1 ? "yes" : "NO",
  ]);
}

try {
  for (const [name, measure] of Object.entries({ open: vaultOpening, noise, scan: leakScan }))
    if (only === undefined || only === name) await measure();
} finally {
  rmSync(root, { recursive: true, force: true });
}
const widths = rows[0]!.map((_, i) => Math.max(...rows.map((cells) => cells[i]!.length)));
for (const cells of rows)
  console.log(
    cells
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join(" | ")
      .trimEnd(),
  );
if (rows.some((cells) => cells.at(-1) === "NO")) process.exitCode = 1;
