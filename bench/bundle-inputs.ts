// What is packed in the benchmarks: requests of real source.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { leakScanner } from "../src/vault/index.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Real source and prose, as many megabytes as asked: the packages this project is built with. */
export async function sourceText(bytes: number): Promise<Buffer> {
  // What looks like a secret would not be packed.
  const scanner = await leakScanner();
  const pool: Buffer[] = [];
  let size = 0;
  const modules = join(root, "node_modules");
  for (const path of readdirSync(modules, { recursive: true, encoding: "utf8" }).sort()) {
    if (!/\.(?:[cm]?[jt]s|md|json)$/.test(path) || path.includes(".min.")) continue;
    const found = statSync(join(modules, path));
    if (!found.isFile() || found.size > 200_000) continue;
    const content = readFileSync(join(modules, path));
    if (scanner.scan(path, content).length > 0) continue;
    pool.push(content);
    size += content.length;
    if (size >= bytes) break;
  }
  const text = Buffer.concat(pool);
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / text.length) }, () => text)).subarray(0, bytes);
}

/** A request of so many files of one size, cut from a text. */
export function writeTree(folder: string, count: number, size: number, text: Buffer): void {
  const name = basename(folder);
  mkdirSync(join(folder, "files"), { recursive: true });
  const manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: "nut-bench",
    task: { title: name, summary: name },
  };
  writeFileSync(join(folder, "nutshell.json"), JSON.stringify(manifest));
  for (let index = 0; index < count; index += 1) {
    const sub = join(folder, "files", `d${index % 100}`);
    mkdirSync(sub, { recursive: true });
    // Spread by the golden ratio: files side by side would otherwise be one text whenever the packages happen to add up so.
    const at = Math.floor((index * 0.6180339887 * text.length) % (text.length - size + 1));
    writeFileSync(join(sub, `f${index}.ts`), text.subarray(at, at + size));
  }
}
