// How much of what secrets look like is found, and how much of what is none. The samples were written before the rules
// were read; see leak-samples.ts.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { leakScanner } from "../../src/vault/index.js";
import { LEAK_SAMPLES } from "./leak-samples.js";
import { FILE_SAMPLES } from "./leak-samples-files.js";
import { UNSEEN_SAMPLES } from "./leak-samples-unseen.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const LARGEST = 256 * 1024;

describe("the leak scan", () => {
  it("finds nine of ten samples, and refuses as many", async () => {
    expect(LEAK_SAMPLES.length).toBeGreaterThanOrEqual(107);
    expect(new Set(LEAK_SAMPLES.map(({ provider }) => provider)).size).toBeGreaterThanOrEqual(58);
    const missed: string[] = [];
    let refused = 0;
    for (const { provider, kind, text } of LEAK_SAMPLES) {
      const leaks = (await leakScanner()).scan("notes.txt", Buffer.from(text));
      if (leaks.length === 0) missed.push(`${provider} ${kind}`);
      if (leaks.some(({ severity }) => severity === "error")) refused += 1;
      for (const { masked } of leaks) expect(masked.length, `${provider} ${kind} is shown`).toBeLessThan(40);
    }
    tell("samples found", LEAK_SAMPLES.length - missed.length, LEAK_SAMPLES.length);
    expect(missed.length, missed.join(", ")).toBeLessThanOrEqual(LEAK_SAMPLES.length * 0.05);
    expect(refused).toBeGreaterThanOrEqual(LEAK_SAMPLES.length * 0.9);
  });

  it("finds nine of ten samples that nobody who wrote a rule had seen", async () => {
    const missed: string[] = [];
    for (const { provider, kind, text } of UNSEEN_SAMPLES) {
      const leaks = (await leakScanner()).scan("notes.txt", Buffer.from(text));
      if (leaks.length === 0) missed.push(`${provider} ${kind}`);
    }
    tell("unseen samples found", UNSEEN_SAMPLES.length - missed.length, UNSEEN_SAMPLES.length);
    expect(UNSEEN_SAMPLES.length).toBeGreaterThanOrEqual(107);
    expect(missed.length, missed.join(", ")).toBeLessThanOrEqual(UNSEEN_SAMPLES.length * 0.1);
  });

  it("finds nine of ten as they stand in files", async () => {
    const missed: string[] = [];
    for (const { provider, file, text } of FILE_SAMPLES)
      if ((await leakScanner()).scan(file, Buffer.from(text)).length === 0) missed.push(provider);
    tell("samples in files found", FILE_SAMPLES.length - missed.length, FILE_SAMPLES.length);
    expect(FILE_SAMPLES.length).toBeGreaterThanOrEqual(107);
    expect(missed.length, missed.join(", ")).toBeLessThanOrEqual(FILE_SAMPLES.length * 0.04);
  });

  it("is wrong about at most one of a thousand files of others", async () => {
    const scanner = await leakScanner();
    const files = ["src", "docs", "core", "node_modules"].flatMap((folder) => filesIn(join(root, folder)));
    for (const path of files) scanner.scan(path, readFileSync(path));
    const wrong = new Set(scanner.leaks().map(({ path, rule }) => `${path.slice(root.length)} ${rule}`));
    tell("false findings in files", wrong.size, files.length);
    expect(wrong.size, [...wrong].join("\n")).toBeLessThanOrEqual(files.length / 1000);
  }, 120_000);
});

/** The figures, in the long form. */
function tell(what: string, count: number, of: number): void {
  if (process.env.NUTCRACKER_LONG !== undefined) console.log(`leak scan: ${what}: ${count} of ${of}`);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const about = lstatSync(path);
    if (about.isDirectory()) return filesIn(path);
    return about.isFile() && about.size <= LARGEST ? [path] : [];
  });
}
